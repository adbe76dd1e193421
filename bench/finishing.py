"""How many results a second one job takes on PostgreSQL, by how many workers end its trials at once.

`python -m bench.finishing` starts a PostgreSQL of its own, and processes that do to the store what workers
do: end trials that were leased to them, as many at a time as a worker writes when more wait, as fast as the
store lets them. They share CONNECTIONS connections, as PgBouncer lends them: by transactions, to the worker
that has waited longest. No model is asked, and results are made before the clock runs.

It prints results of one job a second, and those of as many workers that have a job each: what the database
can do where nobody waits for another; for both, the CPU seconds of PostgreSQL for 1,000 results and the time
that one batch took with its connection. The floor is one connection that writes the same by COPY, and commits
each batch.
"""

import argparse
import multiprocessing
import threading
import time
from collections.abc import Sequence
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from queue import Empty, SimpleQueue
from typing import NamedTuple

from sqlalchemy import select

from bench.million import family_cpu_s
from bench.performance.filler import TRACE, row_of
from gnomon.spec.job_spec import JobSpec
from gnomon.worlds.sample_numbers import Numbers
from tests.workers.postgresql import PostgreSQL, running
from workers.result_writer import FLUSH_ROWS
from workers.store.database import insert_all
from workers.store.records import Lease
from workers.store.results import Ended
from workers.store.schema import results, traces, trials
from workers.store.serialization import pack, row_values, trial_of
from workers.store.store import Store

WORKERS = (1, 10, 100, 1_000)
RESULTS = 30_000  # of all workers together, and a batch of each at least
PROCESSES = 4
CONNECTIONS = 20  # as `deploy` has PgBouncer keep them
ARMS = ("raw", "tools")


def spec_of(samples: int) -> JobSpec:
    """A job of so many samples under two arms."""
    arms = [{"name": name, "agent": "direct"} for name in ARMS]
    written = {
        "benchmark": "worlds",
        "select": {"limit": samples},
        "models": [{"id": "reference"}],
        "arms": arms,
    }
    return JobSpec.model_validate(written)


class Taken(NamedTuple):
    """What ending results took: results a second, CPU seconds of PostgreSQL for 1,000, seconds a batch."""

    per_s: float
    cpu_s: float
    batch_s: float

    def __str__(self) -> str:
        cost = f"{self.cpu_s:.3f} CPU s for 1,000, {1e3 * self.batch_s:.0f} ms a batch"
        return f"{self.per_s:,.0f} results a second, {cost}"


def work(
    url: str, leased: Sequence[list[Lease]], batch: int, start: Barrier, times: "Queue[list[float]]"
) -> None:
    """End the trials of several workers once every process is ready, each worker's batch by batch."""
    store, waiting = Store(url), SimpleQueue[list[Ended]]()
    for leases in leased:
        waiting.put([(lease, row_of(lease.trial), TRACE) for lease in leases])
    took: list[float] = []

    def lend_connection() -> None:
        while True:
            try:
                ended = waiting.get_nowait()
            except Empty:
                return
            began = time.perf_counter()
            assert not store.finish(ended[:batch])
            took.append(time.perf_counter() - began)
            if ended[batch:]:
                waiting.put(ended[batch:])

    lent = [threading.Thread(target=lend_connection) for _ in range(CONNECTIONS // PROCESSES)]
    start.wait()
    for thread in lent:
        thread.start()
    for thread in lent:
        thread.join()
    store.close()
    times.put(took)


def ending(server: PostgreSQL, workers: int, batch: int, *, jobs: int) -> Taken:
    """What so many workers take, spread over so many jobs, that write results in batches of so many."""
    url = server.emptied()
    store = Store(url)
    each = max(1, RESULTS // workers // batch) * batch
    size = -(-workers // jobs) * each // len(ARMS)
    job_ids = [store.create_job(spec_of(size), Numbers(0, tuple(range(14)), size)).id for _ in range(jobs)]
    leases = {
        job_id: [
            lease
            for shard in range(store.job(job_id).shards)
            for lease in store.lease(job_id, shard, worker="bench", ttl_s=600, limit=100_000)
        ]
        for job_id in job_ids
    }
    hands = [
        leases[job_ids[number % jobs]][number // jobs * each : (number // jobs + 1) * each]
        for number in range(workers)
    ]
    processes = min(PROCESSES, workers)
    start = multiprocessing.Barrier(processes + 1)
    times: Queue[list[float]] = multiprocessing.Queue()
    running_now = [
        multiprocessing.Process(target=work, args=(url, hands[number::processes], batch, start, times))
        for number in range(processes)
    ]
    for process in running_now:
        process.start()
    start.wait()
    cpu_s, began = family_cpu_s(server.process.pid), time.perf_counter()
    took = [seconds for _ in running_now for seconds in times.get()]
    wall_s = time.perf_counter() - began
    for process in running_now:
        process.join()
    cpu_s = family_cpu_s(server.process.pid) - cpu_s
    ended = [store.job(job_id) for job_id in job_ids]
    done = sum(job.counts.done for job in ended)
    assert done == workers * each, f"{done} of {workers * each} results"
    assert {job.status for job in ended} == {"completed"}
    store.close()
    return Taken(done / wall_s, cpu_s / done * 1e3, sum(took) / len(took))


def floor_per_s(url: str, batch: int) -> float:
    """Results a second of plain COPY and commit, in batches of so many."""
    store = Store(url)
    size = RESULTS // len(ARMS)
    job = store.create_job(spec_of(size), Numbers(0, tuple(range(14)), size))
    with store.reading() as db:
        planned = [trial_of(row) for row in db.execute(select(trials).limit(RESULTS)).mappings()]
    rows = [row_values(row_of(trial)) for trial in planned]
    bodies = [{"trial_id": trial.trial_id, "body": pack(TRACE)} for trial in planned]
    assert job.counts.planned == len(rows)
    began = time.perf_counter()
    for begin in range(0, len(rows), batch):
        with store.writing() as db:
            insert_all(db, results, rows[begin : begin + batch])
            insert_all(db, traces, bodies[begin : begin + batch])
    took = time.perf_counter() - began
    store.close()
    return len(rows) / took


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    parser.add_argument("--batch", type=int, default=FLUSH_ROWS, help="results that a worker writes at once")
    parser.add_argument("--one-job", action="store_true", help="leave out workers that have a job each")
    chosen = parser.parse_args()
    with running(flushes=True) as server:
        floor = floor_per_s(server.emptied(), chosen.batch)
        print(f"floor, COPY and commit alone: {floor:,.0f} results a second")
        for workers in chosen.workers:
            print(
                f"{workers:,} workers, one job: {ending(server, workers, chosen.batch, jobs=1)}", flush=True
            )
            if not chosen.one_job:
                alone = ending(server, workers, chosen.batch, jobs=workers)
                print(f"{workers:,} workers, a job each: {alone}", flush=True)


if __name__ == "__main__":
    main()
