"""Reads from the store what a spec needs of an earlier job: its tokens, and where it called tools."""

from functools import partial

from gnomon.spec.token_budget import StoredJob
from gnomon.trials.replay import can_replay
from gnomon_service.settings import Settings


def stored_job(settings: Settings, job_id: str) -> StoredJob:
    """The job that a spec names in `tokens_from` or in an arm's `replay`.

    Raises:
        NotFound: the job does not exist.
    """
    from gnomon_workers.store.records import OPEN  # late, as the store: few specs need it
    from gnomon_workers.store.store import open_store

    with open_store(settings.database_url) as store:
        job = store.job(job_id)
    return StoredJob(
        id=job.id,
        status=job.status,
        is_open=job.status in OPEN,
        benchmark=job.spec.benchmark,
        models=tuple(model.label for model in job.spec.models),
        arms=tuple(job.spec.arms),
        token_counts=partial(_token_counts, settings, job.id),
        called=partial(_called, settings, job.id),
    )


def _token_counts(settings: Settings, job_id: str, model: str, arm: str) -> list[int]:
    from gnomon_workers.store.store import open_store  # late, as above

    with open_store(settings.database_url) as store:
        return [
            row.prompt_tokens + row.completion_tokens
            for row in store.iter_rows(job_id)
            if (row.model, row.arm) == (model, arm)
            and row.score is not None
            and row.prompt_tokens is not None
            and row.completion_tokens is not None
        ]


def _called(settings: Settings, job_id: str, model: str, arm: str, tool: str | None) -> set[str]:
    from gnomon_workers.store.store import open_store  # late, as above

    called: set[str] = set()
    without: set[str] = set()
    with open_store(settings.database_url) as store:
        for row in store.iter_rows(job_id):
            if (row.model, row.arm) == (model, arm):
                (called if can_replay(row, tool) else without).add(row.sample_id)
    return called - without
