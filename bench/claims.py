"""Measures power and level of a report's claims; prints a table of docs/statistics.md.

    python -m bench.claims [--rounds 2000] [--seed 1] [--only TEXT]

Each row simulates so many jobs of a design and prints the share in which a difference is claimed; that in
which a sign-flip test of whole clusters rejects on the same trials, all of them at hand; and that in which
the 95 % interval holds the planted effect. Where there is no effect every claim is a false one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from bench.simulated import clusters_of, compared, grouping_of, hits, simulate, verdict_of
from gnomon.statistics.design import Codes, Floats
from gnomon.statistics.permutation import sign_flip_p

Trials = tuple[Floats, Floats]  # by arm: scores by sample, or by sample and repeat
Lose = Callable[[Generator, Trials], Trials]
FALLING = (40, 30, 25, 20, 16, 13, 11, 9, 7, 5, 4, 3, 2, 1, 1)
EIGHTEEN = (30, 24, 20, 16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 3, 2, 2, 1)
TWELVE = (30, 22, 16, 12, 10, 8, 6, 5, 4, 3, 2, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Where samples lie, how scores are drawn, the effect that is meant, and how trials are lost."""

    sizes: tuple[int, ...]
    draw: Callable[[Generator, Codes], Trials]
    effect: float = 0.0
    crossing: int = 0  # templates that cross the clusters
    lose: Lose | None = None


def right_or_wrong(
    random: Generator,
    clusters: Codes,
    *,
    effect: float = 0.0,
    level: float = 0.4,
    spread: float = 0.1,
    repeats: tuple[int, int] = (1, 1),
) -> Trials:
    """0 or 1: a level by cluster, an effect that varies by cluster, and a difficulty that arms share."""
    groups = int(clusters.max()) + 1
    chance = level + random.uniform(-0.15, 0.15, groups)[clusters] + random.uniform(-0.1, 0.1, len(clusters))
    moved = chance + effect + random.uniform(-spread, spread, groups)[clusters]
    first, second = (
        hits(random, np.repeat(np.clip(chances, 0, 1)[:, None], n, axis=1))
        for chances, n in zip((chance, moved), repeats, strict=True)
    )
    return first, second


def graded(
    random: Generator, clusters: Codes, *, effect: float = 0.0, scatter: float = 0.2, spread: float = 0.05
) -> Trials:
    """Between 0 and 1: both arms scatter around a level of the cluster's own."""
    groups = int(clusters.max()) + 1
    level = random.uniform(0.25, 0.55, groups)[clusters]
    moved = level + effect + random.uniform(-spread, spread, groups)[clusters]
    first, second = (np.clip(random.normal(each, scatter), 0, 1) for each in (level, moved))
    return first, second


def gains(random: Generator, clusters: Codes, *, share: float) -> Trials:
    """Nothing gets worse, and a share of all samples becomes right."""
    before = hits(random, np.full(len(clusters), 0.4))
    return before, np.maximum(before, hits(random, np.full(len(clusters), share / 0.6)))


def rare(random: Generator, clusters: Codes, *, loss: float = 0.02, share: float = 0.03) -> Trials:
    """A small loss on nearly all clusters, made good by a large gain on few."""
    has_gained = (random.random(int(clusters.max()) + 1) < share)[clusters]
    before = random.uniform(0.1, 0.3, len(clusters))
    return before, before + np.where(has_gained, loss * (1 - share) / share, -loss)


def crossed(random: Generator, clusters: Codes, *, templates: int, effect: float = 0.0) -> Trials:
    """0 or 1, the effect varying by scene and by template."""
    template = np.arange(len(clusters)) % templates
    moved = 0.45 + effect + random.normal(0, 0.12, int(clusters.max()) + 1)[clusters]
    moved = moved + random.normal(0, 0.12, templates)[template]
    return hits(random, np.full(len(clusters), 0.45)), hits(random, np.clip(moved, 0, 1))


