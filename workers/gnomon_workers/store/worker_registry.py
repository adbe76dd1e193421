"""Keeps which workers are alive, and what they are doing."""

from sqlalchemy import delete, insert, select, update

from gnomon_workers.store.database import Database
from gnomon_workers.store.records import WorkerRecord, iso
from gnomon_workers.store.schema import workers

REMEMBERED_FOR_S = 60.0  # a worker that is silent for longer is gone


class WorkerRegistry(Database):
    """The part of the store that knows the workers."""

    def record_heartbeat(
        self, name: str, *, host: str, pid: int, state: str, shard: str | None = None
    ) -> None:
        """Note that the worker lives and what it does; forget those that have been silent for long."""
        with self.writing() as db:
            now = self.now(db)
            facts = {"host": host, "pid": pid, "state": state, "shard": shard, "seen_at": now}
            if db.execute(update(workers).where(workers.c.name == name).values(facts)).rowcount == 0:
                db.execute(insert(workers).values(name=name, **facts))
            silent = select(workers.c.name).where(workers.c.seen_at < now - REMEMBERED_FOR_S)
            # One that another heartbeat has locked is being forgotten, or is back: not waited for.
            free = silent.with_for_update(skip_locked=True)
            db.execute(delete(workers).where(workers.c.name.in_(free)))

    def remove_worker(self, name: str) -> None:
        """The worker says good-bye."""
        with self.writing() as db:
            db.execute(delete(workers).where(workers.c.name == name))

    def workers(self) -> list[WorkerRecord]:
        """Every worker seen in the last SEEN_FOR_S seconds, by name."""
        with self.reading() as db:
            lately = workers.c.seen_at >= self.now(db) - REMEMBERED_FOR_S
            rows = db.execute(select(workers).where(lately).order_by(workers.c.name)).mappings()
            return [WorkerRecord(**{**row, "seen_at": iso(row["seen_at"])}) for row in rows]
