"""Creates jobs with all their trials at once; lists, cancels, resumes and fails them."""

import json
import secrets
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, RowMapping, case, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError, OperationalError

from gnomon.core.errors import Conflict, Gone, NotFound, SpecError
from gnomon.core.missing import keepable
from gnomon.core.sample import DataFault, SampleRef
from gnomon.core.score import Outcome
from gnomon.core.seal import Kind, PlannedSamples, plan_body
from gnomon.spec.job_spec import JobSpec
from gnomon.stopping import check_wanted
from gnomon.trials.trial_plan import Trial, count_trials, expand_trials
from gnomon_workers.budget.usage import NO_USAGE, UNKNOWN_USAGE, Usage
from gnomon_workers.poster import NOBODY, Poster
from gnomon_workers.store.activity import require_budget
from gnomon_workers.store.budgets import book_expired, held_by_job
from gnomon_workers.store.database import insert_all
from gnomon_workers.store.job_counters import counted_jobs, ended_count, lock_jobs
from gnomon_workers.store.job_ends import JobEnds
from gnomon_workers.store.missing import mark_missing
from gnomon_workers.store.records import OPEN, JobRecord, ModelCheck, Page, iso
from gnomon_workers.store.schema import (
    PENDING,
    deleted_jobs,
    jobs,
    looks,
    model_checks,
    results,
    traces,
    trials,
)
from gnomon_workers.store.seals import add_line
from gnomon_workers.store.serialization import check_of, job_of, job_values, trial_values
from gnomon_workers.store.shard_sizes import shard_size

if TYPE_CHECKING:
    from gnomon.report.sequence import StoredLook

INSERT_BATCH = 10_000
USUAL_QUEUE = {name: JobSpec.model_fields[name].default for name in ("queue", "priority")}
IS_SEQUENTIAL = '"sequential":true'  # in the spec of a job that may stop early


