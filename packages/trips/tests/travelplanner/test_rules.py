"""Each rule names its faults, strictly and as the released code has it."""

import copy
import json
from importlib.resources import files
from typing import Any

import pytest

from gnomon_trips.benchmarks.travelplanner.loader import TravelTask, task_of
from gnomon_trips.benchmarks.travelplanner.official import OfficialRaisesError, judge_officially
from gnomon_trips.benchmarks.travelplanner.scoring import score_plan
from gnomon_trips.sandbox.rules import COMMONSENSE, HARD, cost_lines, judge
from tests.published_trips import GOOD_COST_USD, GOOD_PLAN, rows

Plan = list[dict[str, Any]]


QUIRKS = json.loads(files("gnomon_trips.benchmarks.travelplanner").joinpath("quirks.json").read_bytes())


def task(number: int = 0, **more: Any) -> TravelTask:
    return task_of({**rows()[number], **more})


def changed(*changes: tuple[int, str, str]) -> Plan:
    """The good plan with fields of some days, counted from 1, replaced."""
    plan = copy.deepcopy(GOOD_PLAN)
    for number, field, text in changes:
        plan[number - 1][field] = text
    return plan


def with_query(old: str, new: str) -> TravelTask:
    row = rows()[0]
    return task_of({**row, "query": row["query"].replace(old, new)})


def test_a_good_plan_keeps_every_rule_and_costs_what_it_costs() -> None:
    sandbox = task().sandbox
    assert judge(GOOD_PLAN, sandbox).faults == {}
    assert judge(GOOD_PLAN, sandbox).final_pass
    assert judge_officially(GOOD_PLAN, sandbox).final_pass
    assert sum(line.cost_usd for line in cost_lines(GOOD_PLAN, sandbox)) == GOOD_COST_USD


def test_rooms_cars_and_meals_are_for_all_people() -> None:
    sandbox = with_query("for one person", "for 6 people").sandbox
    costs = {line.item.split(":")[0]: line.cost_usd for line in cost_lines(GOOD_PLAN, sandbox)}
    assert costs["lodging"] == 3 * 100  # two to a room
    assert costs["Flight Number"] == 6 * 100
    assert costs["dinner"] in (6 * 10, 6 * 13)
    by_car = changed((1, "transportation", "Taxi, from Amberlow to Brine"))
    assert cost_lines(by_car, sandbox)[0].cost_usd == 2 * 300  # four to a taxi
    by_car = changed((1, "transportation", "Self-driving, from Amberlow to Brine"))
    assert cost_lines(by_car, sandbox)[0].cost_usd == 2 * 30  # five to a car


BROKEN: list[tuple[str, Plan]] = [
    ("in_sandbox", changed((2, "lunch", "Nowhere Inn, Brine"))),
    (
        "in_sandbox",
        changed((2, "accommodation", "Brine Hotel, Brine"), (1, "accommodation", "Brine Hotel, Brine")),
    ),
    ("in_sandbox", changed((1, "transportation", "Flight Number: F9999999, from Amberlow to Brine"))),
    ("complete", changed((2, "lunch", "-"))),
    ("complete", changed((2, "attraction", "-"))),
    ("complete", changed((1, "accommodation", "-"))),
    ("complete", GOOD_PLAN[:2]),
    ("in_current_city", changed((1, "dinner", "Diner, Calder"))),
    ("city_route", changed((3, "current_city", "Brine"))),
    ("city_route", changed((1, "current_city", "from Calder to Brine"))),
    ("diverse_restaurants", changed((2, "lunch", "Brine Diner 1, Brine"))),
    ("diverse_attractions", changed((2, "attraction", "Brine Castle, Brine;"))),
    ("transport_conflict", changed((1, "transportation", "Self-driving, from Amberlow to Brine"))),
    (
        "minimum_nights",
        changed((1, "accommodation", "Brine Cheap, Brine"), (2, "accommodation", "Brine Cheap, Brine")),
    ),
]


@pytest.mark.parametrize(("rule", "plan"), BROKEN)
def test_a_broken_rule_is_named_by_both(rule: str, plan: Plan) -> None:
    sandbox = task().sandbox
    assert rule in judge(plan, sandbox).faults
    assert rule in judge_officially(plan, sandbox).faults


