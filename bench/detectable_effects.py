"""Plants the effect that a design is promised to detect and counts the claims; a table of docs/planning.md.

    python -m bench.detectable_effects [--rounds 400] [--seed 1] [--only TEXT]

The promise is made from a pilot of many samples of the same kind and effect. Scores are drawn as in
planted_jobs.py, not as the promise simulates them: chances of a right answer differ by sample, effects by
cluster. Besides, what the closed form of a t test promises for the same pilot, and how often that is claimed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bench.simulated import clusters_of, compared, grouping_of, hits, simulate, verdict_of
from gnomon.report.comparing import rule_of
from gnomon.report.detectable import detectable_in_cell, smallest_effect
from gnomon.statistics.design import Codes, Floats, design
from gnomon.statistics.multiple_testing import benjamini_hochberg, holm
from gnomon.statistics.power import PlantedStudy, Spread, spread_of

PILOT, PILOTS = 40_000, 3  # samples of a pilot, about; pilots, each of the effect promised from the last
Z = 1.959964 + 0.841621  # of 5 % and of a power of 80 %
Draw = Callable[[Generator, Codes, float], tuple[Floats, Floats]]


def right_or_wrong(spread: float = 0.0) -> Draw:
    """0 or 1; chances differ by sample, the difference by cluster, evenly up to ± `spread`."""

    def draw(random: Generator, clusters: Codes, effect: float) -> tuple[Floats, Floats]:
        chance = random.uniform(0.15, 0.4, len(clusters))
        moved = chance + effect + random.uniform(-spread, spread, int(clusters.max()) + 1)[clusters]
        if moved.max() > 1.0 or moved.min() < 0.0:
            raise ValueError(f"an effect of {effect} leaves the scale")
        return hits(random, chance), hits(random, moved)

    return draw


def graded(random: Generator, clusters: Codes, effect: float) -> tuple[Floats, Floats]:
    """Beta scores around a level of the cluster's own; effects differ by cluster, up to ± 0.1."""
    count = int(clusters.max()) + 1
    level = random.uniform(0.25, 0.5, count)[clusters]
    moved = level + effect + random.uniform(-0.1, 0.1, count)[clusters]
    return random.beta(4 * level, 4 * (1 - level)), random.beta(4 * moved, 4 * (1 - moved))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A design: sizes of its clusters, cells, where scores come from, comparisons and losses."""

    sizes: tuple[int, ...]
    draw: Draw
    cells: int = 1
    looks: int = 1
    lost: float = 0.0
    is_cell: bool = False  # one subset among `looks` exploratory comparisons
    largest: float = 0.45  # effect that can be planted: planted where none is promised

    @property
    def clusters(self) -> Codes:
        return clusters_of(self.sizes)

    @property
    def strata(self) -> Codes:
        return np.arange(sum(self.sizes)) % self.cells


SHARED = right_or_wrong(0.15)
UNEQUAL = (3, 5, 8, 10, 12, 20, 30, 52)
PLANS: dict[str, Plan] = {
    "5 clusters of 20": Plan(sizes=(20,) * 5, draw=SHARED),
    "8 unequal clusters, 140 samples": Plan(sizes=UNEQUAL, draw=SHARED),
    "8 clusters of 20": Plan(sizes=(20,) * 8, draw=SHARED),
    "20 clusters of 7": Plan(sizes=(7,) * 20, draw=SHARED),
    "60 clusters of 7": Plan(sizes=(7,) * 60, draw=SHARED),
    "420 samples in 14 cells": Plan(sizes=(1,) * 420, draw=right_or_wrong(), cells=14),
    "280 samples in 14 cells and 40 clusters": Plan(sizes=(7,) * 40, draw=SHARED, cells=14),
    "40 independent samples": Plan(sizes=(1,) * 40, draw=right_or_wrong()),
    "14 independent samples": Plan(sizes=(1,) * 14, draw=right_or_wrong(), largest=0.6),
    "graded, 20 clusters of 7": Plan(sizes=(7,) * 20, draw=graded),
    "6 primary contrasts, 20 clusters of 7": Plan(sizes=(7,) * 20, draw=SHARED, looks=6),
    "6 primary contrasts, 60 independent samples": Plan(sizes=(1,) * 60, draw=right_or_wrong(), looks=6),
    "1 % of both arms lost, 60 clusters of 7": Plan(sizes=(7,) * 60, draw=SHARED, lost=0.01),
    "3 % of both arms lost, 60 clusters of 7": Plan(sizes=(7,) * 60, draw=SHARED, lost=0.03),
    "3 % of both arms lost, 140 samples": Plan(sizes=(1,) * 140, draw=right_or_wrong(), lost=0.03),
    "a cell of 30 among 14": Plan(
        sizes=(1,) * 30, draw=right_or_wrong(), looks=14, is_cell=True, largest=0.6
    ),
    "a cell of 60 in 20 clusters among 14": Plan(sizes=(3,) * 20, draw=SHARED, looks=14, is_cell=True),
    "a cell of 100 in 10 clusters among 14": Plan(sizes=(10,) * 10, draw=SHARED, looks=14, is_cell=True),
    "a cell of 5 among 100": Plan(
        sizes=(1,) * 5, draw=right_or_wrong(), looks=100, is_cell=True, largest=0.6
    ),
}


def spread_in_pilot(plan: Plan, effect: float, random: Generator) -> Spread:
    """The scatter of many samples of this kind, with this effect."""
    times = max(1, PILOT // sum(plan.sizes))
    sizes = np.tile(plan.sizes, times)
    clusters = clusters_of(sizes)
    baseline, variant = plan.draw(random, clusters, effect)
    grouping, d = grouping_of(clusters), variant - baseline
    return spread_of(d, grouping, se=grouping.estimate(d, limits=(-1.0, 1.0)).se)


def promised(plan: Plan, spread: Spread) -> float | None:
    """What the design detects by the simulation of the whole rule."""
    study = PlantedStudy(
        grouping=design(plan.strata, plan.clusters), spread=spread, lost=(plan.lost, plan.lost)
    )
    family = "exploratory" if plan.is_cell else "primary"
    rule = rule_of(family, looks=plan.looks)
    if plan.is_cell:
        return detectable_in_cell(study, rule, looks=plan.looks).effect
    return smallest_effect(study, rule, looks=plan.looks).effect


def promised_by_t(plan: Plan, spread: Spread) -> float:
    """What the closed form says: a t test of one comparison, nothing lost; cells as if independent."""
    icc = 0.0 if plan.is_cell else spread.icc
    study = PlantedStudy(
        grouping=design(plan.strata, plan.clusters),
        spread=Spread(sizes=spread.sizes, shares=spread.shares, icc=icc),
    )
    kappa = Z**2 * study.worth
    return min(1.0, math.sqrt(kappa * spread.moments[1] / (1 + kappa)))


def share_claimed(plan: Plan, effect: float, *, jobs: int, random: Generator) -> float:
    """The share of jobs that claim a difference; the other comparisons have no effect."""
    adjust = benjamini_hochberg if plan.is_cell else holm
    return float(np.mean([_is_claimed(plan, effect, adjust, random) for _ in range(jobs)]))


def _is_claimed(
    plan: Plan, effect: float, adjust: Callable[[list[float]], list[float]], random: Generator
) -> bool:
    results = []
    for at in range(plan.looks):
        if plan.is_cell and at:  # other cells are other samples: their p is any
            results.append((None, float(random.random())))
            continue
        scores = np.stack(plan.draw(random, plan.clusters, 0.0 if at else effect))
        scores[random.random(scores.shape) < plan.lost] = np.nan
        result = compared(scores, plan.clusters, cells=plan.strata, is_primary=not plan.is_cell)
        p = result.comparison.p if result.comparison else None
        results.append((result, 1.0 if p is None else p))
    first, others = results[0][0], [p for _, p in results[1:]]
    return first is not None and verdict_of(first, lambda p: adjust([p, *others])[0]) in ("helps", "hurts")


def row(plan: Plan, *, rounds: int, seed: int) -> list[str | float]:
    """The effect that is promised and the share of jobs that claim it: by a t test, and by the whole rule."""
    random = np.random.default_rng(seed)
    cells: list[str | float] = []
    for promise in (promised_by_t, promised):
        effect: float | None = 0.0
        for _ in range(PILOTS):
            planted = plan.largest if effect is None else min(effect, plan.largest)
            effect = promise(plan, spread_in_pilot(plan, planted, random))
        planted = plan.largest if effect is None else min(effect, plan.largest)
        cells.append("none" if effect is None else f"{100 * effect:.1f}")
        cells.append(share_claimed(plan, planted, jobs=rounds, random=random))
    return cells


def main() -> None:
    """Print the table."""
    heads = ("Design", "t test says", "claimed", "promised", "claimed")
    simulate(__doc__, heads, PLANS, row, rounds=400, level=0.8)


if __name__ == "__main__":
    main()
