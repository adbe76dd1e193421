"""Requests name days that end past midnight, a place twice, and a first day that may move."""

import datetime as dt
import json
from dataclasses import replace
from typing import Any

import pytest

from gnomon_trips.benchmarks.itinerary.brief import request_task
from gnomon_trips.benchmarks.itinerary.prompt import rules
from gnomon_trips.benchmarks.itinerary.scoring import score
from gnomon_trips.export.page import to_markdown
from gnomon_trips.export.plan_check import check_plan
from gnomon_trips.export.result import result_of
from gnomon_trips.itinerary.assumptions import assumptions
from gnomon_trips.itinerary.errors import BadArgument, NoSuchPlace
from gnomon_trips.itinerary.later_visits import details_of
from gnomon_trips.itinerary.plan import Plan
from gnomon_trips.itinerary.planning import find_plan
from gnomon_trips.itinerary.problem import problem_of
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.request import Meal, read_request
from gnomon_trips.service.requests import past_day

ASKED: dict[str, Any] = {
    "area": "helsinki",
    "start_date": "2027-06-10",
    "hotel": "Hotelli Torni",
    "places": ["Kiasma"],
    "prefer": "early_end",
}


def planned(**fields: Any) -> tuple[Plan, dict[str, Any]]:
    """The plan of a request as it is stored, after it was verified."""
    task = request_task({**ASKED, **fields})
    draft = answered(find_plan(task.trip), is_local=True).draft
    stored = json.loads(score(task, draft.model_dump_json(exclude_defaults=True)).answer)
    return Plan.model_validate(stored["plan"]), stored


def stops(plan: Plan) -> list[list[tuple[str, str]]]:
    return [[(visit.place.name, visit.arrive) for visit in day.visits] for day in plan.days]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"window": {"start": "10:00", "end": "08:00"}}, "past midnight 06:00 is the latest"),
        (
            {"days": 2, "windows": [{"start": "20:00", "end": "05:00"}, {"start": "04:00"}]},
            "day 1 ends after",
        ),
        ({"latest_start": "2027-06-09"}, "latest_start: -1 days after start_date; allowed: 0 to 31"),
        ({"places": ["Kiasma", "Kiasma"]}, "'Kiasma' stands 2 times in 1 days"),
        ({"fixed": [{"place": "Kiasma", "start": "11:00"}] * 2}, "places must name it once for each"),
        (
            {"rules": {"price": {"temple": 500}}},
            "rules.price: .*'temple' is no kind .* has 'place_of_worship'",
        ),
        ({"rules": {"dwell_min": {"museums": 60}}}, "rules.dwell_min: .* has 'museum'"),
    ],
)
def test_days_that_cannot_be_are_refused_with_the_field(fields: dict[str, Any], fault: str) -> None:
    with pytest.raises(BadArgument, match=fault):
        read_request({**ASKED, **fields})


def test_a_meal_is_had_on_the_days_that_have_its_hours() -> None:
    windows = [{"start": "15:30", "end": "22:00"}, {"start": "09:00", "end": "12:00"}]
    dinner = {"name": "dinner", "start": "18:00", "end": "21:00"}
    plan, stored = planned(days=2, windows=windows, meals=[dinner])
    assert plan.status == "planned"
    assert [sum(visit.why == "dinner" for visit in day.visits) for day in plan.days] == [1, 0]
    assert "Day 2 has no dinner: its hours end before it or begin after it." in plan.assumptions
    assert (stored["violations"], stored["unchecked"]) == ([], [])
    without = request_task({**ASKED, "days": 2, "windows": windows, "meals": [dinner]})
    empty = json.loads(score(without, '{"days": [{"visits": []}, {"visits": []}]}').answer)
    assert [one["path"] for one in empty["violations"] if one["code"] == "MEAL_WINDOW"] == ["days.0"]
    refused, _ = planned(window={"start": "09:00", "end": "12:00"}, meals=[dinner])
    assert "meal:dinner" in refused.conflict


def test_what_a_plan_says_of_wishes_and_children_is_checked() -> None:
    plan, stored = planned(wishes=["playground"], preferences={"children": True})
    assert any(visit.why == "a playground, as wished" for visit in plan.days[0].visits)
    assert any("suits children" in line for line in plan.assumptions)
    assert not {entry["code"] for entry in stored["unchecked"]} & {"WHY", "ASSUMED"}


