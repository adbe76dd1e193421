"""The bounded likelihood of a mean: what changes that were not seen could do to it.

Values lie between −1 and 1. Of all distributions on that range with mean θ₀, which gives the data the most
likelihood, and by how much less than they have themselves (the empirical likelihood ratio, Owen 1988, with
the ends of the range allowed as values)? A loss of two points on each of 60 questions is made good by a rare
gain of the whole scale: such a gain would go unseen in 60 questions in 3 of 10 studies, so that nothing can
be claimed, however regular the losses are.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from gnomon.statistics.design import ICC, Design, Floats
from gnomon.statistics.estimate import FLAT

LARGE, SEEN = 0.5, 5  # changes of half the scale in so many clusters tell how alike such changes are at least
ALIKE = 0.05  # else samples of a cluster correlate at least by this …
REGULAR = 10.0  # … and more where all change alike: mean² / (mean² + 10 · variance)
STEPS, CLOSE = 60, 1e-12  # of the search for the stake, by the most that there is
MOST_VALUES = 512
INNER = 1.0 - 1e-9  # of a range, so that no value makes the likelihood zero


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoundedLikelihood:
    """The test of a weighted mean of values in [−1, 1]; sizes are how many independent ones they are."""

    values: Floats  # distinct
    weights: Floats  # sum to 1
    size: float
    size_unseen: float  # the same of changes that were not seen

    name = "bounded likelihood"

    @classmethod
    def of(cls, baseline: Floats, variant: Floats, grouping: Design) -> "BoundedLikelihood":
        """The test of the mean difference of two arms' scores."""
        d = variant - baseline
        values, at = np.unique(d, return_inverse=True)
        if len(values) > MOST_VALUES:  # of many, neighbours count as one
            at = at * MOST_VALUES // len(values)
        weights = np.bincount(at, grouping.weights).astype(np.float64)
        values = np.bincount(at, grouping.weights * d) / weights
        alike = grouping.icc(d) if d.any() else max(ICC, grouping.icc(baseline), grouping.icc(variant))
        size, size_unseen = map(grouping.effective_samples, (alike, _alike_unseen(d, grouping, alike)))
        return cls(values=values, weights=weights, size=size, size_unseen=size_unseen)

    def p(self, null: float = 0.0) -> float:
        """Two-sided p of the mean being `null`.

        The likeliest distribution gives a share q to the end of the range that was not seen, or none. What
        was seen has (1 − q)ⁿ times the likelihood that it has without that share; twice the log ratio of the
        rest has a χ² distribution with one degree of freedom. So p is the chance not to have seen that end,
        times the p of the rest.

        >>> sizes = {"size": 60, "size_unseen": 60}
        >>> regular = BoundedLikelihood(values=np.array([-0.02]), weights=np.array([1.0]), **sizes)
        >>> round(regular.p(), 2), round(1.02**-60, 2)
        (0.3, 0.3)
        """
        errors = self.values - null
        shift = float(self.weights @ errors)
        if abs(shift) < FLAT:
            return 1.0
        if abs(null) >= 1.0:
            return 0.0
        side = 1.0 if shift > 0 else -1.0
        errors = side * errors
        most = INNER / (1.0 + side * null)  # the stake at which a change to the far end would cost nearly all

        least = errors / (1.0 + most * errors)
        is_unseen = float(self.weights @ least) >= 0.0
        stake = most if is_unseen else _likeliest(errors, self.weights, most)
        ratio = float(self.weights @ np.log1p(stake * errors))
        share = min(most * float(self.weights @ least), INNER)
        unseen = -float(np.log1p(-share)) if is_unseen else 0.0
        rest = chdtrc(1.0, 2.0 * self.size * max(ratio - unseen, 0.0))
        return float(np.exp(-self.size_unseen * unseen) * rest)


def _likeliest(errors: Floats, weights: Floats, most: float) -> float:
    """The stake from 0 to `most` at which Σ w·log(1 + stake·error) is largest; at `most` it falls.

    Newton's steps, and halvings where one would leave the range.
    """
    low, high, stake = 0.0, most, most / 2.0
    for _ in range(STEPS):
        gains = errors / (1.0 + stake * errors)
        slope = float(weights @ gains)
        low, high = (stake, high) if slope >= 0.0 else (low, stake)
        step = slope / float(weights @ gains**2)
        stake, before = stake + step, stake
        if not low <= stake <= high:
            stake = (low + high) / 2.0
        if abs(stake - before) <= CLOSE * most:
            break
    return stake


def _alike_unseen(d: Floats, grouping: Design, alike: float) -> float:
    """How alike changes as large as those that were not seen would be within a cluster.

    As `alike` as the differences that were seen. Unless changes of half the scale were seen in enough
    clusters, at least by 0.05, and the more the less the differences vary beside their mean: if all questions
    lose the same two points, they say no more of what is rare than one question of each cluster does.
    """
    if all(factor.clusters_with(np.abs(d) >= LARGE) >= SEEN for factor in grouping.factors):
        return alike
    mean = grouping.mean(d)
    scatter = REGULAR * float(grouping.weights @ (d - mean) ** 2)
    return max(ALIKE, alike, mean**2 / (mean**2 + scatter) if d.any() else 0.0)
