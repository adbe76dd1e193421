"""Writes the cassettes that a job's spec asks for, and streams that of any job."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import SpecError
from gnomon.traces.cassettes import job_cassette
from gnomon.whole_file import PUBLIC, whole_file
from gnomon_workers.open_job import media_of

if TYPE_CHECKING:
    from gnomon_workers.store.records import JobRecord
    from gnomon_workers.store.store import Store


def write_recorded(store: "Store", job: "JobRecord", data_dir: Path) -> Iterator[tuple[Path, int]]:
    """Write the cassettes that the arms of a job name by `record`; each with how many lines it has.

    Raises:
        SpecError: a file cannot be written.
    """
    files: dict[str, list[str]] = {}
    for arm in job.spec.arms:
        if arm.cassette is not None and arm.cassette.record is not None:
            files.setdefault(arm.cassette.record, []).append(arm.name)
    for name, arms in files.items():
        lines = 0
        try:
            with whole_file(Path(name), rights=PUBLIC) as file:
                for line in cassette_of_job(store, job, data_dir, arms=arms):
                    file.write(line)
                    lines += 1
        except OSError as error:
            raise SpecError(f"{name} cannot be written: {error.strerror}", field="cassette.record") from None
        yield Path(name), lines


def cassette_of_job(
    store: "Store", job: "JobRecord", data_dir: Path, *, arms: Collection[str] | None = None
) -> Iterator[bytes]:
    """The lines of a job's cassette.

    Raises:
        SpecError: the job has no tool servers.
    """
    media = media_of(data_dir)
    rows = store.iter_rows(job.id)
    return job_cassette(job.spec, rows, store.trace, media.read, job=job.id, arms=arms)
