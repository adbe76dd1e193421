"""Measures time and memory of `gnomon report` beside what merely reading its rows takes.

    .venv/bin/python -m bench.report_size [--rows 240000 1000000] [--arms 8] [--repeats 3] [--cells 14]

At least so many rows: whole samples under all arms. They are put into a store on SQLite at once, without
queue and leases; the command then runs in a process of its own, once a format. The floors run in processes
of their own: the columns that a report reads with the driver alone, nothing kept; one GROUP BY in SQL; and
the means by arm and sample in Polars. `--no-floors` leaves them out. Start-up is counted everywhere; `start`
is a process that imports what the floors import.
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from sqlalchemy import func, select

from gnomon.core.row import Row
from gnomon.core.sample import SampleRef
from gnomon.core.score import Outcome
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import Trial, expand_trials
from workers.store import Store
from workers.store.missing import missing_row
from workers.store.schema import results
from workers.store.serialization import BATCH_COLUMNS

TOOLS = {"bearing": {"calls": 2, "bad_arguments": 0, "errors": 0}}


def fill(store: Store, *, samples: int, arms: int, repeats: int, cells: int) -> str:
    """The id of a job of so many samples under so many arms, all answered."""
    spec = JobSpec.model_validate(
        {
            "benchmark": "worlds",
            "models": [{"id": "scripted", "options": {"replies": ["A"]}}],
            "arms": [{"name": f"arm{arm}", "agent": "direct"} for arm in range(arms)],
            "repeats": repeats,
        }
    )
    refs = [
        SampleRef(sample_id=f"s{n}", task="t", cell=f"cell{n % cells:02}", cluster=f"v{n // 5}")
        for n in range(samples)
    ]
    random = np.random.default_rng(0)
    level = {ref.sample_id: random.uniform(0.2, 0.7) for ref in refs}
    rows = (_row(trial, level[trial.ref.sample_id], random) for trial in expand_trials("j", spec, refs))
    return store.insert_finished_job(spec, refs, ((row, None) for row in rows))


def fill_folder(folder: str, **sizes: int) -> None:
    """Put such a job into a new store in a folder."""
    store = Store(f"sqlite:///{folder}/gnomon.db")
    fill(store, **sizes)
    store.close()


def _row(trial: Trial, level: float, random: np.random.Generator) -> Row:
    arm = int(trial.arm.removeprefix("arm"))
    row = missing_row(trial, benchmark="worlds", stop_reason="answered", attempt=1)
    return replace(
        row,
        outcome=Outcome.SCORED,
        score=float(random.random() < level + 0.02 * arm),
        answer="A",
        tool_calls=2 if arm else 0,
        tools_used=TOOLS if arm else {},
        prompt_tokens=100,
        completion_tokens=10,
        usd=0.001,
        wall_s=0.5,
    )


def nothing(store: Store, job: str) -> None:
    """Start-up."""


def driver(store: Store, job: str) -> None:
    """The columns that a report reads, as the driver gives them."""
    for _ in store.iter_columns(job, 0, ("seq", *BATCH_COLUMNS)):
        pass


def sql(store: Store, job: str) -> None:
    """The mean score of each arm."""
    by_arm = select(results.c.arm, func.avg(results.c.score)).where(results.c.job_id == job)
    with store.reading() as db:
        db.execute(by_arm.group_by(results.c.arm)).all()


def polars(store: Store, job: str) -> None:
    """The mean score of each sample under each arm."""
    names = ("seq", "sample_id", "arm", "score")
    columns: list[list[object]] = [[] for _ in names]
    for rows in store.iter_columns(job, 0, names):
        for column, values in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(values)
    frame = pl.DataFrame(dict(zip(names, columns, strict=True)))
    frame.group_by("arm", "sample_id").agg(pl.col("score").mean())


FLOORS = {"start": nothing, "driver": driver, "SQL": sql, "Polars": polars}


def floor(name: str, url: str, job: str) -> None:
    """What a process of its own does."""
    store = Store(url)
    FLOORS[name](store, job)
    store.close()


def measured(name: str, command: list[object]) -> None:
    """Run a command and print what it took."""
    began_s = time.perf_counter()
    with subprocess.Popen([str(part) for part in command]) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{name} ended with {process.returncode}")
    wall_s, cpu_s = time.perf_counter() - began_s, used.ru_utime + used.ru_stime
    print(f"| {name} | {cpu_s:.1f} | {wall_s:.1f} | {used.ru_maxrss / 1024:.0f} |", flush=True)


def measure(folder: Path, *, with_floors: bool) -> None:
    """Print the table of the job that is in this data folder."""
    url = f"sqlite:///{folder}/gnomon.db"
    store = Store(url)
    (job,) = store.jobs(limit=1).items
    store.close()
    print(f"\n| {job.counts.done:,} rows | CPU s | wall s | peak MB |\n|---|---|---|---|", flush=True)
    for name in FLOORS if with_floors else ():
        measured(name, [sys.executable, "-m", "bench.report_size", "--floor", name, url, job.id])
    gnomon = Path(sys.executable).with_name("gnomon")
    with tempfile.TemporaryDirectory() as out:
        for kind in ("json", "html", "md"):
            file = Path(out) / f"report.{kind}"
            measured(f"report, {kind}", [gnomon, "report", job.id, "--data-dir", folder, "--out", file])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    amounts = parser.add_mutually_exclusive_group()
    amounts.add_argument("--rows", type=int, nargs="+", default=[240_000, 1_000_000])
    amounts.add_argument("--samples", type=int, nargs="+")
    for name, default in (("arms", 8), ("repeats", 3), ("cells", 14)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--data-dir", type=Path, help="measure the job that is in this folder")
    parser.add_argument("--no-floors", action="store_true", help="measure the reports alone")
    parser.add_argument("--floor", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.floor:
        return floor(*options.floor)
    if options.data_dir:
        return measure(options.data_dir, with_floors=not options.no_floors)
    for samples in options.samples or [-(-rows // (options.arms * options.repeats)) for rows in options.rows]:
        with tempfile.TemporaryDirectory() as folder:
            sizes = {name: getattr(options, name) for name in ("arms", "repeats", "cells")}
            filling = multiprocessing.Process(
                target=fill_folder, args=(folder,), kwargs=sizes | {"samples": samples}
            )
            filling.start()  # apart, as a child's peak counts what its parent has when it starts it
            filling.join()
            if filling.exitcode:
                raise SystemExit(f"the store was not filled: {filling.exitcode}")
            measure(Path(folder), with_floors=not options.no_floors)
    return None


if __name__ == "__main__":
    main()
