"""Prints a table: with lines and colours on a terminal, else as plain columns for other programs."""

from collections.abc import Sequence

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gnomon.report.text_formats import clean

Cell = str | tuple[str, str]  # a text, or one with its style on a terminal
STYLES = {
    "completed": "green",
    "running": "cyan",
    "queued": "cyan",
    "preparing": "cyan",
    "cancelled": "yellow",
    "failed": "red",
}


def print_table(
    head: Sequence[str], rows: Sequence[Sequence[Cell]], *, right: Sequence[str] = (), wraps: str = ""
) -> None:
    """Print rows under their heads; columns named in `right` hold numbers. On a terminal the column `wraps`
    alone is broken into lines where there is no room; elsewhere lines are as long as they need to be.
    """
    console = Console()
    if not console.is_terminal:
        _print_plain(head, rows, right=right)
        return
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for name in head:
        table.add_column(
            name,
            justify="right" if name in right else "left",
            no_wrap=name != wraps,
            overflow="fold" if name == wraps else "ellipsis",
        )
    for row in rows:
        table.add_row(*(Text(_text(cell), style=cell[1] if isinstance(cell, tuple) else "") for cell in row))
    console.print(table)


def _print_plain(head: Sequence[str], rows: Sequence[Sequence[Cell]], *, right: Sequence[str]) -> None:
    texts = [list(head), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(len(line[at]) for line in texts) for at in range(len(head))]
    for line in texts:
        cells = (
            text.rjust(width) if name in right else text.ljust(width)
            for name, text, width in zip(head, line, widths, strict=True)
        )
        click.echo("  ".join(cells).rstrip())


def _text(cell: Cell) -> str:
    return " ".join(clean(cell[0] if isinstance(cell, tuple) else cell).split())
