"""A change of plan moves as little as makes the plan hold again."""

from typing import Any

import pytest

from gnomon_trips.itinerary.draft import plan_of
from gnomon_trips.itinerary.errors import BadArgument
from gnomon_trips.itinerary.plan import Plan
from gnomon_trips.itinerary.planning import find_plan
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.replanning import OUTDOORS, Change, Replanned, changed_plan
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.trip import Trip, open_trip
from gnomon_trips.itinerary.verify.verify import verify_plan

REQUEST: dict[str, Any] = {
    "area": "helsinki",
    "start_date": "2026-06-10",
    "days": 2,
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kiasma", "Amos Rex", "Vanha kirkkopuisto", "Esplanadinpuisto"],
    "meals": [{"name": "lunch"}],
}


@pytest.fixture(scope="module")
def trip() -> Trip:
    return answered(open_trip(read_request(REQUEST), embedded("helsinki")), is_local=True)


@pytest.fixture(scope="module")
def plan(trip: Trip) -> Plan:
    found = answered(find_plan(trip), is_local=True)
    return answered(plan_of(found.draft, trip), is_local=True)


def changed(plan: Plan, trip: Trip, change: Change) -> tuple[Replanned, Plan]:
    """The changed plan; it holds."""
    result = answered(changed_plan(plan, trip, change), is_local=True)
    new = answered(plan_of(result.draft, result.trip), is_local=True)
    assert not answered(verify_plan(new, result.trip), is_local=True)[1].violations
    assert new.totals.metres - plan.totals.metres == result.metres_more
    return result, new


def test_without_a_change_nothing_changes(plan: Plan, trip: Trip) -> None:
    result, new = changed(plan, trip, Change())
    assert result.differences == ()
    assert (result.metres_more, result.minutes_more) == (0, 0)
    assert [day.visits for day in new.days] == [day.visits for day in plan.days]


def test_a_dropped_stop_goes_and_the_other_day_keeps_its_times(plan: Plan, trip: Trip) -> None:
    result, new = changed(plan, trip, Change(drop=("Kiasma",)))
    day = next(n for n, row in enumerate(plan.days) if "Kiasma" in [visit.place.name for visit in row.visits])
    assert new.days[1 - day].visits == plan.days[1 - day].visits
    assert "Kiasma" not in [visit.place.name for row in new.days for visit in row.visits]
    assert result.metres_more <= 0
    assert any(line.startswith("Kiasma: left out") for line in result.differences)


def test_a_late_day_begins_later_and_keeps_its_stops(plan: Plan, trip: Trip) -> None:
    _, new = changed(plan, trip, Change(late_min={1: 90}))
    assert new.days[0].visits[0].arrive >= "10:30"
    assert new.days[1].visits == plan.days[1].visits
    assert {v.place.id for d in new.days for v in d.visits} == {
        v.place.id for d in plan.days for v in d.visits
    }


def test_in_the_rain_what_is_outdoors_goes_to_another_day(plan: Plan, trip: Trip) -> None:
    parks = [n for n, day in enumerate(plan.days, 1) for visit in day.visits if visit.place.kind in OUTDOORS]
    result, new = changed(plan, trip, Change(rain=(parks[0],)))
    assert not {visit.place.kind for visit in new.days[parks[0] - 1].visits} & OUTDOORS
    assert result.is_whole
    assert any("→ day" in line for line in result.differences)


def test_a_locked_stop_keeps_its_day_and_its_times(plan: Plan, trip: Trip) -> None:
    old = plan.days[0].visits[-1]
    _, new = changed(plan, trip, Change(lock=(old.place.name,), late_min={1: 30}))
    kept = next(visit for visit in new.days[0].visits if visit.place.id == old.place.id)
    assert (kept.arrive, kept.leave) == (old.arrive, old.leave)


def test_a_locked_stop_that_nobody_can_reach_in_time_is_told_to_be_left_out(plan: Plan, trip: Trip) -> None:
    first = plan.days[0].visits[0].place.name
    change = Change(lock=(first,), late_min={1: 240})
    result = answered(changed_plan(plan, trip, change), is_local=True)
    assert first in [item.place for item in result.draft.left_out]
    assert not result.is_whole


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Change(drop=("Louvre",)), "no stop of the plan"),
        (Change(rain=(3,)), "no day 3"),
        (Change(lock=("Kiasma",), drop=("Kiasma",)), "both locked and dropped"),
    ],
)
def test_a_change_that_means_nothing_is_refused(plan: Plan, trip: Trip, change: Change, words: str) -> None:
    with pytest.raises(BadArgument, match=words):
        answered(changed_plan(plan, trip, change), is_local=True)
