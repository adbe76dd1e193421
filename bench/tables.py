"""Options of the command line, and tables in Markdown that are printed row by row."""

import argparse
import sys
from collections.abc import Iterable, Sequence


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """A parser that shows the module's own text as it stands."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def line_of(cells: Iterable[object]) -> str:
    """A row of a table.

    >>> line_of(["60 samples", 0.05])
    '| 60 samples | 0.05 |'
    """
    return f"| {' | '.join(map(str, cells))} |"


def head_of(names: Sequence[str]) -> str:
    """The head of a table, and the line below it."""
    return f"{line_of(names)}\n{'|---' * len(names)}|"


def tell(line: str = "") -> None:
    """Print a line at once: a table may take an hour."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
