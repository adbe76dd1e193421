"""How far chance reaches around a difference: one test of every null, its interval, and equivalence.

A null is rejected where each part of the test rejects it, so an interval holds all that one of them keeps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from scipy.special import stdtr

from gnomon.statistics.bisection import bisect
from gnomon.statistics.equivalence import Limits
from gnomon.statistics.estimate import FLAT, Ends, Estimate

HALVINGS = 20  # of the way from the difference to the end of the scale: an end is exact to 2e-6


class Part(Protocol):
    """One part of the test."""

    def p(self, null: float) -> float:
        """Two-sided p of the difference being `null`; it falls on both sides of the difference."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The test of one difference against any null."""

    parts: Sequence[Part]
    estimate: Estimate
    baseline_variance: float  # of the baseline's mean
    covariance: float  # of the difference and the baseline's mean

    def p(self, null: float = 0.0) -> float:
        """Two-sided p of the difference being `null`."""
        return max(part.p(null) for part in self.parts)

    def ends(self, level: float) -> Ends:
        """The nulls that are not rejected at 1 − `level`."""
        alpha = 1.0 - level
        low, high = self._end(-1.0, alpha), self._end(1.0, alpha)
        if self.p(0.0) >= alpha:  # where clusters are equal p may jump at 0
            low, high = min(low, 0.0), max(high, 0.0)
        return low, high

    def _end(self, side: float, alpha: float) -> float:
        end = min(max(self.estimate.value, -1.0), 1.0)
        for part in self.parts:
            if part.p(side) >= alpha:
                return side
            if part.p(end) >= alpha:  # a part that rejects here keeps nothing further out
                end = _last_kept(part, alpha, side, end)
        return end

    def outside(self, limits: Limits) -> float:
        """The p of equivalence: below α where the interval of level 1 − 2α is within the limits.

        Two one-sided tests (Schuirmann 1987). Where the limits move with the baseline's mean, its own error
        counts as well: the test is of the difference less the limit, by the delta method. 1 where the limits
        hold no zero.
        """
        value = self.estimate.value
        if not limits.low < 0 < limits.high or not limits.low < value < limits.high:
            return 1.0
        return max(
            self.p(limits.low) / 2.0,
            self.p(limits.high) / 2.0,
            self._beyond(value - limits.low, limits.low_slope),
            self._beyond(limits.high - value, limits.high_slope),
        )

    def above(self, low: float) -> float:
        """The one-sided p of the difference being `low` or less."""
        p = self.p(low) / 2.0
        return p if self.estimate.value > low else 1.0 - p

    def _beyond(self, room: float, slope: float) -> float:
        """The one-sided p of a limit that moves by `slope`; 0 of one that does not."""
        if slope == 0 or self.estimate.se is None:
            return 0.0
        own = self.estimate.se**2 - 2 * slope * self.covariance + slope**2 * self.baseline_variance
        se = max(own, 0.0) ** 0.5
        return float(stdtr(self.estimate.df or 1.0, -room / se)) if se > FLAT else float(room <= 0)


def _last_kept(part: Part, alpha: float, rejected: float, kept: float) -> float:
    """The null furthest out that the part keeps, between one that it rejects and one that it keeps."""
    return bisect(lambda null: part.p(null) >= alpha, rejected, kept, halvings=HALVINGS)[1]
