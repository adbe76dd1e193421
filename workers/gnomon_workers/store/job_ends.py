"""Ends a job when none of its trials is left to run, whoever ended the last one."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, FromClause, bindparam, select, update
from sqlalchemy.exc import SQLAlchemyError

from gnomon_workers.store.database import ALONE, Database
from gnomon_workers.store.failure import failure_of
from gnomon_workers.store.job_counters import counted_jobs, ended_count, lock_jobs
from gnomon_workers.store.records import OPEN
from gnomon_workers.store.schema import jobs

MAX_CHANGES = 64  # beside a job's row, before they are moved into it: each look at the job adds them up


def _is_over(job: FromClause) -> ColumnElement[bool]:
    return job.c.status.in_(OPEN) & (job.c.planned <= ended_count(job))


_IS_OVER = select(_is_over(jobs)).where(jobs.c.id == bindparam("job_id"))
_LOOK = select(_is_over(counted_jobs).label("is_over"), counted_jobs.c.changes).where(
    counted_jobs.c.id == bindparam("job_id")
)


class _Look(NamedTuple):
    is_over: bool  # nothing is left to run
    changes: int  # beside the job's row


class JobEnds(Database):
    """The part of the store that ends jobs."""

    @contextmanager
    def adding_results(self, job_id: str) -> Iterator[Connection]:
        """A transaction that adds results of a job, which ends if nothing of it is left to run.

        On PostgreSQL others may add results at the same time: the last one sees all once its own are
        committed. On SQLite this transaction is alone.
        """
        if self._is_sqlite:
            with self.writing() as db:
                yield db
                self._end_if_over(db, job_id)
            return
        look = None
        with self.reading() as connection:
            with self.writing(connection) as db:
                yield db
            with suppress(SQLAlchemyError):  # the results are kept; the sweeper looks again
                look = self._look(connection, job_id)
        with suppress(SQLAlchemyError):
            self._act_on(look, job_id)

    def end_if_over(self, job_id: str) -> None:
        """End an open job of which nothing is left to run: it fails where no model answered, or none is left.

        Whoever has opened a job or ended trials of it calls this when that is committed. Several may do so at
        once. A job whose last process died before it did is found by the sweeper.
        """
        with self.reading() as db:
            look = self._look(db, job_id)
        self._act_on(look, job_id)

    def _look(self, db: Connection, job_id: str) -> _Look | None:
        """What there is to do for a job, on a connection that is in no transaction."""
        if not self._is_sqlite:  # one round trip, and no ROLLBACK, at which the driver forgets all plans
            db = db.execution_options(**ALONE)
        job = db.execute(_LOOK, {"job_id": job_id}).one_or_none()
        return None if job is None else _Look(job.is_over, job.changes)

    def _act_on(self, look: _Look | None, job_id: str) -> None:
        if look is not None and (look.is_over or look.changes >= MAX_CHANGES):
            with self.writing() as db:
                self._end_if_over(db, job_id, waits=look.is_over)

    def _end_if_over(self, db: Connection, job_id: str, *, waits: bool = True) -> None:
        lock_jobs(db, [job_id], waits=waits)
        if waits and db.execute(_IS_OVER, {"job_id": job_id}).scalar_one_or_none():
            end_job(db, job_id, now=self.now(db))


def jobs_over(db: Connection) -> Sequence[str]:
    """Open jobs of which nothing is left to run."""
    return db.scalars(select(counted_jobs.c.id).where(_is_over(counted_jobs))).all()


def end_job(db: Connection, job_id: str, *, now: float) -> None:
    """End a job that is locked and of which nothing is left to run."""
    job = db.execute(select(jobs).where(jobs.c.id == job_id)).mappings().one()
    error = failure_of(db, job)
    status = "failed" if error else "completed"
    db.execute(update(jobs).where(jobs.c.id == job_id).values(status=status, error=error, finished_at=now))
