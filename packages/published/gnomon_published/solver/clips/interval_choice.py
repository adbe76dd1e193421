"""Chooses the interval with the largest expected overlap with a stay of uncertain start and length."""

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from gnomon_published.solver.clips.answer import Interval

SHARES = 9  # each doubt is taken at the middles of so many equal shares of its distribution
STARTS, ENDS = 9, 21  # so many quantiles of all starts and ends are tried

_MIDDLES = (np.arange(SHARES) + 0.5) / SHARES
_NORMAL = np.array([NormalDist().inv_cdf(share) for share in _MIDDLES])
_EXPONENTIAL = -np.log1p(-_MIDDLES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """How unsure a forecast is: of its start (normal), of its length (log-normal), of pauses (exponential).

    `start_s` and `pause_s` are a standard deviation and a mean in seconds, `length` a standard deviation of
    the logarithm.
    """

    start_s: float
    length: float
    pause_s: float


def hedged(start_s: float, end_s: float, doubts: Doubts) -> Interval:
    """The interval with the largest expected overlap (intersection over union) with the true stay.

    The true stay begins at `start_s` ± `doubts.start_s` and lasts as long as forecast times a log-normal
    factor, and one pause longer. Without doubts the answer is the forecast itself. Doubts make it longer:
    what is missed of a long stay costs more than what is added to a short one.

    >>> [round(end, 1) for end in hedged(10.0, 20.0, Doubts(start_s=0.0, length=0.0, pause_s=0.0))]
    [10.0, 20.0]
    >>> start_s, end_s = hedged(10.0, 12.0, Doubts(start_s=2.0, length=0.5, pause_s=3.0))
    >>> start_s < 10.0, end_s > 13.0
    (True, True)
    """
    if not (doubts.start_s or doubts.length or doubts.pause_s):
        return start_s, end_s
    before_s, after_s = _around(round(max(end_s - start_s, 0.1), 2), doubts)
    return start_s + before_s, start_s + after_s


@lru_cache(maxsize=4096)
def _around(length_s: float, doubts: Doubts) -> Interval:
    late, factor, pause = np.meshgrid(
        doubts.start_s * _NORMAL, np.exp(doubts.length * _NORMAL), doubts.pause_s * _EXPONENTIAL
    )
    starts = late.ravel()
    ends = starts + (length_s * factor + pause).ravel()
    tried = np.meshgrid(_quantiles(starts, STARTS), _quantiles(ends, ENDS))
    begin, end = (each.ravel()[:, None] for each in tried)
    shared = np.clip(np.minimum(end, ends) - np.maximum(begin, starts), 0.0, None)
    overlap = (shared / (np.maximum(end, ends) - np.minimum(begin, starts))).mean(axis=1)
    best = int(np.where(end[:, 0] > begin[:, 0], overlap, -math.inf).argmax())
    return float(begin[best, 0]), float(end[best, 0])


def _quantiles(values: "np.typing.NDArray[np.float64]", count: int) -> "np.typing.NDArray[np.float64]":
    return np.quantile(values, np.linspace(0.0, 1.0, count))
