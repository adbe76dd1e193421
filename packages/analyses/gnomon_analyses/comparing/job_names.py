"""What jobs are called beside each other."""

from collections.abc import Sequence

from gnomon_workers.store.records import JobRecord


def names_apart(jobs: Sequence[JobRecord]) -> dict[str, str]:
    """By id: a job's name where that tells it apart, else with its id."""
    names = [job.name for job in jobs]
    return {
        job.id: job.name if job.name and names.count(job.name) == 1 else f"{job.name} {job.id}".strip()
        for job in jobs
    }
