"""The fault table: `python -m tests.workers.fault_table` prints what each fault costs.

Every fault is planted while two workers run a job, wherever the service may stand (`--site`: there only),
with the clocks of production (`--quick`: with those of the tests). `--long N` plants faults at random,
every few seconds, while a job of N trials runs.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from tests.workers.chaos import DRAWN, HEADER, Damage, Stand, count, plain_report, poisoned
from tests.workers.conftest import QUICK
from tests.workers.faults import Inject
from tests.workers.scene import Scene
from tests.workers.sites import SITES

SOAK_CLOCKS = {**QUICK, "GNOMON_LEASE_SECONDS": "5", "GNOMON_GRACE_SECONDS": "2"}
EVERY_S = 3.0


def all_faults(scene: Scene, faults: Mapping[str, Inject], *, samples: int) -> Iterator[Damage]:
    """Plant one after another, each while a job of its own runs."""
    stand = Stand(scene, faults, samples=samples)
    for name in faults:
        yield stand.suffer(name, within_s=600.0)
    yield poisoned(scene, samples=samples)


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
    seconds = time.monotonic() - began_s
    missed = sum(isinstance(fault.exception(), AssertionError) for fault in running)  # nobody there to hit
    name = f"{log.total() - missed} faults in {seconds:.0f} s"
    damage = count(name, list(scene.store.iter_rows(job.id)), job, seconds)
    assert plain_report(scene.store, job.id) == plain_report(scene.store, clean.id), "another report"
    return damage, log


def main() -> None:
    """Print the table, or the one line of a long run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--samples", type=int, default=400, help="of each job; each makes two trials")
    parser.add_argument("--long", type=int, metavar="N")
    parser.add_argument("--site", action="append", choices=SITES)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    say(HEADER)
    for title in given.site or SITES:
        if given.long:
            with SITES[title](SOAK_CLOCKS) as (scene, faults):
                damage, log = long_run(scene, faults, trials=given.long, seed=given.seed)
            say(f"{damage}\n{title}, seed {given.seed}: {dict(sorted(log.items()))}")
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
