"""Jobs whose trials end when a test says so."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from gnomon.core.sample import SampleRef
from gnomon.core.score import Outcome
from gnomon.spec.job_spec import JobSpec
from gnomon_service.local_stack import worker_env
from gnomon_service.settings import read_settings
from gnomon_workers.store.missing import missing_row
from gnomon_workers.store.records import JobRecord
from gnomon_workers.store.store import Store
from tests.web.conftest import SPEC, Site
from tests.workers.warm_supervisor import WarmSupervisor, child_of


def planned(store: Store, samples: int = 40, **changes: Any) -> JobRecord:
    """A job of which nothing has run; no queue knows it."""
    refs = [
        SampleRef(sample_id=f"s{number:04}", task="GeoLocation", cell="indoor", cluster=f"w{number // 7}")
        for number in range(samples)
    ]
    return store.create_job(JobSpec.model_validate({**SPEC, **changes}), refs)


def end_trials(store: Store, job: JobRecord, count: int, *, cause: str = "", error: str = "") -> None:
    """The next trials end: scored, tools rightly and others wrongly; or missing for a cause."""
    while count > 0:
        shard = store.unfinished_shards(job.id)[0][1]
        leases = store.lease(job.id, shard, worker="test", ttl_s=60, limit=count)
        count -= len(leases)
        ended = []
        for lease in leases:
            row = missing_row(lease.trial, benchmark="worlds", stop_reason=cause or "answered", attempt=1)
            score = {"outcome": Outcome.SCORED, "score": float(lease.trial.arm != "raw")}
            changes: dict[str, Any] = {"error": error} if cause else score
            ended.append((lease, replace(row, **changes), {"prompt": [], "steps": []}))
        store.finish(ended)


@contextmanager
def worker_on(site: Site, redis_url: str) -> Iterator[None]:
    """A real worker, with a sweeper, on the site's store."""
    env = worker_env(read_settings({}, data_dir=site.folder), redis_url)
    with WarmSupervisor() as supervisor:
        for name, module in (("sweeper", "gnomon_workers.sweeper"), ("worker", "gnomon_workers.__main__")):
            supervisor.start(child_of(name, module, log_file=site.folder / f"{name}.log", env=env))
        yield
