"""Rules of TravelPlanner on the 180 plans that its authors published, and on its training tasks."""

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.errors import SpecError
from gnomon_trips.benchmarks.travelplanner import official
from gnomon_trips.benchmarks.travelplanner.loader import LEVELS, read_tasks
from gnomon_trips.benchmarks.travelplanner.official import judge_officially
from gnomon_trips.benchmarks.travelplanner.query import level_of, read_query
from gnomon_trips.sandbox.rules import faults_of_days, judge
from gnomon_trips.sandbox.scheduler import find_trip


@pytest.fixture(scope="module")
def plans(travelplanner_dir: Path) -> list[list[dict[str, Any]]]:
    lines = (travelplanner_dir / "example_evaluation.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert len(records) == 180
    return [record["plan"] for record in records if record.get("plan")]


def counts(plans: list[list[dict[str, Any]]]) -> tuple[int, int, int, int]:
    rules = ("diverse_restaurants", "transport_conflict", "diverse_attractions")
    kept = [sum(not faults_of_days(days)[rule] for days in plans) for rule in rules]
    return len(plans), kept[0], kept[1], kept[2]


def test_the_strict_rules_find_more_than_the_official_functions(plans: list[list[dict[str, Any]]]) -> None:
    """One restaurant twice under two spellings; rental cars, buses and two kinds in one text in 27 plans."""
    assert counts(plans) == (161, 141, 102, 161)
    rules = (
        ("diverse_restaurants", official.restaurants_differ),
        ("transport_conflict", official.transport_agrees),
        ("diverse_attractions", official.attractions_differ),
    )
    for days in plans:
        strict = faults_of_days(days)
        assert all(strict[rule] for rule, released in rules if released(days))


@pytest.mark.parametrize(
    ("field", "value", "changed"),
    [
        ("dinner", lambda days: days[0]["lunch"], (161, 140, 102, 161)),
        ("transportation", lambda _: "-", (161, 141, 101, 161)),
    ],
)
def test_one_altered_plan_alters_the_counts(
    field: str, value: Any, changed: tuple[int, ...], plans: list[list[dict[str, Any]]]
) -> None:
    altered = copy.deepcopy(plans)
    sound = next(days for days in altered if not any(faults_of_days(days).values()))
    sound[0][field] = value(sound)
    assert counts(altered) == changed


def test_no_plan_is_none_delivered(plans: list[list[dict[str, Any]]]) -> None:
    assert not any(official.is_delivered(plan) for plan in (None, []))
    assert all(plans)


def test_the_benchmarks_official_rules_give_the_counts(plans: list[list[dict[str, Any]]]) -> None:
    rules = (official.restaurants_differ, official.transport_agrees, official.attractions_differ)
    assert [sum(rule(days) is None for days in plans) for rule in rules] == [142, 129, 161]


def test_all_published_queries_but_one_are_read(travelplanner_dir: Path) -> None:
    lines = (travelplanner_dir / "example_evaluation.jsonl").read_text(encoding="utf-8").splitlines()
    levels = Counter[str]()
    for record in map(json.loads, lines):
        if record["idx"] == 124:  # “we”, without a number
            with pytest.raises(SpecError, match="people"):
                read_query(record["query"])
            continue
        needs = read_query(record["query"])
        number = record["idx"] - 1
        assert (needs.days, needs.cities) == ((3, 1), (5, 2), (7, 3))[number % 60 // 20]
        assert level_of(needs) == LEVELS[number // 60]
        levels[level_of(needs)] += 1
    assert levels == {"easy": 60, "medium": 60, "hard": 59}


def test_people_and_planner_on_the_training_tasks(travelplanner_dir: Path) -> None:
    tasks, faults = read_tasks(travelplanner_dir / "train.jsonl")
    assert (len(tasks), faults) == (30, [])
    for task in tasks:
        number = int(task.sample_id) - 1
        assert (task.needs.days, task.needs.cities) == ((3, 1), (5, 2), (7, 3))[number % 15 // 5]
        assert task.level == LEVELS[number // 15]
        found = find_trip(task.sandbox)
        assert found.days is not None
        assert judge(found.days, task.sandbox).final_pass
        assert judge_officially(found.days, task.sandbox).final_pass
        assert task.people_plan is not None
        faults_of = judge(task.people_plan, task.sandbox).faults
        assert set(faults_of) == ({"in_sandbox", "in_current_city"} if task.sample_id == "42" else set())
