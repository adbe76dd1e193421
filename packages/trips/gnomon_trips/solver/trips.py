"""Plans trips with whatever the prompt gives: nothing, facts, or tools."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise, permutations
from typing import Any

from gnomon_agents.models.reference.tool_results import Call, Need
from gnomon_trips.itinerary.hours import clock_of, minutes_of
from gnomon_trips.itinerary.solve import solve
from gnomon_trips.solver.preferences import chosen_places
from gnomon_trips.solver.trip_problem import problem_from
from gnomon_trips.solver.trip_reading import TripReading

RAIL_GUESS_MIN = 10**6
ORDER_WANTED = '{"order": [NAME'
"""How the prompt asks for an order alone, without times."""


def plan_trip(reading: TripReading) -> str:
    """The answer as far as the evidence goes.

    Raises:
        Need: tools that are offered must be called first.
    """
    if "nodes" in reading.also:
        return _graph(reading)
    if ORDER_WANTED in reading.text:
        return _order(reading)
    return _plan(reading)


def _plan(reading: TripReading) -> str:
    if "plan_trip" in reading.offered:
        return _searched(reading)
    places = chosen_places(reading)
    if not places:
        return json.dumps({"status": "refused", "conflict": ["places"]})
    if "order_visits" in reading.offered:
        return _scheduled(reading, places)
    if not reading.facts and {"place_details", "travel_table"} <= reading.offered:
        _need_facts(reading, places)
    problem = problem_from(reading, places)
    if problem is None:
        return _guessed(reading, places)
    solution = solve(problem)
    if solution.rounds is None:
        return json.dumps({"status": "refused", "conflict": list(solution.conflict)}, ensure_ascii=False)
    days = [
        {
            "visits": [
                _visit(problem.places[stay.spot].name, stay.arrive_min, stay.leave_min) for stay in done.stays
            ]
        }
        for done in solution.rounds
    ]
    return json.dumps({"status": "planned", "days": days}, ensure_ascii=False)


def _searched(reading: TripReading) -> str:
    """What the planner found, as an answer; a refusal where it found nothing."""
    if not reading.called("plan_trip"):
        raise Need([Call(tool="plan_trip", arguments={})], "What is the best plan?")
    result = reading.last("plan_trip")
    if result is None:
        return _guessed(reading, list(reading.request.get("places", ())))
    keys = ("place", "arrive", "leave", "why")
    answer: dict[str, Any] = {
        "status": result["status"],
        "days": [
            {
                "visits": [{key: visit[key] for key in keys} for visit in day["visits"]],
                **({"night": day["night"]} if day.get("night") else {}),
            }
            for day in result["days"]
        ],
        "search": {
            **{key: result[key] for key in ("is_proven", "spread_min", "holds_at_best") if key in result},
            "seconds": result["seconds"],
            "gap": result.get("cost_error_share"),
            **({"is_cut": True} if result.get("is_cut") else {}),
        },
    }
    if result["status"] == "refused":
        answer = {**answer, "conflict": list(result["conflict"])}
    if result["left_out"]:
        answer["left_out"] = list(result["left_out"])
    return json.dumps(answer, ensure_ascii=False)


def _scheduled(reading: TripReading, places: Sequence[str]) -> str:
    """Ask the scheduler; when it proves that there is no plan, leave out what was only wished for."""
    wanted = list(places)
    must = len(reading.request.get("places", ()))
    for name, arguments, result in reading.results:
        if name != "order_visits" or list(arguments.get("places", ())) != wanted:
            continue
        if "error" not in result:
            days = [
                {
                    "visits": [
                        {key: visit[key] for key in ("place", "arrive", "leave")} for visit in day["visits"]
                    ]
                }
                for day in result["days"]
            ]
            skipped = [place for place in places if place not in wanted]
            return json.dumps({"status": "planned", "days": days, "skipped": skipped}, ensure_ascii=False)
        if len(wanted) > max(must, 1):
            wanted = wanted[:-1]
        elif "infeasible" in str(result["error"]):
            return _refused(str(result["error"]))
        else:
            return _guessed(reading, places)
    raise Need([Call(tool="order_visits", arguments={"places": wanted})], "Which order is shortest?")


def _refused(error: str) -> str:
    """The constraints in the scheduler's words."""
    named = error.partition("kept together: ")[2]
    kinds = ("budget", "rooms", "window", "max_walk_m", "max_leg_min")
    conflict = [
        constraint for constraint in named.split(", ") if constraint.startswith(kinds) or ":" in constraint
    ]
    return json.dumps({"status": "refused", "conflict": conflict or ["window"]}, ensure_ascii=False)


