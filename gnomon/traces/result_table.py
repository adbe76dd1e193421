"""Turns a tool's recorded result into a small table: records as rows, names and units as people read them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gnomon_tools.core.json_text import json_value

MAX_ROWS, MAX_COLUMNS, MAX_CELL = 40, 8, 120
UNITS = {
    "m": "m",
    "s": "s",
    "deg": "°",
    "mps": "m/s",
    "px": "px",
    "min": "min",
    "km": "km",
    "usd": "$",
    "hours": "h",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTable:
    """Rows of texts under headings. `facts` are single values beside them; `more` counts rows left out."""

    facts: tuple[tuple[str, str], ...] = ()
    heading: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    more: int = 0

    def record(self) -> dict[str, Any]:
        """The table as plain data, for a page's view."""
        return {
            "facts": [{"name": name, "value": value} for name, value in self.facts],
            "heading": self.heading,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "more": self.more,
        }


def result_table(observation: str) -> ResultTable | None:
    """The result as a table; None where it is no JSON object."""
    result = json_value(observation)
    if not isinstance(result, dict):
        return None
    facts = tuple((label(name), cell(value)) for name, value in result.items() if not _is_records(value))
    lists = [(name, value) for name, value in result.items() if _is_records(value)]
    if not lists:
        return ResultTable(facts=facts)
    name, records = max(lists, key=lambda item: len(item[1]))
    others = tuple((label(other), count_of(value)) for other, value in lists if other != name)
    columns = [
        column
        for column in dict.fromkeys(column for record in records for column in record)
        if any(record.get(column) is not None for record in records)
    ][:MAX_COLUMNS]
    return ResultTable(
        facts=facts + others,
        heading=label(name),
        columns=tuple(label(column) for column in columns),
        rows=tuple(tuple(cell(record.get(column)) for column in columns) for record in records[:MAX_ROWS]),
        more=max(0, len(records) - MAX_ROWS),
    )


def label(name: str) -> str:
    """A field's name in words, its unit after a comma.

    >>> label("start_error_s"), label("heading_deg"), label("camera")
    ('start error, s', 'heading, °', 'camera')
    """
    stem, _, last = name.rpartition("_")
    if stem and last in UNITS:
        return f"{stem.replace('_', ' ')}, {UNITS[last]}"
    return name.replace("_", " ")


def cell(value: Any) -> str:
    """A value as text: numbers to four significant digits, true minus signs, a dash for nothing.

    >>> cell(28.9412), cell(-3.0), cell(None), cell([1.0, 2.5]), cell(1234567)
    ('28.94', '−3', '–', '1, 2.5', '1234567')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value).replace("-", "−")
    if isinstance(value, float):
        text = f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"
        return re.sub("^-", "−", text)
    if isinstance(value, str):
        return value if len(value) <= MAX_CELL else value[: MAX_CELL - 1] + "…"
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return cell(", ".join(cell(item) for item in value))
    return count_of(value) if isinstance(value, list) else cell(json.dumps(value, ensure_ascii=False))


def count_of(values: Sequence[object]) -> str:
    """How many entries a list has."""
    return f"{len(values)} {'entry' if len(values) == 1 else 'entries'}"


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)
