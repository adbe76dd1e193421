"""Keeps what can be computed again from a job's results, so that it survives a restart."""

from collections.abc import Collection

from sqlalchemy import select

from gnomon_workers.store.database import Database, insert_or_update
from gnomon_workers.store.schema import derived

QUERY_JOBS = 500
MAX_BYTES = 64 << 20  # what is larger is computed again each time


class Derived(Database):
    """The part of the store that keeps documents made of results, one of a kind for each job.

    A document's stamp names what it was made of; one with another stamp is out of date, and as good as
    absent.
    """

    def kept(self, job_id: str, kind: str, stamp: str) -> bytes | None:
        """The document, if it is kept with this stamp."""
        here = (derived.c.job_id == job_id, derived.c.kind == kind, derived.c.stamp == stamp)
        with self.reading() as db:
            return db.execute(select(derived.c.body).where(*here)).scalar_one_or_none()

    def kept_of(self, job_ids: Collection[str], kind: str) -> dict[str, tuple[str, bytes]]:
        """Stamp and document of each of these jobs that has one of the kind."""
        columns = (derived.c.job_id, derived.c.stamp, derived.c.body)
        wanted, documents = list(job_ids), dict[str, tuple[str, bytes]]()
        with self.reading() as db:
            for start in range(0, len(wanted), QUERY_JOBS):
                here = derived.c.job_id.in_(wanted[start : start + QUERY_JOBS])
                for row in db.execute(select(*columns).where(here, derived.c.kind == kind)):
                    documents[row.job_id] = row.stamp, row.body
        return documents

    def keep(self, job_id: str, kind: str, stamp: str, body: bytes) -> None:
        """Keep a document in place of the last one of its kind, unless it is very large."""
        if len(body) > MAX_BYTES:
            return
        with self.writing() as db:
            insert_or_update(db, derived, {"job_id": job_id, "kind": kind, "stamp": stamp, "body": body})
