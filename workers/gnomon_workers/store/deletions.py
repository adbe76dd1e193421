"""Deletes jobs with all that was kept of them but their seal and their counts, and finds media nobody names.

The job's own row goes first, in one transaction with what is written of its deletion: from then on nobody
sees it. Its trials follow in short transactions; what a killed process leaves of them the next one deletes.
"""

import re
import zlib
from collections.abc import Collection, Iterator
from itertools import islice

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)

from gnomon.core.errors import Conflict
from gnomon_workers.store.database import Database
from gnomon_workers.store.job_counters import lock_jobs
from gnomon_workers.store.jobs import find_row
from gnomon_workers.store.preparation import prepares
from gnomon_workers.store.records import OPEN, DeletedJob, Deletion, iso
from gnomon_workers.store.schema import (
    LEASED,
    STAYS,
    checkpoints,
    deleted_jobs,
    derived,
    job_counts,
    jobs,
    lease_holders,
    looks,
    model_checks,
    notices,
    reservations,
    results,
    review_queues,
    reviews,
    traces,
    trials,
)

BATCH = 2_000
NAMED_JOBS = 20  # that are listed
OF_JOB = (job_counts, reservations, model_checks, derived, looks, notices, review_queues)
_SHA256 = re.compile(rb"[0-9a-f]{64}")


