"""Measures CPU seconds, wall time and memory between two marks, in this process and its children."""

import json
import os
import resource
import sys
import time
from pathlib import Path


def rss_mb() -> float:
    """Resident memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def cpu_s() -> float:
    """CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def children_cpu_s() -> float:
    """CPU seconds of all children that have ended, with theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_mb() -> float:
    """The most memory that this process has had since `Meter` began, or a child of it ever had."""
    return max(peak_mb_of(os.getpid()), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3)


def cpu_of(pid: int) -> float:
    """CPU seconds of another process, its children left out."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mb_of(pid: int) -> float:
    """The most memory that another process ever had."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e3


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
