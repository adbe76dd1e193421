"""Computes exactly what intervals of differences can do if almost no answer is right."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from bench.simulated import grouping_of
from gnomon.statistics.estimate import normal_quantile, wilson
from gnomon.statistics.paired import compare

Interval = Callable[[int, int, int], tuple[float, float]]
PARTS = 50  # the middles of so many equal parts stand for all rates
UNLIKELY = 1e-7  # chances below this are left out


def bonett_price(rescued: int, broken: int, n: int) -> tuple[float, float]:
    """Wald's interval with one pair added to each kind of flip (Bonett and Price 2012)."""
    up, down = (rescued + 1) / (n + 2), (broken + 1) / (n + 2)
    half = normal_quantile(0.95) * ((up + down - (up - down) ** 2) / (n + 2)) ** 0.5
    return max(-1.0, up - down - half), min(1.0, up - down + half)


def tango(rescued: int, broken: int, n: int) -> tuple[float, float]:
    """The differences that the score test does not reject (Tango 1998)."""
    z, observed = normal_quantile(0.95), (rescued - broken) / n

    def excess(difference: float) -> float:
        b = -rescued - broken + (2 * n - rescued + broken) * difference
        c = -broken * difference * (1 - difference)
        share = ((max(b * b - 8 * n * c, 0.0)) ** 0.5 - b) / (4 * n)
        variance = n * (2 * share + difference * (1 - difference))
        return float((n * (observed - difference)) ** 2 - z * z * variance)

    edge = 1 - 1e-9
    low = -1.0 if observed <= -edge else brentq(excess, -edge, observed)
    return low, 1.0 if observed >= edge else brentq(excess, observed, edge)


@cache
def ours(rescued: int, broken: int, n: int) -> tuple[float, float]:
    """The interval of a report."""
    baseline = np.array([0.0] * rescued + [1.0] * broken + [0.0] * (n - rescued - broken))
    variant = np.array([1.0] * rescued + [0.0] * (n - rescued))
    ends = compare(baseline, variant, grouping_of(np.arange(n))).ci95
    return ends or (-1.0, 1.0)


def flips(n: int, up: float, down: float) -> Iterator[tuple[int, int, float]]:
    """Every likely number of rescued and broken pairs, with its chance."""
    for rescued, first in enumerate(binom.pmf(np.arange(n + 1), n, up)):
        left = n - rescued
        for broken, then in enumerate(binom.pmf(np.arange(left + 1), left, down / (1 - up))):
            if first * then > UNLIKELY:
                yield rescued, broken, float(first * then)


def rates(most: float, *, parts: int = PARTS) -> list[float]:
    """The rates that stand for all from 0 to `most`."""
    return [most * (at + 0.5) / parts for at in range(parts)]


def difference_covered(method: Interval, n: int, effect: float, baselines: Sequence[float]) -> float:
    """How often the effect lies inside the interval, averaged over the baseline's rates."""
    covered = []
    for rate in baselines:
        up, down = (rate + effect) * (1 - rate), rate * (1 - rate - effect)
        inside = 0.0
        for rescued, broken, chance in flips(n, up, down):
            low, high = method(rescued, broken, n)
            inside += chance * (low <= effect <= high)
        covered.append(inside)
    return float(np.mean(covered))


def rate_covered(n: int, effect: float, baselines: Sequence[float]) -> float:
    """How often Wilson's interval holds the variant's rate, averaged over the baseline's."""
    ends = np.array([wilson(right / n, n) for right in range(n + 1)])
    covered = []
    for rate in baselines:
        true = rate + effect
        inside = (ends[:, 0] <= true) & (true <= ends[:, 1])
        covered.append(float(binom.pmf(np.arange(n + 1), n, true) @ inside))
    return float(np.mean(covered))


def told_apart(n: int, least: int, up: float, down: float) -> float:
    """The chance that at least so many pairs flip, all of them the same way."""
    one_way = ((up, down), (down, up))
    return float(sum((1 - b) ** n * binom.sf(least - 1, n, a / (1 - b)) for a, b in one_way))


def worst_error(n: int, least: int, shares: Sequence[float]) -> float:
    """The most that such a rule errs where arms are equal, over shares of pairs that flip each way."""
    return max(told_apart(n, least, share, share) for share in shares)
