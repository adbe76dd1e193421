"""The paired difference of two arms over the same samples, and the ratio of two paired means."""

from dataclasses import dataclass, field
from functools import cached_property

from gnomon.statistics.bounded import BoundedLikelihood
from gnomon.statistics.design import Design, Floats
from gnomon.statistics.estimate import Ends, Estimate, t_quantile
from gnomon.statistics.mean import is_binary
from gnomon.statistics.permutation import ENUMERATED, SignFlips
from gnomon.statistics.reach import Reach

INTERVAL = "inverted sign-flip and bounded likelihood"
FEW = "none: fewer than two clusters"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Variant minus baseline. Intervals and p are None where fewer than two clusters hold samples.

    `interval_method` and `test` name what the numbers beside them come from.
    """

    diff: float
    interval_method: str
    p: float | None
    test: str
    n: int
    clusters: int
    se: float | None
    reach: Reach | None = field(repr=False, compare=False)  # its interval at any level

    @cached_property
    def ci95(self) -> Ends | None:
        """The 95 % interval."""
        return self.reach.ends(0.95) if self.reach else None

    @cached_property
    def ci90(self) -> Ends | None:
        """The 90 % interval."""
        return self.reach.ends(0.90) if self.reach else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A ratio of means with its 95 % interval."""

    value: float
    ci95: tuple[float, float]


def compare(baseline: Floats, variant: Floats, grouping: Design) -> Comparison:
    """Compare two arms' scores in [0, 1], sample by sample, by the one test of docs/statistics.md.

    No difference is rejected where both parts reject it: the sign flips of whole clusters, and the bounded
    likelihood, which asks what changes that were not seen could do. The interval holds every difference that
    is not rejected, so that it leaves out zero just where p is below 0.05.
    """
    d = variant - baseline
    estimate = grouping.estimate(d, limits=(-1.0, 1.0))
    if estimate.se is None:
        return _comparison(estimate, None, p=None, test=FEW, interval_method=FEW)
    flips, bounded = SignFlips.of(d, grouping), BoundedLikelihood.of(baseline, variant, grouping)
    reach = Reach(
        parts=[flips, bounded],
        estimate=estimate,
        baseline_variance=grouping.covariance(baseline, baseline),
        covariance=grouping.covariance(baseline, d),
    )
    # Of few clusters the own pattern counts whole, so that p is larger than McNemar's.
    is_pairs = grouping.is_plain and is_binary(baseline) and is_binary(variant)
    of_flips = "mid-p McNemar" if is_pairs and len(flips.errors) > ENUMERATED else flips.name
    p, test = max((flips.p(), of_flips), (bounded.p(), bounded.name), key=lambda part: part[0])
    return _comparison(estimate, reach, p=p, test=test, interval_method=INTERVAL)


def _comparison(
    estimate: Estimate, reach: Reach | None, *, p: float | None, test: str, interval_method: str
) -> Comparison:
    return Comparison(
        diff=estimate.value,
        interval_method=interval_method,
        p=p,
        test=test,
        n=estimate.n,
        clusters=estimate.clusters,
        se=estimate.se,
        reach=reach,
    )


def ratio_of_means(top: Floats, bottom: Floats, grouping: Design, *, level: float = 0.95) -> Ratio | None:
    """mean(top) / mean(bottom) with Fieller's interval (1954), its covariances robust to clusters.

    None where the bottom's interval holds zero, as the ratio may then be anything, or with fewer than two
    clusters.
    """
    limits = (-float("inf"), float("inf"))
    above = grouping.estimate(top, limits=limits)
    below = grouping.estimate(bottom, limits=limits)
    if above.se is None or below.se is None or above.df is None or below.value == 0:
        return None
    quantile = t_quantile(level, above.df)
    g = (quantile * below.se / below.value) ** 2
    if g >= 1:
        return None
    value = above.value / below.value
    covariance = grouping.covariance(top, bottom)
    centre = value - g * covariance / below.se**2 if below.se > 0 else value
    inner = above.se**2 - 2 * value * covariance + value**2 * below.se**2
    if below.se > 0:
        inner -= g * (above.se**2 - covariance**2 / below.se**2)
    half = quantile / abs(below.value) * max(inner, 0.0) ** 0.5
    return Ratio(value=value, ci95=((centre - half) / (1 - g), (centre + half) / (1 - g)))
