"""What the planner calls proven is so: beside every plan over a few places, tried one by one."""

from collections import Counter

import pytest

from gnomon_trips.itinerary.draft import plan_of
from gnomon_trips.itinerary.kept_free import is_kept_free
from gnomon_trips.itinerary.planning import find_plan
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.verify.verify import verify_plan
from packages.trips.tests.itinerary.plane import drawn_trip, has_plan

PARTS, SOAK_PARTS, A_PART = 1, 15, 16


@pytest.mark.parametrize(
    "part",
    [pytest.param(part, marks=pytest.mark.soak if part >= PARTS else ()) for part in range(SOAK_PARTS)],
)
def test_a_refusal_said_proven_is_never_wrong_and_hardly_a_plan_is_missed(part: int) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(part * A_PART, (part + 1) * A_PART):
        trip = drawn_trip(seed)
        found = answered(find_plan(trip), is_local=True)
        is_possible = has_plan(trip)
        if found.draft.status == "planned":
            plan = answered(plan_of(found.draft, trip), is_local=True)
            faults = answered(verify_plan(plan, trip), is_local=True)[1].violations
            assert not [fault for fault in faults if fault.severity == "error"], seed
            is_free = any(is_kept_free(visit.place.id) for day in plan.days for visit in day.visits)
            assert is_possible or is_free, seed
            outcomes["time kept free" if is_free else "planned"] += 1
        elif found.search.is_proven:
            assert not is_possible, (seed, found.draft.conflict)
            outcomes["proven"] += 1
        else:
            outcomes["missed"] += is_possible
    assert outcomes["planned"] + outcomes["time kept free"] >= 2, outcomes
    assert outcomes["proven"] >= 2, outcomes
    assert outcomes["missed"] <= 1
