"""Writes the trips that a job planned, each as `--out trip.json` has it, for the benchmark `plan-pairs`."""

from collections.abc import Iterator

from gnomon.core.errors import DataError, SpecError
from gnomon.exchange.format import LINES, Format
from gnomon.exchange.job_export import ExportedJob, ExportFile, json_line
from gnomon_trips.export.result import result_of


def _files(job: ExportedJob) -> Iterator[ExportFile]:
    yield ExportFile(name="plans.jsonl", chunks=_lines(job))


def _lines(job: ExportedJob) -> Iterator[bytes]:
    is_empty = True
    for row in job.rows(None, None):
        try:
            result = result_of(row.answer)
        except DataError:
            continue
        is_empty = False
        by = ", ".join(part for part in (row.model, row.arm) if part)
        yield json_line({"by": by if row.repeat == 0 else f"{by}, repeat {row.repeat}", **result.as_json()})
    if is_empty:
        raise SpecError("holds no planned trip", field="JOB")


plans = Format(
    name="plans",
    about="plans.jsonl, the trips for plan-pairs",
    files=_files,
    media_type=LINES,
    is_single=True,
)
