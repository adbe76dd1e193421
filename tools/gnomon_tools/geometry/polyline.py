"""Polylines: simplified by Ramer, Douglas and Peucker, and told in words.

Ramer 1972; Douglas & Peucker 1973. STI-Bench's trajectory descriptions are made this way (appendix A.2.2).
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STRAIGHT_DEG = 10.0  # a smaller turn is not told


@dataclass(frozen=True, slots=True, kw_only=True)
class PolylineTurn:
    """A straight stretch and the turn before it (degrees, left positive; 0 for the first)."""

    turn_deg: float
    length_m: float


def simplified(points: Array, tolerance: float) -> list[int]:
    """Indices of the points to keep: no dropped point is further than `tolerance` from the line kept.

    The first and last are always kept. Points may have 2 or 3 coordinates, in the unit of the tolerance.

    >>> simplified(np.array([[0.0, 0.0], [1.0, 0.1], [2.0, 0.0], [2.0, 2.0]]), 0.5)
    [0, 2, 3]
    """
    keep, open_spans = {0, len(points) - 1}, [(0, len(points) - 1)]
    while open_spans:
        first, last = open_spans.pop()
        if last - first < 2:
            continue
        far = _distances(points[first + 1 : last], points[first], points[last])
        index = int(np.argmax(far))
        if far[index] > tolerance:
            middle = first + 1 + index
            keep.add(middle)
            open_spans += [(first, middle), (middle, last)]
    return sorted(keep)


def _distances(points: Array, start: Array, end: Array) -> Array:
    """Distance of each point from the segment."""
    along = end - start
    squared = float(along @ along)
    share = (points - start) @ along / squared if squared else np.zeros(len(points))
    off = points - (start + np.minimum(np.maximum(share, 0), 1)[:, None] * along)
    return np.asarray(np.sqrt((off * off).sum(axis=1)), dtype=np.float64)


def legs_of(xy_m: Array, tolerance_m: float) -> list[PolylineTurn]:
    """The straight legs of a path seen from above (n × 2, x right and y up as on a map), turns between them.

    Legs that go on within STRAIGHT_DEG are one leg. A path that never leaves the tolerance has none.
    """
    corners = xy_m[simplified(xy_m, tolerance_m)]
    steps = np.diff(corners, axis=0)
    steps = steps[np.linalg.norm(steps, axis=1) > 0]
    if not len(steps) or np.linalg.norm(xy_m - xy_m[0], axis=1).max() <= tolerance_m:
        return []
    legs = [PolylineTurn(turn_deg=0.0, length_m=float(np.linalg.norm(steps[0])))]
    for before, after in itertools.pairwise(steps):
        turn_deg, length_m = turn_between(before, after), float(np.linalg.norm(after))
        if abs(turn_deg) < STRAIGHT_DEG:
            legs[-1] = PolylineTurn(turn_deg=legs[-1].turn_deg, length_m=legs[-1].length_m + length_m)
        else:
            legs.append(PolylineTurn(turn_deg=turn_deg, length_m=length_m))
    return legs


def turn_between(before: Array, after: Array) -> float:
    """The turn from one direction to the next, in (−180, 180] degrees, left positive.

    >>> turn_between(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    90.0
    """
    cross = float(before[0] * after[1] - before[1] * after[0])
    turn_deg = math.degrees(math.atan2(cross, float(before @ after)))
    return 180.0 if turn_deg == -180.0 else turn_deg


def in_words(legs: Sequence[PolylineTurn]) -> str:
    """The path in the words of STI-Bench's options, lengths to the centimetre.

    >>> in_words([PolylineTurn(turn_deg=0.0, length_m=30.0), PolylineTurn(turn_deg=85.0, length_m=20.0)])
    'move forward 30m, then turn left 85°, then move forward 20m'
    >>> in_words([])
    'stay in place'
    """
    phrases: list[str] = []
    for leg in legs:
        if leg.turn_deg:
            side = "left" if leg.turn_deg > 0 else "right"
            phrases.append(f"turn {side} {abs(leg.turn_deg):.0f}°")
        phrases.append(f"move forward {str(round(leg.length_m, 2)).removesuffix('.0')}m")
    return ", then ".join(phrases) or "stay in place"
