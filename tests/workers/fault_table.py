"""The fault table: `python -m tests.workers.fault_table` prints what each fault costs.

Every fault is planted while two workers run a job, wherever the service may stand (`--site`: there only),
with the clocks of production (`--quick`: with those of the tests). `--long N` plants faults at random,
every few seconds, while a job of N trials runs to its completion, and prints how fast it went on after each.
"""

import argparse
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from tests.workers.chaos import DRAWN, HEADER, Damage, Stand, count, plain_report, poisoned
from tests.workers.conftest import QUICK
from tests.workers.faults import Inject
from tests.workers.scene import Scene
from tests.workers.sites import SITES
from workers.store import JobRecord

SOAK_CLOCKS = {**QUICK, "GNOMON_LEASE_SECONDS": "5", "GNOMON_GRACE_SECONDS": "2"}
EVERY_S = 3.0
NO_FAULT = "none, from post to completion"
PACE_HEADER = """\
| fault | times | trials a second until the next | longest stand-still, seconds |
|---|---|---|---|"""


def all_faults(scene: Scene, faults: Mapping[str, Inject], *, samples: int) -> Iterator[Damage]:
    """Plant one after another, each while a job of its own runs."""
    stand = Stand(scene, faults, samples=samples)
    for name in faults:
        yield stand.suffer(name, within_s=600.0)
    yield poisoned(scene, samples=samples)


@dataclass
class Pace:
    """How fast a job went on after faults of each kind: trials per second until the next fault, and the
    longest time in which nothing ended.
    """

    planted: int = 0
    missed: int = 0  # there was nothing to hit
    trials: int = 0
    seconds: float = 0.0
    stood_still_s: float = 0.0

    def count(self, trials: int, seconds: float, stood_still_s: float) -> None:
        """Take note of one fault."""
        self.planted += 1
        self.trials, self.seconds = self.trials + trials, self.seconds + seconds
        self.stood_still_s = max(self.stood_still_s, stood_still_s)

    def __str__(self) -> str:
        rate = self.trials / self.seconds if self.seconds else 0.0
        return f"| {self.planted - self.missed} | {rate:.0f} | {self.stood_still_s:.1f} |"


def long_run(
    scene: Scene, faults: Mapping[str, Inject], *, trials: int, seed: int, every_s: float
) -> tuple[Damage, dict[str, Pace]]:
    """One job under faults without end, several at a time, to its completion, beside a clean run of it."""
    given = {"models": [DRAWN], "concurrency": 64}
    paces: dict[str, Pace] = defaultdict(Pace)
    began_s = time.monotonic()
    clean = scene.end_of(scene.post(trials // 2, **given), within_s=3_600)
    paces[NO_FAULT].count(trials, time.monotonic() - began_s, 0.0)
    rng, order = random.Random(seed), list[str]()
    job = scene.post(trials // 2, **given)
    began_s = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        running: list[tuple[str, Future[None]]] = []
        while not scene.has_ended(job):
            order = order or rng.sample(sorted(faults), len(faults))  # each kind, before any comes again
            name = order.pop()
            running.append((name, pool.submit(faults[name], scene)))
            paces[name].count(*_progress(scene, job, every_s))
    seconds = time.monotonic() - began_s
    for name, fault in running:
        paces[name].missed += isinstance(fault.exception(), AssertionError)
    planted = sum(pace.planted - pace.missed for name, pace in paces.items() if name != NO_FAULT)
    damage = count(f"{planted} faults in {seconds:.0f} s", list(scene.store.iter_rows(job.id)), job, seconds)
    assert plain_report(scene.store, job.id) == plain_report(scene.store, clean.id), "another report"
    return damage, dict(paces)


def _progress(scene: Scene, job: JobRecord, within_s: float) -> tuple[int, float, float]:
    """Trials that end within this time, the time it took, and the longest part of it in which none did."""
    first = done = _done(scene, job, least=0)
    began_s = moved_s = now_s = time.monotonic()
    longest_s = 0.0
    while (now_s := time.monotonic()) < began_s + within_s and not scene.has_ended(job):
        time.sleep(0.1)
        if (seen := _done(scene, job, least=done)) > done:
            done, moved_s = seen, time.monotonic()
        longest_s = max(longest_s, time.monotonic() - moved_s)
    return done - first, now_s - began_s, longest_s


def _done(scene: Scene, job: JobRecord, *, least: int) -> int:
    """How many have ended; `least`, where the database does not answer."""
    return max(least, scene.done(job))


def main() -> None:
    """Print the table, or the one line of a long run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--samples", type=int, default=400, help="of each job; each makes two trials")
    parser.add_argument("--long", type=int, metavar="N")
    parser.add_argument("--every", type=float, default=EVERY_S, help="seconds between two faults (--long)")
    parser.add_argument("--site", action="append", choices=SITES)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    say(HEADER)
    for title in given.site or SITES:
        if given.long:
            with SITES[title](SOAK_CLOCKS) as (scene, faults):
                damage, paces = long_run(
                    scene, faults, trials=given.long, seed=given.seed, every_s=given.every
                )
            say(f"{damage}\n{title}, seed {given.seed}\n\n{PACE_HEADER}")
            for name, pace in sorted(paces.items()):
                say(f"| {name} {pace}")
            continue
        say(f"| **{title}** | | | | | |")
        with SITES[title](QUICK if given.quick else {}) as (scene, faults):
            for damage in all_faults(scene, faults, samples=80 if given.quick else given.samples):
                say(f"{damage}")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
