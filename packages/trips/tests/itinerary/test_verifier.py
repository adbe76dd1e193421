"""The verifier finds every planted fault by its code, and nothing in a plan that works."""

import copy
import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from gnomon_trips.itinerary.plan import Plan
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.trip import Trip, open_trip
from gnomon_trips.itinerary.verify.check_kinds import check_kinds
from gnomon_trips.itinerary.verify.verify import applicable, verify_plan
from packages.trips.tests.itinerary.planted_faults import IN_THE_CITY, ROAMING_FAULTS

Json = dict[str, Any]


def codes(given: Json, trip: Trip) -> set[str]:
    return set(answered(verify_plan(given, trip), is_local=True)[1].failed)


def first_visit(plan: Json) -> Json:
    visit: Json = plan["days"][0]["visits"][0]
    return visit


def shift(clock: str, minutes: int) -> str:
    hours, rest = divmod(int(clock[:2]) * 60 + int(clock[3:]) + minutes, 60)
    return f"{hours:02d}:{rest:02d}"


def stay_only(plan: Json, minutes: int) -> None:
    first_visit(plan)["leave"] = shift(first_visit(plan)["arrive"], minutes)


def swap_days(plan: Json) -> None:
    one, two = plan["days"]
    one["date"], two["date"] = two["date"], one["date"]


def teleport(plan: Json) -> None:
    """Arrive at the second stop at the minute of leaving the first."""
    one, two = plan["days"][0]["visits"][:2]
    one["leave"] = two["arrive"]


def too_soon(plan: Json) -> None:
    """Leave so late that the way is walkable only at a run."""
    one, two = plan["days"][0]["visits"][:2]
    leg = plan["days"][0]["legs"][1]
    one["leave"] = shift(two["arrive"], -leg["minutes"] + 1)


def rename(plan: Json) -> None:
    first_visit(plan)["place"]["name"] = "Hotel Kämp"


def make_up(plan: Json) -> None:
    stop = first_visit(plan)["place"]
    old, stop["id"], stop["name"] = stop["id"], "helsinki/n1", "Museum of Nothing"
    for leg in plan["days"][0]["legs"]:
        for end in ("from_id", "to_id"):
            leg[end] = stop["id"] if leg[end] == old else leg[end]


def ambiguous(plan: Json) -> None:
    first_visit(plan)["place"]["id"] = "ambiguous:R-kioski"


def wrong_home(plan: Json) -> None:
    for day in plan["days"]:
        day["end"] = day["visits"][-1]["place"]


def drop(plan: Json) -> None:
    plan["days"][0]["visits"].pop(0)


def repeat(plan: Json) -> None:
    plan["days"][1]["visits"].append(copy.deepcopy(first_visit(plan)))


def set_to(*path: str | int) -> Callable[[Any], Callable[[Json], None]]:
    def to(value: Any) -> Callable[[Json], None]:
        def change(plan: Json) -> None:
            at: Any = plan
            for step in path[:-1]:
                at = at[step]
            at[path[-1]] = value

        return change

    return to


