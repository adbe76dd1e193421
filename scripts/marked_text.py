"""Puts generated text into a page of the docs, between two marks."""

from pathlib import Path


def with_text_between(page: str, begin: str, end: str, text: str) -> str:
    """The page with this text between its marks, each of which is on a line of its own in the page.

    Raises:
        ValueError: the page does not have both marks.
    """
    head, found_begin, rest = page.partition(begin)
    _, found_end, tail = rest.partition(end)
    if not (found_begin and found_end):
        raise ValueError(f"the page lacks the mark {(begin if not found_begin else end).strip()}")
    return f"{head}{begin}{text}{end}{tail}"


def replace_between(page: Path, begin: str, end: str, text: str) -> None:
    """Replace what stands between the marks in a file."""
    page.write_text(with_text_between(page.read_text(encoding="utf-8"), begin, end, text), encoding="utf-8")
