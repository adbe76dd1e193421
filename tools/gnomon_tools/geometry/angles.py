"""Angles on the plane: compass bearings, clockwise from north (the y axis), in degrees."""

import math
from typing import Literal

from gnomon_tools.scene.scene import Point

COMPASS = ("N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW")
EIGHTHS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")


def bearing_deg(start_m: Point, end_m: Point) -> float:
    """Direction from `start_m` to `end_m`, in [0, 360): atan2(east, north).

    >>> bearing_deg((0, 0), (5, 0)), bearing_deg((0, 0), (0, -1))
    (90.0, 180.0)

    Raises:
        ValueError: the points coincide, so there is no direction.
    """
    east_m, north_m = end_m[0] - start_m[0], end_m[1] - start_m[1]
    if east_m == 0 and north_m == 0:
        raise ValueError(f"no direction from {start_m} to itself")
    return wrapped_deg(math.degrees(math.atan2(east_m, north_m)))


def wrapped_deg(angle_deg: float) -> float:
    """The same direction in [0, 360); a hair below zero is zero, never 360.

    >>> wrapped_deg(-90), wrapped_deg(720), wrapped_deg(-1e-20)
    (270, 0, 0.0)
    """
    wrapped = angle_deg % 360
    return wrapped if wrapped < 360 else 0.0


def signed_deg(angle_deg: float) -> float:
    """The same angle in (-180, 180].

    >>> signed_deg(270), signed_deg(-180)
    (-90, 180)
    """
    return 180 - (180 - angle_deg) % 360


def turn_deg(from_deg: float, to_deg: float) -> float:
    """The shorter way from one bearing to another, in (-180, 180]; positive is clockwise.

    >>> turn_deg(350, 10), turn_deg(10, 350), turn_deg(0, 180)
    (20, -20, 180)
    """
    return signed_deg(to_deg - from_deg)


def compass(angle_deg: float, points: Literal[8, 16] = 8) -> str:
    """The nearest compass point of the 8 or 16; half-way goes clockwise.

    >>> compass(44), compass(350), compass(22.5), compass(22.5, 16)
    ('NE', 'N', 'NE', 'NNE')
    """
    step_deg = 360 / points
    return COMPASS[math.floor(angle_deg / step_deg + 0.5) % points * (16 // points)]
