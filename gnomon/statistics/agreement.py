"""Agreement between judges beyond what chance would give."""

from collections.abc import Hashable, Sequence

import numpy as np


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa (1960) of two judges over the same items; None where chance alone explains everything.

    >>> cohen_kappa("aabb", "aabb"), cohen_kappa("aabb", "abab"), cohen_kappa("aa", "aa")
    (1.0, 0.0, None)

    Raises:
        ValueError: the judges did not judge the same number of items, or none.
    """
    if len(first) != len(second) or not first:
        raise ValueError(f"two judges need the same items, got {len(first)} and {len(second)}")
    labels = {label: code for code, label in enumerate(dict.fromkeys([*first, *second]))}
    table = np.zeros((len(labels), len(labels)))
    for left, right in zip(first, second, strict=True):
        table[labels[left], labels[right]] += 1
    table /= len(first)
    expected = float(table.sum(axis=1) @ table.sum(axis=0))
    return None if expected >= 1 else float((np.trace(table) - expected) / (1 - expected))


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float | None:
    """Fleiss' kappa (1971): rows are items, columns labels, values how many judges gave it.

    Every item needs the same number of judges, two or more. None where all judges use one label only.

    >>> fleiss_kappa([[3, 0], [0, 3]]), fleiss_kappa([[2, 0], [2, 0]])
    (1.0, None)

    Raises:
        ValueError: items differ in their number of judges, or have fewer than two.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or not len(table):
        raise ValueError("needs at least one item")
    judges = table.sum(axis=1)
    if np.ptp(judges) > 0 or judges[0] < 2:
        raise ValueError(f"every item needs the same number of judges, two or more; got {judges.tolist()}")
    n = judges[0]
    observed = float(np.mean((np.sum(table**2, axis=1) - n) / (n * (n - 1))))
    shares = table.sum(axis=0) / table.sum()
    expected = float(shares @ shares)
    return None if expected >= 1 else (observed - expected) / (1 - expected)
