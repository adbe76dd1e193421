"""TravelPlanner as a benchmark plug-in."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

from gnomon.core.benchmark import Benchmark, PromptProtocol, SampleSet, Scoring, reject_variant
from gnomon.core.chosen_samples import ChosenSamples
from gnomon.core.errors import DataError, SpecError
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.plan_row import PlanRow
from gnomon.core.question_view import NO_ANSWER, QuestionView
from gnomon.core.row import Row
from gnomon.core.sample import SHOWABLE, Sample, SampleRef, Shown
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.unique_rows import published_file
from gnomon_tools.core.inputs import Need, held
from gnomon_trips.benchmarks.travelplanner.floors import floors_of
from gnomon_trips.benchmarks.travelplanner.loader import (
    FILE,
    LEVELS,
    TravelTask,
    clusters_of,
    read_tasks,
    task_in,
    task_of,
)
from gnomon_trips.benchmarks.travelplanner.prompt import parts_of
from gnomon_trips.benchmarks.travelplanner.scoring import plan_row, score_plan, score_response
from gnomon_trips.sandbox.record import TravelSandbox


class TravelPlanner(PlainBenchmark):
    """Three levels of trips; a cell is a level, the headline the final pass rate over all tasks."""

    name = "travelplanner"
    version = "1"
    tasks = LEVELS
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_samples"
    provides: tuple[Need, ...] = (TravelSandbox,)
    official_show: tuple[Shown, ...] = (*SHOWABLE, "facts")

    def open(
        self,
        *,
        data: Path | None,
        select: Select,
        protocol: PromptProtocol,
        media: MediaStore,  # noqa: ARG002 (there are no media)
    ) -> SampleSet:
        if data is None:
            raise DataError("travelplanner needs the folder of its published file", field="data")
        select.check(tasks=self.tasks, scenes=self.scenes)
        file = published_file(data, FILE, holds=f"TravelPlanner tasks; expected {FILE}")
        tasks, faults = read_tasks(file)
        clusters = clusters_of(tasks)
        selected = (task for task in tasks if not select.tasks or task.level in select.tasks)
        chosen = select.drawn(selected, lambda task: task.sample_id)
        return ChosenSamples(
            rows={task.sample_id: (_ref(task, clusters[task.sample_id]), task) for task in chosen},
            faults=faults,
            build=partial(_sample, protocol),
        )

    def score(self, sample: Sample, response: str, *, scoring: Scoring, variant: str | None = None) -> Score:
        reject_variant(self.name, variant)
        return score_response(task_in(sample).sandbox, response, scoring=scoring)

    def score_record(
        self, record: Mapping[str, Any], *, scoring: Scoring, variant: str | None = None
    ) -> Score:
        """A published row with `response`, a reply, or `plan`, the days as published."""
        reject_variant(self.name, variant)
        if "response" not in record and "plan" not in record:
            raise SpecError("a record needs 'response' or 'plan'; it may be null", field="response")
        sandbox = task_of({"idx": record.get("id", "record"), **record}).sandbox
        plan = record.get("plan")
        if isinstance(plan, list) and plan and all(isinstance(day, Mapping) for day in plan):
            return score_plan(sandbox, plan, scoring=scoring)
        return score_response(sandbox, record.get("response"), scoring=scoring)

    def heuristic_scores(self, sample: Sample) -> Mapping[str, float]:
        return floors_of(task_in(sample).sandbox)

    def plan_row(self, row: Row) -> PlanRow:
        return plan_row(row)

    def question_view(self, sample: Sample) -> QuestionView:
        task, needs = task_in(sample), task_in(sample).needs
        wishes = {
            "Cuisines": ", ".join(needs.cuisines),
            "Room type": needs.room_type or "",
            "House rule": needs.house_rule or "",
            "Transport": needs.transport or "",
        }
        return QuestionView(
            question=task.query,
            truth_text="Any plan that keeps every rule.",
            facts={
                "Trip": f"{needs.origin} to {needs.destination}, {needs.days} days from {needs.start_date}",
                "People": str(needs.people),
                "Budget": f"${needs.budget_usd:,}",
                **{name: wish for name, wish in wishes.items() if wish},
            },
        )

    def verdict_in_words(
        self,
        sample: Sample,
        answer: str,
        metrics: Mapping[str, float | str | None],  # noqa: ARG002 (the answer says it all)
    ) -> str:
        try:
            result = json.loads(answer)
            faults, cost = result["faults"], f"${result['cost_usd']:,} of ${result['budget_usd']:,}"
        except (ValueError, KeyError, TypeError):
            scored = score_response(task_in(sample).sandbox, answer, scoring="strict")
            return self.verdict_in_words(sample, scored.answer, {}) if scored.answer else NO_ANSWER
        if not faults:
            return f"Every rule that applies is kept; the plan costs {cost}."
        words = "; ".join(f"{rule.replace('_', ' ')} ({first[0]})" for rule, first in faults.items() if first)
        return f"The plan breaks {words}."


def _sample(protocol: PromptProtocol, ref: SampleRef, task: TravelTask) -> Sample:
    return Sample(ref=ref, parts=parts_of(task, protocol), target={"task": task}, inputs=held(task.sandbox))


def _ref(task: TravelTask, cluster: str) -> SampleRef:
    return SampleRef(sample_id=task.sample_id, task=task.level, cell=task.level, cluster=cluster)


travelplanner: Benchmark = TravelPlanner()
