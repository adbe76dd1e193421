"""The paired difference of two arms over the same samples, and the ratio of two paired means."""

from dataclasses import dataclass, field

import numpy as np

from gnomon.statistics.bootstrap import t_draws
from gnomon.statistics.design import ICC, Design, Floats
from gnomon.statistics.estimate import Estimate, t_quantile
from gnomon.statistics.mean import RARE, is_binary, is_rare
from gnomon.statistics.permutation import mcnemar_midp, sign_flip_p
from gnomon.statistics.reach import (
    DirichletPart,
    DrawnPart,
    GainsPart,
    NullPart,
    Part,
    Reach,
    StudentPart,
)

CHECK_BELOW = 50  # effective clusters: below this the t test is checked by sign flips
FEW_PAIRS, MANY_CLUSTERS = 200, 200  # from here on large samples need no special interval
LEVELS = (0.95, 0.90)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Variant minus baseline. Intervals and p are None where fewer than two clusters hold samples.

    `interval_method` and `test` name what the numbers beside them come from. `check_p` is the sign-flip p
    beside a t test of fewer than 50 clusters, or of more that a few dominate.
    """

    diff: float
    ci95: tuple[float, float] | None
    ci90: tuple[float, float] | None
    interval_method: str
    p: float | None
    test: str
    check_p: float | None
    n: int
    clusters: int
    se: float | None = None
    reach: Reach | None = field(default=None, repr=False, compare=False)  # its interval at any level


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A ratio of means with its 95 % interval."""

    value: float
    ci95: tuple[float, float]


def compare(baseline: Floats, variant: Floats, grouping: Design, *, resamples: bool = True) -> Comparison:
    """Compare two arms' scores in [0, 1], sample by sample, by the rule that docs/statistics.md tabulates.

    Without `resamples` Student's t takes the place of the cluster bootstrap-t, in an eighth of the time.

    p: mid-p McNemar for 0/1 scores in one equally weighted sample a cluster; sign flips where few clusters
    change at all; else the cluster-robust t. Interval: see `_parts`; it holds zero where the test does not
    reject zero. *Few* is fewer than ten clusters, and at most half of them.
    """
    d = variant - baseline
    alike = max(ICC, grouping.icc(baseline), grouping.icc(variant))
    estimate = grouping.estimate(d, limits=(-1.0, 1.0), icc=alike)
    is_pairs = grouping.is_plain and is_binary(baseline) and is_binary(variant)
    rare = estimate.is_flat or is_rare(d, grouping)
    test, p, check_p = _test(d, grouping, estimate, is_pairs=is_pairs, rare=rare)
    reach = None
    if estimate.se is not None and p is not None:
        can_draw = resamples and not rare
        parts, method = _parts(
            d, grouping, estimate, icc=alike, is_pairs=is_pairs, rare=rare, can_draw=can_draw
        )
        of_baseline = grouping.influence(baseline)
        reach = Reach(
            parts=[*parts, NullPart(estimate.value, p)],
            method=method,
            estimate=estimate,
            baseline_variance=float(of_baseline @ of_baseline),
            covariance=float(of_baseline @ grouping.influence(d)),
        )
    ci95, ci90 = (reach.ends(level) if reach else None for level in LEVELS)
    return Comparison(
        diff=estimate.value,
        ci95=ci95,
        ci90=ci90,
        interval_method=reach.method if reach else "none: fewer than two clusters",
        p=p,
        test=test,
        check_p=check_p,
        n=estimate.n,
        clusters=estimate.clusters,
        se=estimate.se,
        reach=reach,
    )


def _test(
    d: Floats, grouping: Design, estimate: Estimate, *, is_pairs: bool, rare: bool
) -> tuple[str, float | None, float | None]:
    if estimate.se is None:
        return "none: fewer than two clusters", None, None
    if is_pairs:
        return "mid-p McNemar", mcnemar_midp(int(np.sum(d > 0)), int(np.sum(d < 0))), None
    sums = grouping.sums(d)
    if rare:
        return "cluster sign-flip", sign_flip_p(sums), None
    check_p = sign_flip_p(sums) if estimate.effective_clusters < CHECK_BELOW else None
    return "cluster-robust t", estimate.p_value(), check_p


def _parts(
    d: Floats,
    grouping: Design,
    estimate: Estimate,
    *,
    icc: float,
    is_pairs: bool,
    rare: bool,
    can_draw: bool,
) -> tuple[list[Part], str]:
    """What the intervals are made of, and its name: the first of these methods that fits.

    Fewer than 200 pairs of 0/1 scores: paired Dirichlet. Graded scores, 10 to 199 clusters in every stratum:
    cluster bootstrap-t. Else Student's t. Where few clusters gain, or lose, or stay below the greatest
    change, it also holds the interval made of Wilson's for the gains and for the losses.
    """
    part: Part
    if is_pairs and grouping.n < FEW_PAIRS:
        part = DirichletPart(int(np.sum(d > 0)), int(np.sum(d < 0)), grouping.n)
        method, widens = "paired Dirichlet", _is_full(d, grouping)
    else:
        draws = _draws(d, grouping) if can_draw else None
        part = StudentPart(estimate) if draws is None else DrawnPart(estimate, draws)
        method = "cluster-robust t" if draws is None else "cluster bootstrap-t"
        widens = rare or _is_lopsided(d, grouping)
    if widens and d.any():
        return [part, _gains_minus_losses(d, grouping, icc)], f"{method} and gains minus losses"
    return [part], method


def _draws(d: Floats, grouping: Design) -> Floats | None:
    """The bootstrap's draws where scores are graded and every stratum has 10 to 199 clusters."""
    if grouping.clusters_n >= MANY_CLUSTERS or is_binary(np.abs(d)) or grouping.fewest_clusters < RARE:
        return None
    return t_draws(d, grouping)


def _is_lopsided(d: Floats, grouping: Design) -> bool:
    """Whether gains or losses are there but rare, or nearly all samples change by the whole scale."""
    sides = (np.maximum(d, 0.0), np.maximum(-d, 0.0))
    return any(side.any() and is_rare(side, grouping) for side in sides) or _is_full(d, grouping)


def _is_full(d: Floats, grouping: Design) -> bool:
    """Whether few clusters, but some, change by less than the whole scale."""
    return any(rest.any() and is_rare(rest, grouping) for rest in (1.0 - d, 1.0 + d))


def _gains_minus_losses(d: Floats, grouping: Design, icc: float) -> GainsPart:
    """What the interval of gains minus losses is made of."""
    gains, losses = np.maximum(d, 0.0), np.maximum(-d, 0.0)
    of_gains, of_losses = grouping.influence(gains), grouping.influence(losses)
    size = float(np.sqrt((of_gains @ of_gains) * (of_losses @ of_losses)))
    return GainsPart(
        gain=grouping.estimate(gains, limits=(0.0, 1.0), icc=icc),
        loss=grouping.estimate(losses, limits=(0.0, 1.0), icc=icc),
        is_rare=(is_rare(gains, grouping), is_rare(losses, grouping)),
        correlation=float(of_gains @ of_losses) / size if size > 0 else 0.0,
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
    covariance = float(grouping.influence(top) @ grouping.influence(bottom))
    centre = value - g * covariance / below.se**2 if below.se > 0 else value
    inner = above.se**2 - 2 * value * covariance + value**2 * below.se**2
    if below.se > 0:
        inner -= g * (above.se**2 - covariance**2 / below.se**2)
    half = quantile / abs(below.value) * max(inner, 0.0) ** 0.5
    return Ratio(value=value, ci95=((centre - half) / (1 - g), (centre + half) / (1 - g)))
