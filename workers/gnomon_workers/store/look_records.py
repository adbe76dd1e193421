"""Keeps the looks at jobs that may stop early, and stops one when it is decided."""

import json
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from gnomon_workers.store.database import Database
from gnomon_workers.store.job_counters import lock_jobs
from gnomon_workers.store.jobs import IS_SEQUENTIAL, looks_at, stopping_look
from gnomon_workers.store.records import OPEN, iso
from gnomon_workers.store.schema import jobs, looks, results

if TYPE_CHECKING:
    from gnomon.report.look import EndedTrial
    from gnomon.report.sequence import Look, StoredLook


class LookRecords(Database):
    """The part of the store that keeps looks."""

    def looks(self, job_id: str) -> "list[StoredLook]":
        """The looks at a job, in order."""
        with self.reading() as db:
            return looks_at(db, [job_id]).get(job_id, [])

    def record_look(self, job_id: str, look: "Look") -> bool:
        """Keep a look unless one of as many clusters is kept; return whether it has stopped the job.

        The first that decides an open job ends it as `completed`: no trial is leased any more, and what has
        not run stays as it is. After that one a resumed job runs to its end.
        """
        with self.writing() as db:
            lock_jobs(db, [job_id])
            before = looks_at(db, [job_id]).get(job_id, [])
            if before and before[-1]["clusters"] >= look["clusters"]:
                return False
            status = db.execute(select(jobs.c.status).where(jobs.c.id == job_id)).scalar_one()
            is_last = look["decided"] and status in OPEN and stopping_look(before) is None
            now = self.now(db)
            stored: StoredLook = {**look, "decided": is_last, "at": iso(now) or ""}
            db.execute(insert(looks).values(job_id=job_id, number=len(before), body=json.dumps(stored)))
            if is_last:
                ended = update(jobs).where(jobs.c.id == job_id)
                db.execute(ended.values(status="completed", finished_at=now))
        return is_last

    def ended_trials(self, job_id: str) -> "list[EndedTrial]":
        """Of each trial that has ended sample, model, arm, score (None: missing) and state of its reply."""
        columns = tuple(results.c[name] for name in ("sample_id", "model", "arm", "score", "reply_state"))
        with self.reading() as db:
            rows = db.execute(select(*columns).where(results.c.job_id == job_id))
            return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]

    def open_sequential_jobs(self) -> list[str]:
        """The open jobs that may stop early."""
        wanted = jobs.c.status.in_(OPEN) & jobs.c.spec.contains(IS_SEQUENTIAL)
        with self.reading() as db:
            return list(db.scalars(select(jobs.c.id).where(wanted).order_by(jobs.c.number)))
