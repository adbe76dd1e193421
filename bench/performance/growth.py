"""Measures what a job of 10⁴, 10⁵, 10⁶ trials costs to accept, to show while it runs, and to report.

A user's way: the job is posted to a `gnomon api` in a process of its own, its progress and its first page of
rows are asked for over HTTP while another process writes results, and `gnomon report` runs by itself.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.performance.meter import cpu_of, peak_mb_of
from bench.performance.startup import GNOMON, ROOT, running_api

SIZES = (10_000, 100_000, 1_000_000)
LOOK_EVERY_S = 0.05
HEAD = (
    *("trials", "accept s (wall)", "µs per trial", "API MB", "job ms (worst)", "page ms (worst)", "write µs"),
    *("report s", "µs per row", "report MB", "bytes per row", "disk MB"),
)
SPEC = {
    "benchmark": "worlds",
    "models": [{"id": "scripted", "options": {"replies": ["B"]}}],
    "arms": [{"name": name, "agent": "direct"} for name in ("raw", "tools")],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """CPU seconds of a process and the most memory it had."""

    cpu_s: float
    peak_mb: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """One size. Looks are wall times while results are written, `write_us` CPU for each trial that was leased
    and finished; the rest of the rows was put in at once.
    """

    trials: int
    accept: Cost  # of the API's process
    accept_wall_s: float
    job_ms: tuple[float, ...]
    page_ms: tuple[float, ...]
    write_us: float
    empty_report: Cost  # before any row was there: start-up
    report: Cost
    disk_mb: float

    @property
    def accept_us(self) -> float:
        return self.accept.cpu_s / self.trials * 1e6

    @property
    def report_us(self) -> float:
        """For each row, start-up left out."""
        return (self.report.cpu_s - self.empty_report.cpu_s) / self.trials * 1e6

    @property
    def report_bytes(self) -> float:
        """Of memory for each row, start-up left out."""
        return (self.report.peak_mb - self.empty_report.peak_mb) / self.trials * 1e6


def grow(size: int, redis_url: str) -> Growth:
    """Post a job of so many trials, fill it, look at it, report it."""
    with tempfile.TemporaryDirectory() as folder:
        with running_api(redis_url, folder) as (url, pid):
            _fetch(f"{url}/v1/benchmarks")  # what the first request imports is no growth
            before_s, began_s = cpu_of(pid), time.perf_counter()
            job_id = _fetch(f"{url}/v1/jobs", {**SPEC, "select": {"limit": size // 2}})["id"]
            accept_wall_s = time.perf_counter() - began_s
            accept = Cost(cpu_s=cpu_of(pid) - before_s, peak_mb=peak_mb_of(pid))
            empty_report = _report(folder, job_id)
            write_us, job_ms, page_ms = _looked_at(f"{url}/v1/jobs/{job_id}", folder, job_id)
        return Growth(
            trials=size,
            accept=accept,
            accept_wall_s=accept_wall_s,
            job_ms=tuple(job_ms),
            page_ms=tuple(page_ms),
            write_us=write_us,
            empty_report=empty_report,
            report=_report(folder, job_id),
            disk_mb=sum(file.stat().st_size for file in Path(folder).glob("gnomon.db*")) / 1e6,
        )


def _looked_at(job_url: str, folder: str, job_id: str) -> tuple[float, list[float], list[float]]:
    """Let the filler fill, and look at the job while it leases and finishes the last trials."""
    command = [sys.executable, "-m", "bench.performance.filler", f"sqlite:///{folder}/gnomon.db", job_id]
    job_ms: list[float] = []
    page_ms: list[float] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as filler:
        assert filler.stdout is not None
        filler.stdout.readline()  # the bulk is in; from here on it works as workers do
        while filler.poll() is None:
            job_ms.append(_took_ms(job_url))
            page_ms.append(_took_ms(f"{job_url}/trials"))
            time.sleep(LOOK_EVERY_S)
        write_us = float(filler.stdout.readline())
    job = _fetch(job_url)
    if job["counts"]["scored"] != job["counts"]["planned"] or job["status"] != "completed":
        raise RuntimeError(f"the job is not done: {job['status']}, {job['counts']}")
    return write_us, job_ms, page_ms


def _report(folder: str, job_id: str) -> Cost:
    """What `gnomon report` takes, start-up included."""
    command = [GNOMON, "report", job_id, "--data-dir", folder, "--out", f"{folder}/report.json"]
    with subprocess.Popen(command) as report:
        _, status, used = os.wait4(report.pid, 0)
        report.returncode = os.waitstatus_to_exitcode(status)
    if report.returncode:
        raise RuntimeError(f"gnomon report ended with {report.returncode}")
    return Cost(cpu_s=used.ru_utime + used.ru_stime, peak_mb=used.ru_maxrss / 1e3)


def _took_ms(url: str) -> float:
    began_s = time.perf_counter()
    _fetch(url)
    return (time.perf_counter() - began_s) * 1000


def _fetch(url: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as response:
        return json.load(response)


def rows_of(found: list[Growth]) -> list[str]:
    """The table, a line a size."""
    return [
        f"| {' | '.join(HEAD)} |",
        f"|{'---|' * len(HEAD)}",
        *(
            f"| {one.trials:,} | {one.accept.cpu_s:.1f} ({one.accept_wall_s:.1f}) | {one.accept_us:.0f} "
            f"| {one.accept.peak_mb:.0f} | {statistics.median(one.job_ms):.1f} ({max(one.job_ms):.0f}) "
            f"| {statistics.median(one.page_ms):.1f} ({max(one.page_ms):.0f}) | {one.write_us:.0f} "
            f"| {one.report.cpu_s:.1f} | {one.report_us:.0f} | {one.report.peak_mb:.0f} "
            f"| {one.report_bytes:.0f} | {one.disk_mb:.0f} |"
            for one in found
        ),
    ]


def panels_of(found: list[Growth]) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """What grows with a job, start-up left out: CPU seconds, and megabytes."""

    def points(value: Callable[[Growth], float]) -> list[tuple[float, float]]:
        return [(float(one.trials), value(one)) for one in found if value(one) > 0]

    return {
        "CPU seconds": {
            "accept": points(lambda one: one.accept.cpu_s),
            "report": points(lambda one: one.report_us * one.trials / 1e6),
        },
        "MB": {
            "on disk": points(lambda one: one.disk_mb),
            "report": points(lambda one: one.report_bytes * one.trials / 1e6),
        },
    }
