"""Where vehicles and people are that a moving camera meets: on the right of their way, round corners."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from gnomon.worlds.movement import Journey
from gnomon.worlds.rendering.figures import HAIRS, SKINS, TROUSERS, Look
from gnomon.worlds.rendering.solid import Colour

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
class Traveller:
    """One on its way, so far to the right of its journey's line; `words` call it by what it looks like."""

    name: str
    words: str
    look: Look
    size_m: tuple[float, float, float]  # length, width, height
    journey: Journey
    right_m: float

    def poses(self, times_s: Array) -> Array:
        """Of each moment (n): x, y and the direction it faces, degrees clockwise from north (n × 3).

        Corners of its way are cut: it is where the way is on average over ROUNDING_M before and after, and
        faces along that stretch.
        """
        stretch = self.journey.stretches[0]
        along_m, way_m = np.array(stretch.along_m), np.array(stretch.points_m)
        reach_m = ROUNDING_M[self.look.kind]
        at_m = np.interp(times_s, stretch.times_s, along_m)
        around_m = at_m[:, None] + np.linspace(-reach_m, reach_m, SAMPLES)
        xs, ys = (np.interp(around_m, along_m, way_m[:, axis]) for axis in (0, 1))
        facing = np.arctan2(xs[:, -1] - xs[:, 0], ys[:, -1] - ys[:, 0])
        x_m = xs.mean(axis=1) + self.right_m * np.cos(facing)
        y_m = ys.mean(axis=1) - self.right_m * np.sin(facing)
        return np.column_stack([x_m, y_m, np.degrees(facing)])


def vehicle_looking(paint: str, rng: Random, journey: Journey) -> Traveller:
    """A vehicle of that paint, of a shape and a size drawn by lot, on its lane."""
    shape = rng.choice(list(SIZES))
    length_m, width_m, height_m = (round(rng.uniform(*bounds_m), 2) for bounds_m in SIZES[shape])
    return Traveller(
        name=f"{paint}-{shape}",
        words=f"the {paint} {shape}",
        look=Look(kind="vehicle", shape=shape, main=PAINTS[paint]),
        size_m=(length_m, width_m, height_m),
        journey=journey,
        right_m=LANE_M + rng.uniform(-OFF_M, OFF_M),
    )


def person_wearing(shirt: str, rng: Random, journey: Journey) -> Traveller:
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
        journey=journey,
        right_m=PAVEMENT_M * rng.choice((-1, 1)),
    )


def keep_apart(first: Array, second: Array, *, ahead_m: float, aside_m: float) -> bool:
    """Whether two poses (n × 3) are never within such a box about each other."""
    between_m = second[:, :2] - first[:, :2]
    for facing_deg in (first[:, 2], second[:, 2]):
        turn = np.radians(facing_deg)
        along_m = between_m[:, 0] * np.sin(turn) + between_m[:, 1] * np.cos(turn)
        across_m = between_m[:, 0] * np.cos(turn) - between_m[:, 1] * np.sin(turn)
        if ((np.abs(along_m) < ahead_m) & (np.abs(across_m) < aside_m)).any():
            return False
    return True


def corners_m(pose: Array, size_m: tuple[float, float, float]) -> Array:
    """The four corners of a body's base (4 × 2), anticlockwise from the rear right."""
    turn = math.radians(float(pose[2]))
    ahead, right = np.array([math.sin(turn), math.cos(turn)]), np.array([math.cos(turn), -math.sin(turn)])
    along, across = ahead * size_m[0] / 2, right * size_m[1] / 2
    middle = pose[:2]
    return np.array(
        [middle - along + across, middle + along + across, middle + along - across, middle - along - across]
    )
