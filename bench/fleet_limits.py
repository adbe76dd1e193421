"""What many workers cost the parts that all of them share: the limiter, the leases, the sweeper.

`python -m bench.fleet_limits` starts a PostgreSQL and a Valkey of its own, fills them as so many workers do
(12 s on two cores), and prints the cost of one visit of one of them:

- a sync of a process with the rate limiter, by how many others hold calls of the same key;
- the renewal of one worker's 150 leases, by how many workers hold as many, beside a plain statement that
  writes one row;
- the progress of a job while they hold them;
- accepting trials, a row, by COPY as the store does and by INSERT, and a whole job, by `create_job`;
- a turn of the sweeper, by how many jobs are open, and one after Redis has lost its memory;
- the turn that takes back what a fleet of dead workers held.
"""

import asyncio
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from sqlalchemy import insert, text, update

from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import Rate
from gnomon.worlds.sample_numbers import Numbers
from service.redis_server import find_server
from tests.workers.postgresql import running
from workers.rate_limit.redis_limiter import Flow, RedisRateLimiter, SyncRequest
from workers.settings import read_timing
from workers.store.database import insert_all
from workers.store.schema import jobs, lease_holders, trials
from workers.store.store import Store
from workers.sweeper import Sweeper

HOLDERS = (1, 10, 100, 1_000)
OPEN_JOBS = (100, 1_000, 10_000)
LEASES = 150  # of one worker
SAMPLES = 50_000  # of the job that is accepted whole
ROWS = 20_000
SPEC = JobSpec.model_validate(
    {
        "benchmark": "worlds",
        "select": {"limit": 4},
        "models": [{"id": "reference"}],
        "arms": [{"name": "raw", "agent": "direct"}],
        "concurrency": 1,
    }
)


@contextmanager
def valkey() -> Iterator[str]:
    """A server without a disk, by its socket."""
    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder) / "valkey.sock"
        command = [str(find_server()), "--port", "0", "--unixsocket", str(socket), "--save", ""]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            while not socket.exists():
                time.sleep(0.02)
            yield f"unix://{socket}"
        finally:
            server.kill()
            server.wait()


async def limiter_us(url: str, holders: int) -> float:
    """Microseconds that Valkey spends on a sync while so many processes hold calls."""
    redis = AsyncRedis.from_url(url)
    await redis.flushall()
    flow, rate = Flow(job="j", queue="default", weight=2), Rate(in_flight=10 * holders)
    processes = [
        RedisRateLimiter(redis, "key", holder=f"h{number}", flow=flow, rate=rate) for number in range(holders)
    ]
    for process in processes:
        await process.sync(SyncRequest(in_flight=5, costs=[1]))
    await redis.config_resetstat()
    for number in range(2_000):
        await processes[number % holders].sync(SyncRequest(in_flight=5, costs=[1], answered=1))
    spent = await redis.info("commandstats")
    await redis.aclose()
    return float(spent["cmdstat_evalsha"]["usec_per_call"])


def trial_rows(count: int, **values: Any) -> list[dict[str, Any]]:
    """Rows of the table of trials, of one job."""
    plain = {"job_id": "j_bench", "task": "GeoLocation", "cell": "outdoor.GL", "model": "m", "arm": "raw"}
    usual = {"repeat": 0, "state": "pending", "attempt": 0, "token": 0}
    return [
        {
            "trial_id": f"t_{number:020d}",
            "ordinal": number,
            "shard": number // 512,
            "sample_id": f"w7-{number:05d}",
            "cluster": f"w7-outdoor-{number // 14}",
            **plain,
            **usual,
            **values,
        }
        for number in range(count)
    ]


def hold(store: Store, job_id: str, workers: int, *, until_s: float) -> int:
    """Let so many workers hold LEASES trials each of the job, so many seconds from now; the last shard."""
    rows = trial_rows(workers * LEASES, state="leased", attempt=1, token=1)
    for number, row in enumerate(rows):
        row |= {"job_id": job_id, "worker": f"worker-{number // LEASES}"}
    until = time.time() + until_s
    holders = [{"worker": f"worker-{number}", "lease_until": until} for number in range(workers)]
    with store.writing() as db:
        db.execute(text("TRUNCATE trials, lease_holders CASCADE"))
        insert_all(db, trials, rows)
        insert_all(db, lease_holders, holders)
        db.execute(update(jobs).where(jobs.c.id == job_id).values(leased=len(rows)))
    with store.writing() as db:
        db.execute(text("ANALYZE"))
    return int(rows[-1]["shard"])


def renewal_ms(store: Store, workers: int) -> tuple[float, float, float]:
    """Milliseconds of one worker's renewal while so many hold leases, of a statement alone that writes one
    row, and of the job's progress: medians of 15.
    """
    job = store.create_job(SPEC, Numbers(0, tuple(range(14)), 4))
    hold(store, job.id, workers, until_s=600)

    def write_one_row() -> None:
        with store.writing() as db:
            db.execute(text("UPDATE lease_holders SET lease_until = lease_until WHERE worker = 'worker-0'"))

    assert len(store.renew("worker-0", ttl_s=30.0)) == LEASES
    assert store.job(job.id).counts.running == workers * LEASES
    works = (lambda: store.renew("worker-0", ttl_s=30.0), write_one_row, lambda: store.job(job.id))
    renewal, floor, progress = (median([1_000 * seconds(work) for _ in range(15)]) for work in works)
    return renewal, floor, progress


