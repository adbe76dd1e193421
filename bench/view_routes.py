"""Measures each read-only route of a `gnomon api` of its own, over a job that `bench.view_times` has made.

For each route: its first look in a process that has just started, and the median of later looks, each with
other filters or another place in a list; both as wall milliseconds of one reader, and as CPU milliseconds of
the server's process, which other programs on the machine do not change. `/healthz` is the floor. Routes that
send a file bit by bit are read to their first piece. Three parts: while the report of the job is being made,
after a start with a job that has ended, and after a start with the same job taken up again.
"""

import ctypes
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from bench.performance.startup import GNOMON, running_api
from gnomon.report.trial_index.index import PAIR_SORTS, TRIAL_SORTS
from gnomon.trials.trial_plan import trial_id
from service.redis_server import RedisServer
from workers.store.store import Store

HTML, JSON, CSV = "text/html", "application/json", "text/csv"
FLOOR = "health, the floor"
PIECE = 1_024  # bytes of a stream that are waited for
QUIET_S = 0.1  # CPU seconds in a second of wall
GIVE_UP_S = 300.0
WORLD = {
    "benchmark": "worlds",
    "select": {"limit": 4},
    "models": [{"id": "reference"}],
    "arms": [
        {"name": "raw", "agent": "direct"},
        {"name": "tools", "agent": "react", "tools": "all"},
    ],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route: its address in a round, what is asked for, and whether only its first piece is read."""

    address: Callable[[int], str]
    accept: str = JSON
    is_stream: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What addresses are made of: a job with its samples, models, arms and cells; and trials of a world."""

    job: str
    samples: list[str]
    models: tuple[str, ...]
    arms: tuple[str, ...]
    cells: int
    world: str
    world_trials: list[str]
    world_samples: list[str]


def routes_of_job(planned: Planned) -> dict[str, Route]:
    """The routes that read the job, by what they show."""
    job, v1, ui = planned.job, f"/v1/jobs/{planned.job}", f"/ui/jobs/{planned.job}"
    changes = ("fixed", "regressed", "both_wrong")

    def sample(n: int) -> str:
        return planned.samples[n * 7919 % len(planned.samples)]

    def trial(n: int) -> str:
        return trial_id(job, sample(n), planned.models[0], planned.arms[n % 2], 0)

    def cell(n: int) -> str:
        return f"c{n % planned.cells:02}"

    rows = f"{v1}/trials?"
    return {
        "jobs": Route(address=lambda n: "/v1/jobs"),
        "a job": Route(address=lambda n: v1),
        "its seal": Route(address=lambda n: f"{v1}/seal"),
        "100 rows": Route(address=lambda n: rows),
        "100 rows, deep": Route(address=lambda n: f"{rows}cursor={1 + n * 7919 % len(planned.samples)}"),
        "100 rows as CSV": Route(address=lambda n: f"{rows}limit=100", accept=CSV),
        "100 rows of an arm": Route(address=lambda n: f"{rows}arm={planned.arms[n % 2]}"),
        "100 rows of a model": Route(address=lambda n: f"{rows}model={planned.models[n % 2]}"),
        "100 rows of a task": Route(address=lambda n: f"{rows}task=T{n % 7}"),
        "100 rows that failed": Route(address=lambda n: f"{rows}outcome=model_failed"),
        "rows of no arm": Route(address=lambda n: f"{rows}arm=none-{n}"),
        "rows of no model": Route(address=lambda n: f"{rows}model=none-{n}"),
        "rows of no task": Route(address=lambda n: f"{rows}task=none-{n}"),
        "rows of no such arm and outcome": Route(
            address=lambda n: f"{rows}outcome=infra_missing&arm=none-{n}"
        ),
        "rows of a rare kind": Route(
            address=lambda n: f"{rows}outcome=infra_missing&arm={planned.arms[0]}&task=T{n % 7}&cursor=1"
        ),
        "all rows as NDJSON": Route(address=lambda n: rows, accept="application/x-ndjson", is_stream=True),
        "a trial": Route(address=lambda n: f"/v1/trials/{trial(n)}"),
        "a trial as a file": Route(address=lambda n: f"/v1/trials/{trial(n)}/file"),
        "events of progress": Route(address=lambda n: f"{v1}/events?only=progress", is_stream=True),
        "events": Route(address=lambda n: f"{v1}/events", is_stream=True),
        "export of rows": Route(address=lambda n: f"{v1}/export", is_stream=True),
        "the report": Route(address=lambda n: f"{v1}/report"),
        "the report as a page": Route(address=lambda n: f"{v1}/report", accept=HTML),
        "metrics": Route(address=lambda n: "/metrics"),
        "page of jobs": Route(address=lambda n: "/", accept=HTML),
        "page of the job": Route(address=lambda n: ui, accept=HTML),
        "page of pairs": Route(
            address=lambda n: f"{ui}/trials?sort={PAIR_SORTS[n % len(PAIR_SORTS)]}", accept=HTML
        ),
        "page of trials": Route(
            address=lambda n: f"{ui}/trials?view=trials&sort=-{TRIAL_SORTS[n % len(TRIAL_SORTS)]}",
            accept=HTML,
        ),
        "page of pairs, filtered": Route(
            address=lambda n: f"{ui}/trials?changed={changes[n % 3]}&cell={cell(n)}&sort=-difference",
            accept=HTML,
        ),
        "page of pairs, none matches": Route(
            address=lambda n: f"{ui}/trials?cell={cell(n)}&q=none-{n}", accept=HTML
        ),
        "page of pairs, text search": Route(address=lambda n: f"{ui}/trials?q={n % 100:02}", accept=HTML),
        "pairs as JSON": Route(address=lambda n: f"{ui}/trials.json?cell={cell(n)}"),
        "rows of a filter as CSV": Route(address=lambda n: f"{ui}/rows.csv?cell={cell(n)}", is_stream=True),
        "page of a sample": Route(address=lambda n: f"{ui}/samples/{sample(n)}", accept=HTML),
        "page of a sample in a filtered list": Route(
            address=lambda n: f"{ui}/samples/{sample(n)}?changed={changes[n % 3]}&sort=-difference",
            accept=HTML,
        ),
        "page of a trial": Route(address=lambda n: f"/ui/trials/{trial(n)}", accept=HTML),
        "page of two trials": Route(
            address=lambda n: (
                f"/ui/compare/trials?a={trial(2 * n)}"
                f"&b={trial_id(job, sample(2 * n), planned.models[0], planned.arms[1], 0)}"
            ),
            accept=HTML,
        ),
        "page of two jobs": Route(
            address=lambda n: f"/ui/compare?job={job}&job={planned.world}", accept=HTML
        ),
        "board": Route(address=lambda n: "/ui/board", accept=HTML),
        "page of trips": Route(address=lambda n: "/ui/trips", accept=HTML),
        "page of review queues": Route(address=lambda n: "/ui/review", accept=HTML),
    }


def other_routes(planned: Planned) -> dict[str, Route]:
    """The routes that read no job of many rows, by what they show."""

    def of_world(names: list[str], n: int) -> str:
        return names[n % len(names)]

    world = f"/ui/jobs/{planned.world}"
    plain = {
        "page of choosing jobs": "/ui/compare",
        "page of a new job": "/ui/new",
        "page of workers": "/ui/workers",
        "page of benchmarks": "/ui/benchmarks",
        "page of a benchmark": "/ui/benchmarks/worlds",
        "page of agents": "/ui/agents",
        "page of an agent": "/ui/agents/react",
        "page of presets": "/ui/presets",
        "page of a preset": "/ui/presets/leave_one_out",
        "page of tools": "/ui/tools",
        "page of a tool": "/ui/tools/lookup",
        "page of signing in": "/ui/sign-in",
        "documentation": "/docs",
        "a stylesheet": "/ui/static/window.css",
    }
    data = {
        "ready": "/readyz",
        "benchmarks": "/v1/benchmarks",
        "tools": "/v1/tools",
        "agents": "/v1/agents",
        "presets": "/v1/arms/presets",
        "workers": "/v1/workers",
        "OpenAPI document": "/openapi.json",
    }
    return {
        **{name: Route(address=lambda n, path=path: path) for name, path in data.items()},
        **{name: Route(address=lambda n, path=path: path, accept=HTML) for name, path in plain.items()},
        "page of a world's trial": Route(
            address=lambda n: f"/ui/trials/{of_world(planned.world_trials, n)}", accept=HTML
        ),
        "page of a world's sample": Route(
            address=lambda n: f"{world}/samples/{of_world(planned.world_samples, n)}", accept=HTML
        ),
        "page of a world's pairs": Route(address=lambda n: f"{world}/trials", accept=HTML),
        "page of a world's job": Route(address=lambda n: world, accept=HTML),
    }


class Reader:
    """One reader of an API, with the clock of its server's process."""

    def __init__(self, url: str, pid: int) -> None:
        self.connection = HTTPConnection(urlsplit(url).netloc)
        self._clock = _cpu_clock(pid)

    def look(self, route: Route, n: int) -> tuple[float, float]:
        """Wall milliseconds of the answer, and CPU milliseconds of the server meanwhile."""
        path = route.address(n)
        began_s, before_s = time.perf_counter(), self.cpu_s()
        self.connection.request("GET", path, headers={"Accept": route.accept})
        response = self.connection.getresponse()
        body = response.read(PIECE) if route.is_stream else response.read()
        took_s, cpu_s = time.perf_counter() - began_s, self.cpu_s() - before_s
        if route.is_stream:
            self.connection.close()
        if response.status != HTTPStatus.OK:
            raise SystemExit(f"{path}: {response.status} {body[:200]!r}")
        return 1_000 * took_s, 1_000 * cpu_s

    def cpu_s(self) -> float:
        """CPU seconds that the server has used."""
        return time.clock_gettime(self._clock)

    def json(self, path: str, *, method: str = "GET") -> dict[str, object]:
        """What a route answers."""
        self.connection.request(method, path, headers={"Accept": JSON})
        answer: dict[str, object] = json.loads(self.connection.getresponse().read())
        return answer


def _cpu_clock(pid: int) -> int:
    """The clock of a process's CPU time, of all its threads."""
    clock = ctypes.c_int()
    if ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock)):
        raise SystemExit(f"process {pid} has no clock of CPU time")
    return clock.value


