"""Writes cassettes of stored jobs: the files that a spec asks for, and those of exports and requests."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from gnomon.core.errors import SpecError
from gnomon.traces.cassettes import job_cassette
from gnomon.whole_file import PUBLIC, whole_file
from workers.open_job import media_of

if TYPE_CHECKING:
    from workers.store.records import JobRecord
    from workers.store.store import Store


def write_recorded(store: "Store", job: "JobRecord", data_dir: Path) -> Iterator[tuple[Path, int]]:
    """Write the cassettes that the arms of a job name by `record`; each with how many calls it holds.

    Raises:
        SpecError: a file cannot be written.
    """
    files: dict[str, list[str]] = {}
    for arm in job.spec.arms:
        if arm.cassette is not None and arm.cassette.record is not None:
            files.setdefault(arm.cassette.record, []).append(arm.name)
    for name, arms in files.items():
        try:
            with whole_file(Path(name), rights=PUBLIC) as file:
                calls = write_job(store, job, file, data_dir, arms=arms)
        except OSError as error:
            raise SpecError(f"{name} cannot be written: {error.strerror}", field="cassette.record") from None
        yield Path(name), calls


def write_job(
    store: "Store", job: "JobRecord", file: IO[bytes], data_dir: Path, *, arms: list[str] | None = None
) -> int:
    """Write the cassette of a job, and return how many calls it holds.

    Raises:
        SpecError: the job has no tool servers.
        NotFound: a picture is no longer among the media.
    """
    return job_cassette(
        file, job.spec, store.iter_rows(job.id), store.trace, media_of(data_dir), job=job.id, arms=arms
    )
