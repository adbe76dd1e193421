"""Purses: what each process may spend of a job's limits before it has told what it spent."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, insert, select, update

from workers.store.counters import Spent, add_results
from workers.store.database import Database
from workers.store.jobs import lock_jobs
from workers.store.schema import jobs, purses

ROUNDING_USD = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """Dollars and tokens, of a limit or of spending; None: no limit of that kind."""

    usd: float | None = None
    tokens: int | None = None

    def covers(self, spent: Spent) -> bool:
        """Whether so much is within it.

        >>> Money(usd=1.0).covers(Spent(1.0, 10**9)), Money(tokens=5).covers(Spent(0.0, 6))
        (True, False)
        """
        return (self.usd is None or spent.known_usd <= self.usd + ROUNDING_USD) and (
            self.tokens is None or spent.known_tokens <= self.tokens
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Whether the call may go, and how many calls of other processes are in flight that may yet cost less."""

    granted: bool
    calls_elsewhere: int


class Purses(Database):
    """The part of the store that keeps a job's spending within its limits, whatever process spends."""

    def reserve(
        self,
        job_id: str,
        holder: str,
        *,
        limit: Money,
        held: Spent,
        calls: int,
        wanted: Spent,
        ttl_s: float,
    ) -> Answer:
        """Note what `holder` has spent or may spend beyond the results it has written, and ask for more.

        `held` is that without the call asked for, with `calls` in flight, `wanted` the call's estimate.
        A purse that was not shown for `ttl_s` seconds is taken for spent.
        """
        more = total([held, wanted])
        with self.writing() as db:
            lock_jobs(db, [job_id])
            now = self.now(db)
            dead = (purses.c.job_id == job_id) & (purses.c.until < now) & (purses.c.holder != holder)
            lost = db.execute(delete(purses).where(dead).returning(purses.c.usd, purses.c.tokens)).all()
            if lost:
                add_results(db, job_id, (), [Spent(row.usd, row.tokens) for row in lost], now=now)
            known = db.execute(
                select(jobs.c.known_usd, jobs.c.known_tokens).where(jobs.c.id == job_id)
            ).one_or_none()
            if known is None:
                return Answer(granted=False, calls_elsewhere=0)
            columns = [func.coalesce(func.sum(purses.c[name]), 0) for name in ("usd", "tokens", "calls")]
            others = db.execute(
                select(*columns).where(purses.c.job_id == job_id, purses.c.holder != holder)
            ).one()
            written = Spent(float(known.known_usd), int(known.known_tokens))
            granted = limit.covers(total([written, Spent(float(others[0]), int(others[1])), more]))
            mine = {
                "job_id": job_id,
                "usd": (more if granted else held).known_usd,
                "tokens": (more if granted else held).known_tokens,
                "calls": calls + (granted and wanted != Spent(0.0, 0)),
                "until": now + ttl_s,
            }
            if not db.execute(update(purses).where(purses.c.holder == holder).values(mine)).rowcount:
                db.execute(insert(purses).values(holder=holder, **mine))
        return Answer(granted=granted, calls_elsewhere=int(others[2]))

    def mark_spent(self, job_id: str) -> None:
        """The limits leave nothing for another call: no sample of the job is begun any more."""
        with self.writing() as db:
            db.execute(update(jobs).where(jobs.c.id == job_id).values(is_spent=1))

    def close_purse(self, holder: str) -> None:
        """All that was spent is written."""
        with self.writing() as db:
            db.execute(delete(purses).where(purses.c.holder == holder))


def total(spent: Sequence[Spent]) -> Spent:
    """What is known of several."""
    return Spent(sum(one.known_usd for one in spent), sum(one.known_tokens for one in spent))
