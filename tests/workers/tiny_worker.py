"""A worker, or a sweeper, whose jobs use a tiny benchmark instead of a published one.

`python tests/workers/tiny_worker.py --redis URL --database URL` plays `python -m gnomon_workers`, and with
`--sweep` `python -m gnomon_workers.sweeper`. Both work on a store that a test may break.
"""

import argparse
import logging
import os
import signal
import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gnomon.core.benchmark import PromptProtocol, Published, SampleSet, Scoring
from gnomon.core.errors import DataError
from gnomon.core.sample import DataFault, Part, Sample, SampleRef
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.spec.endpoints import EndpointAllowlist
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon.trials.job_context import JobContext
from gnomon_agents.models.catalog import open_model, preload
from gnomon_workers.open_job import JobCache, OpenJob, OpenSpec
from gnomon_workers.queue import client_of
from gnomon_workers.rate_limit.config import RATE_LIMITS_ENV, parse_rates
from gnomon_workers.redis_url import redis_at
from gnomon_workers.settings import read_timing
from gnomon_workers.shard import WorkerContext, run_shard
from gnomon_workers.store import JobRecord, Store
from gnomon_workers.sweeper import Sweeper
from gnomon_workers.worker import ShardWorker
from tests.workers.broken_store import Breakage, BrokenStore


@dataclass(frozen=True)
class TinySet:
    """Questions s0, s1, …, whose answer is A."""

    refs: Sequence[SampleRef]
    faults: Sequence[DataFault] = ()

    def get(self, sample_id: str) -> Sample:
        ref = next(ref for ref in self.refs if ref.sample_id == sample_id)
        part = Part(content=f"Question {sample_id}: A or B?")
        return Sample(ref=ref, parts=(part,), target={"answer": "A"})


class Tiny:
    """A benchmark of `select.limit` questions."""

    name = "tiny"
    version = "1"
    tasks = ("T",)
    scenes: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    needs_data = False
    headline = "mean_of_cells"

    def open(
        self, *, data: Path | None, select: Select, protocol: PromptProtocol, media: MediaStore
    ) -> SampleSet:
        return TinySet(refs(select.limit or 1))

    def score(self, sample: Sample, response: str, *, scoring: Scoring, variant: str | None = None) -> Score:
        if response == "KILL":
            os.kill(os.getpid(), 9)
        if response not in ("A", "B"):
            return Score(value=0.0)
        return Score(value=float(response == sample.target["answer"]), answer=response)

    def score_record(
        self, record: Mapping[str, Any], *, scoring: Scoring, variant: str | None = None
    ) -> Score:
        raise AssertionError("not used here")

    def published(self) -> Sequence[Published]:
        return ()


def refs(count: int) -> list[SampleRef]:
    return [SampleRef(sample_id=f"s{i}", task="T", cell="T", cluster=f"c{i // 2}") for i in range(count)]


def open_fake_job(spec: JobSpec, media: MediaStore) -> OpenJob:
    tiny = Tiny()
    samples = tiny.open(data=None, select=spec.select, protocol=spec.protocol, media=media)
    return OpenJob(bench=JobContext(spec=spec, benchmark=tiny, media=media), samples=samples)


def open_nothing(spec: JobSpec, media: MediaStore) -> OpenJob:
    raise DataError("the folder is not there", field="data")


def load_nothing(models: list[ModelSpec]) -> None:
    """The agent and the model played here need nothing that is slow to load."""


def context_of(
    store: Store,
    data_dir: Path,
    *,
    name: str = "tiny",
    open_spec: OpenSpec = open_fake_job,
    redis_url: str | None = None,
) -> WorkerContext:
    return WorkerContext(
        name=name,
        store=store,
        opener=JobCache(media=MediaStore(data_dir / "media"), open_spec=open_spec),
        open_model=open_model,
        timing=read_timing(os.environ),
        allowed_bases=EndpointAllowlist(),
        redis_url=redis_url,
        rates=parse_rates(os.environ.get(RATE_LIMITS_ENV, "")),
    )


def run_job(job: JobRecord, context: WorkerContext) -> None:
    """Run what is open of a job in this process, from shard to shard, as a worker's fork does."""
    following = iter(range(1, job.shards))
    run_shard(job.id, 0, context=replace(context, next_shard=lambda _: next(following, None)))


def sweep(store: Store, redis_url: str) -> None:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    Sweeper(store, client_of(redis_url), timing=read_timing(os.environ)).run(stop)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--redis", required=True)
    parser.add_argument("--database", required=True)
    parser.add_argument("--data-dir", required=True, type=Path)
    parser.add_argument("--lacks-data", action="store_true")
    parser.add_argument("--sweep", action="store_true")
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO)
    store = BrokenStore(given.database, Breakage(given.data_dir))
    if given.sweep:
        sweep(store, given.redis)
        return
    name = f"{socket.gethostname()}-{os.getpid()}"
    open_spec = open_nothing if given.lacks_data else open_fake_job
    context = context_of(store, given.data_dir, name=name, open_spec=open_spec, redis_url=given.redis)
    worker = ShardWorker(("default",), redis=redis_at(given.redis), context=context, preload=preload)
    worker.work(logging_level="INFO")


if __name__ == "__main__":
    main()
