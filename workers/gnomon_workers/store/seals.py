"""Keeps each job's seal, and digests its results for it."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, exists, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from gnomon.core.row import COLUMNS
from gnomon.core.seal import Kind, SealLine, next_line, read_lines
from gnomon.report.row_formats import ndjson_line
from gnomon_workers.store.database import Database
from gnomon_workers.store.job_counters import counted_jobs, ended_count
from gnomon_workers.store.records import OPEN, iso
from gnomon_workers.store.schema import LEASED, jobs, lease_holders, results, seals, trials
from gnomon_workers.store.serialization import row_in_order

READ_BATCH = 2_000
STAMPED_WITHIN_S = 86_400.0  # a time stamp that comes later than a day says little


class Unstamped(NamedTuple):
    """A line that no time authority has signed yet."""

    job_id: str
    line: SealLine


class Seals(Database):
    """The part of the store that keeps seals."""

    def seal(self, job_id: str) -> list[SealLine]:
        """The lines of a job's seal, in their order; none of a job that an older version made."""
        with self.reading() as db:
            return read_lines(_texts(db, job_id))

    def jobs_to_seal(self, limit: int = 10) -> list[str]:
        """Jobs that have ended since their results were last sealed, and none of whose trials runs."""
        done = ended_count(counted_jobs)
        is_new = (counted_jobs.c.sealed_rows.is_(None)) | (counted_jobs.c.sealed_rows != done)
        with self.reading() as db:
            # What a worker was running when the job was stopped it may still hand in.
            alive = select(lease_holders.c.worker).where(lease_holders.c.lease_until > self.now(db))
            runs = (trials.c.state == LEASED) & trials.c.worker.in_(alive)
            is_quiet = ~exists().where(trials.c.job_id == counted_jobs.c.id, runs)
            query = select(counted_jobs.c.id).where(counted_jobs.c.status.not_in(OPEN), is_new, is_quiet)
            return list(db.scalars(query.order_by(counted_jobs.c.number).limit(limit)))

    def seal_results(self, job_id: str) -> None:
        """Add the line that fixes the results of a job that has ended; nothing where they are sealed already.

        `rows_sha256` is that of the lines of its `rows.ndjson`, sorted.
        """
        with self.reading() as db:
            before = _state(db, job_id)
        if before is None or before["status"] in OPEN or before["sealed_rows"] == before["done"]:
            return
        rows, digest = self._digest(job_id)
        with self.writing() as db:
            self.advisory_lock(db, job_id)
            after = _state(db, job_id)
            if after is None or after != before:
                return  # it was resumed or sealed meanwhile: the next turn looks again
            body = {
                "at": iso(self.now(db)),
                "status": after["status"],
                "ended_at": iso(after["finished_at"]),
                "rows": rows,
                "columns": list(COLUMNS),
                "rows_sha256": digest,
            }
            add_line(db, job_id, "results", body, now=self.now(db))
            db.execute(update(jobs).where(jobs.c.id == job_id).values(sealed_rows=after["done"]))

    def unstamped(self, limit: int = 10) -> list[Unstamped]:
        """Lines of the last day that no time authority has signed, oldest first."""
        with self.reading() as db:
            recent = seals.c.at > self.now(db) - STAMPED_WITHIN_S
            query = select(seals.c.job_id, seals.c.line).where(seals.c.is_stamped == 0, recent)
            rows = db.execute(query.order_by(seals.c.at).limit(limit)).all()
        return [Unstamped(job_id, read_lines([text])[0]) for job_id, text in rows]

    def add_time_stamp(self, job_id: str, line: SealLine, body: Mapping[str, Any]) -> None:
        """Add the signature of a time authority over a line; once."""
        here = (seals.c.job_id == job_id, seals.c.number == line.body["number"], seals.c.is_stamped == 0)
        try:
            with self.writing() as db:
                self.advisory_lock(db, job_id)
                if db.execute(update(seals).where(*here).values(is_stamped=1)).rowcount:
                    add_line(db, job_id, "time", {"of": line.sha256, **body}, now=self.now(db))
        except IntegrityError:  # another process added a line at once
            return

    def _digest(self, job_id: str) -> tuple[int, str]:
        """How many results there are, and the SHA-256 of their sorted lines.

        A line begins with the ids of job and trial, so the order of trial ids is that of the lines.
        """
        query = select(*(results.c[name] for name in COLUMNS)).where(results.c.job_id == job_id)
        digest, count = hashlib.sha256(), 0
        with self.reading() as db:
            rows = db.execution_options(yield_per=READ_BATCH).execute(query.order_by(results.c.trial_id))
            for row in rows:
                digest.update(ndjson_line(row_in_order(tuple(row))).encode())
                count += 1
        return count, digest.hexdigest()


def add_line(db: Connection, job_id: str, kind: Kind, body: Mapping[str, Any], *, now: float) -> None:
    """Write a job's next line, in the caller's transaction."""
    earlier = _texts(db, job_id)
    line = next_line(earlier, kind, body)
    values = {"job_id": job_id, "number": len(earlier), "line": line.text, "at": now}
    db.execute(insert(seals).values(**values, is_stamped=1 if kind == "time" else 0))


def _texts(db: Connection, job_id: str) -> Sequence[str]:
    return db.scalars(select(seals.c.line).where(seals.c.job_id == job_id).order_by(seals.c.number)).all()


def _state(db: Connection, job_id: str) -> Mapping[str, Any] | None:
    """What a job's results are known by: the newest and how many there are."""
    newest = select(func.max(results.c.seq)).where(results.c.job_id == counted_jobs.c.id).scalar_subquery()
    columns = (
        counted_jobs.c.status,
        counted_jobs.c.finished_at,
        counted_jobs.c.sealed_rows,
        ended_count(counted_jobs).label("done"),
        newest.label("seq"),
    )
    row = db.execute(select(*columns).where(counted_jobs.c.id == job_id)).mappings().one_or_none()
    return None if row is None else dict(row)
