"""Measures how often a comparison errs if the truth is known; prints the table of docs/statistics.md.

    python -m bench.statistics_levels [--rounds 4000] [--seed 1] [--only TEXT]

Each row simulates so many studies of one design and prints as shares: p below 0.05; verdicts `helps` or
`hurts` (of one comparison with nothing missing); the difference inside its 95 % interval; the baseline's mean
inside its own; verdict `no_effect`. A second table has the share of subsets whose own difference is inside
their own interval and inside that after partial pooling, and how much wider the latter is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bench.simulated import clusters_of, hits, simulate
from gnomon.report.verdict import judge
from gnomon.statistics.design import Codes, Floats, design
from gnomon.statistics.mean import mean_score
from gnomon.statistics.paired import compare
from gnomon_analyses.statistics.pooling import partial_pooling

MARGIN = (-0.05, 0.05)
Groups = tuple[Codes, Codes]  # by sample: cell, cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Where scores come from; `mean` (of the baseline) and `diff` are their expected values."""

    mean: float
    diff: float
    draw: Callable[[Generator, Codes], tuple[Floats, Floats]]


def right_or_wrong(mean: float = 0.45, *, diff: float = 0.0, spread: float = 0.0) -> Scores:
    """0 or 1. A sample is as hard for both arms; the difference varies by cluster, `spread` its deviation.

    All chances stay within [0, 1], so that the expected values are exact.
    """

    def draw(random: Generator, clusters: Codes) -> tuple[Floats, Floats]:
        room = min(mean, 1 - mean - diff)
        reach = min(spread * 3**0.5, 0.8 * room)
        chance = mean + random.uniform(reach - room, room - reach, len(clusters))
        by_cluster = random.uniform(-reach, reach, clusters.max() + 1)
        return hits(random, chance), hits(random, chance + diff + by_cluster[clusters])

    return Scores(mean=mean, diff=diff, draw=draw)


def kin(mean: float, icc: float) -> Scores:
    """0 or 1, the chance drawn by cluster (beta), so that scores of a cluster correlate by `icc`."""
    size = 1 / icc - 1

    def draw(random: Generator, clusters: Codes) -> tuple[Floats, Floats]:
        chance = random.beta(mean * size, (1 - mean) * size, clusters.max() + 1)[clusters]
        return hits(random, chance), hits(random, chance)

    return Scores(mean=mean, diff=0.0, draw=draw)


def equal(mean: float = 0.45) -> Scores:
    """Both arms give the same answers."""

    def draw(random: Generator, clusters: Codes) -> tuple[Floats, Floats]:
        scores = hits(random, np.full(len(clusters), mean))
        return scores, scores

    return Scores(mean=mean, diff=0.0, draw=draw)


def mostly_zero(share: float = 0.15, *, times: float = 1.0, spread: float = 0.0) -> Scores:
    """Uniform on a share of the samples, else 0; the share varies by cluster and arm up to that part of it.

    The variant scores `times` as often and each time that much less: equal means of unlike scores.
    """

    def draw(random: Generator, clusters: Codes) -> tuple[Floats, Floats]:
        shares = share * (1 + random.uniform(-spread, spread, (2, clusters.max() + 1)))[:, clusters]
        sizes = random.random((2, len(clusters)))
        return hits(random, shares[0]) * sizes[0], hits(random, times * shares[1]) * sizes[1] / times

    return Scores(mean=share / 2, diff=0.0, draw=draw)


def rescues(share: float) -> Scores:
    """The baseline is always wrong, the variant right on a share of the samples."""

    def draw(random: Generator, clusters: Codes) -> tuple[Floats, Floats]:
        return np.zeros(len(clusters)), hits(random, np.full(len(clusters), share))

    return Scores(mean=0.0, diff=share, draw=draw)


def alone(samples: int, *, cells: int = 1) -> Groups:
    """Every sample a cluster of its own."""
    return np.arange(samples) % cells, np.arange(samples)


def videos(*sizes: int, cells: int = 1) -> Groups:
    """Clusters of these sizes, their samples spread over the cells."""
    clusters = clusters_of(sizes)
    return np.arange(len(clusters)) % cells, clusters


