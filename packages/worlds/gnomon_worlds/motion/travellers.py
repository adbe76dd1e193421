"""Computes where the vehicles and people are that a moving camera meets."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Self

import numpy as np
from numpy.typing import NDArray

from gnomon_worlds.movement import Journey
from gnomon_worlds.rendering.figures import HAIRS, SKINS, TROUSERS, Look
from gnomon_worlds.rendering.solid import Colour

Array = NDArray[np.float64]

LANE_M = 1.8  # from the middle of a street to that of a lane
PAVEMENT_M = 5.0
OFF_M = 0.25  # from the middle of a lane, at most
ROUNDING_M = {"vehicle": 3.0, "pedestrian": 1.0}  # of the way, before and after, over which a corner is cut
SAMPLES = 7  # of the way within that

PAINTS: Mapping[str, Colour] = {
    "black": (46, 48, 54), "grey": (146, 150, 156), "blue": (40, 78, 152), "white": (234, 236, 234),
    "green": (44, 112, 80), "yellow": (214, 176, 56), "brown": (116, 80, 56),
}  # fmt: skip
SHIRTS: Mapping[str, Colour] = {
    "blue": (52, 88, 158), "white": (238, 238, 234), "black": (52, 54, 60), "green": (70, 136, 92),
    "yellow": (228, 184, 68), "purple": (136, 96, 158),
}  # fmt: skip
# Shape: lengths, widths and heights from the smallest to the largest, in metres.
SIZES: Mapping[str, tuple[tuple[float, float], ...]] = {
    "hatchback": ((3.5, 4.4), (1.5, 1.85), (1.35, 1.7)),
    "saloon": ((4.2, 5.3), (1.6, 2.0), (1.3, 1.6)),
    "van": ((4.6, 7.0), (1.7, 2.3), (1.8, 2.9)),
}
PERSON_M = (0.4, 0.5, 1.7)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Way:
    """The line of a journey as arrays: its points (n × 2), when each is reached and how far along it is."""

    points_m: Array
    times_s: Array
    along_m: Array

    @classmethod
    def of(cls, journey: Journey) -> Self:
        stretch = journey.stretches[0]
        return cls(
            points_m=np.array(stretch.points_m),
            times_s=np.array(stretch.times_s),
            along_m=np.array(stretch.along_m),
        )

    def later(self, by_s: float) -> "Way":
        return replace(self, times_s=self.times_s + by_s)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traveller:
    """One on its way, so far to the right of its line; `words` describe how it looks."""

    name: str
    words: str
    look: Look
    size_m: tuple[float, float, float]  # length, width, height
    way: Way
    right_m: float

    def poses(self, times_s: Array) -> Array:
        """Of each moment (n): x, y and the direction it faces, degrees clockwise from north (n × 3).

        Corners of its way are cut: it is where the way is on average over ROUNDING_M before and after, and
        faces along that stretch.
        """
        reach_m, along_m = ROUNDING_M[self.look.kind], self.way.along_m
        at_m = np.interp(times_s, self.way.times_s, along_m)
        around_m = at_m[:, None] + np.linspace(-reach_m, reach_m, SAMPLES)
        xs, ys = (np.interp(around_m, along_m, self.way.points_m[:, axis]) for axis in (0, 1))
        facing = np.arctan2(xs[:, -1] - xs[:, 0], ys[:, -1] - ys[:, 0])
        x_m = xs.mean(axis=1) + self.right_m * np.cos(facing)
        y_m = ys.mean(axis=1) - self.right_m * np.sin(facing)
        return np.column_stack([x_m, y_m, np.degrees(facing)])


def vehicle_looking(paint: str, rng: Random, way: Way) -> Traveller:
    """A vehicle of that paint on its lane; shape and size are drawn."""
    shape = rng.choice(list(SIZES))
    length_m, width_m, height_m = (round(rng.uniform(*bounds_m), 2) for bounds_m in SIZES[shape])
    return Traveller(
        name=f"{paint}-{shape}",
        words=f"the {paint} {shape}",
        look=Look(kind="vehicle", shape=shape, main=PAINTS[paint]),
        size_m=(length_m, width_m, height_m),
        way=way,
        right_m=LANE_M + rng.uniform(-OFF_M, OFF_M),
    )


def person_wearing(shirt: str, rng: Random, way: Way) -> Traveller:
    """A person in a shirt of that colour, on the pavement."""
    look = Look(
        kind="pedestrian", shape="plain", main=SHIRTS[shirt],
        second=rng.choice(TROUSERS), skin=rng.choice(SKINS), hair=rng.choice(HAIRS),
    )  # fmt: skip
    return Traveller(
        name=f"{shirt}-shirt",
        words=f"the person in the {shirt} shirt",
        look=look,
        size_m=PERSON_M,
        way=way,
        right_m=PAVEMENT_M * rng.choice((-1, 1)),
    )


def keep_apart(pose: Array, others: Array, *, ahead_m: float | Array, aside_m: float | Array) -> bool:
    """Whether a body (n × 3) and others (m × n × 3) never come within a box of each other.

    The boxes may differ from one of the others to the next (m × 1).
    """
    between_m = others[:, :, :2] - pose[:, :2]
    for facing_deg in (pose[:, 2], others[:, :, 2]):
        turn = np.radians(facing_deg)
        along_m = between_m[..., 0] * np.sin(turn) + between_m[..., 1] * np.cos(turn)
        across_m = between_m[..., 0] * np.cos(turn) - between_m[..., 1] * np.sin(turn)
        if ((np.abs(along_m) < ahead_m) & (np.abs(across_m) < aside_m)).any():
            return False
    return True


def corners_m(poses: Array, size_m: tuple[float, float, float]) -> Array:
    """The four corners of a body's base at each pose (n × 4 × 2), anticlockwise from the rear right."""
    turn = np.radians(poses[:, 2])
    ahead, right = (
        np.stack([np.sin(turn), np.cos(turn)], axis=1),
        np.stack([np.cos(turn), -np.sin(turn)], axis=1),
    )
    along, across = ahead * size_m[0] / 2, right * size_m[1] / 2
    middle = poses[:, :2]
    return np.stack(
        [middle - along + across, middle + along + across, middle + along - across, middle - along - across],
        axis=1,
    )
