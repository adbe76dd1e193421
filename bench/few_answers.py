"""Computes exactly what intervals can do if almost no answer is right; for docs/statistics.md.

    python -m bench.few_answers [--pairs 30] [--most 0.05]

The baseline is right on a share of the pairs drawn evenly from 0 to `--most`, the variant on that and an
effect, both independently. Prints, by effect, how often the difference lies inside the 95 % interval of three
methods, and how often an arm's rate lies inside its own.

Then how rarely the truth can be missed at all where there is no effect: a rule that tells the arms apart from
so many rescued and none broken (or the reverse) on errs in some share of studies whose arms are equal; at the
rate where it errs most, that share must not be above 6 %.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from bench.simulated import grouping_of
from bench.tables import head_of, line_of, parser_of, tell
from gnomon.statistics.estimate import normal_quantile, wilson
from gnomon.statistics.paired import compare

Interval = Callable[[int, int, int], tuple[float, float]]
EFFECTS = (0.0, 0.05, 0.1, 0.2, 0.3)
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


METHODS: dict[str, Interval] = {
    "Gnomon": ours,
    "Tango": tango,
    "Bonett and Price": bonett_price,
}


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


def main() -> None:
    """Print both tables."""
    parser = parser_of(__doc__)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--most", type=float, default=0.05)
    options = parser.parse_args()
    n, baselines = options.pairs, rates(options.most)
    tell(head_of(["Effect, points", *METHODS, "rate, Wilson"]))
    for effect in EFFECTS:
        covered = [difference_covered(method, n, effect, baselines) for method in METHODS.values()]
        covered.append(rate_covered(n, effect, baselines))
        tell(line_of([f"{100 * effect:+.0f}", *(f"{share:.3f}" for share in covered)]))
    tell("\n" + head_of(["Told apart from", "errs at most", "tells apart here"]))
    for least in (3, 4, 5):
        worst = worst_error(n, least, np.linspace(0.005, 0.1, 39).tolist())
        shares = [rate * (1 - rate) for rate in baselines]
        here = np.mean([told_apart(n, least, share, share) for share in shares])
        tell(line_of([f"{least} : 0", f"{worst:.3f}", f"{here:.3f}"]))


if __name__ == "__main__":
    main()
