"""Averages what a benchmark measures besides the score, by model, arm and cell."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from typing_extensions import TypedDict

from gnomon.core.benchmark import BENCHMARKS, FEATURE_PREFIX, HEURISTIC_PREFIX, LimitsMetrics
from gnomon.core.judging import JUDGE_PREFIX
from gnomon.core.row_batch import RowBatch, distinct_codes
from gnomon.report.section import ReportInput, Section
from gnomon.report.sections.arms import ArmsPart
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Floats
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
        groups, tasks = batch.distinct("model", "arm", "cell"), batch.distinct("task")
        metrics = batch.distinct("metrics")
        alike, firsts = distinct_codes(groups.codes, tasks.codes, metrics.codes)
        is_scored = np.isfinite(batch.numbers("score"))
        rows = np.bincount(alike[is_scored], minlength=len(firsts))
        of_group, of_task, of_metrics = (part.codes[firsts] for part in (groups, tasks, metrics))
        for name, values in _numbers_by_name(metrics.values).items():
            counted = (rows > 0) & ~np.isnan(values[of_metrics])
            if (applicable := self._metric_tasks.get(name)) is not None:
                counted &= np.array([task in applicable for task in tasks.values])[of_task]
            within, weights = of_group[counted], rows[counted]
            counts = np.bincount(within, weights, len(groups.values)).astype(np.intp)
            sums = np.bincount(within, weights * values[of_metrics[counted]], len(groups.values))
            for group in np.flatnonzero(counts).tolist():
                count_and_sum = self._sums[groups.values[group]].setdefault(name, [0, 0.0])
                count_and_sum[0] += int(counts[group])
                count_and_sum[1] += float(sums[group])

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


def _numbers_by_name(metrics: Sequence[Mapping[str, float | str | None]]) -> dict[str, Floats]:
    """By name of a measure its number in each of these metrics; NaN where it has none."""
    held: dict[str, dict[int, float]] = defaultdict(dict)
    for place, by_name in enumerate(metrics):
        for name, value in by_name.items():
            if isinstance(value, float | int):
                held[name][place] = value
    numbers = {}
    for name, by_place in held.items():
        if name not in REPLAY_METRICS and not name.startswith(ELSEWHERE):
            numbers[name] = np.full(len(metrics), np.nan)
            numbers[name][list(by_place)] = list(by_place.values())
    return numbers


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


extra_metrics = Section(
    name="extra_metrics",
    title="What else was measured",
    question="What does the benchmark measure besides the score?",
    fields=ExtraMetricsPart,
    compute=_measures,
    collector=_collector,
    place=100,
    behind="floors",
    view=_view,
)
