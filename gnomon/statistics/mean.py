"""The mean score of one arm, with an interval that holds where scores are near 0 or 1."""

from dataclasses import dataclass

import numpy as np

from gnomon.statistics.design import Design, Floats
from gnomon.statistics.estimate import Ends, Estimate, normal_quantile, t_quantile, wilson

RARE = 10  # with fewer clusters than this on one side, an interval around the mean is too short


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanScore:
    """A mean in [0, 1] and its 95 % interval; None of fewer than two clusters."""

    mean: float
    ci95: tuple[float, float] | None
    n: int
    clusters: int
    method: str  # how the interval was made


def mean_score(scores: Floats, grouping: Design) -> MeanScore:
    """The design's mean of scores in [0, 1].

    Wilson's interval: where scores are 0 or 1 and independent, of their number; else at the effective sample
    size p(1 − p)/se² with Student's quantile (Korn and Graubard 1998; Franco and others 2019).
    """
    estimate = grouping.estimate(scores, limits=(0.0, 1.0))
    if estimate.se is None:
        interval, method = None, "none: fewer than two clusters"
    elif grouping.is_plain and is_binary(scores):
        interval, method = wilson(estimate.value, estimate.n), "Wilson"
    else:
        few = is_rare(scores, grouping) or is_rare(1.0 - scores, grouping)
        interval, method = share_interval(estimate, 0.95, is_rare=few), "Wilson at the effective sample size"
    return MeanScore(
        mean=estimate.value, ci95=interval, n=estimate.n, clusters=estimate.clusters, method=method
    )


def ratio_score(passed: Floats, of: Floats, grouping: Design) -> MeanScore:
    """The share Σ `passed` / Σ `of` over samples that count differently, such as checks of plans.

    The ratio is linearized (Kish 1965; Woodruff 1971): a sample's value is the share and its residual
    (passed − share · of) over the mean of `of`, so that clusters enter as in a mean. Where all samples count
    alike it is `mean_score`. `grouping` has one stratum.

    Raises:
        ValueError: nothing is counted.
    """
    if not np.any(of > 0.0):
        raise ValueError("a share of nothing")
    if np.ptp(of) == 0.0:
        return mean_score(passed / of, grouping)
    estimate = grouping.estimate(linearized(passed, of), limits=(0.0, 1.0))
    interval = None
    if estimate.se is not None:
        few = is_rare(passed, grouping) or is_rare(of - passed, grouping)
        interval = share_interval(estimate, 0.95, is_rare=few)
    return MeanScore(
        mean=estimate.value,
        ci95=interval,
        n=estimate.n,
        clusters=estimate.clusters,
        method="linearized ratio, Wilson at the effective sample size"
        if interval
        else "none: fewer than two clusters",
    )


def linearized(passed: Floats, of: Floats) -> Floats:
    """By sample a value whose mean is Σ `passed` / Σ `of`, and whose scatter is that of the ratio.

    >>> linearized(np.array([1.0, 2.0]), np.array([2.0, 2.0])).tolist()
    [0.5, 1.0]
    """
    share = passed.sum() / of.sum()
    values: Floats = share + (passed - share * of) / of.mean()
    return values


def filled_in(values: Floats, grouping: Design) -> Floats:
    """Values without gaps, whose mean in each stratum is that of the known ones and scatters as it does.

    The mean of what is known is a ratio, linearized about itself; a stratum without any has the mean of all.

    >>> from gnomon.statistics.design import design
    >>> four = design(np.zeros(4, np.intp), np.arange(4))
    >>> filled_in(np.array([1.0, 0.0, 0.5, np.nan]), four).round(2).tolist()
    [1.17, -0.17, 0.5, 0.5]
    """
    is_known = np.isfinite(values)
    if is_known.all():
        return values
    strata_n = int(grouping.strata.max()) + 1
    known = np.bincount(grouping.strata, is_known, minlength=strata_n)
    sums = np.bincount(grouping.strata, np.where(is_known, values, 0.0), minlength=strata_n)
    means = np.where(known > 0, sums / np.maximum(known, 1), np.mean(values[is_known]))
    further = np.bincount(grouping.strata, minlength=strata_n) / np.maximum(known, 1)
    centre = means[grouping.strata]
    residuals = np.where(is_known, values - centre, 0.0) * further[grouping.strata]
    return np.asarray(centre + residuals, np.float64)


def is_binary(values: Floats) -> bool:
    """Whether all values are 0 or 1."""
    return bool(np.all((values == 0.0) | (values == 1.0)))


def is_rare(values: Floats, grouping: Design) -> bool:
    """Whether fewer than ten clusters, and at most half of them, hold a value that is not zero."""
    holds = values != 0.0
    return any(
        factor.clusters_with(holds) < min(RARE, factor.clusters_n / 2 + 0.5) for factor in grouping.factors
    )


def share_interval(estimate: Estimate, level: float, *, is_rare: bool) -> Ends:
    """Wilson's interval of a mean in [0, 1] at its effective sample size, with Student's quantile.

    Needs an estimate with a standard error. Where it is flat, each sample counts as what it is worth among
    its kin; where it is rare, so few clusters show how alike these are that it counts as no more than that.
    """
    if estimate.se is None or estimate.df is None:
        raise ValueError("no interval from fewer than two clusters")
    share = min(max(estimate.value, 0.0), 1.0)
    if estimate.is_flat:
        return wilson(share, estimate.effective_samples, quantile=normal_quantile(level))
    n = max(share * (1 - share), 1e-12) / estimate.se**2
    n = min(n, estimate.effective_samples) if is_rare else n
    return wilson(share, n, quantile=t_quantile(level, estimate.df))
