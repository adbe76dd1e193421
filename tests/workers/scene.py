"""Scene: a whole service of real processes, and whatever of it a test may break."""

import os
import random
import signal
import socket
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from redis import Redis
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from gnomon_service.redis_server import RedisServer
from gnomon_workers.settings import read_timing
from gnomon_workers.store import JobRecord, Store
from gnomon_workers.store.schema import trials
from tests.workers.broken_store import Breakage
from tests.workers.conftest import PYTHONPATH, QUICK, TINY_WORKER, children_of, make_spec, wait_until
from tests.workers.counting_provider import CountingProvider, counting
from tests.workers.postgresql import PostgreSQL
from tests.workers.warm_supervisor import WarmSupervisor, child_of

START_S = 180.0  # in which all processes must be there, also on a machine that much else runs on
FAKE_STACK = "tests.workers.fake_stack"


@dataclass(frozen=True)
class Machine:
    """Where a worker runs: what its command begins with there, and how a server's URL looks from there."""

    name: str
    enter: tuple[str, ...] = ()
    reach: Callable[[str], str] = str


@dataclass
class Scene:
    """An API, a supervisor of workers, a Redis and a database; `init` starts again whatever of them dies.

    The kinds of its processes: `api`, `supervisor`, `sweeper`, `worker`, `horse` (a worker's fork), `redis`.
    """

    folder: Path
    store: Store
    redis: Redis
    server: RedisServer
    init: WarmSupervisor
    port: int
    lease_s: float
    postgres: PostgreSQL | None = None
    provider: CountingProvider | None = None  # None: workers cannot reach it
    rng: random.Random = field(default_factory=lambda: random.Random(1))
    stopped: set[int] = field(default_factory=set)

    @property
    def breakage(self) -> Breakage:
        return Breakage(self.folder)

    def pids(self, kind: str) -> list[int]:
        if kind == "redis":
            return self.server.pids
        tops = self.init.pids()
        if kind in ("api", "supervisor"):
            return [tops[kind]] if kind in tops else []
        if kind == "horse":
            return [child for worker in self.pids("worker") for child in _children(worker)]
        children = [child for top in tops.values() for child in _children(top)]
        return [pid for pid in children if _is_sweeper(pid) == (kind == "sweeper")]

    def signal(self, number: int, *kinds: str) -> list[int]:
        """Send a signal to one process of the first kind, and to its own children where a second is named."""
        wait_until(lambda: bool(self.pids(kinds[0])))
        victim = self.rng.choice(self.pids(kinds[0]) or [0])
        pids = [*(_children(victim) if kinds[1:] else []), *([victim] if victim else [])]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return pids

    def stop_for_leases(self, count: float, *kinds: str) -> None:
        """Let a process stand still for as long as `count` leases last."""
        pids = self.signal(signal.SIGSTOP, *kinds)
        self.stopped |= set(pids)
        self.sleep_leases(count)
        self.wake(pids)

    def wake(self, pids: Iterable[int]) -> None:
        """Let go on what stands still."""
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def sleep_leases(self, count: float) -> None:
        time.sleep(count * self.lease_s)

    def post(self, samples: int, **changes: object) -> JobRecord:
        """Post a job as a client should: with a key of its own, again and again until it is taken."""
        spec = make_spec(samples, **changes).model_dump(mode="json", exclude_unset=True)
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        while True:
            with suppress(httpx.TransportError):
                answer = httpx.post(
                    f"{self.url}/v1/jobs", json=spec, headers=headers, timeout=60.0, verify=False
                )
                assert answer.status_code in (202, 500, 503), answer.text
                if answer.status_code == 202:
                    return self.store.job(answer.json()["id"])
            time.sleep(0.2)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def is_ready(self) -> bool:
        """Whether the API says that it can work."""
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5.0, verify=False).is_success
        except httpx.TransportError:
            return False

    def in_flight(self, job: JobRecord) -> list[str]:
        with self.store.reading() as db:
            mine = select(trials.c.trial_id).where(trials.c.job_id == job.id, trials.c.state == "leased")
            return list(db.execute(mine).scalars())

    def have_ended(self, trial_ids: list[str]) -> bool:
        is_open = (trials.c.trial_id.in_(trial_ids), trials.c.state != "done")
        try:
            with self.store.reading() as db:
                return db.execute(select(trials.c.trial_id).where(*is_open).limit(1)).first() is None
        except SQLAlchemyError:  # the database is what was broken
            return False

    def done(self, job: JobRecord) -> int:
        """How many of its trials have ended; 0 while the database is away."""
        try:
            return self.store.job(job.id).counts.done
        except SQLAlchemyError:
            return 0

    def has_ended(self, job: JobRecord) -> bool:
        try:
            return self.store.job(job.id).status not in ("queued", "running")
        except SQLAlchemyError:
            return False

    def end_of(self, job: JobRecord, *, within_s: float = 60.0) -> JobRecord:
        wait_until(lambda: self.has_ended(job), within_s=within_s)
        return self.store.job(job.id)


@contextmanager
def staged(
    folder: Path,
    url: str,
    *,
    clocks: Mapping[str, str] = QUICK,
    postgres: PostgreSQL | None = None,
    server: RedisServer | None = None,
    machines: Sequence[Machine] = (),
    reach_provider: bool = True,
) -> Iterator[Scene]:
    """A scene over the database at `url`, with two workers, or one on each machine; it leaves nothing."""
    store = Store(url)
    with (
        counting(delay_s=0.1, draws=True, tokens=(9, 1)) as provider,
        server or RedisServer(folder) as server,
        Redis.from_url(server.url) as redis,
        WarmSupervisor() as init,
    ):
        lease_s = read_timing(clocks).lease_s
        scene = Scene(folder, store, redis, server, init, free_port(), lease_s, postgres)
        scene.provider = provider if reach_provider else None
        sweep = ["--sweep"] if machines else []  # else it is the supervisor's
        _start(scene, "api", Machine("api"), clocks, FAKE_STACK, "--port", str(scene.port), *sweep)
        for machine in machines:
            _start(scene, machine.name, machine, clocks, TINY_WORKER)
        if not machines:
            _start(
                scene, "supervisor", Machine("supervisor"), clocks, FAKE_STACK, "--workers", "2", "--sweep"
            )
        wait_until(scene.is_ready, within_s=START_S)
        wait_until(lambda: len(store.workers()) == max(2, len(machines)), within_s=START_S)
        try:
            yield scene
        finally:
            scene.wake(scene.stopped)
    store.close()


def _start(
    scene: Scene, name: str, machine: Machine, clocks: Mapping[str, str], module: str, *more: str
) -> None:
    places = ("--redis", machine.reach(scene.server.url), "--database", machine.reach(scene.store.url))
    child = child_of(
        name,
        module,
        *(*places, "--data-dir", str(scene.folder), *more),
        log_file=scene.folder / "logs" / f"{name}.log",
        env={**clocks, "PYTHONPATH": PYTHONPATH},
        enter=machine.enter,
    )
    scene.init.start(child)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _children(pid: int) -> list[int]:
    try:
        return children_of(pid)
    except (FileNotFoundError, ProcessLookupError):
        return []


def _is_sweeper(pid: int) -> bool:
    """By its log: a fork has the command line of its parent."""
    try:
        return Path(f"/proc/{pid}/fd/1").readlink().name == "sweeper.log"
    except (FileNotFoundError, ProcessLookupError):
        return False
