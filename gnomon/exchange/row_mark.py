"""Reads the row that a file of ours carries beside what its format can say."""

from collections.abc import Mapping
from typing import Any

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.exchange.json_lines import checked
from gnomon.exchange.row_file import row_line, row_of_line


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