def tiny_cells() -> Groups:
    """Fourteen cells of 2 to 6 samples."""
    cells = np.repeat(np.arange(14), [2, 3, 4, 5, 6, 2, 3] * 2)
    return cells, np.arange(len(cells))


def shuffled(groups: Groups) -> Groups:
    """The same cells, crossed by the clusters at random."""
    return groups[0], np.random.default_rng(0).permutation(groups[1])


def nested(sizes: Sequence[Sequence[int]]) -> Groups:
    """Cells that share no cluster, from the sizes of each one's clusters."""
    cells = np.repeat(np.arange(len(sizes)), [sum(of_cell) for of_cell in sizes])
    return cells, clusters_of([size for of_cell in sizes for size in of_cell])


def unequal(videos_n: int) -> Groups:
    """Videos of some 10 samples, their sizes log-normal (deviation 0.8), fixed."""
    sizes = 10 * np.exp(np.random.default_rng(7 + videos_n).normal(0, 0.8, videos_n))
    return videos(*np.maximum(1, np.round(sizes)).astype(int))


DIFFERS = right_or_wrong(spread=0.2)
GRADED = mostly_zero(spread=0.8)
STUDIES: dict[str, tuple[Groups, Scores]] = {
    "60 independent samples": (alone(60), right_or_wrong()),
    "28 samples in 14 subsets": (alone(28, cells=14), right_or_wrong()),
    "420 samples in 14 subsets": (alone(420, cells=14), right_or_wrong()),
    "14 subsets of 2 to 6 samples": (tiny_cells(), right_or_wrong()),
    **{f"one subset of {n}": (alone(n), right_or_wrong()) for n in (2, 4, 6)},
    "20 videos × 7, effect differs by video": (videos(*[7] * 20), DIFFERS),
    "60 videos × 7": (videos(*[7] * 60), DIFFERS),
    "8 videos × 20": (videos(*[20] * 8), DIFFERS),
    "5 videos × 20": (videos(*[20] * 5), DIFFERS),
    "14 subsets × 20 in 40 videos": (shuffled(videos(*[7] * 40, cells=14)), DIFFERS),
    "50 single samples and one video of 30": (videos(30, *[1] * 50), DIFFERS),
    "20 videos, two of them holding 80 of 130 samples": (videos(40, 40, *[3] * 14, *[2] * 4), DIFFERS),
    "graded, 85 % zero: 60 independent samples": (alone(60), mostly_zero()),
    "graded, 85 % zero: 14 subsets of 2 to 6 samples": (tiny_cells(), mostly_zero()),
    **{f"graded, half zero: one subset of {n}": (alone(n), mostly_zero(0.5)) for n in (2, 4, 6)},
    "graded, 85 % zero: 20 videos × 7": (videos(*[7] * 20), GRADED),
    "graded, 85 % zero: 14 subsets × 20 in 40 videos": (shuffled(videos(*[7] * 40, cells=14)), GRADED),
    "graded, variant four times as often a fourth: 60 samples": (alone(60), mostly_zero(times=4)),
    "graded, variant five times as often a fifth: 30 samples": (alone(30), mostly_zero(0.1, times=5)),
    **{
        f"{n} unequal videos, kin correlate by {icc}, {100 * mean:.0f} % right": (unequal(n), kin(mean, icc))
        for n, icc, mean in (
            (5, 0.3, 0.45),
            (8, 0.3, 0.45),
            (12, 0.1, 0.45),
            (20, 0.3, 0.45),
            (20, 0.2, 0.15),
            (40, 0.2, 0.1),
        )
    },
    "300 videos × 10": (videos(*[10] * 300), DIFFERS),
    "2,000 independent samples": (alone(2000), right_or_wrong()),
    "+5 points, the margin itself: 2,000 independent samples": (alone(2000), right_or_wrong(diff=0.05)),
    "equal answers: 2,000 samples in 30 videos": (videos(*[67] * 20, *[66] * 10), equal()),
    "equal answers: 300 samples in 20 videos": (videos(*[15] * 20), equal()),
    "+15 points: 60 independent samples": (alone(60), right_or_wrong(diff=0.15)),
    "+15 points: 20 videos × 7": (videos(*[7] * 20), right_or_wrong(diff=0.15, spread=0.2)),
    "+15 points: 14 subsets × 20 in 40 videos": (
        shuffled(videos(*[7] * 40, cells=14)),
        right_or_wrong(diff=0.15, spread=0.2),
    ),
    "5 % fixed, none regressed: 60 samples": (alone(60), rescues(0.05)),
    "15 % fixed, none regressed: 20 videos × 7": (videos(*[7] * 20), rescues(0.15)),
    "95 % fixed, none regressed: 60 samples": (alone(60), rescues(0.95)),
}


