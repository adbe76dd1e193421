"""What happens where a whole fleet starts, takes trials, is lost and leaves at once.

`python -m bench.fleet_stop` starts a PostgreSQL, a PgBouncer and a Valkey of its own, the real sweeper, and
so many workers without models. Each does to the store and to Valkey what a worker does: it looks at the
tables, registers, takes a message from the queue, leases its trials, renews them, asks the limiter, ends
trials in batches, gives back, says good-bye. All start at once and take a shard each; Redis loses its
memory and its connections; half of the workers are killed without a word; the rest leave in order at that
moment; as many new ones start and end the job. It prints the seconds until all had their first lease, until
the messages that Redis lost and the trials of the dead were queued again, and of the second fleet; how many
connections there were; and how many trials were lost and doubled.
"""

import argparse
import asyncio
import copy
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from redis import Redis
from rq import Queue, Worker
from rq.exceptions import DequeueTimeout
from rq.serializers import JSONSerializer
from sqlalchemy import Engine, delete, event, func, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from bench.fleet_limits import SPEC, trial_rows, valkey
from bench.performance.filler import TRACE, row_of
from gnomon.core.errors import SpecError
from gnomon.spec.model_spec import Rate
from gnomon.worlds.sample_numbers import Numbers
from tests.workers.pgbouncer import PgBouncer, find_pgbouncer, pooling
from tests.workers.postgresql import PostgreSQL, running
from workers.heartbeat import Heartbeat
from workers.message import ShardMessage
from workers.queue import client_of, enqueue_shards, message_id, queue_name, queue_names, waiting_ids
from workers.rate_limit.redis_limiter import Flow, RedisRateLimiter, SyncRequest
from workers.redis_url import async_redis_at, redis_at
from workers.settings import Timing
from workers.store import Lease, Store, database
from workers.store.database import insert_all
from workers.store.records import JobRecord
from workers.store.schema import LEASED, PENDING, jobs, results, trials
from workers.worker import IDLE_BEAT_S

PROCESSES = 8  # that hold the workers; half of them are killed
TRIALS, SHARDS = 16, 2  # of a shard; of each worker
WAIT_S = 0.5
WATCH_S = 5.0  # a worker looks at its job every second; here, all looks would cost the CPU of the database
SWITCH_S = 0.1  # each thread that waits for the interpreter wakes so often: the default, 5 ms, costs a core
PATIENCE_S = 240.0
FORKS = multiprocessing.get_context("forkserver")  # of a process without threads
HOLDS, FINISHES = "holds", "finishes"  # what a worker does with the trials that it has leased


class Flag:
    """An event that processes share; one that is killed while it waits holds up no other."""

    def __init__(self) -> None:
        self._value = FORKS.RawValue("b", 0)

    def set(self) -> None:
        self._value.value = 1

    def is_set(self) -> bool:
        return bool(self._value.value)

    def wait(self) -> None:
        while not self.is_set():
            time.sleep(0.05)


@dataclass(frozen=True)
class Fleet:
    """What the processes of a fleet share: when to start, when to leave, and who has leased something."""

    database: str
    redis: str
    job_id: str
    does: str
    timing: Timing
    go: Flag = field(default_factory=Flag)
    leave: Flag = field(default_factory=Flag)
    leased: Any = field(default_factory=lambda: FORKS.Value("i", 0))
    refused: Any = field(default_factory=lambda: FORKS.Value("i", 0))
    failed: Any = field(default_factory=lambda: FORKS.Value("i", 0))


