"""Bounds the length of a way through all stops from below: 1-trees with weights adjusted by ascent.

Held and Karp, The traveling-salesman problem and minimum spanning trees, 1970 and 1971.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

ROUNDS = 80
STEP = 0.7
"""Of the step that would close the gap at once; it gets smaller from round to round."""
TINY = 1e-6


def least_tour(ways: NDArray[np.float64], ends: tuple[int, int] | None = None) -> float:
    """The least length of a way through all stops once, between `ends`; None: from anywhere to anywhere.

    `ways` is symmetric and finite. Every round gives a bound; the best of them is taken.

    >>> square = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]], dtype=float)
    >>> round(least_tour(square), 3), round(least_tour(square, (0, 1)), 3)
    (3.0, 3.0)
    """
    count = len(ways)
    if count < 2:
        return 0.0
    # A stop nowhere closes the way: both its legs cost nothing.
    may_end = np.isin(np.arange(count), ends or np.arange(count))
    prices = np.zeros(count)
    best, scale = -np.inf, STEP * max(TINY, float(ways.max()))
    graph = csr_array(np.ones((count, count)))  # to make one of a plain array costs more than its tree
    for number in range(ROUNDS):
        priced = ways + prices[:, None] + prices[None, :]
        lift = max(0.0, -float(priced.min())) + 1.0  # a tree takes no way of no length
        graph.data[:] = (priced + lift).ravel()
        tree = minimum_spanning_tree(graph).tocoo()
        degrees = np.bincount(np.concatenate([tree.row, tree.col]), minlength=count)
        last = np.flatnonzero(may_end)[np.argsort(prices[may_end], kind="stable")[:2]]
        total = float(tree.data.sum()) - lift * (count - 1) + float(prices[last].sum())
        bound = total - 2 * float(prices.sum())
        best = max(best, bound)
        degrees[last] += 1
        slack = degrees - 2
        norm = float((slack**2).sum())
        if norm == 0:
            break
        prices = prices + scale * 0.93**number / np.sqrt(norm) * slack
    return max(0.0, best - TINY * count)
