"""Measures the shape of a day's way without the clock: its shortest order, and where it crosses itself."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

EXACT_STOPS = 8
"""Up to that many stops the shortest order is exact; above it, the best that moving stretches finds."""

Grid = Sequence[Sequence[float]]
Before = Mapping[int, frozenset[int]]
Point = tuple[float, float]


def length(ways: Grid, order: Sequence[int], start: int, end: int) -> float:
    """How far it is from `start` over the stops in that order to `end`."""
    chain = [start, *order, end]
    return sum(ways[here][there] for here, there in itertools.pairwise(chain))


def shortest(ways: Grid, stops: Sequence[int], start: int, end: int, before: Before) -> float:
    """The least length of any order of the stops that keeps `before` (by stop, those that come earlier).

    It depends on the set of stops alone, never on the order in which they are given.

    >>> line = [[abs(a - b) for b in range(4)] for a in range(4)]
    >>> shortest(line, [2, 1, 3], 0, 0, {}), shortest(line, [1, 3], 0, 0, {1: frozenset((3,))})
    (6, 6)
    """
    stops = sorted(stops)
    own = set(stops)
    firsts = {stop: before.get(stop, frozenset()) & own for stop in stops}
    if len(stops) <= EXACT_STOPS:
        return _exact(ways, stops, start, end, firsts)
    return _exchanged(ways, stops, start, end, firsts)


def _exact(ways: Grid, stops: Sequence[int], start: int, end: int, firsts: Before) -> float:
    """Dynamic programming over sets of stops and the last of them (Held and Karp 1962)."""
    if not stops:
        return ways[start][end]
    bit = {stop: 1 << number for number, stop in enumerate(stops)}
    need = {stop: sum(bit[first] for first in firsts[stop]) for stop in stops}
    best = {(bit[stop], stop): ways[start][stop] for stop in stops if not need[stop]}
    full = (1 << len(stops)) - 1
    for size in range(1, len(stops)):
        for (done, last), metres in [item for item in best.items() if item[0][0].bit_count() == size]:
            for stop in stops:
                if done & bit[stop] or need[stop] & ~done:
                    continue
                key, total = (done | bit[stop], stop), metres + ways[last][stop]
                if total < best.get(key, math.inf):
                    best[key] = total
    return min(
        (metres + ways[last][end] for (done, last), metres in best.items() if done == full), default=math.inf
    )


def _exchanged(ways: Grid, stops: Sequence[int], start: int, end: int, firsts: Before) -> float:
    """The nearest stop first, then stretches turned round or moved as long as that is shorter."""
    order: list[int] = []
    while len(order) < len(stops):
        here = order[-1] if order else start
        free = [stop for stop in stops if stop not in order and firsts[stop] <= set(order)]
        if not free:
            return math.inf
        order.append(min(free, key=lambda stop: (ways[here][stop], stop)))
    best, least, is_better = tuple(order), length(ways, order, start, end), True
    while is_better:
        is_better = False
        for other in neighbours(best):
            metres = length(ways, other, start, end)
            if metres < least - 1e-9 and keeps(other, firsts):
                best, least, is_better = other, metres, True
                break
    return least


def keeps(order: Sequence[int], before: Before) -> bool:
    """Whether every stop comes after those of the order that must come before it."""
    here, done = set(order), set[int]()
    for stop in order:
        if not before.get(stop, frozenset()) & here <= done:
            return False
        done.add(stop)
    return True


def neighbours(order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The orders with one part reversed, or up to three stops moved elsewhere."""
    count = len(order)
    for first in range(count):
        for last in range(first + 2, count + 1):
            yield (*order[:first], *reversed(order[first:last]), *order[last:])
    for moved in (1, 2, 3):
        for first in range(count - moved + 1):
            part, rest = order[first : first + moved], (*order[:first], *order[first + moved :])
            for position in range(len(rest) + 1):
                if position != first:
                    yield (*rest[:position], *part, *rest[position:])


def crossings(points: Sequence[Point]) -> tuple[int, int]:
    """How many pairs of straight legs cross, and how many pairs could: those without a common end.

    >>> crossings([(0, 0), (1, 1), (1, 0), (0, 1)]), crossings([(0, 0), (1, 0), (1, 1), (0, 0)])
    ((1, 1), (0, 0))
    """
    legs = [(here, there) for here, there in itertools.pairwise(points) if here != there]
    pairs = [(one, two) for one, two in itertools.combinations(legs, 2) if not set(one) & set(two)]
    return sum(_cross(*one, *two) for one, two in pairs), len(pairs)


def _cross(start: Point, end: Point, other_start: Point, other_end: Point) -> bool:
    def side(first: Point, then: Point, point: Point) -> float:
        return (then[0] - first[0]) * (point[1] - first[1]) - (then[1] - first[1]) * (point[0] - first[0])

    one = side(start, end, other_start) * side(start, end, other_end)
    two = side(other_start, other_end, start) * side(other_start, other_end, end)
    return one < 0 and two < 0
