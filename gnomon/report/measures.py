"""Measures: what a benchmark measures besides the score, averaged by model, arm and cell."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from typing_extensions import TypedDict

from gnomon.floor import PREFIX
from gnomon.row import Row

ALL = "all"


class MeasureMean(TypedDict):
    """The mean of a measure over the answers that have it; `n` counts those."""

    n: int
    mean: float


class MeasureRow(TypedDict):
    """One measure under one arm, by cell; `all` is over all answers, whatever their cell."""

    measure: str
    model: str
    arm: str
    by_task: dict[str, MeasureMean]


class Measures:
    """Rows on their way to the ledger, of whose numbers besides the score the sums are kept.

    A measure that does not apply to an answer (None) is left out of its mean: precision is the mean over
    those that claimed something. What our side or a provider failed at is in no mean.
    """

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(dict)

    def watch(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Pass the rows on."""
        for row in rows:
            for name, value in row.metrics.items():
                if row.score is None or name.startswith(PREFIX) or not isinstance(value, float | int):
                    continue
                cells = self._sums[name, row.model, row.arm]
                for cell in {row.cell, ALL}:
                    sums = cells.setdefault(cell, [0, 0.0])
                    sums[0] += 1
                    sums[1] += float(value)
            yield row

    def rows(self) -> list[MeasureRow]:
        """One row a measure, model and arm, in that order."""
        return [
            {
                "measure": name,
                "model": model,
                "arm": arm,
                "by_task": {
                    cell: {"n": int(n), "mean": total / n} for cell, (n, total) in sorted(cells.items())
                },
            }
            for (name, model, arm), cells in sorted(self._sums.items())
        ]
