"""Sites: where the service may stand, and what can be done to it there."""

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from tests.workers import postgresql
from tests.workers.faults import EIO_FLAG, ON_POSTGRESQL, ON_SQLITE, Inject, fail_reads_and_writes, small_disk
from tests.workers.links import Link, TcpRedis, namespaces, proxies
from tests.workers.scene import Machine, Scene, free_port, staged

DISK_MB = 1_500
BRIDGE, LOOPBACK = "10.213.77.1", "127.0.0.1"
Site = tuple[Scene, dict[str, Inject]]


@contextmanager
def over_sqlite(clocks: Mapping[str, str]) -> Iterator[Site]:
    """One machine with a disk that can be filled, where this user may mount one."""
    with tempfile.TemporaryDirectory() as name, small_disk(DISK_MB) as disk:
        folder = disk or Path(name)
        faults = ON_SQLITE if disk else {name: ON_SQLITE[name] for name in ON_SQLITE if name != "disk full"}
        with staged(folder, f"sqlite:///{folder}/gnomon.db", clocks=clocks) as scene:
            yield scene, faults


@contextmanager
def over_postgresql(clocks: Mapping[str, str]) -> Iterator[Site]:
    """One machine with a PostgreSQL of its own."""
    with (
        tempfile.TemporaryDirectory() as name,
        postgresql.running() as server,
        staged(Path(name), server.emptied(), clocks=clocks, postgres=server) as scene,
    ):
        yield scene, ON_POSTGRESQL


@contextmanager
def over_namespaces(clocks: Mapping[str, str]) -> Iterator[Site]:
    """Two machines with a network between them and the servers.

    Raises:
        PermissionError: this user may not make network namespaces.
    """
    with namespaces(2, BRIDGE) as links, _servers(BRIDGE) as (folder, postgres, redis):
        machines = [link.machine for link in links]
        with staged(
            folder,
            postgres.emptied(),
            clocks=clocks,
            postgres=postgres,
            server=redis,
            machines=machines,
            reach_provider=False,
        ) as scene:
            yield scene, _faults_of(links[0])


@contextmanager
def over_proxies(clocks: Mapping[str, str]) -> Iterator[Site]:
    """The same without special rights: what the machines send passes through proxies."""
    with _servers(LOOPBACK) as (folder, postgres, redis):
        url = postgres.emptied()
        with proxies(2, [url, redis.url]) as links:
            machines = [link.machine for link in links]
            with staged(
                folder, url, clocks=clocks, postgres=postgres, server=redis, machines=machines
            ) as scene:
                yield scene, _faults_of(links[0])


@contextmanager
def over_clocks(clocks: Mapping[str, str]) -> Iterator[Site]:
    """Two machines over PostgreSQL; the clock of one is an hour ahead.

    Raises:
        PermissionError: libfaketime is not installed here.
    """
    found = find_spec("libfaketime")
    if found is None or found.origin is None:
        raise PermissionError("libfaketime is not installed")
    library = Path(found.origin).parent / "vendor/libfaketime/src/libfaketime.so.1"
    ahead = ("env", f"LD_PRELOAD={library}", "FAKETIME=+1h", "DONT_FAKE_MONOTONIC=1")
    machines = [Machine("right"), Machine("ahead", ahead)]
    with (
        tempfile.TemporaryDirectory() as name,
        postgresql.running() as server,
        staged(Path(name), server.emptied(), clocks=clocks, postgres=server, machines=machines) as scene,
    ):
        yield scene, {"a machine's clock an hour ahead": lambda _: None}


@contextmanager
def over_failing_disk(clocks: Mapping[str, str]) -> Iterator[Site]:
    """Two machines on a disk that fails when told so: what they write there gets EIO.

    Raises:
        PermissionError: there is no C compiler here.
    """
    if (compiler := which("cc")) is None:
        raise PermissionError("there is no C compiler")
    with tempfile.TemporaryDirectory() as name:
        library, flag = Path(name) / "eio.so", Path(name) / EIO_FLAG
        source = Path(__file__).with_name("failing_disk.c")
        build = [
            compiler,
            "-shared",
            "-fPIC",
            f'-DFLAG="{flag}"',
            f'-DFOLDER="{name}/"',
            "-o",
            library,
            source,
        ]
        subprocess.run(build, check=True)
        machines = [Machine(each, ("env", f"LD_PRELOAD={library}")) for each in ("first", "second")]
        url = f"sqlite:///{name}/gnomon.db"
        with staged(Path(name), url, clocks=clocks, machines=machines) as scene:
            yield scene, {"EIO for all that workers write": fail_reads_and_writes}


SITES: dict[str, Callable[[Mapping[str, str]], AbstractContextManager[Site]]] = {
    "SQLite": over_sqlite,
    "PostgreSQL": over_postgresql,
    "two machines": over_namespaces,
    "two machines behind proxies": over_proxies,
    "two clocks": over_clocks,
    "a disk that fails": over_failing_disk,
}


@contextmanager
def _servers(host: str) -> Iterator[tuple[Path, postgresql.PostgreSQL, TcpRedis]]:
    with tempfile.TemporaryDirectory() as name, postgresql.running(host, free_port()) as postgres:
        yield Path(name), postgres, TcpRedis(Path(name), host)


def _faults_of(link: Link) -> dict[str, Inject]:
    def during_two_leases(state: str) -> Inject:
        def inject(scene: Scene) -> None:
            link.set(state)
            scene.sleep_leases(2)
            link.set("open")

        return inject

    return {
        "partition of a machine": during_two_leases("cut"),
        "answers to a machine lost": during_two_leases("deaf"),
        "slow link, 50 kB/s": during_two_leases("slow"),
    }
