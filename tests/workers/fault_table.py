"""The fault table: `python -m tests.workers.fault_table` prints what each fault costs.

Every fault is planted while two workers run a job, with the clocks of production (`--quick`: with those of
the tests). `--long N` plants faults at random, every few seconds, while a job of N trials runs.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.workers import postgresql
from tests.workers.chaos import DRAWN, HEADER, Damage, count, plain_report, suffer
from tests.workers.conftest import QUICK
from tests.workers.faults import ON_POSTGRESQL, ON_SQLITE, Inject, small_disk
from tests.workers.scene import Scene, staged
from workers.settings import Timing

SLOW = {**DRAWN, "options": {**DRAWN["options"], "delay_s": 0.1}}
SOAK_CLOCKS = {**QUICK, "GNOMON_LEASE_SECONDS": "5", "GNOMON_GRACE_SECONDS": "2"}
EVERY_S = 3.0
DISK_MB = 1_500


def all_faults(scene: Scene, faults: Mapping[str, Inject], *, samples: int) -> Iterator[Damage]:
    """Plant one after another, each while a job of its own runs."""
    clean = scene.end_of(scene.post(samples, models=[SLOW], concurrency=4), within_s=600)
    expected = plain_report(scene.store, clean.id)
    for name, inject in faults.items():
        job = scene.post(samples, models=[SLOW], concurrency=4)
        yield suffer(scene, name, inject, job, within_s=600)
        assert plain_report(scene.store, job.id) == expected, f"{name}: another report"


def long_run(
    scene: Scene, faults: Mapping[str, Inject], *, trials: int, seed: int
) -> tuple[Damage, Counter[str]]:
    """One job under faults without end, several at a time, beside a clean run of the same job."""
    given = {"models": [DRAWN], "concurrency": 64}
    clean = scene.end_of(scene.post(trials // 2, **given), within_s=3_600)
    rng, log = random.Random(seed), Counter[str]()
    job = scene.post(trials // 2, **given)
    began_s = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        running: list[Future[None]] = []
        while not scene.has_ended(job):
            name = rng.choice(sorted(faults))
            log[name] += 1
            running.append(pool.submit(faults[name], scene))
            time.sleep(EVERY_S)
    for fault in running:
        fault.result()
    seconds = time.monotonic() - began_s
    name = f"{log.total()} faults in {seconds:.0f} s"
    damage = count(name, list(scene.store.iter_rows(job.id)), job, seconds)
    assert plain_report(scene.store, job.id) == plain_report(scene.store, clean.id), "another report"
    return damage, log


@contextmanager
def sqlite_scene(clocks: Mapping[str, str]) -> Iterator[tuple[Scene, dict[str, Inject]]]:
    """A scene on a disk that can be filled, where this user may mount one, and what can be done to it."""
    with tempfile.TemporaryDirectory() as name, small_disk(DISK_MB) as disk:
        folder = disk or Path(name)
        faults = ON_SQLITE if disk else {name: ON_SQLITE[name] for name in ON_SQLITE if name != "disk full"}
        with staged(folder, f"sqlite:///{folder}/gnomon.db", clocks=clocks) as scene:
            yield scene, faults


@contextmanager
def postgres_scene(clocks: Mapping[str, str]) -> Iterator[tuple[Scene, dict[str, Inject]]]:
    """A scene over a PostgreSQL of its own, and what can be done to it."""
    with (
        tempfile.TemporaryDirectory() as name,
        postgresql.running() as server,
        staged(Path(name), server.emptied(), clocks=clocks, postgres=server) as scene,
    ):
        yield scene, ON_POSTGRESQL


def main() -> None:
    """Print the table, or the one line of a long run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--long", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    say(HEADER)
    for title, make in (("SQLite", sqlite_scene), ("PostgreSQL", postgres_scene)):
        if given.long:
            with make(SOAK_CLOCKS) as (scene, faults):
                damage, log = long_run(scene, faults, trials=given.long, seed=given.seed)
            say(f"{damage}\n{title}, seed {given.seed}: {dict(sorted(log.items()))}")
            continue
        with make(QUICK if given.quick else {}) as (scene, faults):
            samples = 80 if given.quick else 20 * int(Timing().lease_s)
            for damage in all_faults(scene, faults, samples=samples):
                say(f"{damage}")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
