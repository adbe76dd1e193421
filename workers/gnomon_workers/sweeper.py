"""Brings back trials whose worker died and shards that the queue has lost.

Beside that it looks at jobs that may stop early, and seals those that have ended.

Run it as `python -m gnomon_workers.sweeper`. Two at once do no harm; none at all only delays.
"""

import logging
import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterable

import click
from redis import Redis, RedisError
from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.errors import GnomonError
from gnomon_workers.logs import set_up_logs
from gnomon_workers.looks import LookerOfAll
from gnomon_workers.queue import client_of, enqueue, message_id, queue_name, resting_jobs, waiting_ids
from gnomon_workers.sealer import Sealer
from gnomon_workers.settings import (
    DEFAULT_CACHE_DAYS,
    Timing,
    read_cache_days,
    read_timestamp_url,
    read_timing,
)
from gnomon_workers.store.database import in_words
from gnomon_workers.store.records import PREPARE
from gnomon_workers.store.store import Store, open_store

PURGE_EVERY_S = 3_600.0
log = logging.getLogger(__name__)


class Sweeper:
    """On its own timer: expired leases back to pending, pending shards back onto the queue."""

    def __init__(
        self, store: Store, redis: Redis, *, timing: Timing, cache_days: float = DEFAULT_CACHE_DAYS
    ) -> None:
        self._store, self._redis, self._timing = store, redis, timing
        self._cache_s, self._next_purge_s = cache_days * 86_400, 0.0
        self._missed_before: set[tuple[str, int]] = set()
        self._queues: dict[str, str] = {}  # of open jobs with shards that wait: what RQ calls theirs
        self._looker = LookerOfAll(store)

    def run(self, stop: threading.Event) -> None:
        """Sweep until `stop` is set; a database or queue that is away is tried again at the next turn."""
        while not stop.wait(self._timing.sweep_s):
            try:
                self._looker.look()
                self.sweep()
                self._purge()
            except (RedisError, SQLAlchemyError) as error:
                log.warning("sweep put off: %s", in_words(error))

    def sweep(self) -> int:
        """One turn; return how many shards were queued.

        What was taken back from the dead is queued at once, and first: it has waited already. Of others a
        worker may have taken the message a moment ago: they are queued when they are missed a second time.
        """
        taken_back = set(self._store.sweep())
        missed = self._missed()
        due = missed & (taken_back | self._missed_before)
        self._queue(due, first=taken_back)
        self._missed_before = missed - due
        return len(due)

    def _purge(self) -> None:
        """Forget old replies, from time to time."""
        if time.monotonic() >= self._next_purge_s:
            self._store.expire_responses(older_than_s=self._cache_s)
            self._next_purge_s = time.monotonic() + PURGE_EVERY_S

    def _missed(self) -> set[tuple[str, int]]:
        """Shards that wait for a worker, and that no queue holds."""
        unprepared = [(job_id, PREPARE) for job_id in self._store.unprepared()]
        unfinished = _by_job([*self._store.unfinished_shards(), *unprepared])
        for job_id in resting_jobs(self._redis, list(unfinished)):
            del unfinished[job_id]
        known = {job_id: name for job_id, name in self._queues.items() if job_id in unfinished}
        new = self._store.job_queues(unfinished.keys() - known.keys())
        self._queues = known | {job_id: queue_name(*queue) for job_id, queue in new.items()}
        waiting = {name: waiting_ids(self._redis, name) for name in set(self._queues.values())}
        return {
            (job_id, shard)
            for job_id, shards in unfinished.items()
            for shard in shards
            if message_id(job_id, shard) not in waiting[self._queues[job_id]]
        }

    def _queue(self, shards: Collection[tuple[str, int]], *, first: set[tuple[str, int]]) -> None:
        if not shards:
            return
        sequential = set(self._store.open_sequential_jobs())
        by_queue: dict[str, list[tuple[str, int]]] = defaultdict(list)
        ahead = set(first)
        for job_id, numbers in _by_job(sorted(shards)).items():
            if job_id in sequential:  # looks wait for the first shard that has not ended
                numbers.reverse()
                ahead |= {(job_id, shard) for shard in numbers}
            by_queue[self._queues[job_id]] += [(job_id, shard) for shard in numbers]
        for name, waiting in by_queue.items():
            enqueue(self._redis, name, waiting, first=ahead)


def _by_job(shards: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    by_job: dict[str, list[int]] = defaultdict(list)
    for job_id, shard in shards:
        by_job[job_id].append(shard)
    return by_job


@click.command(help="Sweep until stopped.")
@click.option("--redis", "redis_url", required=True, envvar="GNOMON_REDIS_URL", help="URL of the queue.")
@click.option(
    "--database", "database_url", required=True, envvar="GNOMON_DATABASE_URL", help="URL of the store."
)
def main(redis_url: str, database_url: str) -> None:
    """`python -m gnomon_workers.sweeper`."""
    try:
        set_up_logs(os.environ)
        timing = read_timing(os.environ)
        store = open_store(database_url, patience_s=timing.start_s)
        sweeper = Sweeper(store, client_of(redis_url), timing=timing, cache_days=read_cache_days(os.environ))
        sealer = Sealer(store, every_s=timing.sweep_s, timestamp_url=read_timestamp_url(os.environ))
    except GnomonError as error:
        raise click.UsageError(str(error)) from None
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    sealing = threading.Thread(target=sealer.run, args=(stop,), name="sealer", daemon=True)
    sealing.start()
    sweeper.run(stop)
    sealing.join(timeout=timing.grace_s)


if __name__ == "__main__":
    main()