class Deletions(Database):
    """The part of the store that deletes jobs."""

    def deletion(self, job_id: str) -> Deletion:
        """What is deleted with a job.

        Raises:
            NotFound: the job does not exist.
            Conflict: it runs, or one that runs needs it; the message says what to do.
        """
        with self.reading() as db:
            return self._deletion(db, find_row(db, job_id))

    def delete_job(self, job_id: str, *, by: str) -> Deletion:
        """Delete a job; `by` says who, or why. What stays is `deleted_job` and the seal.

        Raises:
            NotFound: the job does not exist.
            Conflict: it runs, or one that runs needs it.
        """
        with self.writing() as db:
            lock_jobs(db, [job_id])
            row = find_row(db, job_id)
            deletion = self._deletion(db, row)
            kept = {name: row[name] for name in STAYS} | {"job_id": job_id, "deleted_by": by, "is_gone": 0}
            db.execute(insert(deleted_jobs).values(**kept, deleted_at=self.now(db)))
            of_job = select(review_queues.c.name).where(review_queues.c.job_id == job_id)
            db.execute(delete(reviews).where(reviews.c.queue.in_(of_job)))
            for table in OF_JOB:
                db.execute(delete(table).where(table.c.job_id == job_id))
            db.execute(delete(jobs).where(jobs.c.id == job_id))
        self._delete_trials(job_id)
        return deletion

    def finish_deletions(self) -> None:
        """Delete what killed processes left of jobs."""
        with self.reading() as db:
            left = db.scalars(select(deleted_jobs.c.job_id).where(deleted_jobs.c.is_gone == 0)).all()
        for job_id in left:
            self._delete_trials(job_id)

    def deleted_jobs(self, *, limit: int) -> list[DeletedJob]:
        """What stays of the jobs that were deleted last, newest first."""
        newest = select(deleted_jobs).order_by(deleted_jobs.c.deleted_at.desc()).limit(limit)
        with self.reading() as db:
            return [
                DeletedJob(
                    id=row["job_id"],
                    **{name: row[name] for name in DeletedJob.COUNTED},
                    created_at=iso(row["created_at"]) or "",
                    finished_at=iso(row["finished_at"]),
                    deleted_at=iso(row["deleted_at"]) or "",
                )
                for row in db.execute(newest).mappings()
            ]

    def ended_before(self, age_s: float) -> list[str]:
        """The jobs that ended longer ago than that, oldest first."""
        with self.reading() as db:
            is_old = jobs.c.finished_at < self.now(db) - age_s
            ended = select(jobs.c.id).where(jobs.c.status.not_in(OPEN), is_old)
            return list(db.scalars(ended.order_by(jobs.c.finished_at)))

    def has_open_jobs(self) -> bool:
        """Whether a job may still run, or trials of one do."""
        with self.reading() as db:
            is_open = exists().where(jobs.c.status.in_(OPEN))
            return bool(
                db.execute(select(is_open)).scalar_one() or db.execute(_running(self.now(db))).first()
            )

    def names_in_job(self, job_id: str) -> set[bytes]:
        """The SHA-256 digests, as hex, that the traces of a job name, and of the upload that it asks."""
        of_job = select(results.c.trial_id).where(results.c.job_id == job_id)
        with self.reading() as db:
            in_traces = _names(db, select(traces.c.body).where(traces.c.trial_id.in_(of_job)))
            return _uploads(db, jobs.c.id == job_id).union(*in_traces)

    def unnamed(self, digests: Collection[bytes], *, without: str = "") -> set[bytes]:
        """Those of these digests that no spec, trace or checkpoint names; `without` is a job left out."""
        left = set(digests)
        of_job = select(results.c.trial_id).where(results.c.job_id == without)
        with self.reading() as db:
            left -= _uploads(db, jobs.c.id != without)
            for table in (traces, checkpoints):
                for names in _names(db, select(table.c.body).where(table.c.trial_id.not_in(of_job))):
                    left -= names
                    if not left:
                        return left
        return left

    def _deletion(self, db: Connection, row: RowMapping) -> Deletion:
        job_id = row["id"]
        if row["status"] in OPEN:
            raise Conflict(f"job {job_id} is {row['status']}: cancel it first", field="job_id")
        if db.execute(_running(self.now(db)).where(trials.c.job_id == job_id)).first():
            raise Conflict(f"trials of job {job_id} still run: wait until they have ended", field="job_id")
        is_alive = lease_holders.c.lease_until > self.now(db)
        if db.execute(select(lease_holders.c.worker).where(prepares(job_id), is_alive)).first():
            raise Conflict(f"job {job_id} is still being prepared: try again in a moment", field="job_id")
        naming = select(jobs.c.id, jobs.c.status).where(
            jobs.c.id != job_id, jobs.c.spec.contains(job_id, autoescape=True)
        )
        named_by = db.execute(naming.order_by(jobs.c.number).limit(NAMED_JOBS)).all()
        for name, status in named_by:
            if status in OPEN:
                raise Conflict(f"job {name} is {status} and needs {job_id}", field="job_id")
        queues = select(review_queues.c.name).where(review_queues.c.job_id == job_id)
        return Deletion(
            job_id=job_id,
            name=row["name"],
            trials=row["planned"],
            results=db.execute(_counted(results.c.job_id == job_id)).scalar_one(),
            reviews=db.execute(_counted(reviews.c.queue.in_(queues))).scalar_one(),
            named_by=tuple(name for name, _ in named_by),
        )

    def _delete_trials(self, job_id: str) -> None:
        """Delete a job's trials with all of theirs; the ids are looked up once, as no index leads to all."""
        with self.reading() as looking:
            found = looking.execute(
                select(trials.c.trial_id).where(trials.c.job_id == job_id),
                execution_options={"yield_per": BATCH},
            )
            ids = iter(found.scalars())
            while some := list(islice(ids, BATCH)):
                with self.writing() as db:
                    for table in (traces, checkpoints, results, trials):
                        db.execute(delete(table).where(table.c.trial_id.in_(some)))
        with self.writing() as db:
            db.execute(delete(job_counts).where(job_counts.c.job_id == job_id))  # of what came too late
            db.execute(update(deleted_jobs).where(deleted_jobs.c.job_id == job_id).values(is_gone=1))


def _running(now: float) -> Select[str]:
    """The trials that workers run which are alive."""
    alive = select(lease_holders.c.worker).where(lease_holders.c.lease_until > now)
    return select(trials.c.trial_id).where(trials.c.state == LEASED, trials.c.worker.in_(alive)).limit(1)


def _counted(condition: ColumnElement[bool]) -> Select[int]:
    return select(func.count()).where(condition)


def _names(db: Connection, bodies: Select[bytes]) -> Iterator[set[bytes]]:
    for body in db.execute(bodies, execution_options={"yield_per": BATCH}).scalars():
        yield set(_SHA256.findall(zlib.decompress(body)))


def _uploads(db: Connection, condition: ColumnElement[bool]) -> set[bytes]:
    """The digests of the uploads that specs of jobs name."""
    specs = db.scalars(select(jobs.c.spec).where(condition, jobs.c.spec.contains("upload:")))
    return {name for spec in specs for name in _SHA256.findall(spec.encode())}
