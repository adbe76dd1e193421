"""Runs the workload as a job: a store, a queue and a real worker with all features on."""

import os
from pathlib import Path

from redis import Redis

from bench.performance.quiz import open_quiz, refs
from bench.performance.workload import TOOL
from gnomon.media import MediaStore
from gnomon.spec.endpoints import EndpointAllowlist
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec, Rate
from gnomon_agents.models.catalog import open_model, preload
from gnomon_workers.open_job import JobCache
from gnomon_workers.queue import enqueue_shards
from gnomon_workers.rate_limit.config import endpoint_of
from gnomon_workers.settings import Timing
from gnomon_workers.shard import WorkerContext, run_shard
from gnomon_workers.store import JobRecord, Store
from gnomon_workers.worker import ShardWorker

RATE = Rate(
    requests_per_minute=10_000_000, tokens_per_minute=10_000_000_000, in_flight=10_000
)  # counted, not felt


def spec_of(name: str, base: str, trials: int, in_flight: int) -> JobSpec:
    """One ReAct arm with one tool."""
    return JobSpec.model_validate(
        {
            "benchmark": "quiz",
            "select": {"limit": trials},
            "models": [{"id": name, "api_base": base, "price": {"input": 1, "output": 2}}],
            "arms": [{"name": "tools", "agent": "react", "tools": [TOOL], "max_usd": 1}],
            "concurrency": in_flight,
            "limits": {"usd": 1000},
        }
    )


class Job:
    """A job on a store and a queue of its own, and the worker that runs it."""

    def __init__(self, folder: Path, redis_url: str, model: ModelSpec) -> None:
        self.store, self._redis = Store(f"sqlite:///{folder}/gnomon.db"), Redis.from_url(redis_url)
        self._context = WorkerContext(
            name=f"bench-{os.getpid()}",
            store=self.store,
            opener=JobCache(media=MediaStore(folder / "media"), open_spec=open_quiz),
            open_model=open_model,
            timing=Timing(),
            allowed_bases=EndpointAllowlist(),
            redis_url=redis_url,
            rates={endpoint_of(model): RATE},
        )

    def run(self, spec: JobSpec) -> int:
        """How many trials were answered rightly, in forks of a worker."""
        job = self.create(spec)
        enqueue_shards(self._redis, job, range(job.shards))
        self.store.close()  # before a fork
        worker = ShardWorker(("default",), redis=self._redis, context=self._context, preload=preload)
        worker.work(burst=True, logging_level="WARNING")
        return self.right(job)

    def create(self, spec: JobSpec) -> JobRecord:
        """The job, ready to run."""
        return self.store.create_job(spec, refs(spec.select.limit or 1))

    def run_here(self, job: JobRecord) -> None:
        """Run its shards one after another in this process."""
        for shard in range(job.shards):
            run_shard(job.id, shard, context=self._context)

    def right(self, job: JobRecord) -> int:
        """How many trials were answered rightly."""
        rows = self.store.iter_rows(job.id)
        return sum(row.score == 1.0 and row.tool_calls == 3 and row.tool_errors == 0 for row in rows)
