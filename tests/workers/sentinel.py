"""A real Valkey with a replica and a Sentinel that puts the replica in the primary's place when that dies."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from redis import Redis, RedisError

from gnomon_service.redis_server import find_server
from tests.workers.conftest import wait_until
from tests.workers.links import PASSWORD
from tests.workers.scene import free_port

SERVICE, HOST = "queue", "127.0.0.1"


@dataclass
class Replicated:
    """Three processes by name: `primary`, `replica`, `sentinel`."""

    folder: Path
    ports: dict[str, int] = field(
        default_factory=lambda: {name: free_port() for name in ("primary", "replica", "sentinel")}
    )
    processes: "dict[str, subprocess.Popen[bytes]]" = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Of whichever is the primary."""
        return f"sentinel://:{PASSWORD}@{HOST}:{self.ports['sentinel']}/{SERVICE}"

    def url_of(self, name: str) -> str:
        return f"redis://:{PASSWORD}@{HOST}:{self.ports[name]}"

    def primary_port(self) -> int:
        """What the Sentinel says."""
        with Redis(host=HOST, port=self.ports["sentinel"]) as client:
            masters = cast(dict[str, dict[str, Any]], client.sentinel_masters())
        return int(masters[SERVICE]["port"])

    def is_replicated(self) -> bool:
        """Whether the replica has all."""
        with suppress(RedisError), Redis.from_url(self.url_of("replica")) as client:
            return cast(dict[str, Any], client.info("replication")).get("master_link_status") == "up"
        return False

    def is_watched(self) -> bool:
        """Whether the Sentinel knows the replica: it looks every ten seconds."""
        with suppress(RedisError), Redis(host=HOST, port=self.ports["sentinel"]) as client:
            return bool(client.sentinel_slaves(SERVICE))
        return False

    def signal(self, number: int, *names: str) -> None:
        for name in names:
            self.processes[name].send_signal(number)

    def start(self, name: str, *options: str) -> None:
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        plain = (
            () if name == "sentinel" else ("--save", "", "--requirepass", PASSWORD, "--masterauth", PASSWORD)
        )
        command = [str(find_server()), *options, *plain, "--port", str(self.ports[name]), "--bind", HOST]
        self.processes[name] = subprocess.Popen(
            [*command, "--dir", str(folder), "--logfile", str(folder / "log")]
        )


@contextmanager
def replicated(folder: Path, *, is_watched: bool = True) -> Iterator[Replicated]:
    """The three, or two that no Sentinel watches, when they have found each other. None writes to a disk."""
    servers = Replicated(folder)
    watch = [
        f"sentinel monitor {SERVICE} {HOST} {servers.ports['primary']} 1",
        f"sentinel auth-pass {SERVICE} {PASSWORD}",
        f"sentinel down-after-milliseconds {SERVICE} 1000",
        f"sentinel failover-timeout {SERVICE} 5000",
    ]
    (rules := folder / "sentinel.conf").write_text("\n".join(watch))
    try:
        servers.start("primary")
        servers.start("replica", "--replicaof", f"{HOST} {servers.ports['primary']}")
        wait_until(servers.is_replicated)
        if is_watched:
            servers.start("sentinel", str(rules), "--sentinel")
            wait_until(servers.is_watched)
        yield servers
    finally:
        servers.signal(signal.SIGCONT, *servers.processes)
        for process in servers.processes.values():
            process.kill()
            process.wait()
