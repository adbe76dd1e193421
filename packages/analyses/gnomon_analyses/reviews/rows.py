"""Reads the result rows that a finished job wrote as NDJSON, as far as curation needs them."""

from pathlib import Path
from typing import Any

from gnomon.core.errors import DataError
from gnomon_tools.core.json_text import json_value

NEEDED = ("benchmark", "task", "sample_id", "cluster", "model", "arm", "outcome", "score", "answer")

Row = dict[str, Any]


def read_result_rows(
    paths: tuple[Path, ...], *, benchmark: str | None = None, arm: str | None = None
) -> list[Row]:
    """The rows of one benchmark and one arm, where these are named.

    Raises:
        DataError: a line is no row, or none is left.
    """
    rows = []
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            row = json_value(line)
            if not isinstance(row, dict) or any(name not in row for name in NEEDED):
                raise DataError(f"{path.name}, line {number}: no result row; expected rows.ndjson of a job")
            rows.append(row)
    kept = [
        row for row in rows if benchmark in (None, row["benchmark"]) and (arm is None or row["arm"] == arm)
    ]
    if not kept:
        arms = ", ".join(sorted({f"{row['benchmark']}/{row['arm']}" for row in rows})) or "none"
        raise DataError(f"no row of {benchmark or 'any benchmark'}/{arm or 'any arm'}; there are: {arms}")
    return kept
