"""Averages what a benchmark measures besides the score, by model, arm and cell."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np
from typing_extensions import TypedDict

from gnomon.core.benchmark import BENCHMARKS, FEATURE_PREFIX, HEURISTIC_PREFIX, LimitsMetrics
from gnomon.core.judging import JUDGE_PREFIX
from gnomon.core.row_batch import RowBatch
from gnomon.report.section import ReportInput, Section
from gnomon.report.sections.arms import ArmsPart
from gnomon.report.text_formats import markdown_table
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.replay import METRICS as REPLAY_METRICS

ALL = "all"
ELSEWHERE = (FEATURE_PREFIX, HEURISTIC_PREFIX, JUDGE_PREFIX)  # metrics that other sections show


class MetricMean(TypedDict):
    """The mean of a measure over the answers that have it; `n` counts those."""

    n: int
    mean: float


class MetricRow(TypedDict):
    """One measure under one arm, by cell; `all` is over all answers, whatever their cell."""

    measure: str
    model: str
    arm: str
    by_task: dict[str, MetricMean]


class ExtraMetricsPart(TypedDict):
    """All measures."""

    measures: list[MetricRow]


class _Shown(ArmsPart, ExtraMetricsPart):
    """What the section shows."""


class ExtraMetrics:
    """Adds up the numbers of the rows besides the score.

    A measure that does not apply to an answer (None, or a task that is not in `metric_tasks` of its
    benchmark) is left out of its mean: precision is the mean over those that claimed something. What our side
    or a provider failed at is in no mean.
    """

    def __init__(self, metric_tasks: Mapping[str, frozenset[str]]) -> None:
        self._metric_tasks = metric_tasks
        self._sums: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(dict)

    def add(self, batch: RowBatch) -> None:
        """Add the numbers of the rows that were scored."""
        alike = batch.distinct("model", "arm", "cell", "task", "metrics")
        is_scored = np.isfinite(batch.numbers("score"))
        counts = np.bincount(alike.codes[is_scored], minlength=len(alike.values)).tolist()
        for (model, arm, cell, task, metrics), rows in zip(alike.values, counts, strict=True):
            if rows and metrics:
                self._add(self._sums[model, arm, cell], task, metrics, rows)

    def _add(
        self, sums: dict[str, list[float]], task: str, metrics: Mapping[str, float | str | None], rows: int
    ) -> None:
        for name, value in metrics.items():
            if name in REPLAY_METRICS:
                continue
            applies = task in self._metric_tasks.get(name, (task,))
            if applies and isinstance(value, float | int) and not name.startswith(ELSEWHERE):
                count_and_sum = sums.setdefault(name, [0, 0.0])
                count_and_sum[0] += rows
                count_and_sum[1] += value * rows

    def rows(self) -> list[MetricRow]:
        """One row a measure, model and arm, in that order."""
        by_group: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(dict)
        for (model, arm, cell), by_name in self._sums.items():
            for name, sums in by_name.items():
                by_group[name, model, arm][cell] = sums
        return [
            {"measure": name, "model": model, "arm": arm, "by_task": _means(cells)}
            for (name, model, arm), cells in sorted(by_group.items())
        ]


def _means(cells: dict[str, list[float]]) -> dict[str, MetricMean]:
    """By cell, and over all of them."""
    everything = [sum(column) for column in zip(*cells.values(), strict=True)]
    return {
        cell: {"n": int(n), "mean": total / n}
        for cell, (n, total) in sorted({**cells, ALL: everything}.items())
    }


def _collector(_: JobSpec, benchmark: str) -> ExtraMetrics:
    plugin = BENCHMARKS.find(benchmark)
    return ExtraMetrics(plugin.metric_tasks if isinstance(plugin, LimitsMetrics) else {})


def _measures(report_input: ReportInput) -> ExtraMetricsPart:
    return {"measures": report_input.collected(ExtraMetrics).rows()}


def _view(report: _Shown) -> Mapping[str, object] | None:
    """By cell, all of them first: each measure with its mean for every model under every arm."""
    if not report["measures"]:
        return None
    by_group = {(row["measure"], row["model"], row["arm"]): row["by_task"] for row in report["measures"]}
    names = dict.fromkeys(row["measure"] for row in report["measures"])
    cells = sorted(
        {cell for by_task in by_group.values() for cell in by_task}, key=lambda cell: (cell != ALL, cell)
    )
    groups = [(arm["model"], arm["arm"]) for arm in report["arms"]]
    tables = []
    for cell in cells:
        rows = [(name, [by_group.get((name, *group), {}).get(cell) for group in groups]) for name in names]
        tables.append((cell, [(name, means) for name, means in rows if any(means)]))
    return {"groups": groups, "tables": tables}


def _markdown(report: ExtraMetricsPart) -> Iterator[str]:
    rows = [
        (row["measure"], row["model"], row["arm"], f"{mean['mean']:.3g}", str(mean["n"]))
        for row in report["measures"]
        if (mean := row["by_task"].get(ALL))
    ]
    return markdown_table("Metrics besides the score", ("metric", "model", "arm", "mean", "n"), rows)


extra_metrics = Section(
    name="extra_metrics",
    title="What else was measured",
    question="What does the benchmark measure besides the score?",
    fields=ExtraMetricsPart,
    compute=_measures,
    collector=_collector,
    place=100,
    view=_view,
    markdown=_markdown,
)