class SimulatedWorker:
    """A worker without models, in a thread; its heart beats in another."""

    def __init__(
        self, name: str, store: Store, fleet: Fleet, loop: asyncio.AbstractEventLoop, leave: threading.Event
    ) -> None:
        self.name, self._store, self._fleet, self._loop, self._leave = name, store, fleet, loop, leave
        self._has_leased, self._timing = False, fleet.timing

    def live(self) -> None:
        """From the start to the good-bye."""
        fleet, store = self._fleet, self._store
        self._insistently(store.ping_tables)
        self._redis = redis_at(fleet.redis)
        self._rq = Worker(
            queue_names(["default"]), name=self.name, connection=self._redis, serializer=JSONSerializer
        )
        self._rq.register_birth()
        self._limiter = RedisRateLimiter(
            async_redis_at(fleet.redis),
            "key",
            holder=self.name,
            flow=Flow(job=fleet.job_id, queue="default", weight=2),
            rate=Rate(in_flight=100_000),
        )
        self._beat("idle")
        while not self._leave.is_set() and (shard := self._take()) is not None:
            self._run(shard)
        self._insistently(partial(store.remove_worker, self.name))
        self._rq.register_death()
        self._redis.close()
        store.close()

    def _take(self) -> int | None:
        """The shard of the next message; None when it is time to leave."""
        queues = [Queue(name, connection=self._redis) for name in queue_names(["default"])]
        while not self._leave.is_set():
            with suppress(DequeueTimeout):
                taken = Queue.dequeue_any(
                    queues,
                    IDLE_BEAT_S,
                    connection=self._redis,
                    job_class=ShardMessage,
                    serializer=JSONSerializer,
                )
                message = taken[0]
                message.delete(remove_from_queue=False)
                return int(message.shard()[1])
            self._rq.heartbeat()
            self._beat("idle")
        return None

    def _run(self, shard: int) -> None:
        fleet, store = self._fleet, self._store
        self._beat("busy")
        if not self._insistently(partial(store.is_open, fleet.job_id)):
            return
        with Heartbeat(store, job_id=fleet.job_id, holder=f"{self.name}/1", timing=self._timing) as heartbeat:
            take = partial(
                store.lease,
                fleet.job_id,
                shard,
                worker=heartbeat.holder,
                ttl_s=self._timing.lease_s,
                limit=TRIALS,
            )
            leases = self._insistently(take)
            if leases and not self._has_leased:
                self._has_leased = True
                _add(fleet.leased, 1)
            self._sync(SyncRequest(costs=[100] * len(leases)))
            if fleet.does == FINISHES:
                self._finish(leases)
            else:
                half = len(leases) // 2
                self._finish(leases[:half])
                self._sync(SyncRequest(in_flight=len(leases) - half, answered=half))
                self._leave.wait()
                self._insistently(partial(store.release, leases[half:]))
            self._sync(SyncRequest())

    def _finish(self, leases: Sequence[Lease]) -> None:
        ended = [(lease, row_of(lease.trial), TRACE) for lease in leases]
        _add(self._fleet.refused, len(self._insistently(partial(self._store.finish, ended))))

    def _sync(self, request: SyncRequest) -> None:
        asyncio.run_coroutine_threadsafe(self._limiter.sync(request), self._loop).result()

    def _beat(self, state: str) -> None:
        with suppress(SQLAlchemyError):
            self._store.record_heartbeat(self.name, host="bench", pid=1, state=state)

    def _insistently(self, ask: Callable[[], Any]) -> Any:
        """As workers do: the store is asked until it answers."""
        while True:
            try:
                return ask()
            except SQLAlchemyError:
                _add(self._fleet.failed, 1)
                time.sleep(WAIT_S)


class SeparateStore(Store):
    """The store of one worker among many in this process: with connections of its own.

    What SQLAlchemy has compiled is shared: a fleet's workers have a CPU each, and these have two.
    """

    def ping_tables(self) -> None:
        """What the store does when it is opened."""
        self._prepare()

    def another(self) -> "SeparateStore":
        store, first = copy.copy(self), self._engine
        engine = Engine(first.pool.recreate(), first.dialect, first.url)
        engine._compiled_cache = first._compiled_cache  # noqa: SLF001 (SQLAlchemy has no public way)
        event.listen(engine, "begin", database.begin_postgresql)
        store._engine = engine  # noqa: SLF001 (a copy of this very object)
        return store


