"""Start-up: how long until the command line answers and the API is ready."""

import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
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


def api_s(redis_url: str, port: int = 18_947) -> tuple[float, float]:
    """Wall seconds until `gnomon api` says that it is ready, and the CPU seconds it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "GNOMON_REDIS_URL": redis_url, "GNOMON_DATA_DIR": folder}
        environ |= {"GNOMON_DATABASE_URL": f"sqlite:///{folder}/gnomon.db"}
        began_s = time.perf_counter()
        command = [GNOMON, "api", "--port", str(port)]
        with subprocess.Popen(
            command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as api:
            try:
                while not _is_ready(port):
                    if api.poll() is not None or time.perf_counter() - began_s > GIVE_UP_S:
                        raise RuntimeError("the API does not start")
                    time.sleep(0.02)
                wall_s = time.perf_counter() - began_s
            finally:
                api.terminate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1) as response:
            return bool(response.status == 200)
    except OSError:
        return False
