"""Days as people have them: stays with time, free hours told, no chain twice, and the same plan anywhere."""

import itertools
from typing import Any

import pytest

from gnomon_trips.itinerary.comfort import COMFORT_MIN, comfortable_min
from gnomon_trips.itinerary.hours import minutes_of
from gnomon_trips.itinerary.plan import Plan
from gnomon_trips.itinerary.planning import Found
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.request import DWELL_MIN, MEALS
from gnomon_trips.itinerary.same_place import OF_CHAINS, is_one_place
from gnomon_trips.itinerary.trip import open_trip
from gnomon_trips.itinerary.verify.violation import Verification
from packages.trips.tests.itinerary.test_planning import DINNER, LUNCH, planned, trip_of

WEEKEND: dict[str, Any] = {
    "hotel": "Hotelli Torni",
    "start_date": "2026-06-11",
    "days": 3,
    "places": [
        "Ateneum",
        "Kiasma",
        "Amos Rex",
        "Vanha Kauppahalli",
        "Kampin kappeli",
        "Helsingin tuomiokirkko",
    ],
    "meals": [LUNCH],
    "window": {"start": "09:30", "end": "19:00"},
}


Planned = tuple[Found, Plan, Verification]


@pytest.fixture(scope="module")
def weekend() -> Planned:
    return planned(trip_of(**WEEKEND))


@pytest.fixture(scope="module")
def early() -> Planned:
    return planned(trip_of(**WEEKEND, prefer="early_end"))


def stay_at(plan: Plan, name: str) -> int:
    return next(
        minutes_of(visit.leave) - minutes_of(visit.arrive)
        for day in plan.days
        for visit in day.visits
        if visit.place.name == name
    )


def last_minutes(plan: Plan) -> list[int]:
    return [minutes_of(day.visits[-1].leave) for day in plan.days]


def with_pace(pace: str) -> dict[str, Any]:
    return {"preferences": {"pace": pace}}


def test_no_comfortable_stay_is_shorter_than_the_least() -> None:
    assert all(COMFORT_MIN[kind] >= least for kind, least in DWELL_MIN.items())


def test_stays_are_as_long_as_the_pace_asks_for(weekend: Planned) -> None:
    packed, relaxed = (planned(trip_of(**WEEKEND, **with_pace(pace)))[1] for pace in ("packed", "relaxed"))
    by_pace = (packed, weekend[1], relaxed)  # where none is named, it is the normal one
    assert [stay_at(plan, "Ateneum") for plan in by_pace] == [90, 120, 150]
    ends = [sum(last_minutes(plan)) for plan in by_pace]
    assert ends == sorted(ends)


def test_an_early_end_that_is_asked_for_keeps_the_least_stays(early: Planned, weekend: Planned) -> None:
    _, plan, verification = weekend
    assert not verification.violations
    assert stay_at(early[1], "Kiasma") == DWELL_MIN["museum"]
    assert sum(last_minutes(early[1])) < sum(last_minutes(plan))
    assert not [line for line in early[1].assumptions if " is free " in line]


def test_a_stay_of_the_request_is_kept_as_it_is() -> None:
    trip = trip_of(**WEEKEND, rules={"dwell_min": {"museum": 60}})
    assert comfortable_min(trip.request, "museum") == 60
    assert stay_at(planned(trip)[1], "Ateneum") == 60


def test_what_remains_of_a_day_is_told_as_free(weekend: Planned) -> None:
    plan = weekend[1]
    for number, day in enumerate(plan.days, 1):
        back = minutes_of(day.visits[-1].leave) + day.legs[-1].minutes
        told = f"Day {number} is free from {back // 60:02d}:{back % 60:02d}."
        assert (told in plan.assumptions) == (minutes_of("19:00") - back >= 60)


def test_a_day_too_full_for_comfort_is_planned_with_the_least_stays() -> None:
    fields = {**WEEKEND, "days": 1, "places": ["Ateneum", "Kiasma", "Amos Rex"]}
    _, plan, verification = planned(trip_of(**{**fields, "window": {"start": "10:00", "end": "16:30"}}))
    assert (plan.status, verification.violations) == ("planned", ())


def test_one_wish_gives_one_place_a_day() -> None:
    _, plan, _ = planned(trip_of(**WEEKEND, wishes=["park"]))
    parks = [sum(visit.place.kind == "park" for visit in day.visits) for day in plan.days]
    assert sum(parks) >= 1
    assert max(parks) == 1


