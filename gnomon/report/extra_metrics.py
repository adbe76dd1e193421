"""Measures: what a benchmark measures besides the score, averaged by model, arm and cell."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from typing_extensions import TypedDict

from gnomon.core.benchmark import HEURISTIC_PREFIX
from gnomon.core.row import Row

ALL = "all"


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


class ExtraMetrics:
    """Rows on their way to the ledger, of whose numbers besides the score the sums are kept.

    A measure that does not apply to an answer (None) is left out of its mean: precision is the mean over
    those that claimed something. What our side or a provider failed at is in no mean.
    """

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(dict)

    def tee(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Pass the rows on."""
        for row in rows:
            if row.score is not None and row.metrics:
                self._add(row)
            yield row

    def _add(self, row: Row) -> None:
        sums = self._sums[row.model, row.arm, row.cell]
        for name, value in row.metrics.items():
            if isinstance(value, float | int) and not name.startswith(HEURISTIC_PREFIX):
                found = sums.setdefault(name, [0, 0.0])
                found[0] += 1
                found[1] += value

    def rows(self) -> list[MetricRow]:
        """One row a measure, model and arm, in that order."""
        found: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(dict)
        for (model, arm, cell), by_name in self._sums.items():
            for name, sums in by_name.items():
                found[name, model, arm][cell] = sums
        return [
            {"measure": name, "model": model, "arm": arm, "by_task": _means(cells)}
            for (name, model, arm), cells in sorted(found.items())
        ]


def _means(cells: dict[str, list[float]]) -> dict[str, MetricMean]:
    """By cell, and over all of them."""
    everything = [sum(column) for column in zip(*cells.values(), strict=True)]
    return {
        cell: {"n": int(n), "mean": total / n}
        for cell, (n, total) in sorted({**cells, ALL: everything}.items())
    }
