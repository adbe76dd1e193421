"""Puts a table that was measured into a page of the docs, between two marks."""

from pathlib import Path


def replace_between(page: Path, begin: str, end: str, text: str) -> None:
    """Replace what stands between the marks, each of which is on a line of its own in the page."""
    head, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, tail = rest.partition(end)
    page.write_text(f"{head}{begin}{text}{end}{tail}", encoding="utf-8")
