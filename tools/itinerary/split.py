"""Shares places out over days at the least cost, when it is known what each subset costs on each day."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Costs = NDArray[np.float64]
"""What a day costs, by the bit mask of the places on it; infinite: they cannot be seen that day."""


def cheapest_split(
    costs: Sequence[Costs], before: Sequence[tuple[int, int]] = ()
) -> tuple[float, list[int]] | None:
    """The least cost of seeing every place on exactly one day, with the mask of each day; None: impossible.

    Of a pair in `before` the first must not come on a later day than the second.

    >>> inf = float("inf")
    >>> cheapest_split([np.array([0, 2, 9, inf]), np.array([0, 3, 4, inf])])
    (6.0, [1, 2])
    """
    masks = np.arange(len(costs[0]))
    needs = np.zeros(len(masks), dtype=np.int64)
    for first, then in before:
        needs[masks >> then & 1 == 1] |= 1 << first
    best = np.full(len(masks), np.inf)
    best[0] = 0.0
    choices: list[NDArray[np.int64]] = []
    for number, cost in enumerate(costs):
        reached = masks[np.isfinite(best)]
        total, choice = np.full(len(masks), np.inf), np.zeros(len(masks), dtype=np.int64)
        if number == len(costs) - 1:
            reached = reached[(masks[-1] & needs[masks[-1] ^ reached]) == needs[masks[-1] ^ reached]]
            sums = best[reached] + cost[masks[-1] ^ reached]
            if not len(sums) or not np.isfinite(sums.min()):
                return None
            total[-1], choice[-1] = sums.min(), masks[-1] ^ reached[sums.argmin()]
        else:
            for part in masks[np.isfinite(cost)]:
                free = reached[reached & part == 0]
                free = free[(free | part) & needs[part] == needs[part]]
                sums = best[free] + cost[part]
                is_better = sums < total[free | part]
                total[free[is_better] | part] = sums[is_better]
                choice[free[is_better] | part] = part
        best = total
        choices.append(choice)
    left, parts = int(masks[-1]), list[int]()
    for choice in reversed(choices):
        parts.append(int(choice[left]))
        left ^= parts[-1]
    return float(best[-1]), parts[::-1]
