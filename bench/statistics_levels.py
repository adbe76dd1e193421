"""Levels: how often a comparison errs where the truth is known; the table of docs/statistics.md.

    python bench/statistics_levels.py [--rounds 2000] [--seed 1]

Each row simulates that many studies of one design. An error of 5 % is what is promised; the last column is the
Monte Carlo standard error at 5 %.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gnomon.report.verdict import judge
from gnomon.statistics.design import design
from gnomon.statistics.mean import mean_score
from gnomon.statistics.paired import compare

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
Scores = tuple[Floats, Floats]  # baseline, variant


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A design with its truth: the scores' expected difference, and the baseline's expected mean."""

    name: str
    cells: Codes
    clusters: Codes
    draw: Callable[[Generator, Codes], Scores]
    diff: float
    mean: float


def answers(rate: float, *, gain: float = 0.0, spread: float = 0.0) -> Callable[[Generator, Codes], Scores]:
    """0/1 scores around `rate`; the gain varies by cluster with standard deviation `spread`.

    The samples' difficulty is shared by the arms; all chances stay within [0, 1], so means are exact.
    """

    def draw(random: Generator, clusters: Codes) -> Scores:
        reach = min(rate, 1 - rate - gain) / 2
        hard = random.uniform(-reach, reach, len(clusters))
        room = min(reach, spread * 3**0.5)
        by_cluster = random.uniform(-room, room, clusters.max() + 1)[clusters]
        chance = rate + hard
        return _flip(random, chance), _flip(random, chance + gain + by_cluster)

    return draw


def graded(
    some: float, *, more: float = 1.0, spread: float = 0.0
) -> Callable[[Generator, Codes], Scores]:
    """Overlaps: zero but for a share `some`; the variant has `more` times as many, each as much smaller.

    So the means are equal where the distributions are not. `spread` is how far the share varies by cluster,
    as a part of it.
    """

    def draw(random: Generator, clusters: Codes) -> Scores:
        shares = some * (1 + random.uniform(-spread, spread, (2, clusters.max() + 1)))
        raw = _flip(random, shares[0][clusters]) * random.random(len(clusters))
        tools = _flip(random, more * shares[1][clusters]) * random.random(len(clusters)) / more
        return raw, tools

    return draw


def rescues(share: float) -> Callable[[Generator, Codes], Scores]:
    """The baseline is always wrong, the variant right on a share."""

    def draw(random: Generator, clusters: Codes) -> Scores:
        chances = np.full(len(clusters), share)
        return np.zeros(len(clusters)), _flip(random, chances)

    return draw


def _flip(random: Generator, chances: Floats) -> Floats:
    return (random.random(len(chances)) < chances).astype(np.float64)
