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
