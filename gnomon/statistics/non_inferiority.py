"""Whether a share of right answers may have fallen by a margin, from the pairs that changed.

The score test for paired shares (Tango 1998): the variance is that of the likeliest chances under which the
share has fallen by just the margin, so that the test keeps its level also where few answers change.
"""

from scipy.special import ndtr

from gnomon.statistics.bisection import bisect
from gnomon.statistics.estimate import FLAT

HALVINGS = 40


def fall_p(rescued: int, broken: int, n: int, margin: float) -> float:
    """The one-sided p of a fall by `margin` or more: of `n` pairs `rescued` became right, `broken` wrong.

    >>> round(fall_p(3, 3, 100, 0.1), 4), round(fall_p(0, 10, 100, 0.1), 2)
    (0.0021, 0.5)
    """
    chance = _broken_chance(rescued, broken, n, margin)
    variance = (2.0 * chance - margin - margin**2) / n
    room = (rescued - broken) / n + margin
    if variance <= FLAT:
        return 0.0 if room > 0 else 1.0
    return float(ndtr(-room / variance**0.5))


def _broken_chance(rescued: int, broken: int, n: int, margin: float) -> float:
    """The likeliest chance of a right answer to become wrong, if that to become right is lower by the margin.

    The likelihood's derivative is zero at a root of a quadratic; the greater root is the one within bounds.
    """
    square = -2.0 * n
    linear = broken * (1.0 + 3.0 * margin) + rescued * (1.0 + margin) + 2.0 * (n - rescued - broken) * margin
    constant = -broken * margin * (1.0 + margin)
    root = max(linear**2 - 4.0 * square * constant, 0.0) ** 0.5
    return float(min(max((-linear - root) / (2.0 * square), margin), (1.0 + margin) / 2.0))


def least_margin(rescued: int, broken: int, n: int, *, alpha: float) -> float:
    """The least margin by which the share has not fallen, at this level; 1 where there is none.

    >>> margin = least_margin(3, 3, 100, alpha=0.05)
    >>> round(margin, 3), bool(fall_p(3, 3, 100, margin + 0.001) < 0.05 < fall_p(3, 3, 100, margin - 0.001))
    (0.047, True)
    """
    lowest = max((broken - rescued) / n, 0.0)
    if fall_p(rescued, broken, n, 1.0) >= alpha:
        return 1.0
    return bisect(lambda margin: fall_p(rescued, broken, n, margin) < alpha, lowest, 1.0, halvings=HALVINGS)[
        1
    ]