def table(reader: Reader, routes: Mapping[str, Route], rounds: int, title: str) -> None:
    """Print a row for each route: first and median, wall and CPU."""
    print(f"\n| {title} | first ms | median | first CPU ms | median |\n|---|---|---|---|---|")
    for name, route in {FLOOR: Route(address=lambda n: "/healthz"), **routes}.items():
        first = reader.look(route, 0)
        later = np.median([reader.look(route, n) for n in range(1, rounds + 1)], axis=0)
        shown = (first[0], later[0], first[1], later[1])
        print(f"| {name} | {' | '.join(f'{value:.1f}' for value in shown)} |", flush=True)


def while_report_is_made(reader: Reader, planned: Planned, store: Store) -> None:
    """Print how long each route of the job waits while the job's report is made by the same server."""
    routes = routes_of_job(planned)
    waits: dict[str, list[float]] = {}
    slow = {"the report", "the report as a page", "page of the job", "board", "page of two jobs"}
    began_s = time.perf_counter()
    reader.look(routes["page of jobs"], 0)  # a list of jobs wants the headline, and so the report
    names = [FLOOR, *(name for name in routes if name not in slow)]
    everything = {FLOOR: Route(address=lambda n: "/healthz"), **routes}
    turn = 0
    while not _is_kept(store, planned.job, "headline"):
        name = names[turn % len(names)]
        waits.setdefault(name, []).append(reader.look(everything[name], turn)[0])
        turn += 1
    report_s = time.perf_counter() - began_s
    _wait_until(lambda: _is_kept(store, planned.job, "trials"))  # the index, which is made after the report
    times = [wait for name in waits for wait in waits[name]]
    print(f"\nThe report was there after {report_s:.1f} s; meanwhile {turn} looks took")
    print(
        f"p50 {np.median(times):.0f} ms, p95 {np.percentile(times, 95):.0f}, most {max(times):.0f}; slowest:"
    )
    for name in sorted(waits, key=lambda name: -max(waits[name]))[:8]:
        print(f"  {name}: {', '.join(f'{wait:.0f}' for wait in waits[name])}")


