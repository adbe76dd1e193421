"""Measures what lost trials do to verdicts; prints a table of docs/statistics.md.

    python -m bench.lost_trials [--rounds 2000] [--seed 1] [--only TEXT]

Each row simulates so many jobs of two arms over the same samples, each sample easy or hard, and lets trials
be lost by the mechanism that it names. Prints the share of jobs that claim a difference: with all trials at
hand, and after the loss; and as a yardstick a cluster sign-flip test at 5 % of the complete data.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bench.simulated import clusters_of, compared, grouping_of, hits, simulate, verdict_of
from gnomon.statistics.design import Floats
from gnomon.statistics.permutation import sign_flip_p

Mask = NDArray[np.bool_]
# Which trials of baseline and variant are lost, from whether each sample is hard and both arms' scores.
Mechanism = Callable[[Generator, Mask, Floats, Floats], tuple[Mask, Mask]]
EASY, HARD = 0.7, 0.25
CLAIMS = ("helps", "hurts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Clusters of these sizes, the effect on easy and on hard samples, and how trials are lost."""

    sizes: tuple[int, ...]
    effects: tuple[float, float]
    lose: Mechanism
    graded: bool = False


def at_random(*shares: float) -> Mechanism:
    """So many of each arm's trials, whichever."""

    def lose(random: Generator, hard: Mask, _: Floats, __: Floats) -> tuple[Mask, Mask]:
        first, second = (random.random(len(hard)) < share for share in shares)
        return first, second

    return lose


def when_hard(*shares: float) -> Mechanism:
    """So many of each arm's hard trials."""

    def lose(random: Generator, hard: Mask, _: Floats, __: Floats) -> tuple[Mask, Mask]:
        first, second = (hard & (random.random(len(hard)) < share) for share in shares)
        return first, second

    return lose


def crosswise(share: float) -> Mechanism:
    """So many of the baseline's easy and of the variant's hard trials."""

    def lose(random: Generator, hard: Mask, _: Floats, __: Floats) -> tuple[Mask, Mask]:
        gone = random.random((2, len(hard))) < share
        return ~hard & gone[0], hard & gone[1]

    return lose


def when_wrong(share: float) -> Mechanism:
    """So many of the variant's trials that would have been wrong: loss that depends on the answer."""

    def lose(random: Generator, hard: Mask, _: Floats, variant: Floats) -> tuple[Mask, Mask]:
        return np.zeros(len(hard), np.bool_), (variant < 0.5) & (random.random(len(hard)) < share)

    return lose


ALONE, VIDEOS = (1,) * 300, (7,) * 60
UNEQUAL = (30, 20, 20, 15, 15, 10, 10, 10, *[6] * 10, *[3] * 20)
STUDIES: dict[str, Study] = {
    **{
        f"{words}, {'no effect' if effect == 0 else f'+{100 * effect:.0f} points'}": Study(
            sizes=sizes, effects=(effect, effect), lose=lose
        )
        for words, sizes, lose, effects in (
            ("1 % of both arms lost, 300 samples", ALONE, at_random(0.01, 0.01), (0.0, 0.1)),
            ("3 % of both arms lost, 300 samples", ALONE, at_random(0.03, 0.03), (0.0, 0.1)),
            ("2 % of both arms lost, 40 samples", (1,) * 40, at_random(0.02, 0.02), (0.0, 0.25)),
            ("3 % of both arms lost, 60 clusters of 7", VIDEOS, at_random(0.03, 0.03), (0.0, 0.1)),
            ("3 % of both arms lost, 38 unequal clusters", UNEQUAL, at_random(0.03, 0.03), (0.0, 0.12)),
            ("8 % of one arm lost, 60 clusters of 7", VIDEOS, at_random(0.0, 0.08), (0.0, 0.1, 0.2)),
        )
        for effect in effects
    },
    "8 % of one arm's hard trials lost, 300 samples, no effect": Study(
        sizes=ALONE, effects=(0.0, 0.0), lose=when_hard(0.0, 0.08)
    ),
    "8 % of one arm's hard trials lost, 1,500 samples, ±20 points by difficulty": Study(
        sizes=(1,) * 1500, effects=(0.2, -0.2), lose=when_hard(0.0, 0.08)
    ),
    "30 % of one arm's hard trials lost, 300 samples, ±20 points by difficulty": Study(
        sizes=ALONE, effects=(0.2, -0.2), lose=when_hard(0.0, 0.3)
    ),
    "10 % lost crosswise, 420 samples in 60 clusters, ±20 points by difficulty": Study(
        sizes=VIDEOS, effects=(0.2, -0.2), lose=crosswise(0.1)
    ),
    "graded, 8 % of one arm's hard trials lost, 60 clusters of 7, ±20 points": Study(
        sizes=VIDEOS, effects=(0.2, -0.2), lose=when_hard(0.0, 0.08), graded=True
    ),
    **{
        f"15 % of one arm's wrong trials lost, {n:,} samples, no effect": Study(
            sizes=(1,) * n, effects=(0.0, 0.0), lose=when_wrong(0.15)
        )
        for n in (60, 120, 300, 1500)
    },
}


def rates(study: Study, *, rounds: int, seed: int) -> list[float]:
    """Shares of jobs that claim: with all trials, and after the loss; and the permutation test's."""
    random = np.random.default_rng(seed)
    clusters = clusters_of(study.sizes)
    grouping = grouping_of(clusters)
    counted = np.zeros(3)
    for _ in range(rounds):
        hard = random.random(len(clusters)) < 0.5
        scores = _scores(random, study, hard, clusters)
        gone = study.lose(random, hard, *scores)
        left = [np.where(lost, np.nan, of_arm) for lost, of_arm in zip(gone, scores, strict=True)]
        counted += (
            verdict_of(compared(scores, clusters)) in CLAIMS,
            verdict_of(compared(left, clusters)) in CLAIMS,
            sign_flip_p(grouping.sums(scores[1] - scores[0])) < 0.05,
        )
    return [float(share) for share in counted / rounds]


def _scores(random: Generator, study: Study, hard: Mask, clusters: NDArray[np.intp]) -> tuple[Floats, Floats]:
    level = np.where(hard, HARD, EASY)
    by_cluster = random.uniform(-0.1, 0.1, clusters.max() + 1)[clusters] if max(study.sizes) > 1 else 0.0
    moved = level + np.where(hard, study.effects[1], study.effects[0]) + by_cluster
    if study.graded:
        moved = np.clip(moved, 0.02, 0.98)
        return random.beta(4 * level, 4 * (1 - level)), random.beta(4 * moved, 4 * (1 - moved))
    return hits(random, level), hits(random, moved)


def main() -> None:
    """Print the table."""
    heads = ("Jobs", "complete data", "with loss", "permutation test")
    simulate(__doc__, heads, STUDIES, rates, rounds=2000)


if __name__ == "__main__":
    main()
