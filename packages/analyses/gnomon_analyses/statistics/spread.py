"""How far the means of several conditions over the same samples lie apart, beyond what chance alone gives."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, ncfdtr

from gnomon.statistics.bisection import bisect
from gnomon.statistics.design import Design, Floats
from gnomon.statistics.estimate import FLAT

HALVINGS = 60  # of the interval in which a non-centrality is sought


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionSpread:
    """Standard deviations over conditions, in units of the score; those beside `observed` are of its parts.

    `by_chance` is what equal conditions would show on average, `beyond` what is left of the observed one,
    with its 95 % interval; `p` tests that all conditions are equal.
    """

    conditions: int
    n: int
    clusters: int
    observed: float
    by_chance: float
    beyond: float
    ci95: tuple[float, float] | None
    p: float | None


def spread(means: Sequence[Floats], grouping: Design) -> ConditionSpread:
    """The spread of the design's means of each condition's scores, one array a condition.

    With k conditions and G clusters, V is the variance of the k means and C its mean under equal conditions:
    the mean variance of their errors about their common part, from the clusters' influences. F = V / C is
    referred to F(k − 1, G − 1); the interval of the true spread √(λ C / (k − 1)) turns the non-central F
    around (Steiger and Fouladi 1997). Exact where errors of all pairs of conditions vary alike, normal and
    independent between clusters.
    """
    k = len(means)
    levels = np.array([grouping.mean(values) for values in means])
    observed = float(np.var(levels, ddof=1))
    common = np.mean(means, axis=0)
    apart = [values - common for values in means]
    chance = sum(grouping.covariance(each, each) for each in apart) / (k - 1)
    df = min(factor.clusters_n for factor in grouping.factors) - 1.0
    is_known = df > 0 and chance > FLAT**2
    f = observed / chance if is_known else 0.0
    return ConditionSpread(
        conditions=k,
        n=grouping.n,
        clusters=grouping.clusters_n,
        observed=observed**0.5,
        by_chance=chance**0.5,
        beyond=max(observed - chance, 0.0) ** 0.5,
        ci95=_interval(f, k - 1.0, df, chance) if is_known else None,
        p=float(fdtrc(k - 1.0, df, f)) if is_known else None,
    )


def _interval(f: float, dfn: float, dfd: float, chance: float) -> tuple[float, float]:
    low, high = (_noncentrality(f, dfn, dfd, share) for share in (0.975, 0.025))
    return (low * chance / dfn) ** 0.5, (high * chance / dfn) ** 0.5


def _noncentrality(f: float, dfn: float, dfd: float, share: float) -> float:
    """The non-centrality at which F stays below `f` with this probability; 0 where none is so low."""

    def excess(noncentrality: float) -> float:
        return float(ncfdtr(dfn, dfd, noncentrality, f)) - share

    if f <= 0.0 or excess(0.0) <= 0.0:
        return 0.0
    most = 10.0
    while excess(most) > 0.0 and most < 1e7:
        most *= 2.0
    return bisect(lambda value: not excess(value) > 0.0, 0.0, most, halvings=HALVINGS)[1]
