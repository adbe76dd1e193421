"""A fleet of workers without models, that starts, takes trials, is lost and leaves at once.

Each worker does to the store and to Redis what a worker does: it looks at the tables, registers, takes a
message from the queue, leases its trials, renews them, asks the limiter, ends trials in batches, gives back,
says good-bye. All start at once and take a shard each; Redis loses its memory and its connections; half of
the workers are killed without a word; the rest leave in order at that moment; as many new ones start and end
the job. The sweeper beside them is the real one.
"""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from redis import Redis
from rq import Queue, Worker
from rq.exceptions import DequeueTimeout
from rq.serializers import JSONSerializer
from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import Rate
from gnomon.trials.trial_plan import Trial
from gnomon_workers.heartbeat import Heartbeat
from gnomon_workers.message import ShardMessage
from gnomon_workers.queue import client_of, enqueue_shards, message_id, queue_name, queue_names, waiting_ids
from gnomon_workers.rate_limit.redis_limiter import Flow, RedisRateLimiter, SyncRequest
from gnomon_workers.redis_url import async_redis_at, redis_at
from gnomon_workers.settings import Timing
from gnomon_workers.store import Lease, Store
from gnomon_workers.store.database import insert_all
from gnomon_workers.store.missing import missing_row
from gnomon_workers.store.records import JobRecord
from gnomon_workers.store.schema import LEASED, PENDING, jobs, results, trials
from gnomon_workers.worker import IDLE_BEAT_S
from gnomon_worlds.sample_numbers import Numbers
from tests.workers.warm_supervisor import FORKS, PRELOADED, start_fork

PROCESSES = 4  # that hold the workers; half of them are killed
TRIALS, SHARDS = 16, 2  # of a shard; of each worker
WAIT_S = 0.5
PATIENCE_S = 100.0
HOLDS, FINISHES = "holds", "finishes"  # what a worker does with the trials that it has leased
TRACE = {"prompt": [], "steps": []}
SPEC = JobSpec.model_validate(
    {
        "benchmark": "worlds",
        "select": {"limit": 4},
        "models": [{"id": "reference"}],
        "arms": [{"name": "raw", "agent": "direct"}],
        "concurrency": 1,
    }
)


def row_of(trial: Trial) -> Row:
    """A trial that was answered rightly."""
    row = missing_row(trial, benchmark="worlds", stop_reason="answered", attempt=1)
    return replace(row, outcome=Outcome.SCORED, score=1.0, answer="A", model_calls=1)


def trial_rows(job_id: str, count: int) -> list[dict[str, Any]]:
    """Rows of the table of trials, TRIALS in each shard."""
    same = {"job_id": job_id, "task": "GeoLocation", "cell": "outdoor.GL", "model": "m", "arm": "raw"}
    same |= {"repeat": 0, "state": "pending", "attempt": 0, "token": 0}
    return [
        {
            "trial_id": f"t_{number:020d}",
            "ordinal": number,
            "shard": number // TRIALS,
            "sample_id": f"w7-{number:05d}",
            "cluster": f"w7-outdoor-{number // 14}",
            **same,
        }
        for number in range(count)
    ]


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


class SimulatedWorker:
    """A worker without models, in a thread; its heart beats in another."""

    def __init__(
        self, name: str, fleet: Fleet, loop: asyncio.AbstractEventLoop, leave: threading.Event
    ) -> None:
        self.name, self._fleet, self._loop, self._leave = name, fleet, loop, leave
        self._has_leased, self._timing = False, fleet.timing

    def live(self) -> None:
        """From the start to the good-bye."""
        fleet = self._fleet
        self._store: Store = self._insistently(partial(Store, fleet.database))
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
        self._insistently(partial(self._store.remove_worker, self.name))
        self._rq.register_death()
        self._redis.close()
        self._store.close()

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
                with fleet.leased.get_lock():
                    fleet.leased.value += 1
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
        self._insistently(partial(self._store.finish, ended))

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
                time.sleep(WAIT_S)


