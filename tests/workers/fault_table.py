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
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

from gnomon_workers.store import JobRecord
from tests.workers.chaos import DRAWN, HEADER, Damage, Stand, count, plain_report, poisoned
from tests.workers.conftest import QUICK
from tests.workers.faults import Inject
from tests.workers.scene import Scene
from tests.workers.sites import SITES

SOAK_CLOCKS = {**QUICK, "GNOMON_LEASE_SECONDS": "5", "GNOMON_GRACE_SECONDS": "2"}
EVERY_S = 3.0
NO_FAULT = "none, from post to completion"
PACE_HEADER = """\
| fault | times | lasted, seconds | trials per second after it | longest stand-still, seconds |
|---|---|---|---|---|"""


def all_faults(scene: Scene, faults: Mapping[str, Inject], *, samples: int) -> Iterator[Damage]:
    """Plant one after another, each while a job of its own runs."""
    stand = Stand(scene, faults, samples=samples)
    for name in faults:
        yield stand.suffer(name, within_s=600.0)
    yield poisoned(scene, samples=samples)


@dataclass
class Pace:
    """How fast a job went on after faults of each kind: `trials` in the `seconds` that followed."""

    planted: int = 0
    missed: int = 0  # there was nothing to hit
    trials: int = 0
    seconds: float = 0.0
    lasted_s: float = 0.0  # the longest time until it was over
    stood_still_s: float = 0.0  # the longest time in which nothing ended, from the fault on

    def __str__(self) -> str:
        rate = self.trials / self.seconds if self.seconds else 0.0
        times = self.planted - self.missed
        return f"| {times} | {self.lasted_s:.0f} | {rate:.0f} | {self.stood_still_s:.1f} |"


def long_run(
    scene: Scene,
    faults: Mapping[str, Inject],
    *,
    trials: int,
    seed: int,
    every_s: float,
    at_once: int = 4,
    delay_s: float = 0.0,
) -> tuple[Damage, dict[str, Pace]]:
    """One job under faults without end to its completion, beside a clean run of it.

    Faults come every `every_s`, up to `at_once` of them at a time; one at a time, the next comes so long
    after the last is over.
    """
    model = {**DRAWN, "options": {**DRAWN["options"], "delay_s": delay_s}}
    given = {"models": [model], "concurrency": 64}
    paces: dict[str, Pace] = defaultdict(Pace)
    began_s = time.monotonic()
    clean = scene.end_of(scene.post(trials // 2, **given), within_s=3_600)
    paces[NO_FAULT] = Pace(planted=1, trials=trials, seconds=time.monotonic() - began_s)
    rng, order = random.Random(seed), list[str]()
    job = scene.post(trials // 2, **given)
    began_s = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        running: list[tuple[str, Future[None]]] = []
        while not scene.has_ended(job):
            order = order or rng.sample(sorted(faults), len(faults))  # each kind, before any comes again
            name = order.pop()
            fault = pool.submit(faults[name], scene)
            running.append((name, fault))
            _watch(scene, job, paces[name], every_s, until=fault.done if at_once == 1 else lambda: True)
    seconds = time.monotonic() - began_s
    for name, fault in running:
        paces[name].missed += isinstance(fault.exception(), AssertionError)
    planted = sum(pace.planted - pace.missed for name, pace in paces.items() if name != NO_FAULT)
    damage = count(f"{planted} faults in {seconds:.0f} s", list(scene.store.iter_rows(job.id)), job, seconds)
    assert plain_report(scene.store, job.id) == plain_report(scene.store, clean.id), "another report"
    return damage, dict(paces)


def _watch(scene: Scene, job: JobRecord, pace: Pace, for_s: float, *, until: Callable[[], bool]) -> None:
    """Add what is seen of the job while a fault lasts and in the `for_s` after it."""
    done = at_its_end = _done(scene, job, least=0)
    began_s = moved_s = time.monotonic()
    ended_s: float | None = None
    while not scene.has_ended(job):
        now_s = time.monotonic()
        if ended_s is None and until():
            ended_s, at_its_end = now_s, done
        if ended_s is not None and now_s > ended_s + for_s:
            break
        time.sleep(0.1)
        if (seen := _done(scene, job, least=done)) > done:
            done, moved_s = seen, time.monotonic()
        pace.stood_still_s = max(pace.stood_still_s, time.monotonic() - moved_s)
    now_s = time.monotonic()
    ended_s = now_s if ended_s is None else ended_s
    pace.planted += 1
    pace.trials, pace.seconds = pace.trials + done - at_its_end, pace.seconds + now_s - ended_s
    pace.lasted_s = max(pace.lasted_s, ended_s - began_s)


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
    parser.add_argument("--at-once", type=int, default=4, help="faults at a time (--long)")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds of each reply (--long)")
    parser.add_argument("--site", action="append", choices=SITES)
    parser.add_argument("--only", action="append", metavar="WORD", help="faults whose names hold it")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    say(HEADER)
    for title in given.site or SITES:
        if given.long:
            with SITES[title](SOAK_CLOCKS) as (scene, faults):
                damage, paces = long_run(
                    scene,
                    faults,
                    trials=given.long,
                    seed=given.seed,
                    every_s=given.every,
                    at_once=given.at_once,
                    delay_s=given.delay,
                )
            say(f"{damage}\n{title}, seed {given.seed}\n\n{PACE_HEADER}")
            for name, pace in sorted(paces.items()):
                say(f"| {name} {pace}")
            continue
        say(f"| **{title}** | | | | | |")
        with SITES[title](QUICK if given.quick else {}) as (scene, faults):
            words = given.only or [""]
            chosen = {name: faults[name] for name in faults if any(word in name for word in words)}
            damages = all_faults(scene, chosen, samples=80 if given.quick else given.samples)
            for damage in islice(damages, len(chosen)) if given.only else damages:
                say(f"{damage}")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
