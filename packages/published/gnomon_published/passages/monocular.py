"""Monocular range: how far a target of usual size is from a camera of usual lens, by the size of its box."""

import math

import numpy as np
from numpy.typing import NDArray

from gnomon_tools.scene.scene import Point

Array = NDArray[np.float64]

USUAL_WIDTHS_PX = (1920.0, 2560.0, 3840.0)


def focal_px(width_px: float, fov_deg: float) -> float:
    """Focal length of a pinhole camera: half the picture's width by the tangent of half its angle.

    >>> round(focal_px(2000, 90), 6)
    1000.0
    """
    return width_px / 2 / math.tan(math.radians(fov_deg) / 2)


def ranges_m(heights_px: Array, focal: float, height_m: float) -> Array:
    """Distance of a target `height_m` high that stands upright before a level camera: focal · H / h.

    >>> ranges_m(np.array([50.0, 100.0]), 1000.0, 1.5).tolist()
    [30.0, 15.0]
    """
    return np.asarray(focal * height_m / heights_px, dtype=float)


def seen_at(
    camera_m: Point, heading_deg: float, columns_px: Array, ranges: Array, *, width_px: float, focal: float
) -> Array:
    """Points on the plane (n × 2) that lie so far away in the bearing of each picture column.

    >>> at = seen_at((0.0, 0.0), 0.0, np.array([500.0]), np.array([7.0]), width_px=1000.0, focal=800.0)
    >>> at.tolist()
    [[0.0, 7.0]]
    """
    angles = math.radians(heading_deg) + np.arctan2(columns_px - width_px / 2, focal)
    return np.column_stack([camera_m[0] + ranges * np.sin(angles), camera_m[1] + ranges * np.cos(angles)])


def presumed_width_px(right_px: float) -> float:
    """The usual picture width, at least 1920, that a box's right edge fits into; else that edge itself.

    >>> presumed_width_px(900.0), presumed_width_px(2100.0), presumed_width_px(5000.0)
    (1920.0, 2560.0, 5000.0)
    """
    return next((width for width in USUAL_WIDTHS_PX if width >= right_px), right_px)
