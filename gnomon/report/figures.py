"""Exhibits: pictures that a benchmark draws of single answers, in a module `exhibit` in its folder.

That module defines `figures(metrics)`: captions and SVG pictures of one scored answer.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import cast

from gnomon.core.benchmark import benchmark_module
from gnomon.core.row import Row
from gnomon.report.shapes import Exhibit, Figure

SHOWN = 4  # samples
MAX_ROWS = 5_000  # looked at; later answers are counted but not drawn

Figures = Callable[[Mapping[str, float | str | None]], list[tuple[str, str]]]


class Exhibits:
    """Rows on their way to the ledger, of which the most telling are kept: where arms differ most."""

    def __init__(self, benchmark: str) -> None:
        self._figures = find_figures(benchmark)
        self._rows: dict[str, list[Row]] = {}
        self._count = 0

    def tee(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Pass the rows on."""
        for row in rows:
            if self._figures and row.repeat == 0 and row.score is not None and self._count < MAX_ROWS:
                self._rows.setdefault(row.sample_id, []).append(row)
                self._count += 1
            yield row

    def drawn(self) -> list[Exhibit]:
        """The samples whose scores differ most between arms, each with its pictures."""
        found: list[Exhibit] = []
        for sample_id in sorted(self._rows, key=lambda name: (-_spread(self._rows[name]), name)):
            shown = [figure for row in self._rows[sample_id] for figure in self._drawn(row)]
            if shown:
                found.append({"sample_id": sample_id, "figures": shown})
            if len(found) == SHOWN:
                break
        return found

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

    >>> find_figures("gtr-bench") is None
    True
    """
    module = benchmark_module(benchmark, "exhibit")
    return cast(Figures, module.figures) if module else None


def _spread(rows: Iterable[Row]) -> float:
    scores = [row.score for row in rows if row.score is not None]
    return max(scores) - min(scores)
