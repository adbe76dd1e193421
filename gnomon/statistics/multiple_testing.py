"""Adjusts p values for how many were looked at."""

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment (1979): controls the chance of any false finding in the family.

    >>> holm([0.01, 0.04, 0.03]), holm([])
    ([0.03, 0.06, 0.06], [])
    """
    p, order, m = np.asarray(p_values, dtype=np.float64), np.argsort(p_values, kind="stable"), len(p_values)
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(m, 0, -1)))
    return [float(value) for value in adjusted]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's step-up adjustment (1995): controls the share of false among the findings.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    p, order, m = np.asarray(p_values, dtype=np.float64), np.argsort(p_values, kind="stable"), len(p_values)
    steps = p[order] * m / np.arange(1, m + 1)
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(steps[::-1])[::-1])
    return [float(value) for value in adjusted]


def bonferroni_level(n: int, alpha: float = 0.05) -> float:
    """The level at which `n` intervals hold all their values together, but for a share `alpha` of studies.

    >>> round(bonferroni_level(5), 3)
    0.99
    """
    return 1.0 - alpha / max(n, 1)


def selected_levels(adjusted: Sequence[float], alpha: float = 0.05) -> list[float]:
    """The levels of intervals beside p values that Benjamini and Hochberg's method has adjusted.

    Of those selected, a share `alpha` misses on average (Benjamini and Yekutieli 2005): 1 − R·alpha/n, R the
    number selected. Each other gets the level at which it would have been selected as well.

    >>> [round(level, 3) for level in selected_levels([0.01, 0.04, 0.2, 0.9])]
    [0.975, 0.975, 0.963, 0.963]
    """
    n = len(adjusted)
    selected = sum(p < alpha for p in adjusted)
    return [1.0 - alpha * (selected if p < alpha else min(selected + 1, n)) / n for p in adjusted]
