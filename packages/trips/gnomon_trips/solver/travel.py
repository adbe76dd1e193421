"""Answers queries for trips by the scheduler where offered, else greedily, minding what a check names."""

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any

from gnomon.core.errors import SpecError
from gnomon.core.model import Request
from gnomon_agents.models.reference.tool_results import Call, texts_of
from gnomon_trips.benchmarks.travelplanner.floors import greedy_plan, legs_of
from gnomon_trips.benchmarks.travelplanner.loader import sandbox_of
from gnomon_trips.benchmarks.travelplanner.query import read_query
from gnomon_trips.sandbox.plan import Days
from gnomon_trips.sandbox.record import (
    Attraction,
    Flight,
    Lodging,
    Restaurant,
    Ride,
    TravelSandbox,
    TripNeeds,
)
from gnomon_trips.solver.travel_reading import TravelEvidence

_QUERY, _FACTS = "\nQuery: ", "\nGiven information: "
_ROUNDS = 4  # of checking and mending
_NO_PLAN = "I find no plan."


def answer_travel_query(request: Request) -> str:
    """The plan as JSON, or word that there is none.

    Raises:
        Need: tools that are offered must be called first.
    """
    texts = texts_of(request.messages)
    query = next((text.removeprefix(_QUERY) for text in texts if text.startswith(_QUERY)), "")
    try:
        needs = read_query(query)
    except SpecError:
        return _NO_PLAN
    evidence = TravelEvidence(request)
    if "sandbox_schedule" in evidence.offered:
        result = evidence.ask([_schedule_call(needs)], "The scheduler knows.")[0] or {}
        return _reply(result["plan"]) if result.get("plan") else _NO_PLAN
    facts = next((text.removeprefix(_FACTS) for text in texts if text.startswith(_FACTS)), None)
    try:
        sandbox = _fetched(needs, evidence) if facts is None else sandbox_of(json.loads(facts), needs)
    except (SpecError, ValueError, KeyError, TypeError):
        return _NO_PLAN
    return _mended(sandbox, evidence)


def _mended(sandbox: TravelSandbox, evidence: TravelEvidence) -> str:
    """The greedy plan, made anew with the rules in mind that a check finds broken."""
    minding: set[str] = set()
    plan: Days | None = None
    for _ in range(_ROUNDS):
        plan = greedy_plan(sandbox, minding) or plan
        if plan is None or "sandbox_check" not in evidence.offered:
            break
        call = Call("sandbox_check", {"plan": list(plan)})
        result = evidence.ask([call], "Is anything wrong with this plan?")[0] or {}
        rows = result.get("broken") or ()
        broken = {str(row.get("rule")) for row in rows if isinstance(row, Mapping)}
        if broken <= minding:
            break
        minding |= broken
    return _reply(plan) if plan else _NO_PLAN


def _fetched(needs: TripNeeds, evidence: TravelEvidence) -> TravelSandbox:
    """What the tools know of the legs and the cities that a greedy plan visits."""
    contents = evidence.ask([Call("sandbox_contents", {})], "What is known?")[0]
    if contents is None:
        return TravelSandbox(needs=needs, cities=())
    cities = tuple(map(str, contents["cities"]))
    if needs.cities == 1 and needs.destination in cities:
        cities = (needs.destination,)
    legs = legs_of(needs, cities)
    kinds = ("lodgings", "restaurants", "attractions")
    calls = [Call(f"sandbox_{kind}", {"city": city}) for city in cities for kind in kinds]
    calls += [
        Call("sandbox_ways", {"origin": start, "destination": end, "date": needs.date(day).isoformat()})
        for start, end, day in legs
    ]
    results = evidence.ask(calls, "I look up the cities and the ways.")
    rows: list[Lodging | Restaurant | Attraction | Flight | Ride] = []
    for call, result in zip(calls, results, strict=True):
        if result is None:
            continue
        asked = call.arguments
        if call.tool == "sandbox_ways":
            ends: dict[str, Any] = {"origin": asked["origin"], "destination": asked["destination"]}
            date = dt.date.fromisoformat(str(asked["date"]))
            rows += [Flight(**row, **ends, date=date) for row in result["flights"]]
            rows += [Ride(**row, **ends) for row in result["rides"]]
        else:
            city = str(asked["city"])
            rows += [_lodging(row, city) for row in result.get("lodgings", ())]
            rows += [_restaurant(row, city) for row in result.get("restaurants", ())]
            rows += [Attraction(name=row["name"], city=city) for row in result.get("attractions", ())]
    return TravelSandbox.of(needs, cities, rows)


def _lodging(row: Mapping[str, Any], city: str) -> Lodging:
    fields = ("name", "price_usd", "room_type", "house_rules", "min_nights", "max_occupancy")
    return Lodging(city=city, **{field: row[field] for field in fields})


def _restaurant(row: Mapping[str, Any], city: str) -> Restaurant:
    return Restaurant(name=row["name"], city=city, cost_usd=row["cost_usd"], cuisines=tuple(row["cuisines"]))


def _schedule_call(needs: TripNeeds) -> Call:
    return Call(
        "sandbox_schedule",
        {
            "origin": needs.origin,
            "destination": needs.destination,
            "cities": needs.cities,
            "days": needs.days,
            "start_date": needs.start_date.isoformat(),
            "people": needs.people,
            "budget_usd": needs.budget_usd,
            "cuisines": list(needs.cuisines),
            "room_type": needs.room_type or "any",
            "house_rule": needs.house_rule or "none",
            "transport": needs.transport or "any",
        },
    )


def _reply(plan: object) -> str:
    return json.dumps({"plan": plan}, ensure_ascii=False)
