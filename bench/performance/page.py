"""Prints a run's lines as they come, and puts them between two marks of a document at its end."""

import sys
from dataclasses import dataclass, field
from pathlib import Path

from scripts.marked_text import replace_between

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


@dataclass(slots=True)
class Page:
    """The lines added so far."""

    lines: list[str] = field(default_factory=list)

    def add(self, line: str = "") -> None:
        """Print a line and keep it."""
        self.lines.append(line)
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def write(self, document: Path) -> None:
        """Put the lines between the two marks."""
        replace_between(document, f"{BEGIN}\n", END, "".join(f"{line}\n" for line in self.lines))


def is_marked(document: Path) -> bool:
    """Whether lines can be put there."""
    text = document.read_text()
    return BEGIN in text and END in text
