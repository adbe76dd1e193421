"""Writes and reads the row that a file of ours carries beside what its format can say."""

from collections.abc import Mapping
from typing import Any

from gnomon.core.errors import SpecError
from gnomon.core.row import ROW_COLUMNS, Row
from gnomon.exchange.json_lines import checked
from gnomon.exchange.row_file import row_line, row_of_line
from gnomon.report.row_formats import row_to_json

LATER = ("reply_state", "read_by", "started_at", "ended_at", "model_version")  # columns that older marks lack
_DEFAULTS = {column.name: column.default for column in ROW_COLUMNS if column.name in LATER}


def mark_of(row: Row) -> dict[str, Any]:
    """The row as a mark holds it; `LATER` columns only where they say something."""
    return {
        name: value
        for name, value in row_to_json(row).items()
        if name not in _DEFAULTS or value != _DEFAULTS[name]
    }


def marked_row(mark: Mapping[str, Any], *, where: str) -> Row | None:
    """The row in a mark, checked as a line of a row file is; None without one.

    Raises:
        SpecError: it is no row; names where and the field.
    """
    if mark.get("row") is None:
        return None
    try:
        return row_of_line(checked(row_line(), mark["row"], where=where))
    except ValueError as error:
        raise SpecError(str(error), field=where) from None