def whole_job_us(store: Store) -> tuple[float, float]:
    """Microseconds for each trial of a job that is accepted whole, and of which this process's own CPU."""
    spec = SPEC.model_copy(update={"select": SPEC.select.model_copy(update={"limit": SAMPLES})})
    cpu_s = time.process_time()
    took_s = seconds(lambda: store.create_job(spec, Numbers(0, tuple(range(14)), SAMPLES)))
    return 1e6 * took_s / SAMPLES, 1e6 * (time.process_time() - cpu_s) / SAMPLES


def accepting_us(store: Store, write: Callable[..., None]) -> float:
    """Microseconds for each trial that is written."""
    rows = trial_rows(ROWS)
    with store.writing() as db:
        db.execute(text("TRUNCATE trials CASCADE"))
    with store.writing() as db:
        return 1e6 * seconds(lambda: write(db, trials, rows)) / ROWS


def by_insert(db: Any, table: Any, rows: Sequence[dict[str, Any]]) -> None:
    """As SQLAlchemy writes rows."""
    db.execute(insert(table), rows)


def turn_and_refill_s(store: Store, redis: Redis, open_jobs: int) -> tuple[float, float, int]:
    """Seconds of a turn of the sweeper with so many open jobs, all of whose shards wait: the third turn. Then
    of the turn that fills the queue after Redis has lost its memory, and how many shards those are.
    """
    with store.writing() as db:
        db.execute(text("TRUNCATE trials, jobs CASCADE"))
    redis.flushall()
    store.create_job(SPEC, Numbers(0, tuple(range(14)), 4))
    copies = f"generate_series(2, {open_jobs}) AS copy"
    names = [column.name for column in jobs.c if column.name not in ("number", "id", "idempotency_key")]
    of_trial = [column.name for column in trials.c if column.name not in ("trial_id", "job_id")]
    with store.writing() as db:
        db.execute(
            text(
                f"INSERT INTO jobs (id, {', '.join(names)})"
                f" SELECT 'j_' || copy, {', '.join(names)} FROM jobs, {copies}"
            )
        )
        db.execute(
            text(
                f"INSERT INTO trials (trial_id, job_id, {', '.join(of_trial)})"
                f" SELECT trial_id || copy, 'j_' || copy, {', '.join(of_trial)} FROM trials, {copies}"
            )
        )
    with store.writing() as db:
        db.execute(text("ANALYZE"))
    for job_id, shard in store.unfinished_shards():
        redis.rpush("rq:queue:gnomon.default.normal", f"{job_id}-{shard}")
    sweeper = Sweeper(store, redis, timing=read_timing({}))
    turns = [seconds(sweeper.sweep) for _ in range(3)]
    redis.flushall()
    sweeper.sweep()  # what is missed for the first time may have been taken a moment ago
    return turns[-1], seconds(sweeper.sweep), cast(int, redis.llen("rq:queue:gnomon.default.normal"))


def recovery_s(store: Store, redis: Redis, workers: int) -> float:
    """Seconds of the turn that takes back what so many dead workers held of one job, and queues it again."""
    with store.writing() as db:
        db.execute(text("TRUNCATE trials, jobs CASCADE"))
    redis.flushall()
    job = store.create_job(SPEC, Numbers(0, tuple(range(14)), 4))
    last_shard = hold(store, job.id, workers, until_s=-1)
    sweeper = Sweeper(store, redis, timing=read_timing({}))
    took = seconds(sweeper.sweep)
    assert cast(int, redis.llen("rq:queue:gnomon.default.normal")) == last_shard + 1
    return took


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def median(values: Sequence[float]) -> float:
    """The middle one."""
    return sorted(values)[len(values) // 2]


def main() -> None:
    """Print the table."""
    with valkey() as url, running() as server:
        store = Store(server.emptied())
        for holders in HOLDERS:
            print(f"limiter, {holders:,} holders: {asyncio.run(limiter_us(url, holders)):.0f} us a sync")
        for workers in HOLDERS:
            renewal, floor, progress = renewal_ms(store, workers)
            print(
                f"renewal of {LEASES}, {workers:,} workers: {renewal:.1f} ms, {renewal / floor:.1f} times one"
                f" row's {floor:.1f}; progress of their job: {progress:.1f} ms"
            )
        copied, inserted = accepting_us(store, insert_all), accepting_us(store, by_insert)
        ratio = inserted / copied
        print(f"accepting: {copied:.1f} us a trial by COPY, {inserted:.1f} by INSERT ({ratio:.1f} times)")
        whole, own = whole_job_us(store)
        print(
            f"a whole job of {SAMPLES:,}: {whole:.1f} us a trial ({whole / copied:.1f} times COPY alone),"
            f" of which {own:.1f} CPU of the process that accepts it"
        )
        for open_jobs in OPEN_JOBS:
            turn_s, refill_s, shards = turn_and_refill_s(store, Redis.from_url(url), open_jobs)
            print(f"sweep, {open_jobs:,} open jobs: {turn_s:.3f} s")
            print(f"queueing {shards:,} lost shards anew: {refill_s:.2f} s")
        for workers in HOLDERS:
            taken_back_s = recovery_s(store, Redis.from_url(url), workers)
            print(f"{workers:,} workers with {LEASES} trials each die: queued again in {taken_back_s:.2f} s")
        store.close()


if __name__ == "__main__":
    main()
