"""Writes a page's view as Markdown, for agents and terminals."""

from collections.abc import Mapping, Sequence
from typing import Any

SKIPPED = frozenset({"title", "answer"})
MAX_CELL = 200


def as_markdown(view: Mapping[str, Any]) -> str:
    """The title, the answer, then each part of the view: lists of records as tables, the rest as lists.

    >>> print(as_markdown({"title": "Jobs", "answer": "One ran.", "jobs": [{"id": "j", "status": "done"}]}))
    # Jobs
    <BLANKLINE>
    One ran.
    <BLANKLINE>
    ## jobs
    <BLANKLINE>
    | id | status |
    |---|---|
    | j | done |
    <BLANKLINE>
    """
    lines = [f"# {_line(view.get('title', ''))}", ""]
    if view.get("answer"):
        lines += [_line(view["answer"]), ""]
    scalars = {name: value for name, value in view.items() if name not in SKIPPED and _is_scalar(value)}
    lines += _listed(scalars)
    for name, value in view.items():
        if name not in SKIPPED and not _is_scalar(value) and value:
            lines += [f"## {_line(name)}", "", *_part(value, depth=3)]
    return "\n".join(lines)


def _part(value: object, *, depth: int) -> list[str]:
    if isinstance(value, Mapping):
        lines = _listed({name: item for name, item in value.items() if _is_scalar(item)})
        for name, item in value.items():
            if not _is_scalar(item) and item:
                lines += [f"{'#' * min(depth, 6)} {_line(name)}", "", *_part(item, depth=depth + 1)]
        return lines
    if isinstance(value, Sequence) and value and all(isinstance(item, Mapping) for item in value):
        if all(_is_scalar(item) or _is_short_list(item) for record in value for item in record.values()):
            return _table(value)
        lines = []
        for number, record in enumerate(value, start=1):
            lines += [f"{'#' * min(depth, 6)} {number}", "", *_part(record, depth=depth + 1)]
        return lines
    if isinstance(value, Sequence):
        return [*(f"- {_line(item)}" for item in value), ""]
    return [_line(value), ""]


def _listed(scalars: Mapping[str, Any]) -> list[str]:
    if not scalars:
        return []
    return [*(f"- {_line(name)}: {_line(value)}" for name, value in scalars.items()), ""]


def _table(records: Sequence[Mapping[str, Any]]) -> list[str]:
    columns = list(dict.fromkeys(name for record in records for name in record))
    rows = ["| " + " | ".join(_cell(record.get(name)) for name in columns) + " |" for record in records]
    return ["| " + " | ".join(map(_cell, columns)) + " |", "|" + "---|" * len(columns), *rows, ""]


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _is_short_list(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) <= 6 and all(map(_is_scalar, value))


def _cell(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else _line(value)
    return text.replace("|", "\\|")[:MAX_CELL]


def _line(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())
