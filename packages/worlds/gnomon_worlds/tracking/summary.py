"""Tells a path in words: directions, lengths, speeds, turns and stops.

Tools read the same words back (gnomon_published/passages/motion_text.py): lengths and speeds as printed, each
direction to the nearest of eight.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from gnomon_tools.geometry.angles import EIGHTHS, bearing_deg, compass, turn_deg
from gnomon_tools.geometry.polyline import simplified
from gnomon_worlds.tracking.neutral_form import Array, BodyKind

STILL_MPS = {"vehicle": 0.7, "pedestrian": 0.25}
STOP_S = 2.0  # a shorter stand is none
TOLERANCE_M = {"vehicle": 1.5, "pedestrian": 0.5}  # of the straight pieces that a path is told in
TURN_DEG = 30.0
_SHORT = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """A straight piece from one point to another, or a stand (length 0), with its duration."""

    bearing_deg: float
    length_m: float
    duration_s: float


def legs_of(times_s: Array, xy_m: Array, body: BodyKind) -> list[Leg]:
    """The straight pieces and stands of a path (n × 2 at n rising times)."""
    steps_m = np.linalg.norm(np.diff(xy_m, axis=0), axis=1)
    is_still = steps_m / np.diff(times_s) < STILL_MPS[body]
    legs: list[Leg] = []
    moving_from = 0
    for still, members in groupby(range(len(steps_m)), key=lambda index: bool(is_still[index])):
        indices = list(members)
        first, last = indices[0], indices[-1] + 1
        if still and times_s[last] - times_s[first] >= STOP_S:
            legs += _moving(times_s[moving_from : first + 1], xy_m[moving_from : first + 1], body)
            legs.append(Leg(bearing_deg=0.0, length_m=0.0, duration_s=float(times_s[last] - times_s[first])))
            moving_from = last
    return legs + list(_moving(times_s[moving_from:], xy_m[moving_from:], body))


def _moving(times_s: Array, xy_m: Array, body: BodyKind) -> Iterator[Leg]:
    if len(times_s) < 2:
        return
    corners = simplified(xy_m, TOLERANCE_M[body])
    corners = [
        corner for index, corner in enumerate(corners)
        if index in (0, len(corners) - 1) or _turns(xy_m, corners[index - 1 : index + 2])
    ]  # fmt: skip
    for first, last in pairwise(corners):
        start, end = (xy_m[first, 0], xy_m[first, 1]), (xy_m[last, 0], xy_m[last, 1])
        if math.dist(start, end) > 0:
            yield Leg(
                bearing_deg=bearing_deg(start, end),
                length_m=math.dist(start, end),
                duration_s=float(times_s[last] - times_s[first]),
            )


def _turns(xy_m: Array, three: Sequence[int]) -> bool:
    before, corner, after = (tuple(xy_m[index].tolist()) for index in three)
    if corner in (before, after):
        return False
    return abs(turn_deg(bearing_deg(before, corner), bearing_deg(corner, after))) >= TURN_DEG


def in_words(legs: Sequence[Leg]) -> str:
    """The summary of a path.

    >>> in_words([Leg(bearing_deg=92, length_m=40.04, duration_s=4)])
    'The target moves east at 10.0 m/s for 40.0 meters.'
    >>> in_words([])
    'The target stands.'
    """
    phrases, heading = [], None
    for leg in legs:
        if leg.length_m == 0:
            phrases.append(f"stands for {leg.duration_s:.1f} s")
            continue
        way = EIGHTHS[_SHORT.index(compass(leg.bearing_deg))]
        turn = 0.0 if heading is None else turn_deg(heading, leg.bearing_deg)
        side = f"turns {'right' if turn > 0 else 'left'} and " if abs(turn) >= TURN_DEG else ""
        speed_mps = leg.length_m / leg.duration_s
        phrases.append(f"{side}moves {way} at {speed_mps:.1f} m/s for {leg.length_m:.1f} meters")
        heading = leg.bearing_deg
    return f"The target {', then '.join(phrases) if phrases else 'stands'}."
