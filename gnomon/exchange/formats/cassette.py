"""Writes the calls of tool servers with their results, which an arm can replay."""

from collections.abc import Iterator

from gnomon.exchange.format import LINES, Format
from gnomon.exchange.job_export import ExportedJob, ExportFile
from gnomon.traces.cassettes import job_cassette


def _files(job: ExportedJob) -> Iterator[ExportFile]:
    lines = job_cassette(job.spec, job.rows(None, None), job.trace, job.picture, job=job.job_id)
    yield ExportFile(name="cassette.jsonl", chunks=lines)


cassette = Format(
    name="cassette",
    about="cassette.jsonl, the calls of tool servers with their results",
    files=_files,
    media_type=LINES,
    is_single=True,
    is_of=lambda start: "gnomon_cassette" in start.fields,
    unread="this is a cassette: an arm replays it, `cassette: {replay: FILE}`",
)