VISIT = ("days", 0, "visits", 0)
FAULTS: dict[str, tuple[str, Callable[[Json], None]]] = {
    "a field that there is not": ("SCHEMA", set_to("weather")("fine")),
    "a refusal without reasons": ("SCHEMA", lambda plan: plan.update(status="refused", days=[])),
    "legs that do not join the stops": ("SCHEMA", set_to("days", 0, "legs")([])),
    "minutes that are a text": ("UNITS", set_to("days", 0, "legs", 0, "minutes")("soon")),
    "a time that is none": ("UNITS", set_to(*VISIT, "arrive")("9 am")),
    "dates swapped": ("DATE", swap_days),
    "a day missing": ("DAY_COUNT", lambda plan: plan["days"].pop()),
    "a made-up place": ("KNOWN_PLACE", make_up),
    "a renamed place": ("NAME_MISMATCH", rename),
    "a place moved by a kilometre": ("COORD", set_to(*VISIT, "place", "lat")(60.18)),
    "a place in another prefecture": ("HIERARCHY", set_to(*VISIT, "place", "admin")({"prefecture": "Lappi"})),
    "a name that means several places": ("AMBIGUOUS", ambiguous),
    "stays that overlap": ("OVERLAP", lambda plan: stay_only(plan, 600)),
    "no time for the way": ("IMPOSSIBLE", teleport),
    "too little time for the way": ("TRAVEL_TIME", too_soon),
    "a stay of five minutes": ("DWELL", lambda plan: stay_only(plan, 5)),
    "after closing": ("OPEN_HOURS", lambda plan: first_visit(plan).update(arrive="22:00", leave="23:45")),
    "before the day begins": ("DAY_WINDOW", lambda plan: first_visit(plan).update(arrive="08:30")),
    "days that end elsewhere": ("HOME", wrong_home),
    "a night in between elsewhere": ("NIGHT_CONTINUITY", wrong_home),
    "a leg told shorter than it is": ("LEG_CLAIM", set_to("days", 0, "legs", 0, "metres")(1)),
    "a mode that there is not here": ("MODE", set_to("days", 0, "legs", 0, "mode")("ferry")),
    "a place left out": ("MUST_VISIT", drop),
    "a place seen twice": ("DUPLICATE", repeat),
    "a wrong price": ("COST_CLAIM", set_to(*VISIT, "cost")({"amount": 3.0, "currency": "EUR"})),
    "a wrong sum": ("SUM", set_to("totals", "metres")(7)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_caught_with_its_code(name: str, plan: Plan, trip: Trip) -> None:
    code, change = FAULTS[name]
    given = plan.model_dump(mode="json")
    if code == "MODE":
        trip = walking_only(trip)
    change(given)
    assert code in codes(given, trip)


def walking_only(trip: Trip) -> Trip:
    """Without the world behind the city, which knows a lower bound for every mode."""
    from dataclasses import replace

    from gnomon_trips.itinerary.osm.city import city_files, read_city

    return replace(trip, provider=read_city(city_files([])["helsinki"]))


TIGHTER: dict[str, Json] = {
    "FORBIDDEN": {"avoid": ["Kiasma"]},
    "ORDER": {"order": [["Ateneum", "Kiasma"]]},
    "MAX_WALK": {"max_walk_m": 500},
    "MAX_LEG": {"max_leg_min": 2},
    "BUDGET": {"budget": {"amount": 20, "currency": "EUR"}},
    "PARTY": {"party": 5, "rooms": 2},
    "MEAL_WINDOW": {"meals": [{"name": "breakfast", "start": "07:00", "end": "08:00", "minutes": 30}]},
}


@pytest.mark.parametrize("code", TIGHTER)
def test_a_request_that_the_plan_does_not_meet_is_told_by_its_code(code: str, plan: Plan, trip: Trip) -> None:
    given = {**trip.request.model_dump(mode="json"), **TIGHTER[code]}
    asked = answered(open_trip(read_request(given), trip.provider), is_local=True)
    assert code in codes(plan.model_dump(mode="json"), asked)


def test_a_plan_that_works_raises_no_alarm(plan: Plan, trip: Trip) -> None:
    told = answered(verify_plan(plan.model_dump(mode="json"), trip), is_local=True)[1]
    assert told.violations == ()
    assert (told.micro_of(told.checked), told.macro, told.hard_pass, told.final_pass) == (
        1.0,
        True,
        True,
        True,
    )


def test_a_city_seen_again_after_leaving_is_worth_a_word() -> None:
    request = {
        "id": "j",
        "area": "japan",
        "start_date": "2026-06-10",
        "mode": "rail",
        "hotel": "Tokyo Station",
    }
    places = ["Kyoto Station", "Nagoya Station", "Karasuma Station"]
    from gnomon_trips.itinerary.draft import DraftDay, DraftPlan, DraftVisit, plan_of
    from gnomon_trips.itinerary.registry import embedded

    asked = read_request({**request, "places": places, "window": {"start": "05:00", "end": "23:59"}})
    trip = answered(open_trip(asked, embedded("japan")), is_local=True)
    slots = [("08:00", "08:30"), ("10:00", "10:30"), ("12:30", "13:00")]
    visits = [DraftVisit(place=p, arrive=a, leave=b) for p, (a, b) in zip(places, slots, strict=True)]
    made = answered(plan_of(DraftPlan(days=[DraftDay(visits=visits)]), trip), is_local=True)
    told = answered(verify_plan(made, trip), is_local=True)[1]
    assert [one.code for one in told.violations if one.severity == "warn"] == ["CITY_RUNS"]
    assert "CITY_RUNS" not in told.failed


@pytest.mark.parametrize(
    ("answerable", "status", "code"),
    [(True, "refused", "REFUSED_BUT_FEASIBLE"), (False, "planned", "PLANNED_BUT_INFEASIBLE")],
)
def test_answerability_is_judged_where_it_is_known(
    answerable: bool, status: str, code: str, plan: Plan, trip: Trip
) -> None:
    from dataclasses import replace

    given = plan.model_dump(mode="json") | {"status": status}
    if status == "refused":
        given |= {"days": [], "conflict": ["window"]}
    assert code in codes(given, replace(trip, answerable=answerable))
    assert code not in codes(given, trip)


def test_every_check_there_is_has_a_fault_planted_for_it() -> None:
    planted = {code for code, _ in FAULTS.values()} | set(TIGHTER)
    planted |= {code for code, _ in (*IN_THE_CITY.values(), *ROAMING_FAULTS.values())}
    planted |= {"CITY_RUNS", "LONG_WALK", "REFUSED_BUT_FEASIBLE", "PLANNED_BUT_INFEASIBLE"}
    assert planted == set(check_kinds())


def test_shares_count_only_checks_that_can_fail(trip: Trip) -> None:
    bare = read_request({"area": "helsinki", "start_date": "2026-06-10", "wishes": ["park"]})
    assert {"BUDGET", "ORDER", "MUST_VISIT", "NIGHT_CONTINUITY", "NIGHT"}.isdisjoint(applicable(bare))
    assert {"BUDGET", "ORDER", "MUST_VISIT", "NIGHT_CONTINUITY"} <= set(applicable(trip.request))


def test_hours_hold_on_their_date_and_holidays_count(trip: Trip, plan: Plan) -> None:
    """Midsummer Eve and the Monday: the same plan, moved."""
    given = plan.model_dump(mode="json")
    monday = {**trip.request.model_dump(mode="json"), "start_date": "2026-06-08"}
    moved = answered(open_trip(read_request(monday), trip.provider), is_local=True)
    for number, day in enumerate(given["days"]):
        day["date"] = (dt.date(2026, 6, 8) + dt.timedelta(days=number)).isoformat()
    assert "OPEN_HOURS" in codes(given, moved)
    assert "OPEN_HOURS" not in codes(plan.model_dump(mode="json"), trip)