def run_workers(fleet: Fleet, names: Sequence[str]) -> None:
    """A process that holds workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    leave = threading.Event()
    workers = [SimulatedWorker(name, fleet, loop, leave) for name in names]
    threads = [threading.Thread(target=worker.live) for worker in workers]
    fleet.go.wait()
    for thread in threads:
        thread.start()
    fleet.leave.wait()
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
    FORKS.set_forkserver_preload(PRELOADED)
    for process in processes:
        process.start()
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.join()


@dataclass(frozen=True, kw_only=True)
class WhatCame:
    """What came of it."""

    planned: int
    forgotten: int  # messages that Redis lost with its memory, and that were queued again
    lost_trials: int  # of the dead, that were queued again
    results: int
    distinct: int  # trials that have a result


def new_job(store: Store, workers: int) -> JobRecord:
    """A job of SHARDS shards for each worker, with TRIALS trials each."""
    job = store.create_job(SPEC, Numbers(0, tuple(range(14)), 4))
    rows = trial_rows(job.id, workers * SHARDS * TRIALS)
    with store.writing() as db:
        db.execute(delete(trials).where(trials.c.job_id == job.id))
        insert_all(db, trials, rows)
        db.execute(update(jobs).values(planned=len(rows), shard_size=TRIALS))
    return store.job(job.id)


def stop_of(workers: int, database: str, redis_url: str, folder: Path, timing: Timing) -> WhatCame:
    """The whole scenario, on a database that is empty."""
    store, redis = Store(database), client_of(redis_url)
    redis.flushall()
    job = new_job(store, workers)
    enqueue_shards(redis, job, range(job.shards))
    with ExitStack() as stack:
        stack.enter_context(sweeping(database, redis_url, folder))
        first = Fleet(database, redis_url, job.id, HOLDS, timing)
        processes = stack.enter_context(started(first, "first", workers))
        first.go.set()
        wait_for(lambda: first.leased.value >= workers, f"{workers} leases")
        time.sleep(2 * WAIT_S)  # a first batch is ended, and a heart has beaten
        forgotten = forget(store, redis, job.id)
        for process in processes[: PROCESSES // 2]:
            os.kill(process.pid, signal.SIGKILL)
        held = held_by_dead(store, PROCESSES // 2)
        first.leave.set()
        name = queue_name("default", "normal")
        lost = {message_id(job.id, shard) for shard in held}
        wait_for(
            lambda: not held_by_dead(store, PROCESSES // 2) and lost <= waiting_ids(redis, name), "recovery"
        )
        for process in processes:
            process.join(PATIENCE_S)
        second = Fleet(database, redis_url, job.id, FINISHES, timing)
        stack.enter_context(started(second, "second", workers))
        second.go.set()
        wait_for(lambda: store.job(job.id).status not in ("queued", "running"), "the job's end")
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
    return WhatCame(
        planned=job.counts.planned,
        forgotten=forgotten,
        lost_trials=sum(held.values()),
        results=count,
        distinct=distinct,
    )


def forget(store: Store, redis: Redis, job_id: str) -> int:
    """Take all memory and all connections from Redis, and wait until all shards that no worker has wait there
    again: how many.
    """
    has_worker = func.bool_or(trials.c.state != PENDING)
    with store.reading() as db:
        untouched = select(trials.c.shard).group_by(trials.c.shard).having(~has_worker)
        lost = {message_id(job_id, shard) for shard in db.execute(untouched).scalars()}
    name = queue_name("default", "normal")
    redis.flushall()
    redis.client_kill_filter(_type="normal", skipme=True)
    wait_for(lambda: lost <= waiting_ids(redis, name), "the queue that was lost")
    return len(lost)


def held_by_dead(store: Store, killed: int) -> dict[int, int]:
    """How many trials of each shard the workers of the first `killed` processes still hold."""
    names = [trials.c.worker.startswith(f"first-{number}-") for number in range(killed)]
    held = select(trials.c.shard, func.count()).where(trials.c.state == LEASED, or_(*names))
    with store.reading() as db:
        return {row[0]: row[1] for row in db.execute(held.group_by(trials.c.shard))}


@contextmanager
def sweeping(url: str, redis_url: str, folder: Path) -> Iterator[None]:
    """The real sweeper beside it."""
    places = ("--redis", redis_url, "--database", url)
    sweeper = start_fork("gnomon_workers.sweeper", *places, log_file=folder / "sweeper.log")
    try:
        yield
    finally:
        sweeper.terminate()
        sweeper.join()


def wait_for(happened: Callable[[], bool], what: str) -> None:
    """Wait; after PATIENCE_S seconds it is an error."""
    until_s = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < until_s, f"{what} did not come in {PATIENCE_S:.0f} s"
        time.sleep(WAIT_S)
