"""Plants the effect that a design is promised to detect and counts the claims; a table of docs/planning.md.

    python -m bench.detectable_effects [--rounds 400] [--seed 1] [--only TEXT]

The promise is made from a pilot of many samples of the same kind and effect. Scores are not drawn as the
promise simulates them: chances of a right answer differ by sample, effects by cluster. Besides, what the
closed form of a t test promises for the same pilot, and how often that is claimed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bench import claims
from bench.simulated import clusters_of, compared, hits, simulate, verdict_of
from gnomon.report.comparing import rule_of
from gnomon.report.detectable import smallest_effect
from gnomon.statistics.design import Codes, Design, Floats, design
from gnomon.statistics.multiple_testing import benjamini_hochberg, holm
from gnomon.statistics.power import PlantedStudy, Spread, spread_of

PILOT, PILOTS = 40_000, 3  # samples of a pilot, about; pilots, each of the effect promised from the last
Z = 1.959964 + 0.841621  # of 5 % and of a power of 80 %
SCENES, TEMPLATES = 20, 8
Draw = Callable[[Generator, Codes, float], tuple[Floats, Floats]]


def right_or_wrong(spread: float = 0.0, repeats: tuple[int, int] = (1, 1)) -> Draw:
    """0 or 1 in each repeat; chances differ by sample, the difference by cluster, evenly up to ± `spread`."""

    def draw(random: Generator, clusters: Codes, effect: float) -> tuple[Floats, Floats]:
        chance = random.uniform(0.15, 0.4, len(clusters))
        moved = chance + effect + random.uniform(-spread, spread, int(clusters.max()) + 1)[clusters]
        if moved.max() > 1.0 or moved.min() < 0.0:
            raise ValueError(f"an effect of {effect} leaves the scale")
        first, second = (
            hits(random, np.repeat(chances[:, None], n, axis=1))
            for chances, n in zip((chance, moved), repeats, strict=True)
        )
        return first, second

    return draw


def crossed(random: Generator, clusters: Codes, effect: float) -> tuple[Floats, Floats]:
    """0 or 1; the difference varies by cluster and by the template that crosses it, up to ± 0.1 each."""
    copies = clusters // SCENES * TEMPLATES  # templates of a pilot's copies are others
    template = copies + np.arange(len(clusters)) % TEMPLATES
    by_scene, by_template = (
        random.uniform(-0.1, 0.1, int(codes.max()) + 1) for codes in (clusters, template)
    )
    moved = 0.25 + effect + by_scene[clusters] + by_template[template]
    return hits(random, np.full((len(clusters), 1), 0.25)), hits(random, moved[:, None])


def graded(random: Generator, clusters: Codes, effect: float) -> tuple[Floats, Floats]:
    """Beta scores around a level of the cluster's own; effects differ by cluster, up to ± 0.1."""
    count = int(clusters.max()) + 1
    level = random.uniform(0.25, 0.5, count)[clusters]
    moved = level + effect + random.uniform(-0.1, 0.1, count)[clusters]
    first, second = (random.beta(4 * each, 4 * (1 - each))[:, None] for each in (level, moved))
    return first, second


