"""A store with a clock of its own, a real Redis, and worker processes."""

import itertools
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.spec.job_spec import JobSpec
from gnomon_service.redis_server import RedisServer
from gnomon_workers.queue import enqueue_shards
from gnomon_workers.rate_limit.redis_limiter import PREFIX
from gnomon_workers.store import JobRecord, Lease, Store
from gnomon_workers.store.missing import missing_row
from tests.workers import pgbouncer, postgresql
from tests.workers.tiny_worker import refs
from tests.workers.warm_supervisor import WarmSupervisor, child_of

ROOT = Path(__file__).parent.parent.parent
PYTHONPATH = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))  # also of who runs another tree
TINY_WORKER = "tests.workers.tiny_worker"
QUICK = {  # the machinery's clocks, fast enough for a test
    "GNOMON_LEASE_SECONDS": "1.5",
    "GNOMON_WATCH_SECONDS": "0.1",
    "GNOMON_FLUSH_SECONDS": "0.1",
    "GNOMON_GRACE_SECONDS": "0.5",
    "GNOMON_SWEEP_SECONDS": "0.3",
    "GNOMON_SETUP_SECONDS": "1",
}
BOTH = pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
SERVERS = {"postgresql": "postgres", "pgbouncer": "pooler"}  # the fixture of each kind of database
# What holds behind a pooler, where nothing is prepared or kept on a connection, holds without one.
POOLED = "pgbouncer" if pgbouncer.find_pgbouncer() or os.environ.get("CI") == "true" else "postgresql"
ALL = pytest.mark.parametrize("kind", ["sqlite", POOLED], indirect=True)


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
        "preflight": False,  # tests count calls; those of the preflight ask for it
    }
    return JobSpec.model_validate({**given, **changes})


def make_row(lease: Lease, **changes: Any) -> Row:
    """A trial that was answered rightly, or as `changes` say."""
    row = missing_row(lease.trial, benchmark="tiny", stop_reason="answered", attempt=lease.attempt)
    right: dict[str, Any] = {
        "outcome": Outcome.SCORED,
        "score": 1.0,
        "metrics": {"MCQacc": 1.0, "note": None},
        "answer": "A",
        "flags": ("clipped",),
        "tools_used": {"where": {"calls": 1, "bad_arguments": 0, "errors": 0}},
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "usd": 0.5,
    }
    return replace(row, **{**right, **changes})


def create(store: Store, samples: int = 4, **changes: object) -> JobRecord:
    """A job over that many samples of the tiny benchmark."""
    return store.create_job(make_spec(samples, **changes), refs(samples))


TRACE: dict[str, Any] = {"prompt": [], "steps": [{"kind": "note", "text": "played"}]}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def postgres() -> Iterator[postgresql.PostgreSQL]:
    with postgresql.running() as server:
        yield server


@pytest.fixture(scope="session")
def pooler(postgres: postgresql.PostgreSQL) -> Iterator[pgbouncer.PgBouncer]:
    """Absent: skipped, under CI=true failed."""
    if pgbouncer.find_pgbouncer() is None:
        if os.environ.get("CI") == "true":
            pytest.fail(pgbouncer.ABSENT)
        pytest.skip(pgbouncer.ABSENT)
    with pgbouncer.pooling(postgres) as pooler:
        yield pooler


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> str:
    """Which database; SQLite unless the test is marked with BOTH or ALL."""
    return getattr(request, "param", "sqlite")


@pytest.fixture(scope="session")
def empty_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the store's tables and no rows. A copy costs a sixth of tables that are made anew."""
    file = tmp_path_factory.mktemp("template") / "gnomon.db"
    Store(f"sqlite:///{file}").close()
    return file


@pytest.fixture
def new_url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Find a database without rows; when the next one is found, the one before is of no use any more."""
    if kind in SERVERS:
        server: postgresql.PostgreSQL | pgbouncer.PgBouncer = request.getfixturevalue(SERVERS[kind])
        return server.cleared
    empty, numbers = request.getfixturevalue("empty_sqlite"), itertools.count(1)
    return lambda: f"sqlite:///{shutil.copy(empty, tmp_path / f'gnomon{next(numbers)}.db')}"


@pytest.fixture
def url(new_url: Callable[[], str]) -> str:
    return new_url()


@pytest.fixture
def bare_url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without tables."""
    if kind in SERVERS:
        server: postgresql.PostgreSQL | pgbouncer.PgBouncer = request.getfixturevalue(SERVERS[kind])
        return server.emptied()
    return f"sqlite:///{tmp_path}/gnomon.db"


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


