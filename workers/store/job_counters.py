"""Counts a job's results in its own row, in the transaction that writes them."""

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Connection, select, update

from gnomon.core.score import Outcome
from workers.budget.usage import Usage
from workers.store.failure import failure_of
from workers.store.schema import jobs

__all__ = ["OPEN", "Usage", "add_results"]

OPEN = ("queued", "running")


def add_results(
    db: Connection, job_id: str, outcomes: Sequence[Outcome], spent: Sequence[Usage], *, now: float
) -> None:
    """Count new results, and what was spent on these and on refused ones; the last one completes the job."""
    count = Counter(outcomes)
    db.execute(
        update(jobs)
        .where(jobs.c.id == job_id)
        .values(
            scored=jobs.c.scored + count[Outcome.SCORED],
            model_failed=jobs.c.model_failed + count[Outcome.MODEL_FAILED],
            infra_missing=jobs.c.infra_missing + count[Outcome.INFRA_MISSING],
            known_usd=jobs.c.known_usd + sum(usage.usd or 0.0 for usage in spent),
            unknown_usd=jobs.c.unknown_usd + sum(usage.usd is None for usage in spent),
            known_tokens=jobs.c.known_tokens + sum(usage.tokens or 0 for usage in spent),
            unknown_tokens=jobs.c.unknown_tokens + sum(usage.tokens is None for usage in spent),
        )
    )
    if outcomes:
        _close_if_done(db, job_id, now=now)


def _close_if_done(db: Connection, job_id: str, *, now: float) -> None:
    """End the job if nothing of it is left to run: it fails where no model answered, or none was left.

    A cancelled or failed job stays what it is. The results must be written by now.
    """
    ended = jobs.c.scored + jobs.c.model_failed + jobs.c.infra_missing
    is_done = (jobs.c.id == job_id) & jobs.c.status.in_(OPEN) & (ended >= jobs.c.planned)
    job = db.execute(select(jobs).where(is_done)).mappings().one_or_none()
    if job is not None:
        error = failure_of(db, job)
        status = "failed" if error else "completed"
        db.execute(update(jobs).where(is_done).values(status=status, error=error, finished_at=now))
