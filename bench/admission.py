"""Measures memory of the API and waits for cheap routes while ten heavy requests of a kind come at once.

`python -m bench.admission` starts an API on a data folder of its own and prints a table. To measure another
tree, set PYTHONPATH to it and run this file.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.servers import queue, running_api

JSON = {"Content-Type": "application/json"}
PIECE = 1 << 16
CHEAP_EVERY_S, SAMPLE_EVERY_S = 0.25, 0.1
ARMS = [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}]
LARGE_JOB = {
    "benchmark": "worlds",
    "select": {"limit": 20_000},
    "models": [{"id": "reference"}],
    "arms": ARMS,
}
SMALL_JOB = {**LARGE_JOB, "select": {"limit": 2_000}}
Send = Callable[[httpx.AsyncClient], Any]


def repeated(text: bytes, size: int) -> bytes:
    """A body that repeats a text up to a size."""
    return b"[" + text * (size // len(text))


def posted(route: str, body: bytes, *, leaves_after_s: float | None = None) -> Send:
    """A request with that body, sent in pieces; its client may leave."""

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), PIECE):
            yield body[start : start + PIECE]

    async def send(client: httpx.AsyncClient) -> object:
        try:
            async with asyncio.timeout(leaves_after_s):
                return (await client.post(route, content=pieces(), headers=JSON)).status_code
        except TimeoutError:
            return "left"
        except httpx.HTTPError as error:
            return type(error).__name__

    return send


def kinds() -> dict[str, tuple[int, Send]]:
    """The attacks by name, and how many of each come at once."""
    points = json.dumps([[139.123456, 35.123456]] * 900_000).encode()
    args = b'{"args": {"start": ' + points + b', "end": [139.5, 35.2]}, "scene": null}'
    call = "/v1/tools/distance"
    batch, jobs = f"{call}/batch", "/v1/jobs"
    small_job, large_job = json.dumps(SMALL_JOB).encode(), json.dumps(LARGE_JOB).encode()
    return {
        "batches of 63 MB of `[],`": (10, posted(batch, repeated(b"[],", 63_000_000))),
        "batches of 900,000 points": (10, posted(batch, args)),
        "calls of 1 MB of `[],`": (10, posted(call, repeated(b"[],", 990_000))),
        "calls nested 400,000 deep": (10, posted(call, repeated(b"[", 400_000))),
        "jobs of 4,000 trials": (10, posted(jobs, small_job)),
        "jobs of 40,000 trials": (10, posted(jobs, large_job)),
        "40 jobs whose clients leave": (40, posted(jobs, large_job, leaves_after_s=1.0)),
        "checks of plans of 1 MB": (
            10,
            posted("/v1/itineraries/check", b'{"plan": "' + b"x" * 990_000 + b'"}'),
        ),
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


async def attack(client: httpx.AsyncClient, api: psutil.Process, many: int, send: Send) -> dict[str, Any]:
    """Send so many at once; what came back, the most memory over idle, and the slowest cheap answer."""
    idle_mb = peak_mb = memory_mb(api)
    slowest_s, errors = 0.0, 0

    async def look() -> None:
        nonlocal peak_mb
        while True:
            peak_mb = max(peak_mb, memory_mb(api))
            await asyncio.sleep(SAMPLE_EVERY_S)

    async def ask_cheap() -> None:
        nonlocal slowest_s, errors
        while True:
            began_s = time.perf_counter()
            answer = await client.get("/v1/jobs?limit=5")
            slowest_s = max(slowest_s, time.perf_counter() - began_s)
            errors += answer.status_code != 200
            await asyncio.sleep(CHEAP_EVERY_S)

    helpers = [asyncio.create_task(look()), asyncio.create_task(ask_cheap())]
    began_s = time.perf_counter()
    answers = Counter(await asyncio.gather(*(send(client) for _ in range(many))))
    seconds = time.perf_counter() - began_s
    await asyncio.sleep(1.0)
    for helper in helpers:
        helper.cancel()
    stored = len((await client.get("/v1/jobs?limit=1000")).json()["items"])
    return {
        "answers": dict(sorted((str(status), count) for status, count in answers.items())),
        "over_idle_mb": round(peak_mb - idle_mb),
        "cheap_slowest_s": round(slowest_s, 2),
        "cheap_errors": errors,
        "seconds": round(seconds, 1),
        "jobs": stored,
    }


async def main() -> None:
    """Print a line for each kind."""
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, queue() as redis_url, running_api(redis_url, folder) as url:
        api = next(child for child in psutil.Process().children() if "api" in child.cmdline())
        async with httpx.AsyncClient(
            base_url=url, timeout=600.0, limits=httpx.Limits(max_connections=200)
        ) as client:
            for name, (many, send) in kinds().items():
                if not wanted or any(word in name for word in wanted):
                    print(name, json.dumps(await attack(client, api, many, send)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
