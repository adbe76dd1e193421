"""Starts and ends the servers of a bench, which are a mock of a provider, a Redis and `gnomon api`."""

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gnomon_service.redis_server import RedisServer

ROOT = Path(__file__).parents[1]
GNOMON = str(Path(sys.executable).with_name("gnomon"))
GIVE_UP_S = 600.0  # on a machine that much else runs on


@contextmanager
def mock_server() -> Iterator[int]:
    """The port of a mock server that runs meanwhile."""
    command = [sys.executable, "-m", "bench.performance.mock"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.terminate()


@contextmanager
def queue() -> Iterator[str]:
    """The URL of a Redis that runs meanwhile."""
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder)) as server:
        yield server.url


@contextmanager
def running_api(redis_url: str, folder: str) -> Iterator[str]:
    """The URL of a `gnomon api` over the store in a folder, once it answers."""
    environ = {**os.environ, "GNOMON_REDIS_URL": redis_url, "GNOMON_DATA_DIR": folder}
    environ |= {"GNOMON_DATABASE_URL": f"sqlite:///{folder}/gnomon.db"}
    command = [GNOMON, "api", "--port", "0"]
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as api:
        assert api.stdout is not None
        try:
            url = api.stdout.readline().strip()
            give_up_s = time.perf_counter() + GIVE_UP_S
            while not _is_ready(url):
                if api.poll() is not None or time.perf_counter() > give_up_s:
                    raise RuntimeError("the API does not start")
                time.sleep(0.02)
            yield url
        finally:
            api.terminate()


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=1) as response:
            return bool(response.status == 200)
    except (OSError, ValueError):
        return False
