"""What a job of a million trials costs, from its file of questions to its report: `python -m bench.million`.

A user's way, on one machine: a PostgreSQL that flushes each commit, a Redis, `gnomon api` and workers,
each in its own process. A file of questions is written, the job is posted, an instant model (`scripted`)
answers, and `gnomon report` reads the rows. Prints, stage by stage, wall seconds and the CPU seconds of each
part, and at the end how many trials were lost or doubled: each planned trial must have one result.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.performance.meter import cpu_of
from bench.performance.startup import GNOMON, ROOT
from service.redis_server import RedisServer
from tests.workers.postgresql import PostgreSQL, running

REPEATS, ARMS = 5, ("raw", "tools")
LOOK_EVERY_S = 1.0


def write_questions(path: Path, count: int) -> None:
    """Questions with four options each; the model is right in one of four."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "question", "A", "B", "C", "D", "answer"])
        for number in range(count):
            options = [f"{number % 7 + step} m" for step in (1, 2, 3, 4)]
            writer.writerow(
                [
                    f"q{number}",
                    f"How far apart are points {number} and {number + 1}?",
                    *options,
                    "ABCD"[number % 4],
                ]
            )


def spec_of(data: Path) -> dict[str, Any]:
    """The job: every question under two arms, some times; the model answers B at once."""
    return {
        "name": "a million trials",
        "benchmark": "questions",
        "data": str(data),
        "models": [{"id": "scripted", "options": {"replies": ["B"]}}],
        "arms": [{"name": name, "agent": "direct"} for name in ARMS],
        "repeats": REPEATS,
        "concurrency": 200,
    }


@dataclass(slots=True)
class Fleet:
    """Processes by the part that they play, and what they have cost."""

    parts: dict[str, list[int]] = field(default_factory=dict)  # process ids

    def cpu_s(self) -> dict[str, float]:
        """CPU seconds by part so far, children and theirs included."""
        return {part: sum(map(family_cpu_s, pids)) for part, pids in self.parts.items()}


def family_cpu_s(pid: int) -> float:
    """CPU seconds of a process, of its descendants that run, and of those that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    ended_s = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    return cpu_of(pid) + ended_s + sum(family_cpu_s(int(child)) for child in children)


@contextmanager
def stage(name: str, fleet: Fleet) -> Iterator[None]:
    """Print what a stage took."""
    before, began_s = fleet.cpu_s(), time.perf_counter()
    yield
    wall_s = time.perf_counter() - began_s
    spent = {part: cpu_s - before.get(part, 0.0) for part, cpu_s in fleet.cpu_s().items()}
    parts = ", ".join(f"{part} {cpu_s:.1f}" for part, cpu_s in spent.items() if cpu_s >= 0.05)
    print(f"{name}: {wall_s:.1f} s of wall time; CPU s: {parts}", flush=True)


@contextmanager
def process(*command: str, environ: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """A process of ours that is asked to end at last."""
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    ) as started:
        try:
            yield started
        finally:
            started.terminate()


def fetch(url: str, body: object = None) -> Any:
    """The JSON of a reply."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as response:
        return json.load(response)


def wait_until_done(job_url: str) -> dict[str, Any]:
    """The job once it has ended; its progress goes to stderr."""
    while True:
        job: dict[str, Any] = fetch(job_url)
        counts = job["counts"]
        done = counts["scored"] + counts["model_failed"] + counts["infra_missing"]
        sys.stderr.write(f"\r{done:,} of {counts['planned']:,}")
        if job["status"] not in ("queued", "running"):
            sys.stderr.write("\n")
            return job
        time.sleep(LOOK_EVERY_S)


def lost_and_doubled(database: PostgreSQL, planned: int) -> tuple[int, int, int]:
    """Planned trials without a result, results beyond a trial's first, results of a later attempt."""
    with database.connect() as db:
        query = "SELECT count(*), count(DISTINCT trial_id), count(*) FILTER (WHERE attempt > 1) FROM results"
        row = db.execute(query).fetchone()
    assert row is not None
    results, trials, again = row
    return planned - trials, results - trials, again


def postmaster(database: PostgreSQL) -> int:
    """The process that all of the database's others are children of."""
    return int((database.folder / "data" / "postmaster.pid").read_text().splitlines()[0])


def run(trials: int, workers: int, folder: Path) -> None:
    """All stages."""
    fleet, questions = Fleet({"this process": [os.getpid()]}), folder / "questions.csv"
    with running(flushes=True) as database, RedisServer(folder) as redis:
        fleet = Fleet({"PostgreSQL": [postmaster(database)]})
        environ = {
            **os.environ,
            "GNOMON_DATA_DIR": str(folder),
            "GNOMON_DATABASE_URL": database.emptied(),
            "GNOMON_REDIS_URL": redis.url,
            "GNOMON_MEDIA_ROOTS": str(folder),
        }
        with process(GNOMON, "api", "--port", "0", environ=environ) as api:
            assert api.stdout is not None
            url = api.stdout.readline().strip()
            fleet.parts["API"] = [api.pid]
            fetch(f"{url}/v1/benchmarks")
            with stage("questions written", fleet):
                write_questions(questions, trials // REPEATS // len(ARMS))
            with stage("accepted", fleet):
                job_id = fetch(f"{url}/v1/jobs", spec_of(questions))["id"]
            with running_workers(workers, environ) as pids:
                fleet.parts["workers"] = list(pids)
                with stage("run", fleet):
                    job = wait_until_done(f"{url}/v1/jobs/{job_id}")
            report_of(job_id, folder, environ)
        counts = job["counts"]
        lost, doubled, again = lost_and_doubled(database, counts["planned"])
        print(f"{counts['scored']:,} scored of {counts['planned']:,} planned, job {job['status']}")
        print(f"lost {lost:,}, doubled {doubled:,}, of {counts['planned']:,}; {again:,} ran more than once")
        if lost or doubled or counts["scored"] != counts["planned"]:
            sys.exit(1)


@contextmanager
def running_workers(count: int, environ: dict[str, str]) -> Iterator[Sequence[int]]:
    """The process ids of so many workers."""
    if not count:
        yield ()
        return
    with (
        process(GNOMON, "worker", environ=environ) as worker,
        running_workers(count - 1, environ) as others,
    ):
        yield (worker.pid, *others)


def report_of(job_id: str, folder: Path, environ: dict[str, str]) -> None:
    """Make the report as JSON and tell what it took."""
    began_s = time.perf_counter()
    out = folder / "report.json"
    with subprocess.Popen([GNOMON, "report", job_id, "--out", str(out)], env=environ) as report:
        _, status, used = os.wait4(report.pid, 0)
        report.returncode = os.waitstatus_to_exitcode(status)
    if report.returncode:
        raise RuntimeError(f"gnomon report ended with {report.returncode}")
    wall_s, cpu_s = time.perf_counter() - began_s, used.ru_utime + used.ru_stime
    print(f"reported: {wall_s:.1f} s of wall time; CPU s: {cpu_s:.1f}; {used.ru_maxrss / 1e3:.0f} MB")
    means = {arm["arm"]: f"{arm['mean']:.3f} of {arm['n']:,}" for arm in json.loads(out.read_text())["arms"]}
    print(f"means: {means}")


def main() -> None:
    """Run the job and print its stages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(chosen.trials, chosen.workers, Path(folder))


if __name__ == "__main__":
    main()