def _is_kept(store: Store, job: str, kind: str) -> bool:
    return bool(store.kept_of([job], kind))


def _wait_until(is_so: Callable[[], bool]) -> None:
    give_up_s = time.perf_counter() + GIVE_UP_S
    while not is_so():
        if time.perf_counter() > give_up_s:
            raise SystemExit("the service does not get ready")
        time.sleep(0.2)


@contextmanager
def started(redis_url: str, folder: Path) -> Iterator[Reader]:
    """A reader of an API that has started and has done what it does then in the background."""
    with running_api(redis_url, str(folder)) as (url, pid):
        reader, began_s, used_s = Reader(url, pid), time.perf_counter(), 0.0
        while (now_s := reader.cpu_s()) - used_s > QUIET_S:
            used_s = now_s
            time.sleep(1)
        print(f"\nQuiet {time.perf_counter() - began_s:.0f} s after its start, which took {now_s:.1f} CPU s")
        yield reader


def add_world(folder: Path) -> str:
    """The id of a job of generated worlds, run into the folder's store."""
    spec = folder / "world.json"
    spec.write_text(json.dumps(WORLD))
    environ = {**os.environ, "GNOMON_DATA_DIR": str(folder)}
    environ["GNOMON_DATABASE_URL"] = f"sqlite:///{folder}/gnomon.db"
    environ.pop("GNOMON_REDIS_URL", None)
    subprocess.run([GNOMON, "run", str(spec)], env=environ, check=True, capture_output=True)
    store = Store(environ["GNOMON_DATABASE_URL"])
    try:
        return store.jobs(limit=1).items[0].id
    finally:
        store.close()


