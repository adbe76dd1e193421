"""Draws whole clusters again (the cluster bootstrap), so that samples of one cluster stay together."""

from functools import lru_cache

import numpy as np

from gnomon.statistics.design import Floats

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


def central(draws: Floats, level: float = 0.95) -> tuple[float, float]:
    """The central part of the draws: the percentile interval."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
