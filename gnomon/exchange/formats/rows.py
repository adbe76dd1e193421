"""Rows, one a line: what a job's result table holds."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gnomon.exchange import row_file
from gnomon.exchange.format import LINES, Format, Reading, Start
from gnomon.exchange.rows_write import files
from gnomon.exchange.run import Ended


def _is_of(start: Start) -> bool:
    if start.ending == ".csv":
        return "sample_id" in start.columns or not start.columns
    return "sample_id" in start.fields


def _read(path: Path, reading: Reading) -> Iterator[Ended]:
    for row in row_file.iter_rows(path):
        named = replace(row, arm=reading.arm or row.arm)
        reading.check_own(named)
        yield named, None


rows = Format(
    name="rows",
    about="rows.ndjson",
    files=files,
    media_type=LINES,
    is_single=True,
    is_of=_is_of,
    read=_read,
    reasons={"imported:missing": "score null"},
)
