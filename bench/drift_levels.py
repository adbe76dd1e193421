"""Measures what a drifting provider does to verdicts, by the order in which two arms ran.

    python -m bench.drift_levels [--rounds 2000] [--seed 1] [--only TEXT]

Each row simulates so many jobs of two arms over the same samples. The provider gets better or worse in a
straight line, by 10 to 30 points over the job. Prints the share of jobs that claim a difference: from all
pairs, and by the rule that a claim must also hold among the pairs that were run together; and in how many
jobs that is asked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.random import Generator

from bench.simulated import ARMS, hits, report_of, row_of, simulate
from gnomon.core.row import Row
from gnomon.statistics.design import Floats

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
CLAIMS = ("helps", "hurts")
LEVEL = 0.5  # mean score of the baseline at the middle of the job
Order = Callable[[Generator, int], Floats]  # of so many samples: seconds from the start, arms × samples


def one_after_another(_: Generator, samples: int) -> Floats:
    """One arm, then the other; a trial takes 20 s."""
    return 20.0 * np.arange(2 * samples).reshape(2, samples)


def interleaved(_: Generator, samples: int) -> Floats:
    """As a job plans its trials: the arms of a sample side by side."""
    return 20.0 * np.arange(2 * samples).reshape(samples, 2).T


def at_once(concurrency: int) -> Order:
    """The same with so many trials in flight, of 5 to 120 s each."""

    def order(random: Generator, samples: int) -> Floats:
        free = np.zeros(concurrency)
        starts = np.empty(2 * samples)
        for trial in range(2 * samples):
            slot = int(np.argmin(free))
            starts[trial] = free[slot]
            free[slot] += random.uniform(5.0, 120.0)
        return starts.reshape(samples, 2).T

    return order


def slow_with_pauses(random: Generator, samples: int) -> Floats:
    """One trial at a time, of 30 to 300 s, and four hours of waiting for the provider after every 50th."""
    seconds = random.uniform(30.0, 300.0, 2 * samples)
    seconds[49::50] += 4 * 3600.0
    return np.concatenate([[0.0], np.cumsum(seconds)[:-1]]).reshape(samples, 2).T


def resumed(share: float) -> Order:
    """Interleaved, but so many of the second arm's trials were lost, and ran once more when all had ended."""

    def order(random: Generator, samples: int) -> Floats:
        starts = interleaved(random, samples)
        again = np.flatnonzero(random.random(samples) < share)
        starts[1, again] = 2.0 * starts.max() + 20.0 * np.arange(len(again))
        return starts

    return order


def both_resumed(random: Generator, samples: int) -> Floats:
    """Interleaved, and the last third of the samples a day later."""
    starts = interleaved(random, samples)
    starts[:, -samples // 3 :] += 86_400.0
    return starts


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """How the arms ran, over how many samples, and what the variant gains."""

    order: Order
    samples: int = 400
    effect: float = 0.0
    drifts: bool = True


STUDIES: Mapping[str, Study] = {
    "one after another": Study(order=one_after_another),
    "15 % of one arm resumed": Study(order=resumed(0.15)),
    "40 % of one arm resumed": Study(order=resumed(0.4)),
    "interleaved": Study(order=interleaved),
    "interleaved, 32 at once": Study(order=at_once(32)),
    "interleaved, 200 at once": Study(order=at_once(200)),
    "both arms resumed a day later": Study(order=both_resumed),
    "slow, with pauses": Study(order=slow_with_pauses),
    "8 samples, slow, with pauses": Study(order=slow_with_pauses, samples=8),
    "interleaved, +20 points": Study(order=interleaved, samples=100, effect=0.2),
    "32 at once, +20 points": Study(order=at_once(32), samples=100, effect=0.2),
    "15 % resumed, +20 points": Study(order=resumed(0.15), samples=100, effect=0.2),
    "15 % resumed, no drift": Study(order=resumed(0.15), drifts=False),
}


def rows_of(random: Generator, study: Study) -> list[Row]:
    """The rows of a job; half of the samples are easier than the others."""
    starts = study.order(random, study.samples)
    drift = random.uniform(0.10, 0.30) * random.choice((-1.0, 1.0)) if study.drifts else 0.0
    moved = drift * (starts / starts.max() - 0.5)
    ease = np.where(random.random(study.samples) < 0.5, 0.15, -0.15)
    rows = []
    for place, arm in enumerate(ARMS):
        gained = study.effect * (place - 0.5)
        right = hits(random, LEVEL + ease + moved[place] + gained)
        for sample, start_s in enumerate(starts[place].tolist()):
            began = (BEGAN + timedelta(seconds=start_s)).isoformat(timespec="milliseconds")
            rows.append(row_of(arm, sample, float(right[sample]), started_at=began.replace("+00:00", "Z")))
    return rows


def rates(study: Study, *, rounds: int, seed: int) -> list[float]:
    """Shares of jobs: claimed from all pairs, claimed by the whole rule, and with pairs that ran apart."""
    random = np.random.default_rng(seed)
    counted = np.zeros(3)
    for _ in range(rounds):
        rows = rows_of(random, study)
        ruled = report_of(rows)
        of_all_pairs = report_of(
            [replace(row, started_at="") for row in rows]
        )  # nobody knows which ran apart
        counted += (
            of_all_pairs["contrasts"][0]["verdict"] in CLAIMS,
            ruled["contrasts"][0]["verdict"] in CLAIMS,
            bool(ruled["pair_runs"][0]["advice"]),
        )
    return [float(share) for share in counted / rounds]


def main() -> None:
    """Print the table."""
    heads = ("Jobs", "claims from all pairs", "claims by the rule", "jobs with pairs apart")
    simulate(__doc__, heads, STUDIES, rates, rounds=2000)


if __name__ == "__main__":
    main()
