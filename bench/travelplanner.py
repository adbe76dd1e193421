"""What the planner, people and greedy rules reach on TravelPlanner: `python -m bench.travelplanner DATA`.

DATA is the folder with `train.jsonl` and, if it is there, `example_evaluation.jsonl`. The planner is run on
every task, and again with a budget of a dollar less than the least cost: each of these must be refused with
a proof, as a plan of the least cost is found with a budget of exactly that.
"""

import argparse
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gnomon.benchmarks.travelplanner.floors import first_listed_plan, greedy_plan
from gnomon.benchmarks.travelplanner.loader import TravelTask, find_file, read_tasks
from gnomon.benchmarks.travelplanner.official import (
    attractions_differ,
    is_delivered,
    restaurants_differ,
    transport_agrees,
)
from gnomon.benchmarks.travelplanner.query import read_query
from gnomon.benchmarks.travelplanner.scoring import paper_rates, score_plan, score_response
from gnomon.core.benchmark import Scoring
from gnomon.core.errors import SpecError
from gnomon.core.score import Score
from tools.sandbox.plan import Days
from tools.sandbox.record import TravelSandbox
from tools.sandbox.rules import judge
from tools.sandbox.scheduler import FoundTrip, find_trip

SCORINGS: tuple[Scoring, ...] = ("strict", "official")


def main() -> None:
    """Print the figures of docs/benchmarks/travelplanner.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data: Path = parser.parse_args().data
    tasks, faults = read_tasks(find_file(data))
    print(f"{len(tasks)} tasks, {len(faults)} unreadable rows")
    _planner(tasks)
    _tightened(tasks)
    _plans("greedy by cost", {task.sample_id: greedy_plan(task.sandbox) for task in tasks}, tasks)
    _plans("first listed", {task.sample_id: first_listed_plan(task.sandbox) for task in tasks}, tasks)
    _plans("people", {task.sample_id: task.people_plan for task in tasks}, tasks)
    _people(tasks)
    examples = data / "example_evaluation.jsonl"
    if examples.is_file():
        _published([json.loads(line) for line in examples.read_text(encoding="utf-8").splitlines()])


def _planner(tasks: list[TravelTask]) -> None:
    plans: dict[str, Days | None] = {}
    seconds: list[float] = []
    proven = unknown = 0
    for task in tasks:
        trip, took_s = _timed(task.sandbox)
        plans[task.sample_id] = trip.days
        seconds.append(took_s)
        proven += trip.days is None and trip.is_proven
        unknown += trip.days is None and not trip.is_proven
    refused = f"{proven} proven infeasible, {unknown} not known"
    print(f"planner: {refused}; slowest {max(seconds):.2f} s, all {sum(seconds):.2f} s")
    _plans("planner", plans, tasks)


def _tightened(tasks: list[TravelTask]) -> None:
    planned = refused = 0
    for task in tasks:
        least_usd = _with_budget(task.sandbox, 0).cost_usd or 0
        planned += _with_budget(task.sandbox, least_usd).cost_usd == least_usd
        below = _with_budget(task.sandbox, least_usd - 1)
        refused += below.days is None and below.is_proven
    print(f"budget at the least cost: {planned} of {len(tasks)} planned at exactly that cost")
    print(f"budget a dollar lower: {refused} of {len(tasks)} refused with a proof")


def _with_budget(sandbox: TravelSandbox, budget_usd: int) -> FoundTrip:
    return find_trip(replace(sandbox, needs=replace(sandbox.needs, budget_usd=budget_usd), _rows={}))


def _timed(sandbox: TravelSandbox) -> tuple[FoundTrip, float]:
    start = time.perf_counter()
    trip = find_trip(sandbox)
    return trip, time.perf_counter() - start


def _plans(name: str, plans: Mapping[str, Days | None], tasks: list[TravelTask]) -> None:
    for scoring in SCORINGS:
        scores = [_scored(task, plans[task.sample_id], scoring) for task in tasks]
        rates = paper_rates(score.metrics for score in scores)
        passed = sum(score.value == 1 for score in scores)
        words = ", ".join(f"{rate} {value:.1%}" for rate, value in rates.items())
        print(f"{name}, {scoring}: {passed} of {len(tasks)} pass; {words}")


def _scored(task: TravelTask, days: Days | None, scoring: Scoring) -> Score:
    if days is None:
        return score_response(task.sandbox, "", scoring=scoring)
    return score_plan(task.sandbox, days, scoring=scoring)


def _people(tasks: list[TravelTask]) -> None:
    for task in tasks:
        if task.people_plan is None:
            continue
        for rule, words in judge(task.people_plan, task.sandbox).faults.items():
            for fault in words:
                print(f"  people, task {task.sample_id}: {rule}: {fault}")


def _published(records: list[dict[str, Any]]) -> None:
    delivered = [record["plan"] for record in records if is_delivered(record["plan"])]
    rules = (restaurants_differ, attractions_differ, transport_agrees)
    passed = [sum(rule(days) is None for days in delivered) for rule in rules]
    counts = f"restaurants {passed[0]} pass, attractions {passed[1]}, transport {passed[2]}"
    print(f"published plans: {len(delivered)} of {len(records)} delivered; {counts}")
    unread = []
    for record in records:
        try:
            read_query(record["query"])
        except SpecError as error:
            unread.append(f"{record['idx']} ({error})")
    print(f"published queries read: {len(records) - len(unread)} of {len(records)}; not: {', '.join(unread)}")


if __name__ == "__main__":
    main()
