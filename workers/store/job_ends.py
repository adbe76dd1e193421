"""Ends a job of which nothing is left to run, whoever ended the last of its trials."""

from sqlalchemy import ColumnElement, Connection, FromClause, select, update

from workers.store.database import Database
from workers.store.failure import failure_of
from workers.store.job_counters import OPEN, counted_jobs, lock_jobs
from workers.store.schema import jobs

MAX_CHANGES = 64  # beside a job's row, before they are moved into it: each look at the job adds them up


class JobEnds(Database):
    """The part of the store that ends jobs."""

    def end_if_over(self, job_id: str) -> None:
        """End an open job of which nothing is left to run: it fails where no model answered, or none is left.

        Whoever has added results or opened a job calls it when that is committed. Several may do so at once:
        the last of them sees what all have added. A job whose last process died before that is found by the
        sweeper (`jobs_over`).
        """
        with self.reading() as db:
            columns = (_is_over(counted_jobs).label("is_over"), counted_jobs.c.changes)
            job = db.execute(select(*columns).where(counted_jobs.c.id == job_id)).one_or_none()
        if job is None or not (job.is_over or job.changes >= MAX_CHANGES):
            return
        with self.writing() as db:
            lock_jobs(db, [job_id], waits=bool(job.is_over))
            if job.is_over and db.execute(select(_is_over(jobs)).where(jobs.c.id == job_id)).scalar_one():
                end_job(db, job_id, now=self.now(db))

    def jobs_over(self) -> list[str]:
        """Open jobs of which nothing is left to run."""
        with self.reading() as db:
            return list(db.scalars(select(counted_jobs.c.id).where(_is_over(counted_jobs))))


def end_job(db: Connection, job_id: str, *, now: float) -> None:
    """End a job that is locked and of which nothing is left to run."""
    job = db.execute(select(jobs).where(jobs.c.id == job_id)).mappings().one()
    error = failure_of(db, job)
    status = "failed" if error else "completed"
    db.execute(update(jobs).where(jobs.c.id == job_id).values(status=status, error=error, finished_at=now))


def _is_over(job: FromClause) -> ColumnElement[bool]:
    ended = job.c.scored + job.c.model_failed + job.c.infra_missing
    return job.c.status.in_(OPEN) & (job.c.planned <= ended)