def twice(random: Generator, clusters: Codes) -> Trials:
    """Each question stands there twice; so near-equal questions share a cluster."""
    first, second = right_or_wrong(random, np.arange(len(clusters) // 2))
    return np.repeat(first, 2), np.repeat(second, 2)


def lose(random: Generator, trials: Trials, *, shares: tuple[float, float], of: tuple[str, str]) -> Trials:
    """A share of each arm's trials, of those that are right, or wrong, or whichever."""
    lost = []
    for scores, share, which in zip(trials, shares, of, strict=True):
        scores = scores.ravel().copy()
        among = {"right": scores >= 0.5, "wrong": scores < 0.5}.get(which, np.ones(len(scores), np.bool_))
        scores[random.choice(np.flatnonzero(among), round(share * len(scores)), replace=False)] = np.nan
        lost.append(scores)
    return lost[0], lost[1]


def plan(sizes: tuple[int, ...], draw: Callable[..., Trials], effect: float = 0.0, **more: object) -> Plan:
    """A plan whose scores are drawn around an effect."""
    parameters = {"effect": effect, **more} if effect else more
    return Plan(sizes=sizes, draw=partial(draw, **parameters), effect=effect)


SIX = (0.06, 0.06)
ALONE = (1,) * 300
PLANS: dict[str, Plan] = {
    "graded, 15 clusters of 40 to 1, +20": plan(FALLING, graded, 0.2),
    "one cluster of 100 and 20 of 5, +30": plan((100, *[5] * 20), right_or_wrong, 0.3),
    "25 clusters of 12, only gains, +4": Plan(sizes=(12,) * 25, draw=partial(gains, share=0.04), effect=0.04),
    "12 unequal clusters, +30": plan(TWELVE, right_or_wrong, 0.3, spread=0.25),
    "18 unequal clusters, +25": plan(EIGHTEEN, right_or_wrong, 0.25, spread=0.25),
    "five repeats beside one, 48 questions in 24 clusters, +25": plan(
        (2,) * 24, right_or_wrong, 0.25, repeats=(5, 1)
    ),
    **{f"rare gains make good what is lost, {n} questions": plan((1,) * n, rare) for n in (60, 200, 400)},
    "rare gains shared by cluster, 50 of 4": plan((4,) * 50, rare),
    "5 points lost, made good by cluster, 20 of 10": plan((10,) * 20, rare, loss=0.05, share=0.05),
    "6 % lost at random and of the wrong": Plan(
        sizes=ALONE, draw=right_or_wrong, lose=partial(lose, shares=SIX, of=("any", "wrong"))
    ),
    "6 % lost of the right and of the wrong": Plan(
        sizes=ALONE, draw=right_or_wrong, lose=partial(lose, shares=SIX, of=("right", "wrong"))
    ),
    "1 % lost of the right and of the wrong": Plan(
        sizes=ALONE, draw=right_or_wrong, lose=partial(lose, shares=(0.01, 0.01), of=("right", "wrong"))
    ),
    **{
        f"8 % of one arm lost, 60 clusters of 7, +{100 * effect:.0f}": Plan(
            sizes=(7,) * 60,
            draw=partial(right_or_wrong, effect=effect),
            effect=effect,
            lose=partial(lose, shares=(0.0, 0.08), of=("any", "any")),
        )
        for effect in (0.0, 0.1, 0.2)
    },
    "60 questions that stand there twice, near-equal ones one cluster": plan((2,) * 60, twice),
    "20 scenes and 8 templates crossed": Plan(
        sizes=(8,) * 20, draw=partial(crossed, templates=8), crossing=8
    ),
    # Ten that resemble what people post.
    "40 time-zone questions, 20 % right, +50": plan((1,) * 40, right_or_wrong, 0.5, level=0.25),
    "12 own questions, no effect": plan((1,) * 12, right_or_wrong),
    "30 scenes of 4, +12": plan((4,) * 30, right_or_wrong, 0.12),
    "60 videos of 5, −8": plan((5,) * 60, right_or_wrong, -0.08, level=0.5),
    "graded, 16 scenes of 5, +8": plan((5,) * 16, graded, 0.08, scatter=0.15),
    "graded, 60 questions, no effect": plan((1,) * 60, graded),
    "15 scenes and 6 templates crossed, +20": Plan(
        sizes=(6,) * 15, draw=partial(crossed, templates=6, effect=0.2), effect=0.2, crossing=6
    ),
    "10 scenes and 10 templates crossed, no effect": Plan(
        sizes=(10,) * 10, draw=partial(crossed, templates=10), crossing=10
    ),
    "three repeats, 50 questions in 10 clusters, +12": plan((5,) * 10, right_or_wrong, 0.12, repeats=(3, 3)),
    "one repeat beside four, 48 questions, no effect": plan((1,) * 48, right_or_wrong, repeats=(1, 4)),
}


def rates(job: Plan, *, rounds: int, seed: int) -> list[float]:
    """Shares of jobs: a difference claimed, sign flips of the complete trials rejecting, effect covered."""
    random, clusters = np.random.default_rng(seed), clusters_of(job.sizes)
    grouping, crossing = (
        grouping_of(clusters),
        np.arange(len(clusters)) % job.crossing if job.crossing else None,
    )
    counted = np.zeros(3)
    for _ in range(rounds):
        trials = job.draw(random, clusters)
        first, second = (scores.reshape(len(clusters), -1).mean(axis=1) for scores in trials)
        result = compared(job.lose(random, trials) if job.lose else trials, clusters, crossing=crossing)
        reach = result.worst_ci95
        counted += (
            verdict_of(result) in ("helps", "hurts"),
            sign_flip_p(grouping.sums(second - first)) < 0.05,
            reach is not None and reach[0] <= job.effect <= reach[1],
        )
    return [float(share) for share in counted / rounds]


def main() -> None:
    """Print the table."""
    heads = ("Jobs", "claimed", "sign flips", "covered")
    simulate(__doc__, heads, PLANS, rates, rounds=2000)


if __name__ == "__main__":
    main()
