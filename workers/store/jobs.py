"""Jobs: created with all their trials at once, listed, cancelled, resumed, failed."""

import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from gnomon.errors import Conflict, NotFound, SpecError
from gnomon.identity import digest
from gnomon.job import expand, planned
from gnomon.outcome import Outcome
from gnomon.sample import DataFault, SampleRef
from gnomon.spec import JobSpec
from workers.store.counters import OPEN
from workers.store.database import Database
from workers.store.encoding import dump, trial_values
from workers.store.ending import end_unrun
from workers.store.records import Counts, JobRecord, Page, iso
from workers.store.schema import LEASED, PENDING, jobs, results, traces, trials

INSERT_BATCH = 10_000
SHARD_MIN, SHARD_MAX = 64, 1024


def shard_size(spec: JobSpec, trials_planned: int) -> int:
    """How many trials make a shard: some rounds of a worker's concurrency, a fair share for several
    workers of a small job, and always whole groups of a sample's arms and models.

    >>> spec = {"benchmark": "worlds", "models": [{"id": "m"}], "arms": [{"name": "raw", "agent": "direct"}]}
    >>> [shard_size(JobSpec.model_validate(spec), n) for n in (1, 100, 1_000, 1_000_000)]
    [1, 50, 250, 256]
    """
    half, quarter = -(-trials_planned // 2), -(-trials_planned // 4)
    ceiling = min(SHARD_MAX, max(SHARD_MIN, 4 * spec.concurrency))
    size = max(1, min(ceiling, max(quarter, min(half, spec.concurrency))))
    return -(-size // group_size(spec)) * group_size(spec)


def group_size(spec: JobSpec) -> int:
    """Trials that belong side by side: all arms and models of one repeat of a sample."""
    return len(spec.models) * len(spec.arms)


class Jobs(Database):
    """The part of the store that keeps jobs."""

    def create_job(
        self,
        spec: JobSpec,
        refs: Sequence[SampleRef],
        *,
        faults: Sequence[DataFault] = (),
        idempotency_key: str | None = None,
    ) -> JobRecord:
        """Keep a job and all its trials, or nothing of it. The same key again gives the same job.

        Raises:
            Conflict: the key was used with another spec.
            SpecError: there is no sample, or one twice.
        """
        if not refs:
            raise SpecError("nothing is selected; widen tasks, scenes or limit", field="select")
        if len({ref.sample_id for ref in refs}) < len(refs):
            raise SpecError("the benchmark names a sample twice", field="select")
        job_id, spec_hash = "j_" + secrets.token_hex(10), digest(spec.model_dump(mode="json"))
        count = planned(spec, len(refs))
        size = shard_size(spec, count)
        try:
            with self.writing() as db:
                earlier = _by_key(db, idempotency_key, spec_hash)
                if earlier is not None:
                    return _record(db, earlier)
                new = insert(jobs).values(
                    id=job_id,
                    name=spec.name or spec.benchmark,
                    status="queued",
                    spec=spec.model_dump_json(),
                    spec_hash=spec_hash,
                    idempotency_key=idempotency_key,
                    benchmark=spec.benchmark,
                    created_at=self.now(db),
                    planned=count,
                    shard_size=size,
                    faults=dump([asdict(fault) for fault in faults]),
                )
                db.execute(new)
                _insert_trials(db, job_id, spec, refs, size)
                return _record(db, _find(db, job_id))
        except IntegrityError:  # PostgreSQL: the same key came twice at once, and the other was first
            with self.reading() as db:
                earlier = _by_key(db, idempotency_key, spec_hash)
                if earlier is None:
                    raise
                return _record(db, earlier)

    def job(self, job_id: str) -> JobRecord:
        """The job as it stands.

        Raises:
            NotFound: there is none of that id.
        """
        with self.reading() as db:
            return _record(db, _find(db, job_id))

    def jobs(self, cursor: str | None = None, limit: int = 100) -> Page[JobRecord]:
        """Jobs, newest first.

        Raises:
            SpecError: the cursor is none of ours.
        """
        with self.reading() as db:
            query = select(jobs).order_by(jobs.c.number.desc()).limit(limit + 1)
            if cursor is not None:
                query = query.where(jobs.c.number < number_of(cursor))
            found = db.execute(query).mappings().all()
            items = tuple(_record(db, row) for row in found[:limit])
        return Page(items=items, next_cursor=str(found[limit - 1]["number"]) if len(found) > limit else None)

    def cancel(self, job_id: str) -> JobRecord:
        """Start no further trial; those in flight may finish and are kept. Harmless once the job has ended.

        Raises:
            NotFound: there is none of that id.
        """
        with self.writing() as db:
            _find(db, job_id)
            changed = update(jobs).where(jobs.c.id == job_id, jobs.c.status.in_(OPEN))
            db.execute(changed.values(status="cancelled", finished_at=self.now(db)))
            return _record(db, _find(db, job_id))

    def resume(self, job_id: str) -> JobRecord:
        """Open the job again for what is missing, and for that alone: trials that never ran, and those
        that ended as `infra_missing`, whose results are taken back. Harmless where nothing is missing.

        Raises:
            NotFound: there is none of that id.
        """
        with self.writing() as db:
            _find(db, job_id)
            missing = select(results.c.trial_id).where(
                results.c.job_id == job_id, results.c.outcome == "infra_missing"
            )
            taken_back = update(trials).where(trials.c.trial_id.in_(missing), trials.c.state == "done")
            db.execute(taken_back.values(state="pending", attempt=0, worker=None))
            db.execute(delete(traces).where(traces.c.trial_id.in_(missing)))
            gone = delete(results).where(results.c.job_id == job_id, results.c.outcome == "infra_missing")
            count = db.execute(gone).rowcount
            counted = update(jobs).where(jobs.c.id == job_id)
            db.execute(counted.values(infra_missing=jobs.c.infra_missing - count))
            left = jobs.c.scored + jobs.c.model_failed + jobs.c.infra_missing < jobs.c.planned
            reopened = counted.where(left, jobs.c.status.not_in(OPEN))
            db.execute(reopened.values(status="queued", finished_at=None, error=""))
            return _record(db, _find(db, job_id))

    def fail(self, job_id: str, error: str) -> JobRecord:
        """The job cannot run at all: end its pending trials as `infra_missing`, and say why."""
        with self.writing() as db:
            now = self.now(db)
            changed = update(jobs).where(jobs.c.id == job_id, jobs.c.status.in_(OPEN))
            if db.execute(changed.values(status="failed", finished_at=now, error=error)).rowcount:
                pending = (trials.c.job_id == job_id) & (trials.c.state == PENDING)
                end_unrun(db, pending, stop_reason="setup", now=now)
            return _record(db, _find(db, job_id))

    def count_jobs(self) -> dict[str, int]:
        """How many jobs there are, by status."""
        with self.reading() as db:
            counted = select(jobs.c.status, func.count()).group_by(jobs.c.status)
            return dict(db.execute(counted).all())

    def count_outcomes(self) -> dict[str, int]:
        """How many results there are in all jobs, by outcome."""
        with self.reading() as db:
            columns = {outcome.value: jobs.c[outcome.value] for outcome in Outcome}
            sums = [func.coalesce(func.sum(column), 0).label(name) for name, column in columns.items()]
            return dict(db.execute(select(*sums)).mappings().one())


def number_of(cursor: str) -> int:
    """A cursor as a number.

    Raises:
        SpecError: it is none.
    """
    if not (cursor.isascii() and cursor.isdigit()) or len(cursor) > 18:
        raise SpecError(f"{cursor!r} is no cursor; pass on next_cursor as it came", field="cursor")
    return int(cursor)


def _insert_trials(db: Connection, job_id: str, spec: JobSpec, refs: Sequence[SampleRef], size: int) -> None:
    rows: Iterator[dict[str, Any]] = (
        trial_values(trial, ordinal=ordinal, shard=ordinal // size)
        for ordinal, trial in enumerate(expand(job_id, spec, refs))
    )
    while batch := list(islice(rows, INSERT_BATCH)):
        db.execute(insert(trials), batch)


def _by_key(db: Connection, key: str | None, spec_hash: str) -> RowMapping | None:
    if key is None:
        return None
    found = db.execute(select(jobs).where(jobs.c.idempotency_key == key)).mappings().one_or_none()
    if found is not None and found["spec_hash"] != spec_hash:
        message = f"the key {key!r} belongs to job {found['id']}, which has another spec; use a new key"
        raise Conflict(message, field="Idempotency-Key")
    return found


def _find(db: Connection, job_id: str) -> RowMapping:
    found = db.execute(select(jobs).where(jobs.c.id == job_id)).mappings().one_or_none()
    if found is None:
        raise NotFound(f"no job {job_id!r}", field="id")
    return found


def _record(db: Connection, found: RowMapping) -> JobRecord:
    leased = select(func.count()).where(trials.c.job_id == found["id"], trials.c.state == LEASED)
    return JobRecord(
        id=found["id"],
        name=found["name"],
        status=found["status"],
        spec=JobSpec.model_validate_json(found["spec"]),
        spec_hash=found["spec_hash"],
        created_at=iso(found["created_at"]) or "",
        started_at=iso(found["started_at"]),
        finished_at=iso(found["finished_at"]),
        counts=Counts(
            planned=found["planned"],
            scored=found["scored"],
            model_failed=found["model_failed"],
            infra_missing=found["infra_missing"],
            running=db.execute(leased).scalar_one(),
        ),
        usd=None if found["unknown_usd"] else found["known_usd"],
        tokens=None if found["unknown_tokens"] else found["known_tokens"],
        known_usd=found["known_usd"],
        known_tokens=found["known_tokens"],
        shards=-(-found["planned"] // found["shard_size"]),
        faults=tuple(DataFault(**fault) for fault in json.loads(found["faults"])),
        error=found["error"],
    )