def run_workers(fleet: Fleet, names: Sequence[str]) -> None:
    """A process that holds workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.stack_size(256 * 1024)
    sys.setswitchinterval(SWITCH_S)
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    first, leave = SeparateStore(fleet.database), threading.Event()
    workers = [SimulatedWorker(name, first.another(), fleet, loop, leave) for name in names]
    threads = [threading.Thread(target=worker.live) for worker in workers]
    first.close()
    fleet.go.wait()
    for thread in threads:
        thread.start()
    fleet.leave.wait()  # here alone: a thousand threads that look would take the CPU from the others
    leave.set()
    for thread in threads:
        thread.join()


@contextmanager
def started(fleet: Fleet, prefix: str, workers: int) -> Iterator[list[Any]]:
    """Processes with so many workers among them, who wait for `fleet.go`."""
    names = [f"{prefix}-{number % PROCESSES}-{number}" for number in range(workers)]
    processes = [
        FORKS.Process(target=run_workers, args=(fleet, names[number::PROCESSES]))
        for number in range(PROCESSES)
    ]
    FORKS.set_forkserver_preload([run_workers.__module__])
    for process in processes:
        process.start()
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.join()


@dataclass
class Connections:
    """The most connections that there were at once: of clients to a pooler, and of clients to the server."""

    to_pooler: int = 0
    to_server: int = 0

    @contextmanager
    def counted(self, server: PostgreSQL, pooler: PgBouncer | None) -> Iterator[None]:
        """Count them twice a second."""
        over = threading.Event()
        query = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"

        def count() -> None:
            with server.connect() as db:
                while not over.wait(WAIT_S):
                    row = db.execute(query).fetchone()
                    self.to_server = max(self.to_server, (row[0] if row else 0) - 1)
                    if pooler is not None:
                        with suppress(psycopg.OperationalError):  # at the start its door is crowded
                            pools = pooler.pools()
                            self.to_pooler = max(self.to_pooler, pools["cl_active"] + pools["cl_waiting"])

        thread = threading.Thread(target=count)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of it; times in seconds."""

    planned: int
    all_leased_s: float
    forgotten: int  # messages that Redis lost with its memory
    memory_s: float  # until they were there again
    lost_trials: int  # that were taken back from the dead
    recovery_s: float  # from the kill until these were queued again
    finish_s: float  # of the second fleet, from its start to the job's end
    results: int
    distinct: int
    refused: int
    failed: int  # statements that had to be asked again
    connections: Connections

    def __str__(self) -> str:
        to_pooler = f"{self.connections.to_pooler:,} to PgBouncer, " if self.connections.to_pooler else ""
        return (
            f"all had a lease after {self.all_leased_s:.1f} s; {self.forgotten:,} messages that Redis lost"
            f" were there again after {self.memory_s:.1f} s; {self.lost_trials:,} trials of the dead"
            f" queued again {self.recovery_s:.1f} s after the kill; the new fleet ended the job in"
            f" {self.finish_s:.1f} s;"
            f" connections: {to_pooler}{self.connections.to_server:,} to PostgreSQL;"
            f" asked again: {self.failed:,};"
            f" lost {self.planned - self.distinct:,} of {self.planned:,},"
            f" doubled {self.results - self.distinct + self.refused:,}"
        )