def measure_routes(
    database: Path, job: str, rounds: int, *, models: tuple[str, ...], arms: tuple[str, ...], cells: int
) -> None:
    """Print the tables, on a copy of the database."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(database, folder / "gnomon.db")
        world = add_world(folder)
        store = Store(f"sqlite:///{folder}/gnomon.db")
        rows = store.rows(world).items
        planned = Planned(
            job=job,
            samples=list(dict.fromkeys(ref.sample_id for ref in store.refs(job))),
            models=models,
            arms=arms,
            cells=cells,
            world=world,
            world_trials=[row.trial_id for row in rows if row.arm == "tools"],
            world_samples=[row.sample_id for row in rows if row.arm == "tools"],
        )
        with RedisServer(folder) as redis:
            print(f"{store.job(job).counts.done:,} trials")
            with started(redis.url, folder) as reader:
                _wait_until(lambda: not store.jobs_to_seal())
                while_report_is_made(reader, planned, store)
            with started(redis.url, folder) as reader:
                table(reader, routes_of_job(planned) | other_routes(planned), rounds, "a job that has ended")
                reader.json(f"/v1/jobs/{job}/resume", method="POST")
            running = {
                name: route
                for name, route in routes_of_job(planned).items()
                if name not in ("the report", "the report as a page", "events", "events of progress")
            }
            for name in ("page of the job", "page of jobs"):  # last: they have the report made meanwhile
                running[name] = running.pop(name)
            with started(redis.url, folder) as reader:
                table(reader, running, rounds, "the same job, running again")
        store.close()
