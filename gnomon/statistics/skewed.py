"""A t test of a mean over clusters that counts how skewed their sums are."""

from dataclasses import dataclass
from math import copysign

import numpy as np
from scipy.special import stdtr

from gnomon.statistics.design import Design, Floats
from gnomon.statistics.estimate import FLAT, Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class SkewedT:
    """Student's t of a mean, corrected for the skewness of its error (Hall 1992).

    If all of a fall lies in few clusters, a study that saw too few of these also shows too small an error,
    so that t reaches too far on the side where nothing fell. On that side alone the test asks for more.
    """

    estimate: Estimate
    skewness: float

    name = "t, corrected for skewness"

    @classmethod
    def of(cls, values: Floats, grouping: Design, estimate: Estimate) -> "SkewedT":
        """The test of the design's mean of `values`."""
        errors, _ = grouping.errors(values)
        spread = float(np.sum(errors**2)) ** 0.5
        skewness = float(np.sum(errors**3)) / spread**3 if spread > FLAT else 0.0
        return cls(estimate=estimate, skewness=skewness)

    def p(self, null: float) -> float:
        """Two-sided p of the mean being `null`.

        >>> of = {"n": 40, "clusters": 8, "effective_clusters": 8, "effective_samples": 8, "limits": (-1, 1)}
        >>> skewed = SkewedT(estimate=Estimate(value=-0.02, se=0.02, df=7, **of), skewness=-0.5)
        >>> round(skewed.p(-0.07), 3), round(skewed.p(0.03), 3)
        (0.172, 0.007)
        """
        shift, se = self.estimate.value - null, self.estimate.se or 0.0
        if abs(shift) <= FLAT:
            return 1.0
        if se <= FLAT:
            return 0.0
        t, g = shift / se, self.skewness
        corrected = t + g * t**2 / 3.0 + g**2 * t**3 / 27.0 + g / 6.0
        return min(1.0, float(2.0 * stdtr(self.estimate.df or 1.0, -copysign(1.0, shift) * corrected)))
