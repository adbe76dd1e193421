"""Overlap: when a target that one camera saw was in another camera's view all the while."""

from itertools import pairwise
from math import dist

import numpy as np
from shapely import Polygon

from tools.core.departure import Departure
from tools.geometry.angles import bearing_deg
from tools.geometry.camera_view import BEYOND_M, point_ahead
from tools.geometry.field_of_view import crossings
from tools.scene.scene import Point

Stay = tuple[
    float, float | None
]  # from and until, in seconds; until None: it was still in view when last seen

ENDS_M = 1e-3  # a stretch that ends so close to the track's end lasts on


def seen_within(departure: Departure, area: Polygon) -> Stay | None:
    """The longest stretch of the departure's track in an area; None if it never was, or no track is given.

    A track that begins in the area came into it earlier: straight, at the departure's speed.
    """
    line: list[Point] = [(x_m, y_m) for x_m, y_m in departure.track_m]
    at_m = np.concatenate([[0.0], np.cumsum([dist(*pair) for pair in pairwise(line)])])
    stretches = crossings(line, area)
    if not stretches or at_m[-1] == 0.0:
        return None
    enters_m, leaves_m = max(stretches, key=lambda stretch: stretch[1] - stretch[0])
    enters_s, leaves_s = (
        float(np.interp(metres, at_m, departure.track_times_s)) for metres in (enters_m, leaves_m)
    )
    if enters_m <= ENDS_M:
        enters_s -= _back_m(line, area) / departure.speed_mps
    return enters_s, None if leaves_m >= at_m[-1] - ENDS_M else leaves_s


def _back_m(line: list[Point], area: Polygon) -> float:
    """Metres from the first point straight back to where the area begins."""
    onward = next(point for point in line if point != line[0])
    far = point_ahead(line[0], bearing_deg(onward, line[0]), BEYOND_M)
    return max(
        (leaves_m for enters_m, leaves_m in crossings([line[0], far], area) if enters_m <= ENDS_M),
        default=0.0,
    )
