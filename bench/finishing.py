"""How many results a second one job takes on PostgreSQL, by how many workers end its trials at once.

`python -m bench.finishing` starts a PostgreSQL of its own, and processes that do to the store what workers
do: end trials that were leased to them, as many at a time as a worker writes when more wait, as fast as the
store lets them. They share CONNECTIONS connections, as PgBouncer lends them: by transactions, to the worker
that has waited longest. No model is asked, and results are made before the clock runs.

It prints results of one job a second, and those of as many workers that have a job each: what the database
can do where nobody waits for another; for both, the time that one batch took with its connection, and the CPU
time of PostgreSQL and of the workers. The floor writes the same rows by COPY or by INSERT, made ready before,
and commits each batch; it closes no trial and counts nothing.
"""

import argparse
import multiprocessing
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from sqlalchemy import insert, select

from bench.million import family_cpu_s
from bench.performance.filler import TRACE, row_of
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import Trial
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
FLOOR_CONNECTIONS = (1, 10)
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


Batch = Callable[[], None]  # writes a batch


class Taken(NamedTuple):
    """What writing took: results a second; CPU seconds for 1,000, of PostgreSQL and of those who wrote;
    seconds a batch.
    """

    per_s: float
    server_s: float
    clients_s: float
    batch_s: float

    def __str__(self) -> str:
        cores = [self.per_s * cpu_s / 1e3 for cpu_s in (self.server_s, self.clients_s)]
        return (
            f"{self.per_s:,.0f} results a second, {1e3 * self.batch_s:.0f} ms a batch; CPU us a result:"
            f" PostgreSQL {1e3 * self.server_s:.0f}, workers {1e3 * self.clients_s:.0f};"
            f" cores: {cores[0]:.2f} and {cores[1]:.2f}"
        )


class Clients(NamedTuple):
    """What a process of those who write has to say at its end: seconds of each batch, its CPU seconds."""

    batches_s: list[float]
    cpu_s: float


def write_in_threads(
    hands: Sequence[Sequence[Batch]], connections: int, start: Barrier, said: "Queue[Clients]"
) -> None:
    """Write the batches of several workers once every process is ready, each worker's one after another."""
    waiting = SimpleQueue[Sequence[Batch]]()
    for batches in hands:
        waiting.put(batches)
    took: list[float] = []

    def lend_connection() -> None:
        while True:
            try:
                write, *later = waiting.get_nowait()
            except Empty:
                return
            began = time.perf_counter()
            write()
            took.append(time.perf_counter() - began)
            if later:
                waiting.put(later)

    lent = [threading.Thread(target=lend_connection) for _ in range(connections)]
    start.wait()
    began_s = time.process_time()
    for thread in lent:
        thread.start()
    for thread in lent:
        thread.join()
    said.put(Clients(took, time.process_time() - began_s))


def end_trials(
    url: str, leased: Sequence[list[Lease]], batch: int, start: Barrier, said: "Queue[Clients]"
) -> None:
    """End the trials of several workers."""
    store = Store(url)

    def end(ended: Sequence[Ended]) -> None:
        assert not store.finish(ended)

    ended = [[(lease, row_of(lease.trial), TRACE) for lease in leases] for leases in leased]
    write_in_threads(
        [[partial(end, some) for some in in_batches(of_worker, batch)] for of_worker in ended],
        CONNECTIONS // PROCESSES,
        start,
        said,
    )
    store.close()


def write_plainly(
    url: str, trials: Sequence[Trial], batch: int, way: str, start: Barrier, said: "Queue[Clients]"
) -> None:
    """Write results of these trials by COPY or INSERT from one connection: what the database itself takes."""
    store = Store(url)
    rows = [row_values(row_of(trial)) for trial in trials]
    bodies = [{"trial_id": trial.trial_id, "body": pack(TRACE)} for trial in trials]

    def write(begin: int) -> None:
        with store.writing() as db:
            for table, values in ((results, rows), (traces, bodies)):
                some = values[begin : begin + batch]
                if way == "COPY":
                    insert_all(db, table, some)
                else:
                    db.execute(insert(table).inline(), some)

    write_in_threads([[partial(write, begin) for begin in range(0, len(rows), batch)]], 1, start, said)
    store.close()


def in_batches(ended: Sequence[Ended], batch: int) -> list[Sequence[Ended]]:
    """In pieces of so many."""
    return [ended[begin : begin + batch] for begin in range(0, len(ended), batch)]


def measured(server: PostgreSQL, count: int, target: Callable[..., None], hands: Sequence[Any]) -> Taken:
    """What processes took that each run `target` with its arguments, for `count` results of all."""
    start = multiprocessing.Barrier(len(hands) + 1)
    said: Queue[Clients] = multiprocessing.Queue()
    started = [multiprocessing.Process(target=target, args=(*hand, start, said)) for hand in hands]
    for process in started:
        process.start()
    start.wait()
    cpu_s, began = family_cpu_s(server.process.pid), time.perf_counter()
    clients = [said.get() for _ in started]
    wall_s = time.perf_counter() - began
    for process in started:
        process.join()
    cpu_s = family_cpu_s(server.process.pid) - cpu_s
    batches_s = [seconds for client in clients for seconds in client.batches_s]
    clients_s = sum(client.cpu_s for client in clients)
    return Taken(
        count / wall_s, cpu_s / count * 1e3, clients_s / count * 1e3, sum(batches_s) / len(batches_s)
    )


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
    taken = measured(
        server,
        workers * each,
        end_trials,
        [(url, hands[number::processes], batch) for number in range(processes)],
    )
    ended = [store.job(job_id) for job_id in job_ids]
    done = sum(job.counts.done for job in ended)
    assert done == workers * each, f"{done} of {workers * each} results"
    assert {job.status for job in ended} == {"completed"}
    store.close()
    return taken


def floor(server: PostgreSQL, batch: int, *, way: str, connections: int) -> Taken:
    """What COPY or INSERT and commit of the same rows take, in batches of so many."""
    url = server.emptied()
    store = Store(url)
    size = RESULTS // len(ARMS)
    store.create_job(spec_of(size), Numbers(0, tuple(range(14)), size))
    with store.reading() as db:
        planned = [trial_of(row) for row in db.execute(select(trials).limit(RESULTS)).mappings()]
    store.close()
    hands = [(url, planned[number::connections], batch, way) for number in range(connections)]
    return measured(server, len(planned), write_plainly, hands)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    parser.add_argument("--batch", type=int, default=FLUSH_ROWS, help="results that a worker writes at once")
    parser.add_argument("--one-job", action="store_true", help="leave out workers that have a job each")
    chosen = parser.parse_args()
    with running(flushes=True) as server:
        for way in ("COPY", "INSERT"):
            for connections in FLOOR_CONNECTIONS:
                floor_of = floor(server, chosen.batch, way=way, connections=connections)
                print(f"{way} and commit alone, connections: {connections}: {floor_of}", flush=True)
        for workers in chosen.workers:
            print(
                f"{workers:,} workers, one job: {ending(server, workers, chosen.batch, jobs=1)}", flush=True
            )
            if not chosen.one_job:
                alone = ending(server, workers, chosen.batch, jobs=workers)
                print(f"{workers:,} workers, a job each: {alone}", flush=True)


if __name__ == "__main__":
    main()
