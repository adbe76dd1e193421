"""Shows pictures that a benchmark draws of single answers, in a module `exhibit` in its folder.

That module defines `figures(metrics)`: captions and SVG pictures of one scored answer.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import cast

import numpy as np
from typing_extensions import TypedDict

from gnomon.core.benchmark import benchmark_module
from gnomon.core.row import Row
from gnomon.core.row_batch import RowBatch
from gnomon.report.section import ReportInput, Section

SHOWN = 4  # samples
MAX_ROWS = 5_000  # looked at; later answers are counted but not drawn

Figures = Callable[[Mapping[str, float | str | None]], list[tuple[str, str]]]


class Figure(TypedDict):
    """A picture of one answer, as SVG without scripts."""

    model: str
    arm: str
    score: float | None
    caption: str
    svg: str


class Exhibit(TypedDict):
    """A sample and the pictures of its answers; benchmarks of graphs draw them."""

    sample_id: str
    figures: list[Figure]


class FiguresPart(TypedDict):
    """The samples that are shown."""

    exhibits: list[Exhibit]


class FigureCollector:
    """Keeps the rows of a benchmark that draws its answers."""

    def __init__(self, benchmark: str) -> None:
        self._figures = find_figures(benchmark)
        self._rows: dict[str, list[Row]] = {}
        self._count = 0

    def add(self, batch: RowBatch) -> None:
        """Keep the rows whose answer may be drawn."""
        if not self._figures or self._count == MAX_ROWS:
            return
        is_first = batch.numbers("repeat") == 0
        drawable = np.flatnonzero(is_first & np.isfinite(batch.numbers("score")))
        for row in batch.rows(drawable[: MAX_ROWS - self._count]):
            self._rows.setdefault(row.sample_id, []).append(row)
            self._count += 1

    def drawn(self) -> list[Exhibit]:
        """The samples whose scores differ most between arms, each with its pictures."""
        exhibits: list[Exhibit] = []
        for sample_id in sorted(self._rows, key=lambda name: (-_spread(self._rows[name]), name)):
            pictures = [figure for row in self._rows[sample_id] for figure in self._drawn(row)]
            if pictures:
                exhibits.append({"sample_id": sample_id, "figures": pictures})
            if len(exhibits) == SHOWN:
                break
        return exhibits

    def _drawn(self, row: Row) -> Iterator[Figure]:
        for caption, picture in self._figures(row.metrics) if self._figures else ():
            yield {
                "model": row.model,
                "arm": row.arm,
                "score": row.score,
                "caption": caption,
                "svg": picture,
            }


def find_figures(benchmark: str) -> Figures | None:
    """The benchmark's function; None if it draws nothing.

    >>> find_figures("questions") is None
    True
    """
    module = benchmark_module(benchmark, "exhibit")
    return cast(Figures, module.figures) if module else None


def _exhibits(report_input: ReportInput) -> FiguresPart:
    return {"exhibits": report_input.collected(FigureCollector).drawn()}


def _view(report: FiguresPart) -> Mapping[str, object] | None:
    return {} if report["exhibits"] else None


def _spread(rows: Iterable[Row]) -> float:
    scores = [row.score for row in rows if row.score is not None]
    return max(scores) - min(scores)


figures = Section(
    name="figures",
    title="Graphs beside gold",
    question="What do single answers look like, beside the right ones?",
    fields=FiguresPart,
    compute=_exhibits,
    collector=lambda _, benchmark: FigureCollector(benchmark),
    place=60,
    behind="other_samples",
    view=_view,
)
