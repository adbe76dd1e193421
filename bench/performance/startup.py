"""Measures how long it takes until the command line answers and the API is ready."""

import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
GNOMON = str(Path(sys.executable).with_name("gnomon"))
GIVE_UP_S = 60.0


def help_s() -> tuple[float, float]:
    """Wall and CPU seconds of `gnomon --help`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began_s = time.perf_counter()
    subprocess.run([GNOMON, "--help"], check=True, capture_output=True)
    wall_s = time.perf_counter() - began_s
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def api_s(redis_url: str) -> tuple[float, float]:
    """Wall seconds until `gnomon api` says that it is ready, and the CPU seconds it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        began_s = time.perf_counter()
        with running_api(redis_url, folder):
            wall_s = time.perf_counter() - began_s
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def running_api(redis_url: str, folder: str) -> Iterator[tuple[str, int]]:
    """The URL and the process id of a `gnomon api` over a folder, once it answers."""
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
            yield url, api.pid
        finally:
            api.terminate()


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=1) as response:
            return bool(response.status == 200)
    except (OSError, ValueError):
        return False
