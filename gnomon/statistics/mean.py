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


def is_binary(values: Floats) -> bool:
    """Whether all values are 0 or 1."""
    return bool(np.all((values == 0.0) | (values == 1.0)))


def is_rare(values: Floats, grouping: Design) -> bool:
    """Whether fewer than ten clusters, and at most half of them, hold a value that is not zero."""
    clusters = len(np.unique(grouping.clusters[values != 0.0]))
    return clusters < RARE and clusters <= grouping.clusters_n / 2


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
