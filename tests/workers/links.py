"""Links: networks between the machines of a scene and its servers, which can be cut and made slow.

`namespaces` gives each machine a network of its own, which takes special rights; `proxies` takes none.
"""

import asyncio
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from redis import Redis

from gnomon_service.redis_server import find_server
from gnomon_service.supervisor import Child, Supervisor
from tests.workers.conftest import wait_until
from tests.workers.scene import Machine, free_port
from tests.workers.warm_supervisor import IN_NETWORK

SLOW_BYTES_PER_S = 50_000
PASSWORD = "between-machines"
PIECE = 16_384


class TcpRedis:
    """A Redis with a password that listens on `host`; stands where a scene expects a RedisServer."""

    def __init__(self, folder: Path, host: str) -> None:
        self.folder, self._host, self._port = folder / "redis", host, free_port()
        self._supervisor = Supervisor()
        self.url = f"redis://:{PASSWORD}@{host}:{self._port}"

    @property
    def pids(self) -> list[int]:
        return list(self._supervisor.pids().values())

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True)
        options = ("--bind", self._host, "--port", str(self._port), "--requirepass", PASSWORD)
        command = (str(find_server()), *options, "--dir", str(self.folder), "--appendonly", "yes")
        self._supervisor.start(Child(name="redis", command=command, log_file=self.folder / "redis.log"))
        with Redis.from_url(self.url) as client:
            wait_until(lambda: _answers(client))
        return self

    def __exit__(self, *_: object) -> None:
        self._supervisor.stop()


def _answers(client: Redis) -> bool:
    with suppress(Exception):
        return bool(client.ping())
    return False


@dataclass(frozen=True)
class Link:
    """A machine, and what can be done to its network: `set` to `open`, `cut`, `slow` or `deaf`.

    Cut: nothing passes. Slow: SLOW_BYTES_PER_S each way. Deaf: what it sends arrives, no answer does.
    """

    machine: Machine
    set: Callable[[str], None]


@contextmanager
def namespaces(count: int, host: str) -> Iterator[list[Link]]:
    """Machines in network namespaces of their own, on a bridge where this machine is `host`.

    Raises:
        PermissionError: this user may not make any.
    """
    bridge, base = f"gnbr{os.getpid()}"[:15], host.rpartition(".")[0]
    with ExitStack() as stack:
        try:
            _ip("link", "add", bridge, "type", "bridge")
        except (subprocess.CalledProcessError, FileNotFoundError) as error:
            raise PermissionError("no network namespaces here") from error
        stack.callback(_ip, "link", "delete", bridge)
        _ip("address", "add", f"{host}/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        links = []
        for number in range(count):
            name, outer = f"gnomon-{os.getpid()}-{number}", f"gn{os.getpid()}v{number}"[:15]
            _ip("netns", "add", name)
            stack.callback(_ip, "netns", "delete", name)
            _ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", name)
            # Without this, the name is free only some time after its namespace is gone.
            stack.callback(_ip, "link", "delete", outer)
            _ip("link", "set", outer, "master", bridge, "up")
            _ip("-n", name, "address", "add", f"{base}.{number + 2}/24", "dev", "eth0")
            _ip("-n", name, "link", "set", "eth0", "up")
            _ip("-n", name, "link", "set", "lo", "up")
            enter = (*IN_NETWORK, name)
            links.append(Link(Machine(f"machine-{number}", enter), _shaper(outer, enter)))
        yield links


def _shaper(outer: str, enter: tuple[str, ...]) -> Callable[[str], None]:
    """Sets the two ends of a pair; the outer one passes what goes to the machine."""

    def shape(state: str) -> None:
        for before, device in (((), outer), (enter, "eth0")):
            subprocess.run(
                [*before, "tc", "qdisc", "del", "dev", device, "root"], check=False, capture_output=True
            )
        _ip("link", "set", outer, "down" if state == "cut" else "up")
        slow = ["tbf", "rate", f"{8 * SLOW_BYTES_PER_S}", "burst", "16kb", "latency", "1s"]
        deaf = ["tbf", "rate", "8bit", "burst", "1", "limit", "1"]  # too narrow for any packet
        ends = {"slow": [((), outer, slow), (enter, "eth0", slow)], "deaf": [((), outer, deaf)]}
        for before, device, rule in ends.get(state, []):
            subprocess.run([*before, "tc", "qdisc", "add", "dev", device, "root", *rule], check=True)

    return shape


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Proxy:
    """Passes TCP on to one server, as well as `state` lets it. Use it as a context manager."""

    def __init__(self, host: str, port: int) -> None:
        self.state, self.port = "open", free_port()
        self._target, self._ready = (host, port), threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="proxy")
        self._passing: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10.0)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._passing:
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)

    def _accept(self, near: asyncio.StreamReader, to_near: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._pass_on(near, to_near))
        self._passing.add(task)
        task.add_done_callback(self._passing.discard)

    async def _pass_on(self, near: asyncio.StreamReader, to_near: asyncio.StreamWriter) -> None:
        writers = [to_near]
        with suppress(OSError):
            try:
                far, to_far = await asyncio.open_connection(*self._target)
                writers.append(to_far)
                ways = [self._pump(near, to_far, is_answer=False), self._pump(far, to_near, is_answer=True)]
                pumps = [asyncio.ensure_future(way) for way in ways]
                try:
                    await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for pump in pumps:
                        pump.cancel()
                    await asyncio.gather(*pumps, return_exceptions=True)
            finally:
                for writer in writers:
                    writer.close()
                    with suppress(OSError):
                        await writer.wait_closed()

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, is_answer: bool
    ) -> None:
        while piece := await source.read(PIECE):
            while self.state == "cut" or (self.state == "deaf" and is_answer):  # noqa: ASYNC110 (set by a thread)
                await asyncio.sleep(0.01)
            if self.state == "slow":
                await asyncio.sleep(len(piece) / SLOW_BYTES_PER_S)
            sink.write(piece)
            await sink.drain()


@contextmanager
def proxies(count: int, urls: Sequence[str]) -> Iterator[list[Link]]:
    """Machines that are only processes here, but reach the servers at `urls` through proxies of their own."""
    with ExitStack() as stack:
        links = []
        for number in range(count):
            parts = {url: urlsplit(url) for url in urls}
            made = {url: Proxy(part.hostname or "", part.port or 0) for url, part in parts.items()}
            mine = {url: stack.enter_context(proxy) for url, proxy in made.items()}
            links.append(Link(Machine(f"machine-{number}", (), _through(mine)), _setter(mine)))
        yield links


def _through(mine: dict[str, Proxy]) -> Callable[[str], str]:
    def reach(url: str) -> str:
        return url.replace(f":{urlsplit(url).port}", f":{mine[url].port}")

    return reach


def _setter(mine: dict[str, Proxy]) -> Callable[[str], None]:
    def set_state(state: str) -> None:
        for proxy in mine.values():
            proxy.state = state

    return set_state
