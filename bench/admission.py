"""Measures memory of API and worker, and waits for cheap routes, while ten heavy requests come at once.

`python -m bench.admission` starts an API and a worker on a data folder of its own, and a second API that
nobody asks for anything heavy. A process of its own asks both for cheap routes: what the idle one takes is
the machine's share. Words after the command choose kinds by their names. To measure another tree, set
PYTHONPATH to it and run this file.
"""

import asyncio
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx
import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.finished_jobs import insert_job
from bench.servers import GNOMON, queue, running_api
from bench.tables import head_of, line_of, tell

JSON = {"Content-Type": "application/json"}
PIECE = 1 << 16
CHEAP = ("/v1/jobs?limit=5", "/healthz", "/v1/workers")
CHEAP_EVERY_S, SAMPLE_EVERY_S = 0.25, 0.1
MANY, SAMPLES = 10, 1_000
ARMS = [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}]
LARGE_JOB = {
    "benchmark": "worlds",
    "select": {"limit": 20_000},
    "models": [{"id": "reference"}],
    "arms": ARMS,
}
SMALL_JOB = {**LARGE_JOB, "select": {"limit": 2_000}}
TRIP = {"area": "helsinki", "start_date": "2026-06-11", "days": 3, "hotel": "Hotelli Torni"}
TRIP |= {"places": ["Ateneum", "Kiasma", "Amos Rex", "Vanha Kauppahalli", "Kampin kappeli"]}
FULL_TRIP = {**TRIP, "days": 14, "places": 12 * TRIP["places"]}  # as many as there may be
HEADS = (
    "requests", "answers", "API, MB over idle", "worker", "cheap, s: most (median)", "idle API", "failed",
    "s", "CPU, s",
)  # fmt: skip
Send = Callable[[httpx.AsyncClient], Any]


def repeated(text: bytes, size: int) -> bytes:
    """A body that repeats a text up to a size."""
    return b"[" + text * (size // len(text))


def sent(verb: str, route: str, body: bytes = b"", *, leaves_after_s: float | None = None) -> Send:
    """A request with that body, sent in pieces; its client may leave."""

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), PIECE):
            yield body[start : start + PIECE]

    async def send(client: httpx.AsyncClient) -> object:
        more = {"content": pieces(), "headers": JSON} if body else {}
        try:
            async with asyncio.timeout(leaves_after_s), client.stream(verb, route, **more) as answer:
                async for _ in answer.aiter_raw():
                    pass
                return answer.status_code
        except TimeoutError:
            return "left"
        except httpx.HTTPError as error:
            return type(error).__name__

    return send


def kinds(jobs: Sequence[str]) -> dict[str, list[Send]]:
    """The attacks by name: what comes at once. `jobs` have ended."""
    points = json.dumps([[139.123456, 35.123456]] * 900_000).encode()
    args = b'{"args": {"start": ' + points + b', "end": [139.5, 35.2]}, "scene": null}'
    call = "/v1/tools/distance"
    batch, posts = f"{call}/batch", "/v1/jobs"
    small_job, large_job, trip, full_trip = (
        json.dumps(body).encode() for body in (SMALL_JOB, LARGE_JOB, TRIP, FULL_TRIP)
    )
    plan = b'{"plan": "' + b"x" * 990_000 + b'"}'

    def of_jobs(route: str) -> list[Send]:
        return [sent("GET", route.format(job=job)) for job in jobs]

    return {
        "batches of 63 MB of `[],`": MANY * [sent("POST", batch, repeated(b"[],", 63_000_000))],
        "batches of 900,000 points": MANY * [sent("POST", batch, args)],
        "calls of 1 MB of `[],`": MANY * [sent("POST", call, repeated(b"[],", 990_000))],
        "calls nested 400,000 deep": MANY * [sent("POST", call, repeated(b"[", 400_000))],
        "jobs of 4,000 trials": MANY * [sent("POST", posts, small_job)],
        "jobs of 40,000 trials": MANY * [sent("POST", posts, large_job)],
        "40 jobs whose clients leave": 40 * [sent("POST", posts, large_job, leaves_after_s=1.0)],
        "checks of plans of 1 MB": MANY * [sent("POST", "/v1/itineraries/check", plan)],
        "trips": MANY * [sent("POST", "/v1/itineraries", trip)],
        "trips of 60 places and 14 days": MANY * [sent("POST", "/v1/itineraries", full_trip)],
        "demo jobs": MANY * [sent("POST", "/ui/demo")],
        "reports": of_jobs("/v1/jobs/{job}/report"),
        "files for a paper": of_jobs("/ui/jobs/{job}/paper.zip"),
        "pages of trials": of_jobs("/ui/jobs/{job}/trials"),
        "grids": of_jobs("/ui/jobs/{job}/grid.csv"),
        "rows": of_jobs("/ui/jobs/{job}/rows.csv"),
        "exports": of_jobs("/v1/jobs/{job}/export?format=inspect"),
        "boards": MANY * [sent("GET", "/ui/board.zip?benchmark=worlds")],
    }


