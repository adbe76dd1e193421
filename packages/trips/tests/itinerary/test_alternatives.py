"""What can be served instead of a refused request: planned and verified before it is named."""

import datetime as dt
from typing import Any

import pytest

from gnomon_trips.benchmarks.itinerary.brief import request_task
from gnomon_trips.benchmarks.itinerary.scoring import score
from gnomon_trips.export.result import result_of
from gnomon_trips.itinerary.alternatives import Alternatives, nearest_requests
from gnomon_trips.itinerary.draft import DraftPlan, plan_of
from gnomon_trips.itinerary.planning import find_plan
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.verify.verify import verify_plan

MONDAY: dict[str, Any] = {
    "area": "helsinki",
    "start_date": "2026-06-08",
    "hotel": "Hotelli Torni",
    "places": ["Kiasma", "Kampin kappeli"],
}


def instead_of(request: dict[str, Any]) -> Alternatives:
    trip = request_task(request).trip
    found = answered(find_plan(trip, seconds=5), is_local=True)
    assert found.draft.status == "refused"
    return answered(nearest_requests(trip, found.draft.conflict), is_local=True)


def test_a_closed_museum_is_named_with_the_next_day_and_the_trip_without_it() -> None:
    nearest = instead_of(MONDAY)
    assert nearest.words == (
        "Kiasma is closed on Mondays; the trip works from Tuesday 9 June, or without Kiasma, or with 2 days."
    )
    assert nearest.tried[0].change == {"start_date": "2026-06-09"}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"places": ["Ateneum", "Kiasma", "Amos Rex"], "max_walk_m": 1500}, "km on foot a day"),
    ({"places": ["Ateneum"], "party": 5, "rooms": 2}, "the trip works with 3 rooms."),
    ({"places": ["Ateneum"], "avoid": ["Ateneum"]}, "the trip works if Ateneum may be visited."),
    (
        {"places": ["Ateneum"], "fixed": [{"place": "Ateneum", "start": "09:30"}]},
        "Ateneum is to be visited at 09:30; the trip works if Ateneum may be visited at another time.",
    ),
    (
        {"places": ["Ateneum", "Kiasma"], "order": [["Ateneum", "Kiasma"], ["Kiasma", "Ateneum"]]},
        "without “Ateneum before Kiasma”, or without Kiasma.",
    ),
    (
        {
            "places": ["Ateneum"],
            "budget": {"amount": 10, "currency": "EUR"},
            "rules": {"price": {"museum": 15}},
        },
        "The budget is 10.00 EUR; the trip works with a budget of 15.00 EUR.",
    ),
]


@pytest.mark.parametrize(("fields", "words"), REFUSED)
def test_each_constraint_is_loosened_in_its_own_way_and_what_is_named_holds(
    fields: dict[str, Any], words: str
) -> None:
    request = {**MONDAY, "start_date": "2026-06-10", **fields}
    nearest = instead_of(request)
    assert words in nearest.words
    served = [attempt for attempt in nearest.tried if attempt.is_served]
    assert served
    for attempt in served:
        trip = request_task({**request, **attempt.change}).trip
        found = answered(find_plan(trip, seconds=5), is_local=True)
        plan = answered(plan_of(found.draft, trip), is_local=True)
        assert answered(verify_plan(plan, trip), is_local=True)[1].final_pass


def test_changes_of_a_trip_whose_days_have_their_own_hours_are_requests_that_can_be_posted() -> None:
    request = {
        **MONDAY,
        "start_date": "2026-06-10",
        "days": 2,
        "places": ["Ateneum", "Kiasma", "Amos Rex"],
        "windows": [{"start": "18:00", "end": "19:00"}, {"start": "10:00", "end": "12:00"}],
        "fixed": [{"place": "Ateneum", "start": "10:30", "day": 2}],
    }
    nearest = instead_of(request)
    assert "each day is from 18:00 to 19:00 on day 1 and 10:00 to 12:00 on day 2" in nearest.causes
    kinds = {attempt.kind for attempt in nearest.tried}
    assert {"window", "days"} <= kinds
    for attempt in nearest.tried:
        changed = request_task({**request, **attempt.change}).trip.request
        if attempt.kind == "window":
            assert changed.total_min() > 180
            assert attempt.words == f"with days from {changed.hours_words()}"
        if attempt.kind == "days":
            assert changed.hours(1) == (600, 720)


def test_a_request_that_was_refused_wrongly_is_served_as_it_is() -> None:
    trip = request_task({**MONDAY, "days": 7, "start_date": dt.date(2026, 6, 8).isoformat()}).trip
    nearest = answered(nearest_requests(trip, ["hours:Kiasma"], seconds=0.5), is_local=True)
    assert nearest.words.endswith("the trip works as it was asked for.")


def test_where_nothing_is_known_nothing_is_tried() -> None:
    trip = request_task({**MONDAY, "places": ["Nowhere at all"]}).trip
    nearest = answered(nearest_requests(trip, ["place:Nowhere at all"]), is_local=True)
    assert (nearest.tried, nearest.words) == ((), "")


def test_a_refusal_is_stored_with_what_can_be_served_and_only_an_unproven_one_with_its_part() -> None:
    task = request_task(MONDAY)
    proven = result_of(
        score(task, DraftPlan(status="refused", conflict=["hours:Kiasma"]).model_dump_json()).answer
    )
    assert "the trip works from Tuesday 9 June" in proven.as_json()["alternatives"]["words"]
    assert proven.part is None
    unproven = result_of(
        score(task, DraftPlan(status="refused", conflict=["window"]).model_dump_json()).answer
    )
    assert unproven.part is not None
    (visit,) = unproven.part.plan.days[0].visits
    assert visit.place.name == "Kampin kappeli"
    assert unproven.alternatives["left_out"][0]["place"] == "Kiasma"
    assert unproven.part.open_on(visit, "2026-06-08") != "not known"