@pytest.mark.parametrize(
    ("rule", "new", "plan"),
    [
        ("budget", "$400", GOOD_PLAN),
        ("house_rule", "$1,000. We need to smoke", GOOD_PLAN),
        ("room_type", "$1,000. Private rooms only: private rooms", GOOD_PLAN),
        ("cuisine", "$1,000. I love French food", GOOD_PLAN),
        ("transport", "$1,000. Please avoid flights", GOOD_PLAN),
    ],
)
def test_a_broken_wish_is_named_by_both(rule: str, new: str, plan: Plan) -> None:
    sandbox = with_query("$1,000", new).sandbox
    for judgement in (judge(plan, sandbox), judge_officially(plan, sandbox)):
        assert set(judgement.faults) == {rule}
        assert not judgement.final_pass


SILENT: list[tuple[str, Plan]] = [  # what the released code lets pass
    ("in_current_city", changed((1, "transportation", "Taxi, from Brine to Amberlow"))),
    ("in_sandbox", changed((2, "lunch", "Diner 2, Brine"))),
    ("in_sandbox", changed((2, "attraction", "Nowhere, Brine"))),
    ("in_sandbox", changed((1, "transportation", "Bus, from Amberlow to Brine"))),
    ("complete", [*GOOD_PLAN, {**GOOD_PLAN[1], "days": 4}]),
    ("in_current_city", changed((2, "attraction", "Green Rib, Elsewhere;"))),
    ("diverse_attractions", changed((2, "attraction", "Brine Castle, Brine"))),
    ("diverse_restaurants", changed((2, "lunch", "Brine  Diner 1, Brine"))),
    ("minimum_nights", changed(*((day, "accommodation", "Brine Cheap, Brine") for day in (1, 2, 3)))),
]


@pytest.mark.parametrize(("rule", "plan"), SILENT)
def test_what_the_released_code_lets_pass_is_a_fault_and_named_as_such(rule: str, plan: Plan) -> None:
    sandbox = task().sandbox
    assert rule in judge(plan, sandbox).faults
    assert rule not in judge_officially(plan, sandbox).faults
    assert f"released_code_passes:{rule}" in score_plan(sandbox, plan, scoring="strict").flags
    assert QUIRKS[rule]


def test_parties_are_never_checked_by_the_released_code() -> None:
    row = rows()[0]
    reference = copy.deepcopy(row["reference_information"])
    for lodging in reference["Accommodations in Brine"]:
        lodging["house_rules"] = "No parties"
    sandbox = task_of(
        {**row, "query": row["query"] + " Parties must be allowed.", "reference_information": reference}
    ).sandbox
    assert set(judge(GOOD_PLAN, sandbox).faults) == {"house_rule"}
    assert judge_officially(GOOD_PLAN, sandbox).final_pass
    assert "released_code_passes:plan" in score_plan(sandbox, GOOD_PLAN, scoring="strict").flags


def test_a_flight_of_another_day_is_not_in_the_sandbox() -> None:
    row = rows()[0]
    sandbox = task_of({**row, "query": row["query"].replace("1st", "2nd").replace("3rd", "4th")}).sandbox
    assert "in_sandbox" in judge(GOOD_PLAN, sandbox).faults
    assert judge_officially(GOOD_PLAN, sandbox).final_pass


def test_wishes_are_not_judged_while_something_is_unknown() -> None:
    sandbox = with_query("$1,000", "$1").sandbox
    judgement = judge(changed((2, "lunch", "Nowhere Inn, Brine")), sandbox)
    assert judgement.hard_passed == 0
    assert not judgement.hard_pass
    assert judgement.commonsense_passed == len(COMMONSENSE) - 1


def test_a_plan_on_which_the_released_code_stops_scores_0_and_says_so() -> None:
    sandbox = task().sandbox
    plan = [{"current_city": "Brine"}]
    with pytest.raises(OfficialRaisesError):
        judge_officially(plan, sandbox)
    score = score_plan(sandbox, plan, scoring="official")
    assert (score.value, score.flags) == (0.0, ("official_raises:KeyError",))


def test_every_rule_has_its_quirks_named() -> None:
    assert set(QUIRKS) == {*COMMONSENSE, *HARD}
