"""Keeps a job within its limits: grants what each process may spend, and ends samples that have not begun."""

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import Connection, RowMapping, bindparam, delete, func, select, update

from gnomon.spec.job_spec import JobSpec
from gnomon_workers.budget.usage import NO_USAGE, Usage, total
from gnomon_workers.store.database import Database, insert_or_update
from gnomon_workers.store.failure import stopped_models
from gnomon_workers.store.job_counters import add_results, lock_jobs
from gnomon_workers.store.missing import mark_missing
from gnomon_workers.store.schema import PENDING, jobs, reservations, trials
from gnomon_workers.store.shard_sizes import group_size

ROUNDING_USD = 1e-9
CostRatios = Mapping[
    str, tuple[float, float]
]  # by model: of tokens and of dollars, see workers/gnomon_workers/budget/cost_bound.py


# Made once: to make a statement takes longer than to run it.
_SPENT = select(
    jobs.c.known_usd + jobs.c.possible_usd, jobs.c.known_tokens + jobs.c.possible_tokens, jobs.c.cost_ratios
).where(jobs.c.id == bindparam("job_id"))
_ADD_POSSIBLE = (
    update(jobs)
    .where(jobs.c.id == bindparam("of_job"))
    .values(
        possible_usd=jobs.c.possible_usd + bindparam("usd"),
        possible_tokens=jobs.c.possible_tokens + bindparam("tokens"),
    )
)
_HERE = reservations.c.job_id == bindparam("of_job")
_IS_OTHER = reservations.c.holder != bindparam("own")
_DROP_EXPIRED = (
    delete(reservations)
    .where(_HERE, reservations.c.expires_at < bindparam("now"), _IS_OTHER)
    .returning(reservations.c.usd, reservations.c.tokens)
)
_OTHERS = select(
    *(func.coalesce(func.sum(reservations.c[name]), 0) for name in ("usd", "tokens", "calls"))
).where(_HERE, _IS_OTHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendLimit:
    """Dollars and tokens, of a limit or of spending; None: no limit of that kind."""

    usd: float | None = None
    tokens: int | None = None

    def grant(self, used: Usage, wanted: Usage | None, *, is_only_spender: bool) -> Usage | None:
        """What may be spent where so much is used: `wanted` or nothing; None asks for all there is.

        >>> SpendLimit(tokens=5).grant(Usage(0.0, 3), Usage(0.0, 3), is_only_spender=True) is None
        True
        >>> SpendLimit(tokens=5).grant(Usage(0.0, 3), None, is_only_spender=True)
        Usage(usd=0.0, tokens=2)
        """
        if wanted is not None:
            return wanted if self.covers(total(used, wanted)) else None
        usd = 0.0 if self.usd is None else self.usd - used.known_usd
        tokens = 0 if self.tokens is None else self.tokens - used.known_tokens
        is_left = (self.usd is None or usd > ROUNDING_USD) and (self.tokens is None or tokens > 0)
        return Usage(usd, tokens) if is_only_spender and is_left else None

    def covers(self, spent: Usage) -> bool:
        """Whether so much is within it.

        >>> SpendLimit(usd=1.0).covers(Usage(1.0, 10**9)), SpendLimit(tokens=5).covers(Usage(0.0, 6))
        (True, False)
        """
        return (self.usd is None or spent.known_usd <= self.usd + ROUNDING_USD) and (
            self.tokens is None or spent.known_tokens <= self.tokens
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReserveResult:
    """What may be spent, None if not what was asked for; how many calls of other processes are in flight that
    may yet cost less; and what all processes have learnt of the models' costs.
    """

    granted: Usage | None
    calls_elsewhere: int
    cost_ratios: CostRatios


class BudgetStore(Database):
    """The part of the store that keeps a job's spending within its limits, whatever process spends."""

    def reserve(
        self,
        job_id: str,
        holder: str,
        *,
        limit: SpendLimit,
        held: Usage,
        calls: int,
        wanted: Usage | None,
        ttl_s: float,
        cost_ratios: CostRatios,
    ) -> ReserveResult:
        """Note what `holder` has spent or may spend beyond the results it has written, and ask for more.

        `held` is that without the call asked for, with `calls` in flight; `wanted` is the most that the call
        costs. None asks for all that is left, and is granted to one process while no other calls.
        A reservation that is not renewed for `ttl_s` seconds counts as possibly spent.
        """
        with self.writing() as db:
            lock_jobs(db, [job_id])
            stored = db.execute(_SPENT, {"job_id": job_id}).one_or_none()
            if stored is None:
                return ReserveResult(granted=None, calls_elsewhere=0, cost_ratios={})
            now = self.now(db)
            lost = book_expired(db, job_id, now=now, own=holder)
            spent, calls_elsewhere = _others(db, job_id, holder)
            used = total(Usage(stored[0], stored[1]), lost, spent, held)
            granted = limit.grant(used, wanted, is_only_spender=not calls_elsewhere)
            more = total(held, granted or NO_USAGE)
            reservation = {
                "holder": holder,
                "job_id": job_id,
                "usd": more.known_usd,
                "tokens": more.known_tokens,
                "calls": calls + (granted is not None and granted != NO_USAGE),
                "expires_at": now + ttl_s,
            }
            insert_or_update(db, reservations, reservation)
            merged = _greatest(json.loads(stored.cost_ratios), cost_ratios)
            if (text := json.dumps(merged)) != stored.cost_ratios:
                db.execute(update(jobs).where(jobs.c.id == job_id).values(cost_ratios=text))
        return ReserveResult(granted=granted, calls_elsewhere=calls_elsewhere, cost_ratios=merged)

    def mark_exhausted(self, job_id: str) -> None:
        """The limits leave nothing for another call: no sample of the job is begun any more."""
        with self.writing() as db:
            db.execute(update(jobs).where(jobs.c.id == job_id).values(is_budget_exhausted=1))

    def close_budget(self, job_id: str, holder: str, left: Usage, *, possible: Usage = NO_USAGE) -> None:
        """All that has results is written; `left` was spent besides, and so much is `possible` above that."""
        with self.writing() as db:
            lock_jobs(db, [job_id])
            db.execute(delete(reservations).where(reservations.c.holder == holder))
            if left != NO_USAGE:
                add_results(db, job_id, (), [left])
            _add_possible(db, job_id, possible)


def book_expired(db: Connection, job_id: str, *, now: float, own: str = "") -> Usage:
    """Count as possibly spent what processes that are silent have held of a locked job; return how much."""
    gone = db.execute(_DROP_EXPIRED, {"of_job": job_id, "own": own, "now": now})
    lost = total(*(Usage(row.usd, row.tokens) for row in gone))
    _add_possible(db, job_id, lost)
    return lost


def _add_possible(db: Connection, job_id: str, more: Usage) -> None:
    if more != NO_USAGE:
        db.execute(_ADD_POSSIBLE, {"of_job": job_id, "usd": more.known_usd, "tokens": more.known_tokens})


def stop_at_limits(db: Connection, job: RowMapping, shard: int) -> bool:
    """Where the limits are used up, end trials of the shard whose samples have not begun; whether any did."""
    spec = _read_spec(job["spec"])
    limits = spec.limits
    usd = job["known_usd"] + job["possible_usd"]
    tokens = job["known_tokens"] + job["possible_tokens"]
    is_over = (limits.usd is not None and usd >= limits.usd) or (
        limits.tokens is not None and tokens >= limits.tokens
    )
    if not (job["is_budget_exhausted"] or is_over):
        return False
    size, labels = group_size(spec), {model.label for model in spec.models}
    columns = (trials.c.trial_id, trials.c.ordinal, trials.c.model)
    here = (trials.c.job_id == job["id"]) & (trials.c.shard == shard)
    pending = db.execute(select(*columns).where(here, trials.c.state == PENDING)).all()
    # Trials of a stopped model have ended without having begun.
    called = labels - stopped_models(db, job["id"])
    waiting = Counter(ordinal // size for _, ordinal, model in pending if model in called)
    share = size // len(labels) * len(called)
    unbegun = [trial_id for trial_id, ordinal, _ in pending if waiting[ordinal // size] == share]
    if unbegun:
        mark_missing(db, trials.c.trial_id.in_(unbegun), stop_reason="budget")
    return bool(unbegun)


@lru_cache(maxsize=8)
def _read_spec(text: str) -> JobSpec:
    """A process leases again and again from the same few jobs."""
    return JobSpec.model_validate_json(text)


def held_by_job(db: Connection, job_ids: Collection[str]) -> dict[str, Usage]:
    """What processes hold of these jobs beside what is counted, by job."""
    sums = [func.sum(reservations.c[name]) for name in ("usd", "tokens")]
    query = select(reservations.c.job_id, *sums).where(reservations.c.job_id.in_(job_ids))
    rows = db.execute(query.group_by(reservations.c.job_id))
    return {job_id: Usage(float(usd), int(tokens)) for job_id, usd, tokens in rows}


def _others(db: Connection, job_id: str, holder: str) -> tuple[Usage, int]:
    """What other processes hold, and how many calls they have in flight."""
    sums = db.execute(_OTHERS, {"of_job": job_id, "own": holder}).one()
    return Usage(float(sums[0]), int(sums[1])), int(sums[2])


def _greatest(first: CostRatios, second: CostRatios) -> dict[str, tuple[float, float]]:
    greatest = {label: (float(tokens), float(usd)) for label, (tokens, usd) in first.items()}
    for label, (tokens, usd) in second.items():
        before = greatest.get(label, (0.0, 0.0))
        greatest[label] = max(before[0], tokens), max(before[1], usd)
    return greatest
