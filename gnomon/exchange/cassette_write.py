"""Writes the calls of a job's tool servers as a cassette, which answers them in another job."""

from collections.abc import Iterator

from gnomon.exchange.job_export import ExportedJob, ExportFile
from gnomon.traces.cassettes import job_cassette


def files(job: ExportedJob) -> Iterator[ExportFile]:
    """The one file.

    Raises:
        SpecError: the job has no tool servers.
    """
    lines = job_cassette(job.spec, job.rows(None, None), job.trace, job.picture, job=job.job_id)
    yield ExportFile(name="cassette.jsonl", chunks=lines)