def memory_mb(process: psutil.Process) -> float:
    """Resident memory of a process and its children; what has ended meanwhile has none."""
    total = 0
    for member in (process, *process.children(recursive=True)):
        try:
            total += member.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / 1e6


def ask_cheaply(until: Connection, urls: Sequence[str]) -> None:
    """Ask each for cheap routes until told to end; say the seconds of each answer, and how many failed."""
    ended = False

    def ask(url: str) -> tuple[list[float], int]:
        seconds, errors = list[float](), 0
        with httpx.Client(base_url=url, timeout=120.0) as client:
            while not ended:
                began_s = time.perf_counter()
                errors += client.get(CHEAP[len(seconds) % len(CHEAP)]).status_code != 200
                seconds.append(time.perf_counter() - began_s)
                time.sleep(CHEAP_EVERY_S)
        return seconds, errors

    with ThreadPoolExecutor(len(urls)) as threads:
        asking = [threads.submit(ask, url) for url in urls]
        until.send("ready")
        until.recv()
        ended = True
        until.send([task.result() for task in asking])


@contextmanager
def asked_cheaply(*urls: str) -> Iterator[list[tuple[list[float], int]]]:
    """Another process asks these meanwhile; what `ask_cheaply` says is there at the end."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=ask_cheaply, args=(there, urls), daemon=True
    )  # daemon: a failed measurement ends without waiting for it
    process.start()
    there.close()  # else its end is not noticed
    here.recv()
    waits_and_errors = list[tuple[list[float], int]]()
    yield waits_and_errors
    here.send("end")
    waits_and_errors += here.recv()
    process.join()


async def attack(url: str, idle_url: str, watched: Sequence[psutil.Process], sends: list[Send]) -> list[str]:
    """Send all at once; the cells of a line of the table."""
    idle_mb = [memory_mb(process) for process in watched]
    peak_mb = list(idle_mb)

    async def look() -> None:
        while True:
            peak_mb[:] = [
                max(peak, memory_mb(process)) for peak, process in zip(peak_mb, watched, strict=True)
            ]
            await asyncio.sleep(SAMPLE_EVERY_S)

    looking = asyncio.create_task(look())
    limits = httpx.Limits(max_connections=200)
    with asked_cheaply(url, idle_url) as waits_and_errors:
        began_s, cpu_s = time.perf_counter(), sum(watched[0].cpu_times()[:2])
        async with httpx.AsyncClient(base_url=url, timeout=600.0, limits=limits) as client:
            answers = Counter(map(str, await asyncio.gather(*(send(client) for send in sends))))
        seconds, cpu_s = time.perf_counter() - began_s, sum(watched[0].cpu_times()[:2]) - cpu_s
        await asyncio.sleep(1.0)
    looking.cancel()
    (attacked, errors), (idle, _) = waits_and_errors
    over = [f"{peak - idle:.0f}" for peak, idle in zip(peak_mb, idle_mb, strict=True)]
    waits = [f"{max(waits_s):.2f} ({statistics.median(waits_s):.2f})" for waits_s in (attacked, idle)]
    said = ", ".join(f"{count} × {status}" for status, count in sorted(answers.items()))
    return [said, *over, *waits, f"{errors} of {len(attacked)}", f"{seconds:.0f}", f"{cpu_s:.1f}"]


@contextmanager
def running_worker(redis_url: str, folder: str) -> Iterator[psutil.Process]:
    """A `gnomon worker` over the store in a folder."""
    environ = {**os.environ, "GNOMON_REDIS_URL": redis_url, "GNOMON_DATA_DIR": folder}
    environ |= {"GNOMON_DATABASE_URL": f"sqlite:///{folder}/gnomon.db"}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([GNOMON, "worker"], env=environ, **silent) as worker:
        try:
            time.sleep(5.0)  # until it is idle
            yield psutil.Process(worker.pid)
        finally:
            worker.terminate()


def main() -> None:
    """Print a line for each kind."""
    wanted = sys.argv[1:]
    tell(head_of(HEADS))
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as idle_folder,
        queue() as redis_url,
        running_api(redis_url, folder) as url,
        running_api(redis_url, idle_folder) as idle_url,
        running_worker(redis_url, folder) as worker,
    ):
        api = next(
            child
            for child in psutil.Process().children()
            if "api" in child.cmdline() and child.environ()["GNOMON_DATA_DIR"] == folder
        )
        jobs = [insert_job(f"sqlite:///{folder}/gnomon.db", samples=SAMPLES) for _ in range(MANY)]
        for name, sends in kinds(jobs).items():
            if wanted and not any(word in name for word in wanted):
                continue
            cells = asyncio.run(attack(url, idle_url, (api, worker), sends))
            tell(line_of([f"{len(sends)} {name.removeprefix('40 ')}", *cells]))
            for job in httpx.get(f"{url}/v1/jobs?limit=1000", timeout=120.0).json()["items"]:
                if job["status"] in ("preparing", "queued", "running"):
                    httpx.post(f"{url}/v1/jobs/{job['id']}/cancel", timeout=120.0)


if __name__ == "__main__":
    main()
