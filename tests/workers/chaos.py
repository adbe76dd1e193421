"""Chaos: faults that are planted while real workers run a job, and what must hold all the same."""

import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from gnomon.row import Row
from tests.workers.conftest import Plant, children_of, wait_until
from tests.workers.postgresql import PostgreSQL
from workers.store import JobRecord
from workers.store.schema import trials

Inject = Callable[["Scene"], None]


@dataclass
class Scene:
    """A plant with its workers, and what may be broken in it."""

    plant: Plant
    rng: random.Random
    lease_s: float
    redis_folder: Path
    postgres: PostgreSQL | None = None
    stopped: list[int] = field(default_factory=list)

    def pids(self, kind: str) -> list[int]:
        """Processes of the plant: `worker`, `horse` (a worker's fork that runs a shard), `sweeper`."""
        named = self.plant.supervisor.pids()
        if kind == "sweeper":
            return [named["sweeper"]] if "sweeper" in named else []
        workers = [pid for name, pid in named.items() if name.startswith("worker")]
        return workers if kind == "worker" else [child for pid in workers for child in _children(pid)]

    def signal(self, number: int, *kinds: str) -> None:
        """Send a signal to one worker, to one horse, or to a worker and its horse."""
        wait_until(lambda: bool(self.pids(kinds[0])))
        victim = self.rng.choice(self.pids(kinds[0]))
        horses = _children(victim) if kinds == ("worker", "horse") else []
        for pid in [*horses, victim]:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
                self.stopped += [pid] if number == signal.SIGSTOP else []

    def sleep_leases(self, count: float) -> None:
        time.sleep(count * self.lease_s)


def _children(pid: int) -> list[int]:
    try:
        return children_of(pid)
    except (FileNotFoundError, ProcessLookupError):
        return []


def zombie(scene: Scene) -> None:
    """A horse stands still until its leases are long gone, and then goes on."""
    scene.signal(signal.SIGSTOP, "horse")
    scene.sleep_leases(2)
    for pid in scene.stopped:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    scene.stopped.clear()


def kill_redis(scene: Scene, damage: Callable[[Path], None] = lambda _: None) -> None:
    pid = scene.plant.redis.info("server")["process_id"]
    os.kill(pid, signal.SIGKILL)
    for file in scene.redis_folder.rglob("appendonly*.aof"):
        damage(file)


def cut_tail(file: Path) -> None:
    os.truncate(file, max(0, file.stat().st_size - 7))


def overwrite_middle(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 40] = b"?" * min(40, len(data) - len(data) // 2)
    file.write_bytes(data)


def lock_sqlite(scene: Scene) -> None:
    """Somebody else writes to the file for longer than a lease lasts."""
    raw = sqlite3.connect(scene.plant.store.url.removeprefix("sqlite:///"), timeout=60)
    raw.execute("BEGIN IMMEDIATE")
    scene.sleep_leases(1.5)
    raw.close()


def restart_postgres(scene: Scene) -> None:
    assert scene.postgres is not None
    scene.postgres.stop()
    time.sleep(scene.rng.uniform(0.0, 1.0))
    scene.postgres.start()


def cut_connections(scene: Scene) -> None:
    assert scene.postgres is not None
    scene.postgres.cut_connections()


ANYWHERE: dict[str, Inject] = {
    "horse SIGKILL": lambda scene: scene.signal(signal.SIGKILL, "horse"),
    "worker SIGKILL": lambda scene: scene.signal(signal.SIGKILL, "worker"),
    "worker and horse SIGKILL": lambda scene: scene.signal(signal.SIGKILL, "worker", "horse"),
    "worker SIGTERM": lambda scene: scene.signal(signal.SIGTERM, "worker"),
    "horse stopped for two leases": zombie,
    "sweeper SIGKILL": lambda scene: scene.signal(signal.SIGKILL, "sweeper"),
    "Redis SIGKILL": kill_redis,
    "Redis flushed": lambda scene: scene.plant.redis.flushall(),
    "Redis file cut off": lambda scene: kill_redis(scene, cut_tail),
    "Redis file overwritten": lambda scene: kill_redis(scene, overwrite_middle),
}
ON_SQLITE: dict[str, Inject] = ANYWHERE | {"database locked for 1.5 leases": lock_sqlite}
ON_POSTGRESQL: dict[str, Inject] = {
    "worker and horse SIGKILL": ANYWHERE["worker and horse SIGKILL"],
    "PostgreSQL restarted": restart_postgres,
    "PostgreSQL connections cut": cut_connections,
}


@dataclass(frozen=True)
class Damage:
    """What a fault has done: `recovery_s` from the fault until what was in flight then had ended."""

    fault: str
    planned: int
    lost: int
    duplicated: int
    missing: int
    rerun: int
    recovery_s: float

    def __str__(self) -> str:
        return (
            f"{self.fault:32} lost {self.lost} of {self.planned}, duplicated {self.duplicated}, "
            f"missing {self.missing}, run again {self.rerun}, recovered in {self.recovery_s:.1f} s"
        )


def suffer(scene: Scene, name: str, inject: Inject, job: JobRecord, *, within_s: float) -> Damage:
    """Plant the fault while the job runs, wait for the job's end, and count."""
    store = scene.plant.store
    wait_until(lambda: store.job(job.id).counts.done > job.counts.planned // 10, within_s=within_s)
    in_flight = _leased(scene.plant, job)
    began_s = time.monotonic()
    inject(scene)
    wait_until(lambda: _have_ended(scene.plant, in_flight), within_s=within_s)
    recovery_s = time.monotonic() - began_s
    wait_until(lambda: store.job(job.id).status == "completed", within_s=within_s)
    return count(name, list(store.iter_rows(job.id)), job, recovery_s)


def count(name: str, rows: list[Row], job: JobRecord, recovery_s: float) -> Damage:
    """Compare the rows with the plan."""
    ids = [row.trial_id for row in rows]
    return Damage(
        fault=name,
        planned=job.counts.planned,
        lost=job.counts.planned - len(set(ids)),
        duplicated=len(ids) - len(set(ids)),
        missing=sum(row.outcome.value == "infra_missing" for row in rows),
        rerun=sum(row.attempt > 1 for row in rows),
        recovery_s=recovery_s,
    )


def plain(rows: list[Row]) -> list[Row]:
    """What a run has found, without what a fault may change: times, attempts, cost, order, names."""
    blank = {"wall_s": 0.0, "attempt": 0, "usd": 0.0, "job_id": "", "trial_id": ""}
    return sorted(
        (replace(row, **blank) for row in rows),
        key=lambda row: (row.sample_id, row.arm, row.model, row.repeat),
    )


@contextmanager
def all_at_rest(scene: Scene) -> Iterator[None]:
    """At its end no process of the scene stands still."""
    try:
        yield
    finally:
        for pid in scene.stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def _leased(plant: Plant, job: JobRecord) -> list[str]:
    with plant.store.reading() as db:
        mine = select(trials.c.trial_id).where(trials.c.job_id == job.id, trials.c.state == "leased")
        return list(db.execute(mine).scalars())


def _have_ended(plant: Plant, trial_ids: list[str]) -> bool:
    try:
        return all(plant.store.trial(trial_id).row is not None for trial_id in trial_ids)
    except SQLAlchemyError:  # the database is what was broken
        return False