def test_lunch_is_near_its_hour_and_dinner_is_no_cafe() -> None:
    window = {"start": "09:30", "end": "21:30"}
    _, plan, verification = planned(trip_of(**{**WEEKEND, "meals": [LUNCH, DINNER], "window": window}))
    assert not verification.violations
    lunches = [visit for day in plan.days for visit in day.visits if "lunch" in visit.why.split(", ")]
    assert all(12 * 60 <= minutes_of(visit.arrive) <= 13 * 60 + 15 for visit in lunches)
    dinners = [visit for day in plan.days for visit in day.visits if "dinner" in visit.why.split(", ")]
    assert len(dinners) == 3
    assert not {"cafe", "fast_food"} & {visit.place.kind for visit in dinners}


@pytest.mark.parametrize(("party", "kinds"), [(2, {"cafe", "fast_food"}), (8, {"restaurant", "pub"})])
def test_lunch_for_many_is_where_there_is_a_table(party: int, kinds: set[str]) -> None:
    _, plan, _ = planned(trip_of(**{**WEEKEND, "days": 2, "places": ["Ateneum", "Kiasma"]}, party=party))
    lunches = [visit for day in plan.days for visit in day.visits if visit.why == "lunch"]
    assert len(lunches) == 2
    assert {visit.place.kind for visit in lunches} <= kinds


def test_a_wish_for_a_restaurant_is_a_meal_and_no_breakfast() -> None:
    _, plan, _ = planned(trip_of(**{**WEEKEND, "days": 1, "places": ["Ateneum"]}, wishes=["restaurants"]))
    eaten = [visit for visit in plan.days[0].visits if visit.place.kind in MEALS]
    assert [(visit.place.kind, visit.why) for visit in eaten] == [("restaurant", "lunch")]


def test_nothing_that_is_open_is_put_off_for_a_long_free_time() -> None:
    window = {"start": "09:00", "end": "21:30"}
    _, plan, _ = planned(
        trip_of(**{**WEEKEND, "days": 1, "places": ["Ateneum"], "meals": [DINNER], "window": window})
    )
    assert plan.days[0].visits[0].arrive == "10:00"


def test_a_day_does_not_wait_till_noon_where_something_is_open() -> None:
    fixed = [{"place": "Kiasma", "start": "14:00"}]
    fields: dict[str, Any] = {**WEEKEND, "days": 1, "places": ["Kiasma", "Kampin kappeli"], "fixed": fixed}
    _, plan, _ = planned(trip_of(**{**fields, "start_date": "2026-06-12"}))
    assert plan.days[0].visits[0].place.name == "Kampin kappeli"
    assert plan.days[0].visits[0].arrive <= "10:00"


def test_a_nightclub_that_nobody_named_is_for_the_night() -> None:
    fields: dict[str, Any] = {"places": [], "meals": [], "days": 1, "wishes": ["bar", "nightclub"]}
    _, plan, _ = planned(trip_of(**{**WEEKEND, **fields, "window": {"start": "14:00", "end": "02:00"}}))
    arrivals = {visit.place.kind: visit.arrive for visit in plan.days[0].visits}
    assert arrivals["bar"] >= "17:00"
    assert arrivals["nightclub"] >= "22:00"


def test_no_chain_and_no_place_is_visited_twice() -> None:
    trip = trip_of(**{**WEEKEND, "days": 4}, wishes=["cafe", "park", "museum"])
    _, plan, verification = planned(trip)
    assert not verification.violations
    places = [
        answered(trip.provider.details(visit.place.id), is_local=True).value
        for day in plan.days
        for visit in day.visits
    ]
    eateries = [place for place in places if place.kind in MEALS & OF_CHAINS]
    assert len({place.name for place in eateries}) == len(eateries)
    assert not [pair for pair in itertools.combinations(places, 2) if is_one_place(*pair)]


@pytest.mark.parametrize("pace", [pytest.param("relaxed", marks=pytest.mark.soak), "packed"])
def test_a_plan_does_not_depend_on_how_much_time_there_was(pace: str) -> None:
    trip = trip_of(**WEEKEND, **with_pace(pace), wishes=["park"])
    first, second = (planned(trip, seconds=seconds)[0] for seconds in (600.0, 6_000.0))
    assert first.draft.days == second.draft.days
    assert (first.search.gap, first.search.is_cut) == (second.search.gap, second.search.is_cut)


def test_a_request_stored_with_an_early_end_still_means_one(early: Planned) -> None:
    trip = trip_of(**WEEKEND, prefer="early_end")
    stored = trip.request.model_dump(mode="json")
    again = answered(open_trip(type(trip.request).model_validate(stored), trip.provider), is_local=True)
    assert again.request.prefer == "early_end"
    assert planned(again)[0].draft.days == early[0].draft.days
