"""Hands out trials for a time, each with a token by which outdated writers are refused."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cache, partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    bindparam,
    delete,
    exists,
    func,
    select,
    tuple_,
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate

from gnomon_workers.settings import MAX_LEASE_S
from gnomon_workers.store.budgets import stop_at_limits
from gnomon_workers.store.database import among, insert_or_update
from gnomon_workers.store.job_counters import lock_jobs
from gnomon_workers.store.job_ends import JobEnds, jobs_over
from gnomon_workers.store.missing import mark_missing
from gnomon_workers.store.records import OPEN, Lease
from gnomon_workers.store.schema import DONE, LEASED, PENDING, jobs, lease_holders, trials
from gnomon_workers.store.serialization import trial_of

ISOLATE_AFTER = 2  # deaths with a trial in hand that may have had another cause: a neighbour
MAX_ATTEMPTS = ISOLATE_AFTER + 3  # a trial that ran isolated at three deaths has caused them
GIVE_BACK_BATCH = 1_000
RETRY_S = 0.02  # after which to look again whether another transaction has let go of a trial
FORGOTTEN_AFTER_S = 2 * MAX_LEASE_S

_JOB = select(jobs).where(jobs.c.id == bindparam("job_id"))
_STATUS = select(jobs.c.status).where(jobs.c.id == bindparam("job_id"))
_PENDING_IN = (
    (trials.c.job_id == bindparam("of_job"))
    & (trials.c.shard == bindparam("of_shard"))
    & (trials.c.state == PENDING)
)
_COUNT_LEASED = (
    update(jobs)
    .where(jobs.c.id == bindparam("of_job"))
    .values(
        status="running",
        started_at=bindparam("since"),
        stuck_since=None,
        leased=jobs.c.leased + bindparam("more"),
    )
)


@cache
def _hand_out(*, isolated: bool, excludes: bool) -> ReturningUpdate[Any]:
    """The statement that leases trials, made once: to make it takes as long as to run it."""
    suspect = trials.c.attempt >= ISOLATE_AFTER
    which = select(trials.c.trial_id).where(_PENDING_IN, suspect if isolated else ~suspect)
    if excludes:
        which = which.where(trials.c.model.not_in(bindparam("excluded", expanding=True)))
    which = which.order_by(trials.c.ordinal).limit(bindparam("most", type_=Integer))
    return (
        update(trials)
        .where(trials.c.trial_id.in_(which))
        .values(
            state="leased",
            attempt=trials.c.attempt + 1,
            token=trials.c.token + 1,
            worker=bindparam("holder"),
        )
        .returning(*trials.c)
    )


class Leases(JobEnds):
    """The part of the store that hands trials out and takes them back."""

    def lease(
        self,
        job_id: str,
        shard: int,
        *,
        worker: str,
        ttl_s: float,
        limit: int = 1_000,
        isolated: bool = False,
        excluding: Collection[str] = (),
    ) -> list[Lease]:
        """Hand out up to `limit` pending trials of the shard for `ttl_s` seconds, in the order of the plan;
        none of the models `excluding`.

        If `isolated`, at most one trial whose worker has died ISOLATE_AFTER times: it runs with no other
        beside it, so that it takes none along if it kills the worker again. Nothing if the job is not open.
        If the job's limits are used up, trials of samples that have not begun end as `infra_missing` with
        the stop reason `budget`; samples that have begun are still handed out, so that arms stay paired.
        """
        with self.writing() as db:
            lock_jobs(db, [job_id])
            now = self.now(db)
            job = db.execute(_JOB, {"job_id": job_id}).mappings().one_or_none()
            if job is None or job["status"] not in OPEN or not job["shard_size"]:
                return []
            has_stopped = stop_at_limits(db, job, shard)
            wanted = {
                "of_job": job_id,
                "of_shard": shard,
                "most": 1 if isolated else limit,
                "holder": worker,
                **({"excluded": list(excluding)} if excluding else {}),
            }
            handed_out = db.execute(_hand_out(isolated=isolated, excludes=bool(excluding)), wanted)
            leased = sorted(handed_out.mappings().all(), key=lambda row: int(row["ordinal"]))
            if leased:
                insert_or_update(db, lease_holders, {"worker": worker, "lease_until": now + ttl_s})
                started_at = job["started_at"] or now
                db.execute(_COUNT_LEASED, {"of_job": job_id, "since": started_at, "more": len(leased)})
        if has_stopped:
            self.end_if_over(job_id)
        return [Lease(trial=trial_of(row), attempt=row["attempt"], token=row["token"]) for row in leased]

    def has_poison_suspects(self, job_id: str, shard: int) -> bool:
        """Whether a pending trial of the shard must run isolated."""
        waits = select(trials.c.trial_id).where(_PENDING_IN, trials.c.attempt >= ISOLATE_AFTER).limit(1)
        with self.reading() as db:
            return db.execute(waits, {"of_job": job_id, "of_shard": shard}).first() is not None

    def renew(self, worker: str, *, ttl_s: float) -> set[tuple[str, int]]:
        """Hold what `worker` has for another `ttl_s` seconds; return (trial id, token) of what that is."""
        own = (trials.c.worker == worker) & (trials.c.state == LEASED)
        with self.writing() as db:
            until = self.now(db) + ttl_s
            db.execute(
                update(lease_holders).where(lease_holders.c.worker == worker).values(lease_until=until)
            )
            # What a sweeper took back while this waited for it is not among what is read now.
            return set(db.execute(select(trials.c.trial_id, trials.c.token).where(own)).all())

    def release(self, leases: Sequence[Lease]) -> None:
        """Give back what of `leases` is still held, as if it had never been handed out."""
        for start in range(0, len(leases), GIVE_BACK_BATCH):
            some = leases[start : start + GIVE_BACK_BATCH]
            self._give_back(partial(held_by, leases=some), {lease.trial.job_id for lease in some})

    def release_all_but(self, worker: str, leases: Sequence[Lease]) -> None:
        """Give back what `worker` holds beside `leases`: handed out to it by an answer that was lost."""
        pairs = [(lease.trial.trial_id, lease.token) for lease in leases]
        own = (trials.c.worker == worker) & (trials.c.state == LEASED)
        beside = own & tuple_(trials.c.trial_id, trials.c.token).not_in(pairs)
        with self.reading() as db:
            job_ids = set(db.scalars(select(trials.c.job_id).where(beside).distinct()))
        self._give_back(lambda _: beside, job_ids)

    def expire(self, process: str) -> None:
        """Let run out, now, the leases of a process that is dead for certain; its name begins theirs."""
        dead = lease_holders.c.worker.startswith(process, autoescape=True)
        with self.writing() as db:
            db.execute(update(lease_holders).where(dead).values(lease_until=0.0))

    def is_open(self, job_id: str) -> bool:
        """Whether the job may go on; one that there is not may not."""
        with self.reading() as db:
            return db.execute(_STATUS, {"job_id": job_id}).scalar_one_or_none() in OPEN

    def sweep(self, now: float | None = None) -> list[tuple[str, int]]:
        """Take expired leases back; return the shards of open jobs that need a worker again.

        A trial whose lease has expired MAX_ATTEMPTS times ends as `infra_missing`, stop reason
        `worker_lost`. Jobs are taken one by one, so that a large one keeps none waiting. Those of which
        nothing is left to run end: whoever ended the last trial may have died before it saw that.
        """
        until = lease_holders.c.lease_until
        with self.reading() as db:
            now = self.now(db) if now is None else now
            silent = select(lease_holders.c.worker)
            silent = silent.where((until < now) | (until > now + 2 * MAX_LEASE_S))
            expired = (trials.c.state == LEASED) & trials.c.worker.in_(silent)
            job_ids = db.execute(select(trials.c.job_id).where(expired).distinct()).scalars().all()
            forgotten = select(lease_holders.c.worker).where(until < now - FORGOTTEN_AFTER_S)
            has_forgotten = db.execute(forgotten.limit(1)).first() is not None
            over = jobs_over(db)
        shards: set[tuple[str, int]] = set()
        for job_id in sorted(job_ids):
            with self.adding_results(job_id) as db:
                shards |= _take_back(db, job_id, silent)
        if has_forgotten:
            holds = exists().where(trials.c.worker == lease_holders.c.worker, trials.c.state == LEASED)
            with self.writing() as db:  # one that leases again meanwhile has another time, and stays
                db.execute(delete(lease_holders).where(until < now - FORGOTTEN_AFTER_S, ~holds))
        for job_id in over:
            self.end_if_over(job_id)
        return sorted(shards)

    def unfinished_shards(self, job_id: str | None = None) -> list[tuple[str, int]]:
        """Shards of open jobs (or of one) that wait for a worker, the oldest job's first: what the queue must
        hold. They have pending trials and none leased.

        From each job it jumps from shard to shard, however large these are.
        """
        is_open = jobs.c.status.in_(OPEN) & (jobs.c.shard_size > 0)  # else it is still being prepared
        if job_id is not None:
            is_open &= jobs.c.id == job_id
        first = select(func.min(trials.c.shard)).where(
            trials.c.job_id == jobs.c.id, trials.c.state == PENDING
        )
        shards = select(jobs.c.id, jobs.c.number, first.scalar_subquery().label("shard")).where(is_open)
        found = shards.cte("found", recursive=True)
        here = (
            (trials.c.job_id == found.c.id) & (trials.c.state == PENDING) & (trials.c.shard > found.c.shard)
        )
        after = select(func.min(trials.c.shard)).where(here).scalar_subquery()
        found = found.union_all(select(found.c.id, found.c.number, after).where(found.c.shard.is_not(None)))
        in_order = select(found.c.id, found.c.shard).where(found.c.shard.is_not(None))
        leased = select(trials.c.job_id, trials.c.shard).where(trials.c.state == LEASED).distinct()
        if job_id is not None:
            leased = leased.where(trials.c.job_id == job_id)
        with self.reading() as db:
            busy = {tuple(shard) for shard in db.execute(leased)}
            rows = db.execute(in_order.order_by(found.c.number, found.c.shard))
            return [shard for row in rows if (shard := (row.id, row.shard)) not in busy]

    def _give_back(
        self, which: Callable[[Connection], ColumnElement[bool]], job_ids: Collection[str]
    ) -> None:
        """Make these leased trials of these jobs pending; of those that others have locked, what is left of
        them once these let go.
        """
        back = {"state": "pending", "worker": None, "attempt": trials.c.attempt - 1}
        is_left = bool(job_ids)
        while is_left:
            with self.writing() as db:
                lock_jobs(db, job_ids)
                returned = update(trials).where(unlocked(which(db))).values(back).returning(trials.c.job_id)
                _count_returned(db, db.scalars(returned).all())
                is_left = db.execute(select(trials.c.trial_id).where(which(db)).limit(1)).first() is not None
            if is_left:
                time.sleep(RETRY_S)


def held_by(db: Connection, leases: Sequence[Lease]) -> ColumnElement[bool]:
    """The trials that these leases still hold: by token and by state."""
    pairs = [(lease.trial.trial_id, lease.token) for lease in leases]
    return among(db, (trials.c.trial_id, trials.c.token), pairs) & is_leased_by_key()


def is_leased_by_key() -> ColumnElement[bool]:
    """Whether a trial is leased that is looked up by its key. It is said by the other states: PostgreSQL
    would rather read an index of all that is leased while it believes that there are few.
    """
    return (trials.c.state != PENDING) & (trials.c.state != DONE)


def unlocked(which: ColumnElement[bool]) -> ColumnElement[bool]:
    """Of the trials `which`, those that no other transaction has locked: this one locks them."""
    return trials.c.trial_id.in_(select(trials.c.trial_id).where(which).with_for_update(skip_locked=True))


def _take_back(db: Connection, job_id: str, silent: Select[str]) -> set[tuple[str, int]]:
    """Make pending what the workers `silent` hold of the job, and end what was lost too often; return the
    shards that need a worker again.
    """
    lock_jobs(db, [job_id])
    leased = (trials.c.job_id == job_id) & (trials.c.state == LEASED)
    # Who is renewing just now, or handing in a result, is no concern of the sweeper's.
    holds = exists().where(leased, trials.c.worker == lease_holders.c.worker)
    workers = db.scalars(silent.where(holds).with_for_update(skip_locked=True)).all()
    here = unlocked(leased & trials.c.worker.in_(workers))
    back = update(trials).where(here).values(state="pending", worker=None)
    freed = db.execute(back.returning(trials.c.job_id, trials.c.shard, trials.c.attempt)).all()
    _count_returned(db, [row.job_id for row in freed])
    lost_in = {row.shard for row in freed if row.attempt >= MAX_ATTEMPTS}
    if lost_in:
        lost = (trials.c.job_id == job_id) & trials.c.shard.in_(lost_in) & (trials.c.attempt >= MAX_ATTEMPTS)
        mark_missing(db, lost, stop_reason="worker_lost")
    is_open = db.execute(select(jobs.c.status).where(jobs.c.id == job_id)).scalar_one() in OPEN
    return {(job_id, row.shard) for row in freed if is_open and row.attempt < MAX_ATTEMPTS}


def _count_returned(db: Connection, job_ids: Sequence[str]) -> None:
    """Note that a lease of each of these jobs is over, as often as it is named."""
    for job_id, count in sorted(Counter(job_ids).items()):
        db.execute(update(jobs).where(jobs.c.id == job_id).values(leased=jobs.c.leased - count))
