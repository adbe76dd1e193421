"""Says up to which number results are settled: none with a smaller number will be seen later.

Results are numbered in the order of arrival, by a sequence of the database, and readers go on from the last
number they have seen. On PostgreSQL those who write results of one job do so side by side, so one may commit
before another that has smaller numbers. Each therefore announces, before it takes its numbers, from where on
they will be: by an advisory lock that hinders nobody, whose name holds the number of the job and the last
number given so far. It ends with its transaction, after that can be seen. On SQLite writers are alone.
"""

from collections.abc import Collection

from sqlalchemy import BigInteger, Connection, Integer, cast, func, literal_column, select, table, text

from gnomon_workers.store.database import Database
from gnomon_workers.store.schema import jobs

NEWEST = 2**63 - 1
_KEYS = 2**31  # of each of the two parts of a lock's name
_LAST = text("SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END FROM results_seq_seq")
_ANNOUNCED = text(
    "SELECT classid::bigint, objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class Numbering(Database):
    """The part of the store that knows which results are settled."""

    def settled(self, job_ids: Collection[str]) -> dict[str, int]:
        """Up to which number the results of each job are settled. Read them in a later transaction.

        The last number is read before the announcements: what is not announced by then gets a larger one.
        """
        if self._is_sqlite:
            return dict.fromkeys(job_ids, NEWEST)
        with self.reading() as db:
            last = int(db.execute(_LAST).scalar_one())
            from_where: dict[int, int] = {}
            for job, low in db.execute(_ANNOUNCED):
                behind = (last - low) % _KEYS
                if behind < _KEYS // 2:  # else it was announced after the last number was read
                    from_where[job] = min(from_where.get(job, last), last - behind)
            numbers: dict[str, int] = {}
            if from_where:
                listed = select(jobs.c.id, jobs.c.number).where(jobs.c.id.in_(job_ids))
                numbers = dict(db.execute(listed).all())
        return {job_id: from_where.get(numbers.get(job_id, 0) % _KEYS, last) for job_id in job_ids}


def announce(db: Connection, job_id: str) -> None:
    """Say, before it takes their numbers, that this transaction will number results of the job."""
    if db.dialect.name != "postgresql":
        return
    last = select(literal_column("last_value", BigInteger)).select_from(table("results_seq_seq"))
    name = [cast(number % _KEYS, Integer) for number in (jobs.c.number, last.scalar_subquery())]
    db.execute(select(func.pg_advisory_xact_lock_shared(*name)).where(jobs.c.id == job_id))
