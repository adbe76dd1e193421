"""Reports what baseline heuristics (floors), rules without a model, score on this job's samples."""

from collections import defaultdict
from collections.abc import Mapping

from typing_extensions import TypedDict

from gnomon.core.benchmark import HEURISTIC_PREFIX
from gnomon.core.row_batch import RowBatch
from gnomon.report.section import ReportInput, Section


class HeuristicMean(TypedDict):
    """A rule's mean over the samples of one cell."""

    n: int
    mean: float


class HeuristicRow(TypedDict):
    """A rule without a model, such as the nearest camera, by cell where it applies."""

    rule: str
    by_task: dict[str, HeuristicMean]


class HeuristicsPart(TypedDict):
    """All rules."""

    floors: list[HeuristicRow]


class HeuristicScores:
    """Keeps the rules' scores, once a sample."""

    def __init__(self) -> None:
        self._scores: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)

    def add(self, batch: RowBatch) -> None:
        if not len(batch.distinct("metrics").places(_has_heuristics)):
            return
        for metrics, cell, sample in batch.distinct("metrics", "cell", "sample_id").values:
            for name, value in metrics.items():
                if name.startswith(HEURISTIC_PREFIX) and isinstance(value, float | int):
                    self._scores[name.removeprefix(HEURISTIC_PREFIX), cell][sample] = float(value)

    def rows(self) -> list[HeuristicRow]:
        """One row a rule: its mean in each cell where it applies, with the number of samples."""
        rows: dict[str, HeuristicRow] = {}
        for (rule, cell), values in sorted(self._scores.items()):
            row = rows.setdefault(rule, {"rule": rule, "by_task": {}})
            row["by_task"][cell] = {"n": len(values), "mean": sum(values.values()) / len(values)}
        return list(rows.values())


def _has_heuristics(metrics: Mapping[str, object]) -> bool:
    return any(name.startswith(HEURISTIC_PREFIX) for name in metrics)


def _floors(report_input: ReportInput) -> HeuristicsPart:
    return {"floors": report_input.collected(HeuristicScores).rows()}


heuristics = Section(
    name="heuristics",
    title="Baseline heuristics (floors)",
    question="What would a rule without a model score?",
    fields=HeuristicsPart,
    compute=_floors,
    collector=lambda *_: HeuristicScores(),
    place=80,
    behind="difficulty_level_differences",
    shown_in="published",
)
