"""Turns rows and records into the frames of Polars, pandas or Arrow, and shows them as tables.

Polars and pandas are the user's choice, so neither comes with Gnomon; Arrow does.
"""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

FrameKind = Literal["polars", "pandas", "arrow"]
KINDS: tuple[FrameKind, ...] = ("polars", "pandas", "arrow")
SHOWN_ROWS, SHOWN_CHARS = 60, 80


class MissingPackage(ImportError):
    """The library of a frame is not installed; the message says what to install, and what there is."""


@overload
def frame_of(table: "pa.Table", kind: Literal["polars"] = "polars") -> "pl.DataFrame": ...
@overload
def frame_of(table: "pa.Table", kind: Literal["pandas"]) -> "pd.DataFrame": ...
@overload
def frame_of(table: "pa.Table", kind: Literal["arrow"]) -> "pa.Table": ...
def frame_of(table: "pa.Table", kind: FrameKind = "polars") -> Any:
    """The table as a frame of that library. Whole numbers stay whole where some are unknown.

    Raises:
        MissingPackage: the library is not installed.
        ValueError: there is no such kind of frame.
    """
    if kind == "arrow":
        return table
    if kind == "polars":
        try:
            import polars as pl
        except ImportError:
            raise _missing(kind) from None
        return pl.from_arrow(table)
    if kind == "pandas":
        try:
            import pandas as pd
        except ImportError:
            raise _missing(kind) from None
        import pyarrow as pa

        return table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    raise ValueError(f"no frame {kind!r}; allowed: {', '.join(KINDS)}")


def _missing(kind: str) -> MissingPackage:
    others = " or ".join(repr(other) for other in KINDS if other != kind)
    message = f"{kind} is not installed: `pip install {kind}`; {others} may be named instead"
    return MissingPackage(message, name=kind)


class Records(list[Mapping[str, Any]]):
    """A list of records, shown as a table of `columns`; `to` makes a frame of all their fields."""

    def __init__(self, records: Iterable[Mapping[str, Any]], *, columns: Sequence[str] = ()) -> None:
        super().__init__(records)
        self._columns = tuple(columns)

    @overload
    def to(self, kind: Literal["polars"] = "polars") -> "pl.DataFrame": ...
    @overload
    def to(self, kind: Literal["pandas"]) -> "pd.DataFrame": ...
    @overload
    def to(self, kind: Literal["arrow"]) -> "pa.Table": ...
    def to(self, kind: FrameKind = "polars") -> Any:
        """The records as a frame.

        Raises:
            MissingPackage: the library is not installed.
        """
        import pyarrow as pa  # late: most uses need no frame

        return frame_of(pa.Table.from_pylist([dict(record) for record in self]), kind)

    @property
    def columns(self) -> tuple[str, ...]:
        """The fields that are shown."""
        return self._columns or tuple(self[0] if self else ())

    def _repr_html_(self) -> str:
        return html_table(self.columns, [[record.get(name) for name in self.columns] for record in self])

    def __repr__(self) -> str:
        rows = [[cell_text(record.get(name)) for name in self.columns] for record in self[:SHOWN_ROWS]]
        return text_table(self.columns, rows, more=len(self) - len(rows))


def html_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table as notebooks show it, its first rows alone; every text is escaped."""
    cells = [
        "".join(f"<td style='text-align:{_side(cell)}'>{html.escape(cell_text(cell))}</td>" for cell in row)
        for row in rows[:SHOWN_ROWS]
    ]
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    heads = "".join(f"<th style='text-align:left'>{html.escape(name)}</th>" for name in head)
    more = len(rows) - len(cells)
    rest = f"<p><small>and {more:,} more</small></p>" if more > 0 else ""
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{rest}"


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, more: int = 0) -> str:
    """A table in plain text.

    >>> print(text_table(["arm", "n"], [["raw", "40"]]))
    arm  n
    raw  40
    """
    widths = [max(len(line[at]) for line in (head, *rows)) for at in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (head, *rows)
    ]
    return "\n".join([*lines, f"and {more:,} more"] if more > 0 else lines)


def cell_text(value: object) -> str:
    """A value as a table shows it.

    >>> cell_text(0.81129), cell_text(0.00036), cell_text([0.4954, 0.8046]), cell_text(None)
    ('0.811', '3.6e-04', '[0.495, 0.805]', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.1e}" if 0 < abs(value) < 0.0005 else f"{value:.3f}"
    if isinstance(value, list | tuple) and all(isinstance(item, int | float) for item in value):
        return f"[{', '.join(cell_text(item) for item in value)}]"
    text = " ".join(str(value).split())
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"


def _side(cell: object) -> str:
    return "right" if isinstance(cell, int | float) and not isinstance(cell, bool) else "left"