def shares(groups: Groups, scores: Scores, *, rounds: int, seed: int) -> list[float]:
    """Of so many studies: rejected, claimed, difference covered, mean covered, called no effect."""
    random, grouping = np.random.default_rng(seed), design(*groups)
    counted = np.zeros(5)
    for _ in range(rounds):
        baseline, variant = scores.draw(random, groups[1])
        found, mean = compare(baseline, variant, grouping), mean_score(baseline, grouping)
        verdict, _ = judge(found, p_adjusted=found.p, loss=None, margin=MARGIN)
        counted += (
            found.p is not None and found.p < 0.05,
            verdict in ("helps", "hurts"),
            found.ci95 is not None and found.ci95[0] <= scores.diff <= found.ci95[1],
            mean.ci95 is not None and mean.ci95[0] <= scores.mean <= mean.ci95[1],
            verdict == "no_effect",
        )
    return [float(share) for share in counted / rounds]


Subsets = tuple[Groups, float]  # and the spread of their differences
SUBSETS: dict[str, Subsets] = {
    f"{kind}, {100 * tau:.0f} points apart": (groups, tau)
    for kind, groups in {
        "4 subsets of 6 clusters of 4": nested([[4] * 6] * 4),
        "7 subsets of 3 to 12 clusters of 1 to 8": nested(
            [[1 + i % 8 for i in range(3 * k)] for k in (1, 2, 3, 4) * 2][:7]
        ),
        "14 subsets of 6 clusters of 4": nested([[4] * 6] * 14),
        "14 subsets crossed by 12 clusters": videos(*[28] * 12, cells=14),
    }.items()
    for tau in (0.02, 0.15)
}


def pooled_shares(subsets: Subsets, *, rounds: int, seed: int) -> list[float]:
    """Of so many studies: subsets covered by their own interval, and after pooling; the ratio of widths."""
    (cells, clusters), tau = subsets
    random, counted = np.random.default_rng(seed), np.zeros(4)
    codes = range(int(cells.max()) + 1)
    groupings = [
        design(np.zeros(int(np.sum(cells == code)), np.intp), clusters[cells == code]) for code in codes
    ]
    for _ in range(rounds):
        truth = 0.05 + tau * 3**0.5 * random.uniform(-1, 1, len(codes))
        by_cluster = random.uniform(-0.15, 0.15, (2, int(clusters.max()) + 1))[:, clusters]
        chance = 0.45 + by_cluster[0] / 2 + random.uniform(-0.1, 0.1, len(cells))
        moved = np.clip(chance + truth[cells] + by_cluster[1], 0, 1)
        before, then = hits(random, chance), hits(random, moved)
        of_cells = [compare(before[cells == code], then[cells == code], groupings[code]) for code in codes]
        own = np.array([each.ci95 for each in of_cells])
        errors = np.maximum([each.se or 0.0 for each in of_cells], (own[:, 1] - own[:, 0]) / 2 / 1.96)
        pooled = partial_pooling([each.diff for each in of_cells], errors.tolist())
        if pooled is None:
            continue
        after = np.array(pooled.ci95)
        for at, ends in enumerate((own, after)):
            counted[at] += float(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])))
            counted[2 + at] += float(np.mean(ends[:, 1] - ends[:, 0]))
    return [counted[0] / rounds, counted[1] / rounds, counted[3] / counted[2]]


def main() -> None:
    """Print the tables."""
    heads = ("Design", "p < 0.05", "claimed", "difference covered", "mean covered", "no effect")
    simulate(__doc__, heads, STUDIES, lambda study, **given: shares(*study, **given), rounds=4000)
    simulate(
        __doc__, ("Subsets", "own covers", "pooled covers", "width"), SUBSETS, pooled_shares, rounds=2000
    )


if __name__ == "__main__":
    main()
