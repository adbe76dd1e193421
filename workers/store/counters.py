"""Counters: what a job's row says of its results, changed in the same transaction as they are."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Self

from sqlalchemy import Connection, update

from gnomon.outcome import Outcome
from gnomon.row import Row
from gnomon.trace import Trace
from workers.store.schema import jobs

OPEN = ("queued", "running")


class Spent(NamedTuple):
    """What a trial has used; None where unknown."""

    usd: float | None
    tokens: int | None

    @property
    def known_usd(self) -> float:
        """Dollars as far as they are known."""
        return self.usd or 0.0

    @property
    def known_tokens(self) -> int:
        """Tokens as far as they are known."""
        return self.tokens or 0

    @classmethod
    def by(cls, used: Row | Trace) -> Self:
        """What a finished row or a trace so far has used."""
        prompt, completion = used.prompt_tokens, used.completion_tokens
        return cls(used.usd, None if prompt is None or completion is None else prompt + completion)


def add_results(
    db: Connection, job_id: str, outcomes: Sequence[Outcome], spent: Sequence[Spent], *, now: float
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
            known_usd=jobs.c.known_usd + sum(one.usd or 0.0 for one in spent),
            unknown_usd=jobs.c.unknown_usd + sum(one.usd is None for one in spent),
            known_tokens=jobs.c.known_tokens + sum(one.tokens or 0 for one in spent),
            unknown_tokens=jobs.c.unknown_tokens + sum(one.tokens is None for one in spent),
        )
    )
    if outcomes:
        _close_if_done(db, job_id, now=now)


def _close_if_done(db: Connection, job_id: str, *, now: float) -> None:
    """Complete the job if nothing of it is left to run; a cancelled or failed job stays what it is."""
    ended = jobs.c.scored + jobs.c.model_failed + jobs.c.infra_missing
    db.execute(
        update(jobs)
        .where(jobs.c.id == job_id, jobs.c.status.in_(OPEN), ended >= jobs.c.planned)
        .values(status="completed", finished_at=now)
    )
