"""Poses: position and rotation of a camera or object in a world frame, composed and compared.

A pose maps its own coordinates to the world's: p_world = R · p_own + T (STI-Bench 2025, equation 5).
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Axis = Literal["x", "y", "z", "-x", "-y", "-z"]

MAX_SKEW = 0.02  # published rotations are rounded to two decimals


class NotARotation(ValueError):
    """A matrix is too far from a rotation to be a rounded one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pose:
    """Where (3, metres) and how turned (3 × 3)."""

    position_m: Array
    rotation: Array

    def then(self, step: "Pose") -> "Pose":
        """The pose moved on by `step`, which is given in its own coordinates."""
        return Pose(
            position_m=self.rotation @ step.position_m + self.position_m,
            rotation=self.rotation @ step.rotation,
        )

    def inverse(self) -> "Pose":
        """The pose that undoes this one."""
        return Pose(position_m=-self.rotation.T @ self.position_m, rotation=self.rotation.T)

    def seen_from(self, other: "Pose") -> "Pose":
        """The pose in the coordinates of another."""
        return other.inverse().then(self)

    def forward(self, axis: Axis = "z") -> Array:
        """The direction of one of its axes in the world."""
        column = self.rotation[:, "xyz".index(axis[-1])]
        return np.asarray(-column if axis.startswith("-") else column)

    def azimuth_deg(self, axis: Axis = "z") -> float:
        """Direction of that axis seen from above (world z up): from world x, counter-clockwise."""
        east, north, _ = self.forward(axis)
        return math.degrees(math.atan2(north, east))


def rotation_angle_deg(rotation: Array) -> float:
    """By how much a rotation turns about its axis, in [0, 180]."""
    return math.degrees(math.acos(float(np.clip((np.trace(rotation) - 1) / 2, -1, 1))))


def nearest_rotation(matrix: Array) -> Array:
    """The rotation next to a matrix that was rounded (by singular values).

    >>> nearest_rotation(np.eye(3) * 1.005).round(6).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]

    Raises:
        NotARotation: the matrix mirrors, or a singular value is further than MAX_SKEW from 1.
    """
    left, stretch, right = np.linalg.svd(matrix)
    if np.abs(stretch - 1).max() > MAX_SKEW or np.linalg.det(left @ right) < 0:
        raise NotARotation(
            "the rows are not those of a rotation: unit length, square to each other, right-handed"
        )
    return np.asarray(left @ right)


def from_yaw_pitch_roll(yaw_deg: float, pitch_deg: float, roll_deg: float) -> Array:
    """Rotation by roll about x, then pitch about y, then yaw about z, all of the fixed world axes."""
    (cy, sy), (cp, sp), (cr, sr) = (
        (math.cos(math.radians(angle)), math.sin(math.radians(angle)))
        for angle in (yaw_deg, pitch_deg, roll_deg)
    )
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    return np.asarray(about_z @ about_y @ about_x)