@dataclass(frozen=True)
class Plant:
    """A store and a queue, and whatever processes the test starts on them."""

    store: Store
    redis: Redis
    redis_url: str
    folder: Path
    supervisor: WarmSupervisor
    clocks: Mapping[str, str] = field(default_factory=lambda: QUICK)

    def start(self, workers: int, *more: str, sweeper: bool = True) -> None:
        """Start tiny workers with `more` options, and a sweeper beside them unless told otherwise."""
        running = self.supervisor.pids()
        if sweeper and "sweeper" not in running:
            self.start_module("sweeper", "gnomon_workers.sweeper")
        for number in range(len(running), len(running) + workers):
            self.start_module(f"worker-{number}", TINY_WORKER, "--data-dir", str(self.folder), *more)

    def post(self, samples: int, **changes: object) -> JobRecord:
        """Store and queue a job."""
        job = create(self.store, samples, **changes)
        enqueue_shards(self.redis, job, range(job.shards))
        return job

    def end_of(self, job: JobRecord) -> JobRecord:
        """The job when it has ended."""
        wait_until(lambda: self.store.job(job.id).status not in ("queued", "running"))
        return self.store.job(job.id)

    def start_module(self, name: str, module: str, *arguments: str) -> None:
        """Start what `python -m module` with these arguments is, on this store and queue."""
        places = ("--redis", self.redis_url, "--database", self.store.url)
        env = {**self.clocks, "PYTHONPATH": PYTHONPATH}
        log_file = self.folder / f"{name}.log"
        self.supervisor.start(child_of(name, module, *arguments, *places, log_file=log_file, env=env))


@pytest.fixture
def plant(real_store: Store, redis: Redis, redis_url: str, tmp_path: Path) -> Iterator[Plant]:
    """No process runs on it yet."""
    with WarmSupervisor() as supervisor:
        yield Plant(real_store, redis, redis_url, tmp_path, supervisor)


@pytest.fixture(scope="module")
def lease_s() -> float:
    """How long the shared workers lease a trial."""
    return float(QUICK["GNOMON_LEASE_SECONDS"])


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory, lease_s: float) -> Iterator[Plant]:
    """Two workers and a sweeper that the tests of a module share; none may assume to be alone."""
    folder = tmp_path_factory.mktemp("plant")
    store = Store(f"sqlite:///{folder}/gnomon.db")
    # It sweeps for as long as those tests run.
    clocks = {**QUICK, "GNOMON_SWEEP_SECONDS": "1", "GNOMON_LEASE_SECONDS": str(lease_s)}
    with RedisServer(folder) as server, Redis.from_url(server.url) as redis, WarmSupervisor() as supervisor:
        plant = Plant(store, redis, server.url, folder, supervisor, clocks)
        plant.start(2)
        yield plant
    store.close()


@pytest.fixture
def idle(two_workers: Plant) -> Plant:
    """The two workers that tests share, with nothing to do, and no wait kept for a port that comes again."""
    for key in two_workers.redis.scan_iter(f"{PREFIX}:*"):
        two_workers.redis.delete(key)
    wait_until(lambda: len(two_workers.store.workers()) >= 2 and not forks(two_workers))
    return two_workers


def wait_until(happened: Callable[[], bool], *, within_s: float = 180.0) -> None:
    """Wait for something that must happen."""
    began_s = time.monotonic()
    while not happened():
        waited_s = time.monotonic() - began_s
        assert waited_s < within_s, "it did not happen in time"
        time.sleep(min(0.15, max(0.02, waited_s / 30)))  # a look at a store takes milliseconds of a core


def children_of(pid: int) -> list[int]:
    """Process ids of a process's children, whichever of its threads started them."""
    lists = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(child) for children in lists for child in children.split()]


def forks(plant: Plant) -> list[int]:
    """Process ids of the forks of all workers."""
    workers = [pid for name, pid in plant.supervisor.pids().items() if name != "sweeper"]
    return [child for worker in workers for child in children_of(worker) if is_alive(child)]


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().split(")")[-1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
