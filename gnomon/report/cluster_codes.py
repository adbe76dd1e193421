"""Numbers the clusters of samples by each factor that makes them kin."""

from collections.abc import Sequence

import numpy as np

from gnomon.core.clusters import cluster_names
from gnomon.statistics.design import Codes, Design, design


def cluster_codes(names: Sequence[str], codes: Codes) -> tuple[Codes, Codes | None]:
    """By sample its cluster, and that by a second factor, or None; `codes` are places in `names`.

    Clusters come in the order of their names, then samples without a name: each is its own. Of more than two
    factors the two with the fewest clusters count.

    >>> names = ['["a","t"]', '["a","u"]', '["b","t"]']
    >>> [each.tolist() for each in cluster_codes(names, np.arange(3))]
    [[0, 0, 1], [0, 1, 0]]
    >>> cluster_codes(["", "a"], np.array([1, 0, 1, 0]))[0].tolist()
    [0, 1, 0, 2]
    """
    by_factor = [cluster_names(name) for name in names]
    factors_n = max((len(each) for each in by_factor), default=1)
    factors = [[each[at] if len(each) > at else "" for each in by_factor] for at in range(max(factors_n, 1))]
    fewest = sorted(range(len(factors)), key=lambda at: len(set(factors[at])))[:2]
    by_sample = [_codes(factors[at], codes) for at in sorted(fewest)]
    return by_sample[0], by_sample[1] if len(by_sample) > 1 else None


def plain_design(clusters: Sequence[str]) -> Design:
    """Samples that weigh the same, from what names the clusters of each by every factor.

    >>> by_scene_and_template = plain_design(['["a","t"]', '["a","u"]', '["b","t"]'])
    >>> by_scene_and_template.clusters_n, by_scene_and_template.crossed[0].clusters_n
    (2, 2)
    """
    first, second = cluster_codes(clusters, np.arange(len(clusters)))
    return design(np.zeros_like(first), first, second)


def _codes(names: Sequence[str], codes: Codes) -> Codes:
    rank = {name: at for at, name in enumerate(sorted({*names} - {""}))}
    ranks = np.array([rank.get(name, -1) for name in names], dtype=np.intp)[codes]
    is_alone = ranks < 0
    return np.where(is_alone, len(rank) - 1 + np.cumsum(is_alone), ranks)
