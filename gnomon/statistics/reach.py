"""How far chance reaches around a difference: its interval at any level, and the test of equivalence.

An interval has one or more parts, each a way to make its ends; the wider end of each counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import stdtr

from gnomon.statistics.bisection import bisect
from gnomon.statistics.design import Floats
from gnomon.statistics.dirichlet import dirichlet_interval, dirichlet_tail
from gnomon.statistics.equivalence import Limits
from gnomon.statistics.estimate import FLAT, Ends, Estimate, t_quantile
from gnomon.statistics.mean import share_interval

HALVINGS = 40  # of the search for the level at which an interval fills a range
FEW_DRAWS = 10  # beyond a quantile: fewer do not tell where it is


class Part(Protocol):
    """One way to make an interval."""

    def ends(self, level: float) -> Ends:
        """The interval at this level."""
        ...

    def outside(self, low: float, high: float) -> float:
        """The p of two one-sided tests of the difference being at most `low`, or at least `high`."""
        ...


@dataclass(frozen=True, slots=True)
class Reach:
    """The intervals of one difference."""

    parts: Sequence[Part]
    method: str
    estimate: Estimate
    baseline_variance: float  # of the baseline's mean
    covariance: float  # of the difference and the baseline's mean

    def ends(self, level: float) -> Ends:
        """The interval at this level."""
        ends = [part.ends(level) for part in self.parts]
        return min(end[0] for end in ends), max(end[1] for end in ends)

    def outside(self, limits: Limits) -> float:
        """The p of equivalence: below α where the interval of level 1 − 2α is within the limits.

        Two one-sided tests (Schuirmann 1987). Where the limits move with the baseline's mean, its own error
        counts as well: the test is of the difference less the limit, by the delta method. 1 where the limits
        hold no zero.
        """
        if not limits.low < 0 < limits.high:
            return 1.0
        return max(
            *(part.outside(*limits.ends) for part in self.parts),
            self._beyond(self.estimate.value - limits.low, limits.low_slope),
            self._beyond(limits.high - self.estimate.value, limits.high_slope),
        )

    def _beyond(self, room: float, slope: float) -> float:
        """The one-sided p of a limit that moves by `slope`; 0 of one that does not."""
        if slope == 0 or self.estimate.se is None:
            return 0.0
        own = self.estimate.se**2 - 2 * slope * self.covariance + slope**2 * self.baseline_variance
        se = max(own, 0.0) ** 0.5
        return float(stdtr(self.estimate.df or 1.0, -room / se)) if se > FLAT else float(room <= 0)


@dataclass(frozen=True, slots=True)
class StudentPart:
    """The cluster-robust t interval."""

    estimate: Estimate

    def ends(self, level: float) -> Ends:
        """Student's interval, cut to the scale."""
        return self.estimate.around(t_quantile(level, self.estimate.df or 1.0), level)

    def outside(self, low: float, high: float) -> float:
        """One-sided t tests; where all samples agree, by the interval."""
        estimate = self.estimate
        if estimate.is_flat or estimate.se is None:
            return filled(self, low, high)
        room = min(estimate.value - low, high - estimate.value)
        return float(stdtr(estimate.df or 1.0, -room / estimate.se))


@dataclass(frozen=True, slots=True)
class DrawnPart:
    """The cluster bootstrap-t; `draws` are sorted values of |mean* − mean| / se*."""

    estimate: Estimate
    draws: Floats

    def ends(self, level: float) -> Ends:
        """The draws' quantile takes the place of Student's, and is no smaller where few draws are beyond."""
        quantile = float(np.quantile(self.draws, level))
        if (1.0 - level) * len(self.draws) < FEW_DRAWS:
            quantile = max(quantile, t_quantile(level, self.estimate.df or 1.0))
        return self.estimate.around(quantile, level)

    def outside(self, low: float, high: float) -> float:
        """Half the share of draws beyond the nearer end of the range."""
        estimate = self.estimate
        if estimate.is_flat or estimate.se is None:
            return filled(self, low, high)
        room = min(estimate.value - low, high - estimate.value) / estimate.se
        if room <= 0:
            return 1.0
        beyond = len(self.draws) - int(np.searchsorted(self.draws, room))
        p = (1 + beyond) / (1 + len(self.draws)) / 2
        return max(p, float(stdtr(estimate.df or 1.0, -room))) if beyond < FEW_DRAWS else p