def as_in_claims(draw: Callable[..., claims.Trials], **more: object) -> Draw:
    """Scores drawn as `bench.claims` draws them."""

    def drawn(random: Generator, clusters: Codes, effect: float) -> tuple[Floats, Floats]:
        first, second = draw(random, clusters, effect=effect, **more)
        return first.reshape(len(clusters), -1), second.reshape(len(clusters), -1)

    return drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A design: sizes of its clusters, cells, where scores come from, comparisons and losses."""

    sizes: tuple[int, ...]
    draw: Draw
    cells: int = 1
    looks: int = 1
    lost: float = 0.0
    crossing: int = 0  # templates that cross the clusters
    is_cell: bool = False  # one subset among `looks` exploratory comparisons
    largest: float = 0.45  # effect that can be planted: planted where none is promised

    def grouping(self, copies: int = 1) -> Design:
        """The design, so many times over."""
        clusters = clusters_of(np.tile(self.sizes, copies))
        strata = np.arange(len(clusters)) % self.cells
        if not self.crossing:
            return design(strata, clusters)
        template = np.arange(len(clusters)) % self.crossing
        return design(strata, clusters, clusters // len(self.sizes) * self.crossing + template)


SHARED = right_or_wrong(0.15)
UNEQUAL = (3, 5, 8, 10, 12, 20, 30, 52)
TWELVE = (12, 9, 8, 6, 5, 4, 4, 3, 3, 2, 2, 2)
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
    "graded, 12 unequal clusters, 60 samples": Plan(sizes=TWELVE, draw=graded),
    "graded, 30 independent samples": Plan(sizes=(1,) * 30, draw=graded),
    "three repeats, 10 clusters of 5": Plan(sizes=(5,) * 10, draw=right_or_wrong(0.15, (3, 3))),
    "five repeats beside one, 24 clusters of 2": Plan(sizes=(2,) * 24, draw=right_or_wrong(0.15, (5, 1))),
    "20 scenes and 8 templates crossed": Plan(sizes=(8,) * SCENES, draw=crossed, crossing=TEMPLATES),
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
    "a cell of 60 in 12 unequal clusters among 14": Plan(sizes=TWELVE, draw=SHARED, looks=14, is_cell=True),
    "a cell of 200 in 20 clusters among 100": Plan(sizes=(10,) * 20, draw=SHARED, looks=100, is_cell=True),
    "a graded cell of 60 in 12 unequal clusters among 14": Plan(
        sizes=TWELVE, draw=graded, looks=14, is_cell=True
    ),
    "a cell of 30 with three repeats among 14": Plan(
        sizes=(1,) * 30, draw=right_or_wrong(0.0, (3, 3)), looks=14, is_cell=True, largest=0.6
    ),
    "a cell of 5 among 100": Plan(
        sizes=(1,) * 5, draw=right_or_wrong(), looks=100, is_cell=True, largest=0.6
    ),
    **{
        f"claims: {name}": Plan(sizes=sizes, draw=as_in_claims(draw, **more))
        for name, sizes, draw, more in (
            ("12 unequal clusters", claims.TWELVE, claims.right_or_wrong, {"spread": 0.25}),
            ("18 unequal clusters", claims.EIGHTEEN, claims.right_or_wrong, {"spread": 0.25}),
            ("one cluster of 100 and 20 of 5", (100, *[5] * 20), claims.right_or_wrong, {}),
            ("30 scenes of 4", (4,) * 30, claims.right_or_wrong, {}),
            ("60 videos of 5", (5,) * 60, claims.right_or_wrong, {"level": 0.5}),
            ("graded, 16 scenes of 5", (5,) * 16, claims.graded, {"scatter": 0.15}),
            ("graded, 15 clusters of 40 to 1", claims.FALLING, claims.graded, {}),
            ("three repeats, 10 clusters of 5", (5,) * 10, claims.right_or_wrong, {"repeats": (3, 3)}),
            ("five repeats beside one, 24 of 2", (2,) * 24, claims.right_or_wrong, {"repeats": (5, 1)}),
        )
    },
}


def spread_in_pilot(plan: Plan, effect: float, random: Generator) -> Spread:
    """The scatter of many samples of this kind, with this effect."""
    grouping = plan.grouping(max(1, PILOT // sum(plan.sizes)))
    baseline, variant = (scores.mean(axis=1) for scores in plan.draw(random, grouping.clusters, effect))
    d = variant - baseline
    return spread_of(d, grouping, se=grouping.estimate(d, limits=(-1.0, 1.0)).se)


def promised(plan: Plan, spread: Spread) -> float | None:
    """What the design detects by the simulation of the whole rule."""
    study = PlantedStudy(grouping=plan.grouping(), spread=spread, lost=(plan.lost, plan.lost))
    rule = rule_of("exploratory" if plan.is_cell else "primary", looks=plan.looks)
    return smallest_effect(study, rule, looks=plan.looks).effect


def promised_by_t(plan: Plan, spread: Spread) -> float:
    """What the closed form says: a t test of one comparison, nothing lost; cells as if independent."""
    icc = 0.0 if plan.is_cell else spread.icc
    study = PlantedStudy(
        grouping=plan.grouping(), spread=Spread(sizes=spread.sizes, shares=spread.shares, icc=icc)
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
    results, grouping = [], plan.grouping()
    crossing = grouping.crossed[0].clusters if grouping.crossed else None
    for at in range(plan.looks):
        if plan.is_cell and at:  # other cells are other samples: their p is any
            results.append((None, float(random.random())))
            continue
        scores = plan.draw(random, grouping.clusters, 0.0 if at else effect)
        for of_arm in scores:
            of_arm[random.random(of_arm.shape) < plan.lost] = np.nan
        result = compared(
            scores,
            grouping.clusters,
            cells=grouping.strata,
            crossing=crossing,
            is_primary=not plan.is_cell,
        )
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