def test_free_hours_past_midnight_are_those_of_the_next_day() -> None:
    plan, _ = planned(window={"start": "12:00", "end": "02:00"}, prefer=None)
    assert [line for line in plan.assumptions if line.startswith("Day 1 is free") and "24:" in line] == []


def test_what_is_left_out_of_a_stored_plan_is_missed() -> None:
    _, stored = planned(places=["Kiasma", "Nowhere Hall"])
    plan = result_of(json.dumps({**stored, "violations": []})).as_json()
    assert [entry["place"] for entry in plan["plan"]["skipped"]] == ["Nowhere Hall"]
    assert plan["request"]["places"] == ["Kiasma", "Nowhere Hall"]
    plan["plan"]["skipped"] = []
    assert "SKIPPED" in {check.code for check in check_plan(plan).checks if check.state == "fails"}


def test_a_plan_may_begin_on_any_day_that_its_request_allows() -> None:
    _, later = planned(places=["Kiasma"], start_date="2027-06-11")
    asked = {**ASKED, "latest_start": "2027-06-12"}
    states = {check.code: check.state for check in check_plan(later, asked).checks}
    assert states["DATE"] == "holds"
    assert not [code for code, state in states.items() if state == "fails"]
    _, chosen = planned(latest_start="2027-06-12")
    chosen["plan"]["assumptions"] = chosen["plan"]["assumptions"][:-1]
    assert "ASSUMED" in {check.code for check in check_plan(chosen).checks if check.state == "fails"}


def test_a_meal_may_end_past_midnight() -> None:
    dinner = Meal(name="dinner", start="22:30", end="00:30")
    assert dinner.is_had(23 * 60 + 40, 24 * 60 + 30)
    assert not dinner.is_had(21 * 60, 23 * 60)


def test_a_place_named_twice_is_visited_on_two_days() -> None:
    plan, stored = planned(places=["Kiasma", "Ateneum", "Kiasma"], days=2)
    days = [{name for name, _ in day} for day in stops(plan)]
    assert sorted(name for day in days for name in day) == ["Ateneum", "Kiasma", "Kiasma (2)"]
    assert not any({"Kiasma", "Kiasma (2)"} <= day for day in days)
    assert stored["violations"] == []
    assert not [check.code for check in check_plan(stored).checks if check.state == "fails"]
    task = request_task({**ASKED, "places": ["Kiasma", "Kiasma"], "days": 2})
    visits = [
        {"place": "Kiasma", "arrive": start, "leave": end}
        for start, end in (("11:00", "12:30"), ("13:00", "14:30"))
    ]
    same_day = json.loads(score(task, json.dumps({"days": [{"visits": visits}, {"visits": []}]})).answer)
    assert {fault["code"] for fault in same_day["violations"]} == {"DUPLICATE"}


def test_time_to_eat_may_be_near_a_later_visit() -> None:
    asked = {"area": "japan", "mode": "rail", "hotel": "Kyoto Station", "days": 2}
    plan, stored = planned(**asked, places=["Gion", "Gion"], meals=[{"name": "lunch"}])
    assert stored["violations"] == []
    assert sum(visit.why == "lunch" for day in plan.days for visit in day.visits) == 2


def test_a_part_of_the_places_has_visits_apart_too() -> None:
    trip = request_task({**ASKED, "places": ["Kiasma", "Ateneum", "Kiasma"], "days": 2}).trip
    problems = [answered(problem_of(trip, trip.places()[:n]), is_local=True) for n in (1, 2, 3)]
    assert [problem.apart() for problem in problems] == [(), (), ((0, 2),)]


def test_an_id_of_no_number_is_no_place() -> None:
    with pytest.raises(NoSuchPlace):
        answered(details_of(embedded("helsinki"), "again:²:helsinki/n1"), is_local=True)


def test_visits_with_set_times_may_be_on_one_day_and_past_midnight() -> None:
    place = "Vin-Vin"
    fixed = [{"place": place, "start": "18:30"}, {"place": place, "start": "00:15"}]
    window = {"start": "18:00", "end": "02:00"}
    plan, stored = planned(places=[place, place], fixed=fixed, window=window, start_date="2027-06-11")
    assert stops(plan) == [[(place, "18:30"), (f"{place} (2)", "24:15")]] or plan.status == "refused"
    assert stored["violations"] == []


