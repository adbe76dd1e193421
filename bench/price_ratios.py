"""Measures how often the interval of a ratio of tokens holds the true ratio; prints a table.

    python -m bench.price_ratios [--rounds 2000] [--seed 1] [--only TEXT]

Each row simulates so many jobs of two arms whose ratio of mean tokens is known by construction. Tokens are
log-normal, more alike within a cluster; `runaways` are trials that take 20 times as many, as an agent in a
loop does. Prints the share of intervals that hold the ratio, and of those that end below it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bench.simulated import clusters_of, grouping_of, hits, simulate
from gnomon.statistics.design import Codes, Floats
from gnomon.statistics.paired import ratio_of_means

LONGER = 20.0  # times the tokens of other trials: a runaway


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Sizes of clusters, the true ratio, the scatter of a trial's logarithm, and the share of runaways."""

    sizes: tuple[int, ...]
    ratio: float
    scatter: float = 0.5
    runaways: float = 0.0


UNEQUAL = (40, 30, 20, 10, 10, 5, 5, 4, 3, 2, 2, 2, 1, 1, 1)
JOBS = {
    "60 single questions, half the tokens": Spending(sizes=(1,) * 60, ratio=0.5),
    "20 clusters of 7, half the tokens": Spending(sizes=(7,) * 20, ratio=0.5, scatter=0.6),
    "8 clusters of 10, 3 times": Spending(sizes=(10,) * 8, ratio=3.0, scatter=0.6),
    "15 unequal clusters, 1.2 times": Spending(sizes=UNEQUAL, ratio=1.2),
    "40 single questions, 3 times, 5 % runaways": Spending(
        sizes=(1,) * 40, ratio=3.0, scatter=0.4, runaways=0.05
    ),
    "400 single questions, 3 times, 5 % runaways": Spending(
        sizes=(1,) * 400, ratio=3.0, scatter=0.4, runaways=0.05
    ),
}


def tokens(spending: Spending, clusters: Codes, random: Generator) -> tuple[Floats, Floats]:
    """Tokens of baseline and variant by question; the variant's mean is the baseline's times the ratio."""

    def factor() -> Floats:
        """Factors of mean 1."""
        own = random.normal(0.0, spending.scatter, len(clusters))
        shared = random.normal(0.0, spending.scatter / 2, len(spending.sizes))[clusters]
        return np.asarray(np.exp(own + shared - 0.625 * spending.scatter**2))

    of_question = 100.0 * factor()
    runs = hits(random, np.full(len(clusters), spending.runaways)) * (LONGER - 1.0) + 1.0
    runs /= 1.0 + spending.runaways * (LONGER - 1.0)
    return of_question * factor(), spending.ratio * of_question * factor() * runs


def shares(spending: Spending, *, rounds: int, seed: int) -> list[float]:
    """Of so many jobs: the ratio within its interval, and above it. Without an interval it is held."""
    random, clusters = np.random.default_rng(seed), clusters_of(spending.sizes)
    grouping, counted = grouping_of(clusters), np.zeros(2)
    for _ in range(rounds):
        baseline, variant = tokens(spending, clusters, random)
        ratio = ratio_of_means(variant, baseline, grouping)
        low, high = ratio.ci95 if ratio else (0.0, np.inf)
        counted += (low <= spending.ratio <= high, high < spending.ratio)
    return [float(share) for share in counted / rounds]


def main() -> None:
    """Print the table."""
    simulate(__doc__, ("Jobs", "held", "interval below it"), JOBS, shares, rounds=2000)


if __name__ == "__main__":
    main()
