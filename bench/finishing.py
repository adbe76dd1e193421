"""How many results a second one job takes on PostgreSQL, by how many workers end its trials at once.

`python -m bench.finishing` starts a PostgreSQL of its own, and processes whose threads do to the store what
workers do: lease trials of a shard, then end them, as many at a time as a worker writes when more wait, as
fast as the store lets them. No model is asked, and results are made before the clock runs. It prints results
of one job a second, and those of as many workers that have a job each: what the database can do where nobody
waits for another. The floor is one connection that writes the same by COPY, and commits each batch.
"""

import argparse
import multiprocessing
import threading
import time
from collections.abc import Sequence
from multiprocessing.synchronize import Barrier

from sqlalchemy import select

from bench.performance.filler import TRACE, row_of
from gnomon.spec.job_spec import JobSpec
from gnomon.worlds.sample_numbers import Numbers
from tests.workers.postgresql import running
from workers.result_writer import FLUSH_ROWS
from workers.store.database import insert_all
from workers.store.records import Lease
from workers.store.schema import results, traces, trials
from workers.store.serialization import pack, row_values, trial_of
from workers.store.store import Store

WORKERS = (1, 10, 100, 1_000)
RESULTS = 30_000  # of all workers together, and a batch of each at least
PROCESSES = 4
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


def work(url: str, leased: Sequence[list[Lease]], batch: int, start: Barrier) -> None:
    """End the trials of several workers, a thread each, once every process is ready."""
    store = Store(url)

    def end_all(leases: list[Lease]) -> None:
        ended = [(lease, row_of(lease.trial), TRACE) for lease in leases]
        start.wait()
        for begin in range(0, len(ended), batch):
            assert not store.finish(ended[begin : begin + batch])

    threads = [threading.Thread(target=end_all, args=(leases,)) for leases in leased]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()


def results_per_s(url: str, workers: int, batch: int, *, jobs: int) -> float:
    """Results a second of so many workers, spread over so many jobs, written in batches of so many."""
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
    start = multiprocessing.Barrier(workers + 1)
    running_now = [
        multiprocessing.Process(target=work, args=(url, hands[number::processes], batch, start))
        for number in range(processes)
    ]
    for process in running_now:
        process.start()
    start.wait()
    began = time.perf_counter()
    for process in running_now:
        process.join()
    took = time.perf_counter() - began
    done = sum(store.job(job_id).counts.done for job_id in job_ids)
    assert done == workers * each, f"{done} of {workers * each} results"
    store.close()
    return done / took


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
    chosen = parser.parse_args()
    with running(flushes=True) as server:
        floor = floor_per_s(server.emptied(), chosen.batch)
        print(f"floor, COPY and commit alone: {floor:,.0f} results a second")
        for workers in chosen.workers:
            shared = results_per_s(server.emptied(), workers, chosen.batch, jobs=1)
            alone = results_per_s(server.emptied(), workers, chosen.batch, jobs=workers)
            print(
                f"{workers:,} workers: {shared:,.0f} results a second of one job, {alone:,.0f} of a job each;"
                f" {shared / floor:.2f} and {alone / floor:.2f} times the floor"
            )


if __name__ == "__main__":
    main()