def test_nights_count_at_the_price_that_the_rules_give_a_hotel() -> None:
    rules = {"price": {"museum": 10, "hotel": 60}}
    fields = {"days": 2, "party": 2, "places": ["Kiasma", "Ateneum"], "rules": rules}
    plan, stored = planned(**fields, budget={"amount": 160, "currency": "EUR"})
    assert plan.totals.cost is not None
    assert plan.totals.cost.amount == 2 * (10 + 10 + 60)
    assert not [entry for entry in stored["unchecked"] if entry["path"].endswith("night")]
    too_dear, _ = planned(**fields, budget={"amount": 159, "currency": "EUR"})
    assert (too_dear.status, too_dear.conflict) == ("refused", ("budget",))
    stored["plan"]["days"][0]["night"]["cost"]["currency"] = "USD"
    assert "COST_CLAIM" in {check.code for check in check_plan(stored).checks if check.state == "fails"}
    stored["plan"]["days"][0]["night"]["cost"] = {"amount": 100, "currency": "EUR"}
    place = next(key for key, own in stored["contacts"].items() if "phone" in own)
    stored["contacts"][place]["phone"] = "+1 555"
    failing = {check.code for check in check_plan(stored).checks if check.state == "fails"}
    assert {"COST_CLAIM", "EVIDENCE"} <= failing


def test_a_ward_that_stands_for_a_hotel_is_told_first() -> None:
    fields = {"area": "japan", "mode": "rail", "hotel": "Shinjuku-ku", "places": ["Tokyo Tower"]}
    trip = request_task({**ASKED, **fields}).trip
    assert assumptions(trip)[0].startswith(
        "'Shinjuku-ku' is a municipality, whose middle stands for the hotel"
    )


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"fixed": [{"place": "Kiasma", "start": "11:00"}]}, "in a conflict that is fixed:PLACE."),
        ({"avoid": ["museum"]}, "What `places` names is visited, though its kind or chain is to be avoided."),
    ],
)
def test_a_model_is_told_of_rules_that_few_requests_need(fields: dict[str, Any], line: str) -> None:
    told, plain = (rules(request_task({**ASKED, **more})) for more in (fields, {}))
    assert line in told
    assert set(plain.splitlines()) < set(told.splitlines())


def test_a_quarter_that_stands_for_a_hotel_is_told_before_the_days() -> None:
    _, stored = planned(hotel="Kluuvi")
    told = to_markdown(result_of(json.dumps(stored)))
    assert told.count("whose middle stands for the hotel") == 1
    assert told.index("whose middle stands for the hotel") < told.index("## Day 1")


def test_a_wish_for_what_is_to_be_avoided_is_left_out_with_that_reason_and_is_no_fault() -> None:
    plan, stored = planned(wishes=["church"], avoid=["churches"])
    assert [(left.place, left.reason) for left in plan.skipped] == [("church", "a church is to be avoided")]
    assert not [fault for fault in stored["violations"] if fault["severity"] == "error"]


@pytest.mark.parametrize("form", ["order", "graph"])
@pytest.mark.parametrize(
    ("reply", "why"), [("", "the answer is empty"), ("See Kiasma.", "there is no {} in the answer")]
)
def test_silence_and_words_without_an_answer_are_told_apart(form: Any, reply: str, why: str) -> None:
    task = replace(request_task(ASKED), form=form)
    assert score(task, reply).flags == (f"not_delivered: {why.format(form)}",)


def test_the_first_day_moves_to_when_the_places_are_open() -> None:
    fields = {"places": ["Kiasma", "Ateneum"], "start_date": "2027-06-07", "latest_start": "2027-06-12"}
    plan, stored = planned(**fields)  # both are closed on Mondays
    assert plan.days[0].date == dt.date(2027, 6, 8)
    assert "The first day is Tuesday 8 June: 2 of 2 places can be visited" in " ".join(plan.assumptions)
    assert not [check.code for check in check_plan(stored).checks if check.state == "fails"]


def test_a_first_day_leaves_a_day_for_each_visit_to_a_place() -> None:
    """Amos Rex is closed on Tuesdays."""
    fields = {"days": 2, "places": ["Amos Rex", "Amos Rex"], "start_date": "2027-07-13"}
    trip = request_task({**ASKED, **fields, "latest_start": "2027-07-18"}).trip
    assert trip.request.start_date == dt.date(2027, 7, 14)


def test_a_first_day_that_is_past_is_told_though_it_may_move() -> None:
    assert (
        past_day({"start_date": "2020-01-02", "latest_start": "2999-01-01"})
        == "start_date: 2020-01-02 is past"
    )
    assert past_day({"start_date": "2999-01-01"}) == ""
