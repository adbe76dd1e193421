"""Thins a line of many points to those that its picture needs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 0.4  # pixels of the picture
MOST_POINTS = 240


def kept_points(points: Sequence[tuple[float, float]], times_s: Sequence[float] = ()) -> list[int]:
    """Indices of the points to keep, rising, with both ends; `points` in pixels.

    Douglas and Peucker's method. With `times_s` a dropped point is compared with where the thinned line is
    at its time, so that a dot that moves along it is right as well. No dropped point is off by more than
    0.4 px; where that leaves more than 240 points, the tolerance is doubled until it does not.

    >>> kept_points([(0, 0), (5, 0.1), (10, 0)]), kept_points([(0, 0), (5, 0), (10, 0)], [0, 9, 10])
    ([0, 2], [0, 1, 2])
    """
    if len(points) < 3:
        return list(range(len(points)))
    line = np.asarray(points, dtype=float)
    clock = np.asarray(times_s, dtype=float) if len(times_s) == len(points) else None
    tolerance = TOLERANCE
    while len(kept := _kept(line, clock, tolerance)) > MOST_POINTS:
        tolerance *= 2
    return kept


def _kept(line: NDArray[np.float64], clock: NDArray[np.float64] | None, tolerance: float) -> list[int]:
    kept = {0, len(line) - 1}
    pieces = [(0, len(line) - 1)]
    while pieces:
        first, last = pieces.pop()
        if last - first < 2:
            continue
        off = _distances(line[first : last + 1], None if clock is None else clock[first : last + 1])
        worst = int(off.argmax())
        if off[worst] > tolerance:
            middle = first + 1 + worst
            kept.add(middle)
            pieces += [(first, middle), (middle, last)]
    return sorted(kept)


def _distances(line: NDArray[np.float64], clock: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """How far the inner points are from the straight line between the ends, at their times if known."""
    start, along = line[0], line[-1] - line[0]
    inner = line[1:-1] - start
    if clock is not None and clock[-1] > clock[0]:
        share = (clock[1:-1] - clock[0]) / (clock[-1] - clock[0])
    else:
        length = float(along @ along)
        share = np.clip(inner @ along / length, 0, 1) if length else np.zeros(len(inner))
    off: NDArray[np.float64] = np.hypot(*(inner - share[:, None] * along).T)
    return off