class Jobs(JobEnds):
    """The part of the store that keeps jobs."""

    def create_job(
        self,
        spec: JobSpec,
        refs: Sequence[SampleRef],
        *,
        faults: Sequence[DataFault] = (),
        idempotency_key: str | None = None,
        poster: Poster = NOBODY,
    ) -> JobRecord:
        """Keep a job and all its trials, or nothing of it. The same key again gives the same job.

        Trials are written in many short transactions, so that other writers wait for none of them, and the
        job's own row last: until then none of it is seen, and what a killed process leaves stays unseen.

        Raises:
            Conflict: the key was used with another spec.
            SpecError: there is no sample, or one twice; or no limit, where the poster has a budget.
            OutOfBudget: its limit is above what is left of the poster's budget.
            Unavailable: the disk is full.
        """
        self.check_disk_space()
        if not refs:
            raise SpecError("nothing is selected; widen tasks, scenes or limit", field="select")
        earlier = self._by_key(idempotency_key, spec)
        if earlier is not None:
            return earlier
        new = _new_job(spec, faults, idempotency_key, poster)
        job_id, count = new["id"], count_trials(spec, len(refs))
        size, samples = shard_size(spec, count), PlannedSamples()
        with self.reading() as db:
            self._require_budget(db, poster, spec)
        try:
            self.insert_trials(expand_trials(job_id, spec, samples.noting(refs)), size)
            with self.writing() as db:
                self.advisory_lock(db, job_id)
                self._require_budget(db, poster, spec)  # again: another may have been posted at once
                now = self.now(db)
                place = {"created_at": now, "planned": count, "shard_size": size}
                db.execute(insert(jobs).values(new | place))
                seal_plan(db, job_id, spec, samples, kind="planned", now=now, trials=count)
        except BaseException as error:
            is_kept = self.rollback_unless_committed(job_id)
            if isinstance(error, OperationalError) and is_kept:
                return self.job(job_id)  # only the answer to the commit was lost
            if not isinstance(error, IntegrityError):
                raise
            earlier = self._by_key(idempotency_key, spec)  # it came twice at once, and the other was first
            if earlier is None:
                raise SpecError("the benchmark names a sample twice", field="select") from None
            return earlier
        return self.job(job_id)

    def accept_job(
        self,
        spec: JobSpec,
        *,
        planned: int,
        faults: Sequence[DataFault] = (),
        idempotency_key: str | None = None,
        poster: Poster = NOBODY,
    ) -> JobRecord:
        """Keep a job whose trials a worker makes (`Preparation`). The same key again gives the same job.

        Raises:
            Conflict: the key was used with another spec.
            SpecError: it has no limit, where the poster has a budget.
            OutOfBudget: its limit is above what is left of the poster's budget.
            Unavailable: the disk is full.
        """
        self.check_disk_space()
        earlier = self._by_key(idempotency_key, spec)
        if earlier is not None:
            return earlier
        # Nothing of it is sealed before its plan is.
        later = {"status": "preparing", "planned": planned, "shard_size": 0, "sealed_rows": 0}
        new = _new_job(spec, faults, idempotency_key, poster) | later
        try:
            with self.writing() as db:
                self._require_budget(db, poster, spec)
                db.execute(insert(jobs).values(new | {"created_at": self.now(db)}))
        except IntegrityError:
            earlier = self._by_key(idempotency_key, spec)
            if earlier is None:
                raise
            return earlier
        return self.job(new["id"])

    def rollback_unless_committed(self, job_id: str) -> bool:
        """Whether the job's own row was written; if not, its trials and their results are deleted."""
        with self.writing() as db:
            self.advisory_lock(db, job_id)  # a commit that nothing waits for may still be under way
            if db.execute(select(jobs.c.id).where(jobs.c.id == job_id)).first() is not None:
                return True
            of_job = select(trials.c.trial_id).where(trials.c.job_id == job_id)
            db.execute(delete(traces).where(traces.c.trial_id.in_(of_job)))
            db.execute(delete(results).where(results.c.job_id == job_id))
            db.execute(delete(trials).where(trials.c.job_id == job_id))
        return False

    def job(self, job_id: str) -> JobRecord:
        """The job as it is now.

        Raises:
            NotFound: the job does not exist.
        """
        with self.reading() as db:
            return job_records(db, [find_row(db, job_id)], now=self.now(db))[0]

    def jobs(
        self, cursor: str | None = None, limit: int = 100, *, owner: str | None = None
    ) -> Page[JobRecord]:
        """Jobs, newest first; with `owner` those that were posted with keys of that owner.

        Raises:
            SpecError: the cursor is none of ours.
        """
        with self.reading() as db:
            query = select(counted_jobs).order_by(counted_jobs.c.number.desc()).limit(limit + 1)
            if cursor is not None:
                query = query.where(counted_jobs.c.number < number_of(cursor))
            if owner is not None:
                query = query.where(counted_jobs.c.owner == owner)
            rows = db.execute(query).mappings().all()
            items = job_records(db, rows[:limit], now=self.now(db))
        return Page(
            items=tuple(items), next_cursor=str(rows[limit - 1]["number"]) if len(rows) > limit else None
        )

    def job_queues(self, job_ids: Collection[str]) -> dict[str, tuple[str, str]]:
        """Queue and priority of these jobs; those that do not exist are left out."""
        queues: dict[str, tuple[str, str]] = {}
        named = iter(job_ids)
        with self.reading() as db:
            while some := list(islice(named, INSERT_BATCH)):
                for job_id, text in db.execute(select(jobs.c.id, jobs.c.spec).where(jobs.c.id.in_(some))):
                    spec = USUAL_QUEUE | json.loads(text)
                    queues[job_id] = (spec["queue"], spec["priority"])
        return queues

    def job_ids(self, prefix: str, *, limit: int) -> list[str]:
        """The ids that begin so, newest first."""
        begins = jobs.c.id.startswith(prefix, autoescape=True)
        with self.reading() as db:
            return list(
                db.scalars(select(jobs.c.id).where(begins).order_by(jobs.c.number.desc()).limit(limit))
            )

    def cancel(self, job_id: str) -> JobRecord:
        """Start no further trial; those in flight may finish and are kept. Harmless once the job has ended.

        Raises:
            NotFound: the job does not exist.
        """
        with self.writing() as db:
            changed = update(jobs).where(jobs.c.id == job_id, jobs.c.status.in_(OPEN))
            db.execute(changed.values(status="cancelled", finished_at=self.now(db)))
        return self.job(job_id)

    def resume(self, job_id: str, *, billed: Usage = UNKNOWN_USAGE, poster: Poster = NOBODY) -> JobRecord:
        """Open the job again for what is missing, and for that alone: trials that never ran, and those
        that ended as `infra_missing`, whose results are taken back. Harmless where nothing is missing.

        `billed` is all that its provider has billed for the job, as far as that is known: what may have been
        spent beyond it was not.

        Raises:
            NotFound: the job does not exist.
            SpecError, OutOfBudget: as for a new job, where the poster has a budget.
        """
        with self.writing() as db:
            if poster.has_budget:
                self._require_budget(db, poster, job_of(find_row(db, job_id)).spec, job_id=job_id)
            lock_jobs(db, [job_id])
            _take_back_missing(db, job_id)
            book_expired(db, job_id, now=self.now(db))
            _disprove(db, job_id, billed)
            counted = update(jobs).where(jobs.c.id == job_id)
            left = ended_count(jobs) < jobs.c.planned
            reopened = counted.where(left, jobs.c.status.not_in(OPEN))
            values = {
                "status": case((jobs.c.shard_size == 0, "preparing"), else_="queued"),
                "finished_at": None,
                "error": "",
                "stuck_since": None,
                "is_budget_exhausted": 0,
                "sealed_rows": case((jobs.c.shard_size == 0, 0)),
            }
            if db.execute(reopened.values(values)).rowcount:
                again = update(model_checks).where(model_checks.c.job_id == job_id)
                db.execute(
                    again.values(state="pending", cause="", error="", holder="", waits_until=None, fitness="")
                )
        self.end_if_over(job_id)  # its last trials may have ended meanwhile
        return self.job(job_id)

    def fail(self, job_id: str, error: str) -> JobRecord:
        """The job cannot run at all: end its pending trials as `infra_missing`, and say why."""
        with self.writing() as db:
            _fail(db, job_id, error, now=self.now(db))
        return self.job(job_id)

    def record_setup_failure(self, job_id: str, error: str, *, patience_s: float) -> None:
        """A worker could not set the job up where it is: leave it to others.

        The job fails with this error once that has gone on for `patience_s` seconds without any lease.
        """
        with self.writing() as db:
            lock_jobs(db, [job_id])
            columns = select(jobs.c.leased, jobs.c.stuck_since).where(jobs.c.id == job_id)
            leased, since = db.execute(columns).one()
            if leased:
                return
            now = self.now(db)
            if since is None:
                db.execute(update(jobs).where(jobs.c.id == job_id).values(stuck_since=now))
            elif now - since >= patience_s:
                _fail(db, job_id, error, now=now)

    def count_jobs(self) -> dict[str, int]:
        """How many jobs there are, by status."""
        with self.reading() as db:
            counted = select(jobs.c.status, func.count()).group_by(jobs.c.status)
            return dict(db.execute(counted).all())

    def count_outcomes(self) -> dict[str, int]:
        """How many results there are in all jobs, by outcome."""
        with self.reading() as db:
            columns = {outcome.value: counted_jobs.c[outcome.value] for outcome in Outcome}
            sums = [func.coalesce(func.sum(column), 0).label(name) for name, column in columns.items()]
            return dict(db.execute(select(*sums)).mappings().one())

    def totals(self) -> dict[str, float]:
        """What all jobs have spent as far as known, for how many results it is not, and trials in hand."""
        names = (
            *("known_usd", "unknown_usd", "possible_usd"),
            *("known_tokens", "unknown_tokens", "possible_tokens", "leased"),
        )
        with self.reading() as db:
            sums = [func.coalesce(func.sum(counted_jobs.c[name]), 0).label(name) for name in names]
            spent = db.execute(select(*sums)).mappings().one()
        return {name: float(spent[name]) for name in names}

    def _require_budget(self, db: Connection, poster: Poster, spec: JobSpec, *, job_id: str = "") -> None:
        """Make sure that the poster's budget allows the job; until this transaction ends, nobody else may."""
        if poster.has_budget:
            self.advisory_lock(db, f"budget of {poster.name}")
            require_budget(db, poster, spec, now=self.now(db), job_id=job_id)

    def _by_key(self, key: str | None, spec: JobSpec) -> JobRecord | None:
        """The job of that key. Specs are compared as they are read now, not by the hash that was stored."""
        if key is None:
            return None
        with self.reading() as db:
            of_key = select(counted_jobs).where(counted_jobs.c.idempotency_key == key)
            rows = db.execute(of_key).mappings().all()
            job = next(iter(job_records(db, rows, now=self.now(db))), None)
        if job is not None and job.spec.content_hash != spec.content_hash:
            message = f"the key {key!r} belongs to job {job.id}, which has another spec; use a new key"
            raise Conflict(message, field="Idempotency-Key")
        return job

    def insert_trials(
        self, planned: Iterator[Trial], size: int, *, check: Callable[[Connection], None] = lambda _: None
    ) -> None:
        """Write the trials of a job in shards of this size; `check` may refuse to in each transaction.

        Raises:
            Unwanted: nobody waits for it any more.
        """
        rows = (
            trial_values(trial, ordinal=ordinal, shard=ordinal // size)
            for ordinal, trial in enumerate(planned)
        )
        while batch := list(islice(rows, INSERT_BATCH)):
            check_wanted()
            with self.writing() as db:
                check(db)
                insert_all(db, trials, batch)


def _new_job(
    spec: JobSpec, faults: Sequence[DataFault], idempotency_key: str | None, poster: Poster
) -> dict[str, Any]:
    return job_values(spec, faults) | {
        "id": "j_" + secrets.token_hex(10),
        "spec_hash": spec.content_hash,
        "idempotency_key": idempotency_key,
        "posted_by": poster.name,
        "owner": poster.owner,
    }


def seal_plan(
    db: Connection,
    job_id: str,
    spec: JobSpec,
    samples: PlannedSamples,
    *,
    kind: Kind,
    now: float,
    trials: int,
) -> None:
    """Begin a job's seal, in the transaction that makes the job."""
    body = plan_body(
        job_id=job_id,
        at=iso(now) or "",
        spec=spec.model_dump(mode="json"),
        samples=samples,
        trials=trials,
    )
    add_line(db, job_id, kind, body, now=now)


def number_of(cursor: str) -> int:
    """A cursor as a number.

    Raises:
        SpecError: it is none.
    """
    if not (cursor.isascii() and cursor.isdigit()) or len(cursor) > 18:
        raise SpecError(f"{cursor!r} is no cursor; pass on next_cursor as it came", field="cursor")
    return int(cursor)


def _disprove(db: Connection, job_id: str, billed: Usage) -> None:
    """Free what a locked job may have spent beyond its bill."""
    for name, amount in zip(("usd", "tokens"), billed, strict=True):
        if amount is not None:
            possible, known = jobs.c[f"possible_{name}"], jobs.c[f"known_{name}"]
            left = case((known > amount, 0), else_=amount - known)
            values = {f"possible_{name}": case((possible < left, possible), else_=left)}
            db.execute(update(jobs).where(jobs.c.id == job_id).values(values))


def _take_back_missing(db: Connection, job_id: str) -> None:
    """Make the trials of a locked job pending again that ended as `infra_missing`, without their results.

    The ids of each batch are read first, so that what is deleted is what is counted: others may end as
    `infra_missing` meanwhile.
    """
    is_missing = (results.c.job_id == job_id) & (results.c.outcome == Outcome.INFRA_MISSING.value)
    some = select(results.c.trial_id).where(is_missing).limit(INSERT_BATCH)
    while trial_ids := db.scalars(some).all():
        taken_back = update(trials).where(trials.c.trial_id.in_(trial_ids))
        db.execute(taken_back.values(state="pending", attempt=0, worker=None))
        for table in (traces, results):
            db.execute(delete(table).where(table.c.trial_id.in_(trial_ids)))
        counted = {"infra_missing": jobs.c.infra_missing - len(trial_ids)}
        db.execute(update(jobs).where(jobs.c.id == job_id).values(counted))


def _fail(db: Connection, job_id: str, error: str, *, now: float) -> None:
    error = keepable(error)
    lock_jobs(db, [job_id])
    changed = update(jobs).where(jobs.c.id == job_id, jobs.c.status.in_(OPEN))
    if db.execute(changed.values(status="failed", finished_at=now, error=error)).rowcount:
        pending = (trials.c.job_id == job_id) & (trials.c.state == PENDING)
        mark_missing(db, pending, stop_reason="setup", error=error)


def find_row(db: Connection, job_id: str) -> RowMapping:
    """The job's row, its counters up to date.

    Raises:
        NotFound: the job does not exist; Gone: it was deleted.
    """
    row = db.execute(select(counted_jobs).where(counted_jobs.c.id == job_id)).mappings().one_or_none()
    if row is not None:
        return row
    columns = select(deleted_jobs.c.deleted_at, deleted_jobs.c.deleted_by)
    gone = db.execute(columns.where(deleted_jobs.c.job_id == job_id)).one_or_none()
    if gone is None:
        raise NotFound(f"no job {job_id!r}", field="id")
    at = (iso(gone.deleted_at) or "")[:16].replace("T", " ")
    raise Gone(f"job {job_id} was deleted at {at} UTC ({gone.deleted_by}); its seal is kept", field="id")


def job_records(db: Connection, rows: Sequence[RowMapping], *, now: float) -> list[JobRecord]:
    """The jobs in these rows, with what runs of them and what is known of their models."""
    here = model_checks.c.job_id.in_([row["id"] for row in rows])
    ended = {row["id"]: row["finished_at"] for row in rows}
    checks: dict[str, tuple[ModelCheck, ...]] = {}
    for row in db.execute(select(model_checks).where(here).order_by(model_checks.c.model)).mappings():
        checks[row["job_id"]] = (
            *checks.get(row["job_id"], ()),
            check_of(row, at_s=now if ended[row["job_id"]] is None else ended[row["job_id"]]),
        )
    held = held_by_job(db, list(ended))
    may_stop = [row["id"] for row in rows if IS_SEQUENTIAL in row["spec"]]
    decided = {job_id for job_id, taken in looks_at(db, may_stop).items() if stopping_look(taken)}
    return [
        job_of(
            row,
            checks=checks.get(row["id"], ()),
            quiet_s=_quiet_s(db, row, now=now),
            is_decided=row["id"] in decided,
            held=held.get(row["id"], NO_USAGE),
        )
        for row in rows
    ]


def _quiet_s(db: Connection, job: RowMapping, *, now: float) -> float | None:
    """For how many seconds no trial of a job has ended of which some run; by clocks of two machines."""
    if job["status"] != "running" or job["leased"] <= 0:
        return None
    newest = select(results.c.ended_at).where(results.c.job_id == job["id"])
    ended_at = db.execute(newest.order_by(results.c.seq.desc()).limit(1)).scalar_one_or_none()
    since_s = datetime.fromisoformat(ended_at).timestamp() if ended_at else 0.0
    return max(0.0, now - max(since_s, job["started_at"] or now))


def looks_at(db: Connection, job_ids: Collection[str]) -> "dict[str, list[StoredLook]]":
    """The looks at each of these jobs that has any, in order."""
    if not job_ids:
        return {}
    query = select(looks.c.job_id, looks.c.body).where(looks.c.job_id.in_(list(job_ids)))
    by_job: dict[str, list[StoredLook]] = {}
    for job_id, body in db.execute(query.order_by(looks.c.job_id, looks.c.number)):
        by_job.setdefault(job_id, []).append(json.loads(body))
    return by_job


def stopping_look(looks_so_far: "Sequence[StoredLook]") -> "StoredLook | None":
    """The look that stopped the job, if one did."""
    return next((look for look in looks_so_far if look["decided"]), None)
