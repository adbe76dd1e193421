"""Tests whether a difference is the same in all subsets, where samples come in clusters."""

from dataclasses import dataclass

import numpy as np

from gnomon.statistics.design import ICC, Codes, Design, Floats, dense
from gnomon.statistics.estimate import FLAT

SEED = 20_260_103
DRAWS = 1_999
FEWEST_CLUSTERS = 6  # of fewer there are too few ways to turn their signs
MANY_CLUSTERS = 1_000  # from here on the sums over clusters are drawn from a normal distribution
TEST = "Cochran's Q, restricted wild cluster bootstrap"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heterogeneity:
    """Whether subsets differ in their difference: `p` of all being the same, from `q`; both are None where
    fewer than two subsets or six clusters hold samples. `low` and `high` are the least and the greatest
    difference of a subset.
    """

    subsets: int
    clusters: int
    q: float | None
    p: float | None
    low: float
    high: float


def heterogeneity(d: Floats, cells: Codes, grouping: Design) -> Heterogeneity:
    """Test differences `d` by sample, in subsets `cells`, for being the same in all of these.

    Q is the weighted sum of squares of the subsets' differences about their common one. A subset weighs what
    its samples are worth if those of a cluster correlate as they are seen to, so that none whose samples
    agree counts as exact. Q is compared with that of residuals from the common difference, whose clusters'
    signs are turned at random: clusters may cross subsets, lie in one, and be of any size.
    """
    cells = dense(cells)
    subsets = int(cells.max()) + 1
    sizes = np.bincount(cells).astype(np.float64)
    means = np.bincount(cells, d) / sizes
    low, high = float(means.min()), float(means.max())
    clusters = min(factor.clusters_n for factor in grouping.factors)
    if subsets < 2 or clusters < FEWEST_CLUSTERS:
        return Heterogeneity(subsets=subsets, clusters=clusters, q=None, p=None, low=low, high=high)
    worth = _worth(cells, grouping, max(ICC, grouping.icc(d)), sizes)
    common = float(worth @ means / worth.sum())
    weights = worth / sizes / worth.sum()
    sums = [_sums((d - common) / sizes[cells], weights[cells], cells, factor) for factor in grouping.factors]
    if grouping.crossed:  # as in Design.errors: signs of both factors' sums, together as far as both vary
        both = _sums((d - common) / sizes[cells], weights[cells], cells, grouping.crossed[1])
        first, second, of_both = (float(np.sum(part**2 @ worth)) for part in (*sums, both))
        share = max(first + second - of_both, first, second) / max(first + second, FLAT)
        sums = [part * share**0.5 for part in sums]
    drawn = _drawn(np.concatenate(sums))
    q, others = (float(_q(means[None, :], worth)[0]), _q(drawn, worth))
    p = float((1 + np.count_nonzero(others >= q * (1.0 - 1e-9) - FLAT)) / (1 + DRAWS))
    return Heterogeneity(subsets=subsets, clusters=clusters, q=q, p=p, low=low, high=high)


def _sums(residuals: Floats, weights: Floats, cells: Codes, factor: Design) -> Floats:
    """Clusters × subsets; a residual lacks what its cluster has taken the common difference to itself."""
    shares = np.bincount(factor.clusters, weights)
    residuals = residuals / np.sqrt(1.0 - shares)[factor.clusters]
    subsets = int(cells.max()) + 1
    at = factor.clusters * subsets + cells
    sums = np.bincount(at, residuals, minlength=factor.clusters_n * subsets).astype(np.float64)
    return sums.reshape(factor.clusters_n, subsets)


def _worth(cells: Codes, grouping: Design, icc: float, sizes: Floats) -> Floats:
    """By subset, how many independent samples its own are worth (Kish)."""
    squares = np.full(len(sizes), (1.0 - len(grouping.factors)) * sizes)
    for factor in grouping.factors:
        both = np.unique(factor.clusters * len(sizes) + cells, return_counts=True)
        squares += np.bincount(both[0] % len(sizes), both[1].astype(np.float64) ** 2, minlength=len(sizes))
    return np.asarray(sizes**2 / ((1.0 - icc) * sizes + icc * squares), np.float64)


def _drawn(sums: Floats) -> Floats:
    """Differences of subsets, draws × subsets, from sums of residuals, clusters × subsets."""
    random = np.random.default_rng(SEED)
    if len(sums) < MANY_CLUSTERS:
        signs = random.integers(0, 2, size=(DRAWS, len(sums))) * 2.0 - 1.0
        return np.asarray(signs @ sums, np.float64)
    values, vectors = np.linalg.eigh(sums.T @ sums)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(random.standard_normal((DRAWS, len(values))) @ root.T, np.float64)


def _q(means: Floats, worth: Floats) -> Floats:
    """Cochran's Q of each row of means."""
    common = means @ worth / worth.sum()
    return np.asarray((means - common[:, None]) ** 2 @ worth, np.float64)
