"""Writes the rows of a job as JSON lines, as they are."""

from collections.abc import Iterator

from gnomon.exchange.job_export import ExportedJob, ExportFile
from gnomon.report.row_formats import ndjson_line


def files(job: ExportedJob) -> Iterator[ExportFile]:
    """The one file."""
    yield ExportFile(name="rows.ndjson", chunks=(ndjson_line(row).encode() for row in job.rows(None, None)))
