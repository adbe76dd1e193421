"""The interval of a difference between few pairs of right and wrong answers, by a Dirichlet posterior."""

import functools

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from gnomon.statistics.root import root

PRIOR = 0.5  # of each of the four joint outcomes: Jeffreys' choice
NODES = 256


@functools.lru_cache(maxsize=4096)
def dirichlet_interval(rescued: int, broken: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """The central posterior interval of (share rescued − share broken) of `n` independent pairs.

    The joint outcomes (both right, both wrong, rescued, broken) have a Dirichlet prior of 1/2 each. Of its
    posterior only two independent Beta variables matter: the share S that flips, and the part R of it that is
    rescued; the difference is S (2R − 1). Its distribution is summed over equally likely S, so nothing is
    drawn and swapping the arms turns the signs exactly. The ends are moved, where need be, to hold the
    observed difference, and where no pair flipped, or all did the same way, to what a share seen in none of n
    may still be: 1 − tail^(1/n) (Brown, Cai and DasGupta 2001).

    >>> [round(end, 3) for end in dirichlet_interval(0, 0, 30)]
    [-0.116, 0.116]

    Raises:
        ValueError: more pairs flipped than there are, or there are none.
    """
    if min(rescued, broken) < 0 or n < 1 or rescued + broken > n:
        raise ValueError(f"{rescued} rescued and {broken} broken do not fit into {n} pairs")
    if rescued < broken:
        low, high = dirichlet_interval(broken, rescued, n, level)
        return -high, -low
    flipped = _flipped(rescued + broken, n)

    def quantile(share: float) -> float:
        return root(lambda at: _below(at, flipped, rescued, broken) - share, -1.0, 1.0, xtol=1e-10)

    tail = (1 - level) / 2
    unseen = 1 - tail ** (1 / n)
    if rescued == broken == 0:
        return -unseen, unseen
    observed = (rescued - broken) / n
    low = min(quantile(tail), observed, 1 - unseen if rescued == n else 1.0)
    return low, -low if rescued == broken else max(quantile(1 - tail), observed)


def dirichlet_tail(rescued: int, broken: int, n: int, low: float, high: float) -> float:
    """The greater of the posterior's shares at most `low` and at least `high`.

    Half of 1 − level for the interval that just fills the range, also where no pair flipped.

    >>> round(dirichlet_tail(0, 0, 60, -0.05, 0.05), 3), round(0.95**60, 3)
    (0.046, 0.046)
    """
    if rescued == broken == 0:
        return float(max(1.0 + low, 1.0 - high) ** n)
    flipped = _flipped(rescued + broken, n)
    tail = max(_below(low, flipped, rescued, broken), 1.0 - _below(high, flipped, rescued, broken))
    return tail if low < (rescued - broken) / n < high else max(tail, 0.5)


def _flipped(flips: int, n: int) -> NDArray[np.float64]:
    """Equally likely values of the share that flips."""
    ranks = (np.arange(NODES) + 0.5) / NODES
    shares: NDArray[np.float64] = betaincinv(flips + 2 * PRIOR, n - flips + 2 * PRIOR, ranks)
    return shares


def _below(difference: float, flipped: NDArray[np.float64], rescued: int, broken: int) -> float:
    """The posterior's share below a difference."""
    part = np.clip((difference / flipped + 1) / 2, 0.0, 1.0)
    return float(np.mean(betainc(rescued + PRIOR, broken + PRIOR, part)))