def new_job(store: Store, workers: int) -> JobRecord:
    """A job of SHARDS shards for each worker, with TRIALS trials each."""
    job = store.create_job(SPEC, Numbers(0, tuple(range(14)), 4))
    rows = trial_rows(workers * SHARDS * TRIALS)
    for number, row in enumerate(rows):
        row |= {"job_id": job.id, "shard": number // TRIALS}
    with store.writing() as db:
        db.execute(delete(trials).where(trials.c.job_id == job.id))
        insert_all(db, trials, rows)
        db.execute(update(jobs).values(planned=len(rows), shard_size=TRIALS))
    return store.job(job.id)


def stop_of(
    workers: int,
    server: PostgreSQL,
    pooler: PgBouncer | None,
    redis_url: str,
    folder: Path,
    timing: Timing | None = None,
) -> Outcome:
    """The whole scenario."""
    timing = timing or Timing(watch_s=WATCH_S)
    url, direct = (pooler.emptied(), server) if pooler else (server.emptied(), server)
    store, redis = Store(url), client_of(redis_url)
    redis.flushall()
    job = new_job(store, workers)
    say(f"a job of {job.counts.planned:,} trials is made")
    enqueue_shards(redis, job, range(job.shards))
    connections = Connections()
    with ExitStack() as stack:
        stack.enter_context(connections.counted(direct, pooler))
        stack.enter_context(sweeping(url, redis_url, folder))
        first = Fleet(url, redis_url, job.id, HOLDS, timing)
        processes = stack.enter_context(started(first, "first", workers))
        began_s = time.monotonic()
        first.go.set()
        say(f"{workers:,} workers start")
        wait_for(lambda: first.leased.value >= workers, f"{workers} leases")
        all_leased_s = time.monotonic() - began_s
        say(f"all had a lease after {all_leased_s:.1f} s")
        time.sleep(2 * WAIT_S)  # a first batch is ended, and a heart has beaten
        forgotten, memory_s = forget(store, redis, job.id)
        say(f"{forgotten:,} messages that Redis has lost are there again after {memory_s:.1f} s")
        doomed = processes[: PROCESSES // 2]
        for process in doomed:
            os.kill(process.pid, signal.SIGKILL)
        killed_s = time.monotonic()
        held = held_by_dead(store, PROCESSES // 2)
        first.leave.set()
        name = queue_name("default", "normal")
        lost = {message_id(job.id, shard) for shard in held}
        wait_for(
            lambda: not held_by_dead(store, PROCESSES // 2) and lost <= waiting_ids(redis, name), "recovery"
        )
        recovery_s = time.monotonic() - killed_s
        say(f"{sum(held.values()):,} trials of the dead are queued again {recovery_s:.1f} s after the kill")
        for process in processes:
            process.join(PATIENCE_S)
        second = Fleet(url, redis_url, job.id, FINISHES, timing)
        stack.enter_context(started(second, "second", workers))
        began_s = time.monotonic()
        second.go.set()
        say(f"{workers:,} new workers start")
        wait_for(lambda: store.job(job.id).status not in ("queued", "running"), "the job's end")
        finish_s = time.monotonic() - began_s
        second.leave.set()
    with store.reading() as db:
        of_job = results.c.job_id == job.id
        count, distinct = db.execute(
            select(func.count(), func.count(results.c.trial_id.distinct())).where(of_job)
        ).one()
        open_trials = select(func.count()).where(trials.c.state.in_((LEASED, PENDING)))
        assert db.execute(open_trials).scalar_one() == 0
    store.close()
    redis.close()
    return Outcome(
        planned=job.counts.planned,
        all_leased_s=all_leased_s,
        forgotten=forgotten,
        memory_s=memory_s,
        lost_trials=sum(held.values()),
        recovery_s=recovery_s,
        finish_s=finish_s,
        results=count,
        distinct=distinct,
        refused=first.refused.value + second.refused.value,
        failed=first.failed.value + second.failed.value,
        connections=connections,
    )


def forget(store: Store, redis: Redis, job_id: str) -> tuple[int, float]:
    """Take all memory and all connections from Redis: of how many shards that no worker has, and the seconds
    until all of these wait there again.
    """
    has_worker = func.bool_or(trials.c.state != PENDING)
    with store.reading() as db:
        untouched = select(trials.c.shard).group_by(trials.c.shard).having(~has_worker)
        lost = {message_id(job_id, shard) for shard in db.execute(untouched).scalars()}
    name = queue_name("default", "normal")
    redis.flushall()
    redis.client_kill_filter(_type="normal", skipme=True)
    began_s = time.monotonic()
    wait_for(lambda: lost <= waiting_ids(redis, name), "the queue that was lost")
    return len(lost), time.monotonic() - began_s


def held_by_dead(store: Store, killed: int) -> dict[int, int]:
    """How many trials of each shard the workers of the first `killed` processes still hold."""
    names = [trials.c.worker.startswith(f"first-{number}-") for number in range(killed)]
    held = select(trials.c.shard, func.count()).where(trials.c.state == LEASED, or_(*names))
    with store.reading() as db:
        return {row[0]: row[1] for row in db.execute(held.group_by(trials.c.shard))}


@contextmanager
def sweeping(url: str, redis_url: str, folder: Path) -> Iterator[None]:
    """The real sweeper beside it."""
    command = [sys.executable, "-m", "workers.sweeper", "--redis", redis_url, "--database", url]
    with (folder / "sweeper.log").open("wb") as log, subprocess.Popen(command, stderr=log) as sweeper:
        try:
            yield
        finally:
            sweeper.terminate()


def wait_for(happened: Callable[[], bool], what: str) -> None:
    """Wait; after PATIENCE_S seconds it is an error."""
    until_s = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < until_s, f"{what} did not come in {PATIENCE_S:.0f} s"
        time.sleep(WAIT_S)


def say(stage: str) -> None:
    """Tell who waits how far it is."""
    print(f"  {time.strftime('%H:%M:%S')} {stage}", file=sys.stderr, flush=True)


def _add(counter: Any, number: int) -> None:
    with counter.get_lock():
        counter.value += number


def main() -> None:
    """Print what came of it, through PgBouncer and without."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--direct", type=int, default=100, help="workers without PgBouncer")
    parser.add_argument("--pool", type=int, default=20, help="connections of PgBouncer to PostgreSQL")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, valkey() as redis_url:
        enough = ["-c", f"max_connections={4 * given.direct + 100}"]
        with running(options=enough) as server:
            print(f"{given.direct:,} workers: {stop_of(given.direct, server, None, redis_url, Path(name))}")
        if find_pgbouncer() is None:
            raise SpecError("pgbouncer is not installed")
        with running() as server, pooling(server, pool=given.pool) as pooler:
            outcome = stop_of(given.workers, server, pooler, redis_url, Path(name))
            print(f"{given.workers:,} workers through a pool of {given.pool}: {outcome}")


if __name__ == "__main__":
    main()
