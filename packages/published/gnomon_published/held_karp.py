"""Finds the best way through every set of points, by dynamic programming over subsets (Held, Karp 1962)."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

MAX_POINTS = 12  # beyond it the subsets are too many to try them all

Label = TypeVar("Label")  # a way that has visited a set of points and ends at one of them
Layers = list[list[list[Label]]]  # the labels kept, by bit mask of the points visited, then by the last point


def best_labels(
    count: int,
    start: Label,
    *,
    extend: Callable[[Label, int, int], Iterable[Label]],
    keep: Callable[[list[Label], Label], None],
    waiting: Sequence[int] = (),
) -> Layers[Label]:
    """The labels of all ways through subsets of `count` points, those that `keep` leaves.

    `extend(label, visited, point)` goes on from a label, which has visited the points of a bit mask, to a
    further point; `keep(labels, label)` adds the label to those of its set and last point, or drops it.
    `waiting` has, for each point, the bit mask of the points that may only come after it.
    """
    layers: Layers[Label] = [[[] for _ in range(count)] for _ in range(1 << count)]
    for point in range(count):
        for label in extend(start, 0, point):
            keep(layers[1 << point][point], label)
    held = waiting or [0] * count
    for visited in range(1, 1 << count):
        free = [point for point in range(count) if not visited >> point & 1 and not visited & held[point]]
        for labels in layers[visited]:
            for before in labels:
                for point in free:
                    for label in extend(before, visited, point):
                        keep(layers[visited | 1 << point][point], label)
    return layers


_Way = tuple[float, tuple[int, ...]]  # its metres, its points in order


def shortest_order(
    metres: Sequence[Sequence[float]], *, first: int | None = None, last: int | None = None
) -> list[int]:
    """The order of the shortest open way over all points; of equal ways the one that is first by number.

    `metres` is a square table; `first` and `last` fix the ends.

    >>> shortest_order([[0, 9, 1], [9, 0, 2], [1, 2, 0]])
    [0, 2, 1]
    """
    inner = [point for point in range(len(metres)) if point != last]

    def extend(way: _Way, visited: int, step: int) -> Iterable[_Way]:
        length_m, points = way
        point = inner[step]
        if visited:
            return ((length_m + metres[points[-1]][point], (*points, point)),)
        return ((0.0, (point,)),) if first is None or first == point else ()

    start: _Way = (0.0, ())
    layers = best_labels(len(inner), start, extend=extend, keep=_keep_shorter)
    ways = [way for kept in layers[-1] for way in kept]
    if last is not None:
        ways = [(length_m + metres[points[-1]][last], (*points, last)) for length_m, points in ways]
    return list(min(ways)[1])


def _keep_shorter(ways: list[_Way], way: _Way) -> None:
    if not ways:
        ways.append(way)
    elif way < ways[0]:
        ways[0] = way
