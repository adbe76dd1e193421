"""Growth: what a job of 10⁴, 10⁵, 10⁶ trials costs to accept, to look at while it runs, and to report."""

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from redis import Redis

from bench.performance.meter import rss_mb
from bench.performance.quiz import Quiz, refs
from gnomon.outcome import Outcome
from gnomon.report.build import build_report
from gnomon.spec import JobSpec
from workers.queue import enqueue_shards
from workers.store import JobRecord, Lease, Store
from workers.store.ending import missing_row

T = TypeVar("T")
SIZES = (10_000, 100_000, 1_000_000)
FINISHED = 5_000  # trials that are run before a look is taken at the job
LOOKS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """One size, in CPU time of this process. Looks are medians while results are written; `report_s` is None
    where not all rows were.
    """

    trials: int
    accept_s: float
    accept_wall_s: float
    enqueue_s: float
    job_ms: float
    page_ms: float
    finish_us: float  # for each trial, leased and written
    report_s: float | None  # None where the rows were not written
    rss_mb: float


def grow(size: int, redis_url: str, *, to_the_end: bool) -> Growth:
    """Accept a job of so many trials, run some of them by script, look at it; run all where `to_the_end`."""
    spec = JobSpec.model_validate(
        {
            "benchmark": "worlds",
            "models": [{"id": "scripted", "options": {"replies": ["B"]}}],
            "arms": [{"name": name, "agent": "direct"} for name in ("raw", "tools")],
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{Path(folder)}/gnomon.db")
        samples = refs(size // 2)
        began_s = time.perf_counter()
        accept_s, job = timed(lambda: store.create_job(spec, samples))
        accept_wall_s = time.perf_counter() - began_s
        with Redis.from_url(redis_url) as redis:
            enqueue_s, _ = timed(lambda: enqueue_shards(redis, job, range(job.shards)))
            redis.flushall()
        finish_s, done, looks = _run(store, job, size if to_the_end else min(size, FINISHED))
        report_s = None
        if to_the_end:
            report_s, _ = timed(
                lambda: build_report(
                    job_id=job.id,
                    spec=spec,
                    status="completed",
                    rows=store.iter_rows(job.id),
                    planned=size,
                    benchmark=Quiz(),
                )
            )
        store.close()
    return Growth(
        trials=size,
        accept_s=accept_s,
        accept_wall_s=accept_wall_s,
        enqueue_s=enqueue_s,
        job_ms=statistics.median(looks[0]) * 1000,
        page_ms=statistics.median(looks[1]) * 1000,
        finish_us=finish_s / done * 1e6,
        report_s=report_s,
        rss_mb=rss_mb(),
    )


def _run(store: Store, job: JobRecord, wanted: int) -> tuple[float, int, tuple[list[float], list[float]]]:
    """Lease and finish that many trials as a worker does, in batches, with looks in between."""
    spent_s, done = 0.0, 0
    jobs_s: list[float] = []
    pages_s: list[float] = []
    for shard in range(job.shards):
        while done < wanted:
            step_s, leases = timed(partial(_finish_some, store, job, shard))
            if not leases:
                break
            spent_s, done = spent_s + step_s, done + len(leases)
            if len(jobs_s) < LOOKS:
                jobs_s.append(timed(lambda: store.job(job.id))[0])
                pages_s.append(timed(lambda: store.rows(job.id, limit=100))[0])
    return spent_s, done, (jobs_s, pages_s)


def _finish_some(store: Store, job: JobRecord, shard: int) -> list[Lease]:
    leases = store.lease(job.id, shard, worker="w", ttl_s=600, limit=100)
    ended = []
    for lease in leases:
        row = missing_row(lease.trial, benchmark="quiz", stop_reason="answered", attempt=1)
        right: dict[str, Any] = {"outcome": Outcome.SCORED, "score": 1.0, "answer": "B", "model_calls": 1}
        ended.append((lease, replace(row, **right), {"prompt": [], "steps": []}))
    store.finish(ended)
    return leases


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """CPU seconds of this process, and the result."""
    began_s = time.process_time()
    result = work()
    return time.process_time() - began_s, result
