"""Draws whole clusters again (the cluster bootstrap), so that samples of one cluster stay together."""

from functools import lru_cache

import numpy as np

from gnomon.statistics.design import Design, Floats
from gnomon.statistics.estimate import FLAT

SEED = 20_260_102
DRAWS = 999
KEPT = 200  # clusters up to which the counts are kept: at most 13 MB


def cluster_counts(clusters_n: int, draws: int = DRAWS) -> Floats:
    """How often each cluster is drawn: draws × clusters, from a fixed seed; each row sums to `clusters_n`."""
    return _kept_counts(clusters_n, draws) if clusters_n <= KEPT else _drawn_counts(clusters_n, draws)


def _drawn_counts(clusters_n: int, draws: int) -> Floats:
    random = np.random.default_rng(SEED)
    chances = np.full(clusters_n, 1.0 / clusters_n)
    counts = random.multinomial(clusters_n, chances, size=draws).astype(np.float64)
    counts.flags.writeable = False
    return counts


_kept_counts = lru_cache(maxsize=8)(_drawn_counts)  # drawing them takes longer than all that follows


def t_draws(values: Floats, grouping: Design) -> Floats | None:
    """|mean* − mean| / se* over samples drawn by cluster, sorted: their quantiles replace Student's t.

    Symmetric, so that swapping two arms only turns signs (Hall 1988; by cluster Cameron, Gelbach and Miller
    2008). None where fewer than nine in ten draws hold every stratum and some spread.
    """
    strata_n = int(grouping.strata.max()) + 1
    at = grouping.clusters * strata_n + grouping.strata
    shape, size = (grouping.clusters_n, strata_n), grouping.clusters_n * strata_n
    sums = np.bincount(at, values, minlength=size).reshape(shape)
    sizes = np.bincount(at, minlength=size).reshape(shape).astype(np.float64)
    counts = cluster_counts(grouping.clusters_n)
    drawn = counts @ sizes
    holds_all = np.all(drawn > 0, axis=1)
    counts, drawn = counts[holds_all], drawn[holds_all]
    means = (counts @ sums) / drawn
    errors = (1.0 / drawn) @ sums.T - (means / drawn) @ sizes.T  # by draw and cluster: its influence
    scale = grouping.clusters_n / (grouping.clusters_n - 1.0)
    se = np.sqrt(scale * np.sum(counts * errors**2, axis=1)) / strata_n
    varies = se > FLAT
    if np.sum(varies) < 0.9 * DRAWS:
        return None
    return np.sort(np.abs(np.mean(means[varies], axis=1) - grouping.mean(values)) / se[varies])


def drawn_means(values: Floats, grouping: Design, draws: int = DRAWS) -> Floats:
    """The plain mean of `values` (last axis: samples) in each draw of clusters; draws come first.

    Every sample weighs the same here, whatever the design's strata. For figures without a formula of their
    own: ratios, differences of pass^k.

    >>> from gnomon.statistics.design import design
    >>> two = design(np.array([0, 0]), np.array([0, 1]))
    >>> sorted(set(drawn_means(np.array([0.0, 1.0]), two).tolist()))
    [0.0, 0.5, 1.0]
    """
    values = np.atleast_2d(values)
    sums = np.stack([np.bincount(grouping.clusters, row, minlength=grouping.clusters_n) for row in values])
    counts = cluster_counts(grouping.clusters_n, draws)
    sizes = counts @ np.bincount(grouping.clusters, minlength=grouping.clusters_n)
    means: Floats = (counts @ sums.T) / sizes[:, None]
    return means[:, 0] if len(values) == 1 else means


def central(draws: Floats, level: float = 0.95) -> tuple[float, float]:
    """The central part of the draws: the percentile interval."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
