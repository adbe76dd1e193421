"""Reads and writes the rows of a job's result table, one a line."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gnomon.exchange import row_file
from gnomon.exchange.format import LINES, Format, Reading, Start
from gnomon.exchange.imported_job import Ended
from gnomon.exchange.job_export import ExportedJob, ExportFile
from gnomon.report.row_formats import ndjson_line


def _files(job: ExportedJob) -> Iterator[ExportFile]:
    yield ExportFile(name="rows.ndjson", chunks=(ndjson_line(row).encode() for row in job.rows(None, None)))


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
    files=_files,
    media_type=LINES,
    is_single=True,
    is_of=_is_of,
    read=_read,
    reasons={"imported:missing": "score null"},
)