def _need_facts(reading: TripReading, places: Sequence[str]) -> None:
    """Raises:
    Need: the places' details or the table of ways are not there yet.
    """
    calls = [
        Call(tool="place_details", arguments={"place": place})
        for place in places
        if not any(
            name == "place_details" and args.get("place") == place for name, args, _ in reading.results
        )
    ]
    if not reading.called("travel_table"):
        ends = [end for end in (reading.request.get("hotel"), reading.request.get("ends_at")) if end]
        calls.append(Call(tool="travel_table", arguments={"places": list(dict.fromkeys([*places, *ends]))}))
    if calls:
        raise Need(calls, "Hours and ways come first.")


def _guessed(reading: TripReading, places: Sequence[str]) -> str:
    """An hour each from the morning on, in the order of the request: a plan from nothing."""
    start = minutes_of(reading.request.get("window", {}).get("start", "09:00")) + 30
    days = int(reading.request.get("days", 1))
    share = max(1, -(-len(places) // days))
    rows = [places[index : index + share] for index in range(0, len(places), share)]
    drafted = [
        {"visits": [_visit(name, start + 75 * slot, start + 75 * slot + 60) for slot, name in enumerate(row)]}
        for row in rows
    ]
    drafted += [{"visits": []} for _ in range(days - len(drafted))]
    return json.dumps({"status": "planned", "days": drafted}, ensure_ascii=False)


def _visit(name: str, arrive_min: int, leave_min: int) -> dict[str, str]:
    return {"place": name, "arrive": clock_of(arrive_min), "leave": clock_of(leave_min)}


def _order(reading: TripReading) -> str:
    names = [reading.request["hotel"], *reading.request.get("places", ()), reading.request["ends_at"]]
    table = reading.facts.get("rail_minutes")
    if table is None and "travel_table" in reading.offered:
        table_result = reading.last("travel_table")
        if table_result is None and not reading.called("travel_table"):
            call = Call(tool="travel_table", arguments={"places": names, "mode": "rail"})
            raise Need([call], "How long are the hops?")
        table = table_result["minutes"] if table_result else None
    if table is None:
        return json.dumps({"order": names}, ensure_ascii=False)
    last = len(names) - 1
    orders = ((0, *middle, last) for middle in permutations(range(1, last)))
    best = min(orders, key=lambda order: max(_hop(table[a][b]) for a, b in pairwise(order)))
    return json.dumps({"order": [names[index] for index in best]}, ensure_ascii=False)


def _hop(minutes: int | None) -> int:
    return RAIL_GUESS_MIN if minutes is None or minutes < 0 else minutes


def _graph(reading: TripReading) -> str:
    places_seen = sorted(
        (node for node in reading.also["nodes"] if "seen_at" in node), key=lambda node: node["seen_at"]
    )
    names = [node["name"] for node in places_seen]
    where = {name: str(row.get("in", "")) for name, row in reading.facts.get("places", {}).items()}
    if not where and "place_details" in reading.offered:
        if reading.called("place_details") < len(names):
            calls = [Call(tool="place_details", arguments={"place": name}) for name in names]
            raise Need(calls, "Where do they lie?")
        details = [(args.get("place"), row) for tool, args, row in reading.results if tool == "place_details"]
        where = {str(place): str(row.get("area", "")) for place, row in details}
    areas = {node["name"]: node["kind"] for node in reading.also["nodes"] if node["kind"] != "poi"}
    placed = [(name, *_areas_in(where.get(name, ""), areas)) for name in names]
    inclusions, transitions = _edges(placed)
    return json.dumps({"inclusions": inclusions, "transitions": transitions}, ensure_ascii=False)


def _areas_in(text: str, areas: Mapping[str, str]) -> tuple[str, str]:
    """City and prefecture in a text such as "Sakae, Naka-ku, Aichi, JP"; without one, the first there are."""
    parts = text.split(", ")
    held = [
        next((part for part in parts if areas.get(part) == kind), None)
        or next((name for name in sorted(areas) if areas[name] == kind), "")
        for kind in ("city", "prefecture")
    ]
    return held[0], held[1]


def _edges(placed: Sequence[tuple[str, str, str]]) -> tuple[list[list[str]], list[list[str]]]:
    inclusions = {(city, name) for name, city, _ in placed} | {(outer, city) for _, city, outer in placed}
    transitions = {(earlier[0], later[0]) for earlier, later in pairwise(placed) if earlier[1] == later[1]}
    outer_of: dict[str, Any] = {city: outer for _, city, outer in placed}
    for earlier, later in pairwise([city for city, _ in groupby(city for _, city, _ in placed)]):
        if outer_of[earlier] == outer_of[later]:
            transitions.add((earlier, later))
    transitions |= set(pairwise([outer for outer, _ in groupby(outer for _, _, outer in placed)]))
    return [list(edge) for edge in sorted(inclusions)], [list(edge) for edge in sorted(transitions)]