@dataclass(frozen=True, slots=True)
class NullPart:
    """The range from the difference to zero where the test does not reject zero; else the difference alone.

    So no interval leaves out a zero that the p beside it keeps, at any level.
    """

    value: float
    p: float

    def ends(self, level: float) -> Ends:
        """Zero is in it where p is at least 1 − level."""
        if self.p < 1.0 - level - FLAT:
            return self.value, self.value
        return min(self.value, 0.0), max(self.value, 0.0)

    def outside(self, low: float, high: float) -> float:
        """0 if the difference is within the range, else 1; the other parts measure chance."""
        return 0.0 if low < self.value < high else 1.0


@dataclass(frozen=True, slots=True)
class DirichletPart:
    """The posterior of pairs of right and wrong answers."""

    rescued: int
    broken: int
    n: int

    def ends(self, level: float) -> Ends:
        """The central part of the posterior."""
        return dirichlet_interval(self.rescued, self.broken, self.n, level)

    def outside(self, low: float, high: float) -> float:
        """The posterior's share beyond the range, on the side where it is greater."""
        return dirichlet_tail(self.rescued, self.broken, self.n, low, high)


@dataclass(frozen=True, slots=True)
class GainsPart:
    """Mean gain minus mean loss, from Wilson's intervals of the two.

    Squares-and-add with correlation (Zou and Donner 2008); the correlation is that of the influences.
    """

    gain: Estimate
    loss: Estimate
    is_rare: tuple[bool, bool]  # whether few clusters gain, or lose
    correlation: float

    def ends(self, level: float) -> Ends:
        """Both intervals, put together, and cut to the scale."""
        gain_low, gain_high = share_interval(self.gain, level, is_rare=self.is_rare[0])
        loss_low, loss_high = share_interval(self.loss, level, is_rare=self.is_rare[1])
        down, up = self.gain.value - gain_low, gain_high - self.gain.value
        loss_down, loss_up = self.loss.value - loss_low, loss_high - self.loss.value
        below = max(down**2 + loss_up**2 - 2 * self.correlation * down * loss_up, 0.0) ** 0.5
        above = max(up**2 + loss_down**2 - 2 * self.correlation * up * loss_down, 0.0) ** 0.5
        diff = self.gain.value - self.loss.value
        return max(-1.0, diff - below), min(1.0, diff + above)

    def outside(self, low: float, high: float) -> float:
        """By the interval."""
        return filled(self, low, high)


def filled(part: Part, low: float, high: float) -> float:
    """The least α at which the interval of level 1 − 2α is within the range; 1 where none is.

    >>> from scipy.special import ndtr
    >>> none = Estimate(
    ...     value=0.0,
    ...     se=0.0,
    ...     df=9,
    ...     n=40,
    ...     clusters=10,
    ...     effective_clusters=10,
    ...     effective_samples=40,
    ...     limits=(-1, 1),
    ... )
    >>> z = (40 * 0.05 / 0.95) ** 0.5
    >>> bool(abs(filled(StudentPart(none), -0.05, 0.05) - ndtr(-z)) < 1e-6)
    True
    """

    def is_within(alpha: float) -> bool:
        ends = part.ends(1.0 - 2.0 * alpha)
        return low < ends[0] and ends[1] < high

    return max(bisect(is_within, 0.0, 0.5, halvings=HALVINGS)[1], FLAT) if is_within(0.5) else 1.0
