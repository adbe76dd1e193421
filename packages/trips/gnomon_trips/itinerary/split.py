"""Divides places among days at the least cost, given what each subset costs on each day."""

import functools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gnomon_trips.itinerary.schedule import Stopped

Costs = NDArray[np.float64]
"""What a day costs, by the bit mask of the places on it; infinite: they cannot be seen that day."""
KEPT_PAIRS = 4


def cheapest_split(
    costs: Sequence[Costs],
    before: Sequence[tuple[int, int]] = (),
    is_over: Callable[[], bool] | None = None,
) -> tuple[float, list[int]] | None:
    """The least cost of seeing every place on exactly one day, with the mask of each day; None: impossible.

    Of a pair in `before` the first must not come on a later day than the second.

    Raises:
        Stopped: `is_over` says so.

    >>> inf = float("inf")
    >>> cheapest_split([np.array([0, 2, 9, inf]), np.array([0, 3, 4, inf])])
    (6.0, [1, 2])
    """
    whole = len(costs[0]) - 1
    earlier, part, firsts = _pairs(whole.bit_length())
    needs = _needs(whole, before)
    is_kept = (needs[part] & (earlier | part)) == needs[part]
    best = [np.asarray(costs[0], dtype=np.float64)]
    best[0] = np.where((needs & np.arange(whole + 1)) == needs, best[0], np.inf)
    for cost in costs[1:]:
        if is_over is not None and is_over():
            raise Stopped
        sums = np.where(is_kept, best[-1][earlier] + np.asarray(cost, dtype=np.float64)[part], np.inf)
        best.append(np.minimum.reduceat(sums, firsts))
    if not np.isfinite(best[-1][whole]):
        return None
    left, parts = whole, list[int]()
    for number in range(len(costs) - 1, 0, -1):
        rows = slice(firsts[left], firsts[left + 1] if left < whole else None)
        sums = best[number - 1][earlier[rows]] + costs[number][part[rows]]
        parts.append(int(part[rows][np.where(is_kept[rows], sums, np.inf).argmin()]))
        left ^= parts[-1]
    return float(best[-1][whole]), [left, *reversed(parts)]


def _needs(whole: int, before: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """By mask, the places that must have come before the places of the mask are done."""
    masks = np.arange(whole + 1)
    needs = np.zeros(whole + 1, dtype=np.int64)
    for first, then in before:
        needs[masks >> then & 1 == 1] |= 1 << first
    return needs


@functools.lru_cache(maxsize=KEPT_PAIRS)
def _pairs(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of disjoint masks, by their union: the earlier days', the day's, where each union begins."""
    earlier, part = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for bit in range(count):
        one = 1 << bit
        earlier = np.concatenate([earlier, earlier | one, earlier])
        part = np.concatenate([part, part, part | one])
    union = earlier | part
    order = np.lexsort((part, union))
    return earlier[order], part[order], np.searchsorted(union[order], np.arange(1 << count))
