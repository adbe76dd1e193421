"""Shortest: the shortest way that visits every point once, found exactly (Held and Karp, 1962)."""

import math
from collections.abc import Sequence

MAX_POINTS = 12


def shortest_order(
    metres: Sequence[Sequence[float]], *, first: int | None = None, last: int | None = None
) -> list[int]:
    """The order of the shortest open way over all points; of equal ways the one that is first by number.

    `metres` is a square table; `first` and `last` fix the ends.

    >>> shortest_order([[0, 9, 1], [9, 0, 2], [1, 2, 0]])
    [0, 2, 1]
    """
    count = len(metres)
    starts = [at for at in range(count) if at != last] if first is None else [first]
    best: dict[tuple[int, int], tuple[float, list[int]]] = {(1 << at, at): (0.0, [at]) for at in starts}
    for _ in range(count - 1):
        longer: dict[tuple[int, int], tuple[float, list[int]]] = {}
        for (seen, at), (length, way) in best.items():
            for onward in range(count):
                if seen >> onward & 1 or (onward == last and len(way) < count - 1):
                    continue
                key = (seen | 1 << onward, onward)
                found = (length + metres[at][onward], [*way, onward])
                longer[key] = min(longer.get(key, (math.inf, [])), found)
        best = longer
    return min(best.values())[1]
