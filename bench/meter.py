"""Measures CPU seconds, wall time and memory: between two marks of this process, or of a command."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a command took, with the processes that it waited for; memory is that of the largest."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def spent_by(command: Iterable[object], *, environ: Mapping[str, str] | None = None) -> Spent:
    """Run a command to its end, its output unseen.

    Raises:
        RuntimeError: it failed; with the end of what it said.
    """
    words = [str(word) for word in command]
    began_s = time.perf_counter()
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=said, env=environ) as process,
    ):
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.perf_counter() - began_s
        if process.returncode:
            said.seek(0)
            raise RuntimeError(f"{words[0]} ended with {process.returncode}: {said.read()[-2000:].decode()}")
    return Spent(cpu_s=used.ru_utime + used.ru_stime, wall_s=wall_s, peak_mb=used.ru_maxrss / 1e3)


def rss_mb() -> float:
    """Resident memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def cpu_s() -> float:
    """CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak_mb() -> float:
    """The most memory that this process has had since `Meter` began, or a child of it ever had."""
    status = Path("/proc/self/status").read_text()
    own_mb = int(status.split("VmHWM:")[1].split()[0]) / 1e3
    return max(own_mb, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3)


class Meter:
    """Begins when it is made; `report` prints one JSON line for the command that started this process."""

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
        self._idle_mb, self._cpu_s, self._wall_s = rss_mb(), cpu_s(), time.perf_counter()

    def report(self, *, right: int) -> None:
        """`right`: how many trials ended with the right answer; anything else was no measurement."""
        found = {
            "cpu_s": cpu_s() - self._cpu_s,
            "wall_s": time.perf_counter() - self._wall_s,
            "idle_mb": self._idle_mb,
            "peak_mb": peak_mb(),
            "right": right,
        }
        sys.stdout.write(json.dumps(found) + "\n")
