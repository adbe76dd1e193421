"""Fits constants in folds, each without the questions it is scored on.

Questions about connected targets lie in one fold. For each fold the constants are fitted on all other folds,
one after the other, by what the mean of the cells gains.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median_low

import numpy as np
from numpy.typing import NDArray

Values = dict[str, float]
Scores = NDArray[np.float64]
Tried = Mapping[str, Sequence[float]]

SWEEPS = 3  # through all constants; the fit ends earlier once a sweep changes none


def folds_of(clusters: Sequence[str], count: int) -> NDArray[np.intp]:
    """The fold of each question: whole clusters, the largest first, each to the fold that has the fewest.

    >>> folds_of(["a", "b", "a", "c"], 2).tolist()
    [0, 1, 0, 1]
    """
    filled = [0] * count
    fold: dict[str, int] = {}
    for cluster, size in sorted(Counter(clusters).items(), key=lambda item: (-item[1], item[0])):
        fold[cluster] = int(np.argmin(filled))
        filled[fold[cluster]] += size
    return np.array([fold[cluster] for cluster in clusters], dtype=np.intp)


def mean_of_cells(scores: Scores, cells: Sequence[str]) -> float:
    """The plain mean over the cells of each cell's mean.

    >>> mean_of_cells(np.array([1.0, 1.0, 0.0]), ["a", "a", "b"])
    0.5
    """
    codes = np.unique(cells, return_inverse=True)[1]
    return float(np.mean(np.bincount(codes, scores) / np.bincount(codes)))


def neutral(tried: Tried) -> Values:
    """Where a fit begins: the middle of what is tried, whatever was found best before.

    >>> neutral({"a": (3.0, 1.0, 2.0)})
    {'a': 2.0}
    """
    return {name: median_low(values) for name, values in tried.items()}


def fit(tried: Tried, score: Callable[[Values], float]) -> Values:
    """Coordinate ascent from the neutral values; the value at hand stays where no other is better.

    >>> fit({"a": (0.0, 1.0, 2.0, 3.0), "b": (1.0,)}, lambda values: -abs(values["a"] - values["b"] - 1.6))
    {'a': 3.0, 'b': 1.0}
    """
    best = neutral(tried)
    top = score(best)
    for _ in range(SWEEPS):
        before = dict(best)
        for name, values in tried.items():
            for value in values:
                found = score({**best, name: value})
                if found > top + 1e-12:
                    best, top = {**best, name: value}, found
        if best == before:
            break
    return best
