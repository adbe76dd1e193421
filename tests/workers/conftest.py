"""A store with a clock of its own, a real Redis, and worker processes."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from gnomon.outcome import Outcome
from gnomon.row import Row
from gnomon.spec import JobSpec
from service.redis_server import RedisServer
from service.supervisor import Child, Supervisor
from workers.store import JobRecord, Lease, Store

ROOT = Path(__file__).parent.parent.parent
TINY_WORKER = Path(__file__).parent / "tiny_worker.py"
QUICK = {  # the machinery's clocks, fast enough for a test
    "GNOMON_LEASE_SECONDS": "1.5",
    "GNOMON_WATCH_SECONDS": "0.1",
    "GNOMON_FLUSH_SECONDS": "0.1",
    "GNOMON_GRACE_SECONDS": "0.5",
    "GNOMON_SWEEP_SECONDS": "0.3",
}


class Clock:
    """Time that passes when the test says so."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


def make_spec(samples: int = 4, **changes: Any) -> JobSpec:
    """A job over the tiny benchmark: two arms, one scripted model that is right."""
    given: dict[str, Any] = {
        "benchmark": "tiny",
        "select": {"limit": samples},
        "models": [{"id": "scripted", "options": {"replies": ["A"]}}],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "direct"}],
    }
    return JobSpec.model_validate({**given, **changes})


def make_row(lease: Lease, **changes: Any) -> Row:
    """A trial that was answered rightly, or as `changes` say."""
    trial = lease.trial
    row = Row(
        job_id=trial.job_id,
        trial_id=trial.trial_id,
        benchmark="tiny",
        task=trial.ref.task,
        cell=trial.ref.cell,
        sample_id=trial.ref.sample_id,
        cluster=trial.ref.cluster,
        model=trial.model,
        arm=trial.arm,
        repeat=trial.repeat,
        outcome=Outcome.SCORED,
        stop_reason="answered",
        score=1.0,
        metrics={"MCQacc": 1.0, "note": None},
        answer="A",
        flags=("clipped",),
        tools_used={"where": {"calls": 1, "bad_arguments": 0, "errors": 0}},
        prompt_tokens=10,
        completion_tokens=2,
        usd=0.5,
        attempt=lease.attempt,
    )
    return replace(row, **changes)


TRACE: dict[str, Any] = {"prompt": [], "steps": [{"kind": "note", "text": "played"}]}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'gnomon.db'}"


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[Store]:
    store = Store(url, clock=clock)
    yield store
    store.close()


@pytest.fixture
def real_store(url: str) -> Iterator[Store]:
    store = Store(url)
    yield store
    store.close()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with RedisServer(tmp_path_factory.mktemp("queue")) as server:
        yield server.url


@pytest.fixture
def redis(redis_url: str) -> Iterator[Redis]:
    with Redis.from_url(redis_url) as client:
        client.flushall()
        yield client


StartWorkers = Callable[..., Supervisor]


@pytest.fixture
def start_workers(redis_url: str, url: str, tmp_path: Path) -> Iterator[StartWorkers]:
    """Start worker processes, and a sweeper beside them unless told otherwise; all are stopped at the end."""
    supervisor = Supervisor()

    def add(name: str, *command: str) -> None:
        child = Child(
            name=name,
            command=(sys.executable, *command, "--redis", redis_url, "--database", url),
            log_file=tmp_path / f"{name}.log",
            env={**QUICK, "PYTHONPATH": str(ROOT)},
        )
        supervisor.start(child)

    def start(workers: int = 2, *, sweeper: bool = True) -> Supervisor:
        if sweeper:
            add("sweeper", "-m", "workers.sweeper")
        for number in range(workers):
            add(
                f"worker-{number}", str(Path(__file__).parent / "tiny_worker.py"), "--data-dir", str(tmp_path)
            )
        return supervisor

    with supervisor:
        yield start


def wait_until(happened: Callable[[], bool], *, within_s: float = 40.0) -> None:
    """Wait for something that must happen."""
    until_s = time.monotonic() + within_s
    while not happened():
        assert time.monotonic() < until_s, "it did not happen in time"
        time.sleep(0.05)


def ended(store: Store, job: JobRecord) -> bool:
    return store.job(job.id).status not in ("queued", "running")


def children_of(pid: int) -> list[int]:
    """Process ids of a process's children."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[-1].split()[0]
