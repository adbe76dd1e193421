"""Counts a job's results in its own row, in the transaction that writes them."""

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Connection, select, update

from gnomon.core.score import Outcome
from workers.budget.usage import Usage
from workers.store.failure import failure_of
from workers.store.schema import jobs

__all__ = ["OPEN", "Usage", "add_results", "end_job"]

OPEN = ("queued", "running")
_ENDED = jobs.c.scored + jobs.c.model_failed + jobs.c.infra_missing


def add_results(
    db: Connection, job_id: str, outcomes: Sequence[Outcome], spent: Sequence[Usage], *, returned: int = 0
) -> bool:
    """Count new results, and what was spent on these and on refused ones; whether nothing is left to run.

    So many of the job's leases, `returned`, are over with that.
    Holds the job's row until the transaction ends. Then `end_job`, once the results are written.
    """
    count = Counter(outcomes)
    counted = (
        update(jobs)
        .where(jobs.c.id == job_id)
        .values(
            scored=jobs.c.scored + count[Outcome.SCORED],
            model_failed=jobs.c.model_failed + count[Outcome.MODEL_FAILED],
            infra_missing=jobs.c.infra_missing + count[Outcome.INFRA_MISSING],
            leased=jobs.c.leased - returned,
            known_usd=jobs.c.known_usd + sum(usage.usd or 0.0 for usage in spent),
            unknown_usd=jobs.c.unknown_usd + sum(usage.usd is None for usage in spent),
            known_tokens=jobs.c.known_tokens + sum(usage.tokens or 0 for usage in spent),
            unknown_tokens=jobs.c.unknown_tokens + sum(usage.tokens is None for usage in spent),
        )
        .returning(jobs.c.status.in_(OPEN) & (jobs.c.planned <= _ENDED))
    )
    return bool(db.execute(counted).scalar_one_or_none()) and bool(outcomes)


def end_job(db: Connection, job_id: str, *, now: float) -> None:
    """End a job of which nothing is left to run: it fails where no model answered, or none was left.

    The results must be written by now.
    """
    job = db.execute(select(jobs).where(jobs.c.id == job_id)).mappings().one()
    error = failure_of(db, job)
    status = "failed" if error else "completed"
    db.execute(update(jobs).where(jobs.c.id == job_id).values(status=status, error=error, finished_at=now))
