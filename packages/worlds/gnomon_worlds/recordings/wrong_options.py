"""Draws wrong options that tell nothing by where they lie: links of a chain of small steps.

The distance of a wrong option from the right one fits the scene, drawn evenly in its logarithm. STI-Bench
(2025), section 3.2: millimetres to centimetres on a desk, centimetres to decimetres in a room, decimetres to
metres outdoors. The spans and digits here are ours.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import Self, TypeVar

import numpy as np

from gnomon_tools.geometry.angles import signed_deg
from gnomon_tools.geometry.polyline import STRAIGHT_DEG, PolylineTurn
from gnomon_tools.geometry.pose import Pose, from_yaw_pitch_roll, rotation_angle_deg
from gnomon_worlds.recordings import truth
from gnomon_worlds.recordings.recording import Array

T = TypeVar("T")

WRONG, TRIES = 4, 400


@dataclass(frozen=True, slots=True)
class Grain:
    """The smallest and the largest difference between options, and the digits with which they are printed.

    No option is above `highest` or below `lowest`: where one would be, it is as far on this side.
    """

    low: float
    high: float
    digits: int
    highest: float = math.inf
    lowest: float = -math.inf

    def mirrored(self, number: float) -> float:
        """The number, mirrored at the bound that it exceeds."""
        number = 2 * self.lowest - number if number < self.lowest else number
        return 2 * self.highest - number if number > self.highest else number


LENGTHS: Mapping[str, Grain] = {
    "desktop": Grain(0.005, 0.1, 3),
    "indoor": Grain(0.05, 1.0, 2),
    "outdoor": Grain(0.5, 10.0, 2),
}
ANGLES = Grain(5.0, 60.0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """How far options lie apart, by what is asked, and the sides that are offered.

    `is_level`: all stands on level ground, so that wrong boxes and poses have the right one's height.
    `sizes_by_kind`: of objects whose words end so, the grains of length, width and height; they hold bounds.
    `are_alike`: wrong paths are as long and turn as much as the right one, wrong boxes and poses have its
    heading and its size, so that one measurement alone tells nothing.
    """

    lengths: Grain
    sizes: Grain
    speeds: Grain
    accelerations: Grain
    turns: Grain = ANGLES
    sides: tuple[str, ...] = truth.SIDES
    is_level: bool = False
    sizes_by_kind: Mapping[str, tuple[Grain, Grain, Grain]] = field(default_factory=dict)
    are_alike: bool = False

    def sizes_of(self, words: str) -> tuple[Grain, Grain, Grain]:
        """The grains of length, width and height of an object of that name."""
        own = (grains for kind, grains in self.sizes_by_kind.items() if words.endswith(kind))
        return next(own, (self.sizes, self.sizes, self.sizes))

    @classmethod
    def of(cls, scene: str) -> Self:
        grain = LENGTHS[scene]
        return cls(lengths=grain, sizes=grain, speeds=grain, accelerations=grain)


class NoDistractors(ValueError):
    """Not enough different wrong options could be drawn."""


def difference(rng: np.random.Generator, grain: Grain) -> float:
    """A difference between the grain's ends, even in its logarithm."""
    return math.exp(rng.uniform(math.log(grain.low), math.log(grain.high)))


def either_way(rng: np.random.Generator, grain: Grain) -> float:
    """A difference with a sign drawn by lot."""
    return difference(rng, grain) * (1 if rng.random() < 0.5 else -1)


def wrong_options(
    rng: np.random.Generator,
    right: T,
    step: Callable[[np.random.Generator, T], T],
    is_sound: Callable[[Sequence[T]], bool],
) -> list[T]:
    """WRONG options that tell nothing by where they lie: all are links of one chain of small steps.

    The right one is a link drawn evenly; steps lead on from it to both sides. As a step and the way back
    are equally likely, any link could have been the first. The chain is drawn anew until all its links
    `is_sound`, which sees the right one first.

    Raises:
        NoDistractors: TRIES draws were not enough.
    """
    for _ in range(TRIES):
        before = int(rng.integers(0, WRONG + 1))
        links = [right]
        for count in (before, WRONG - before):
            link = right
            for _ in range(count):
                link = step(rng, link)
                links.append(link)
        if is_sound(links):
            return links[1:]
    raise NoDistractors(f"no {WRONG} options other than {right!r}")


def wrong_numbers(
    rng: np.random.Generator, truth: float, grain: Grain, *, floor: float = -math.inf
) -> list[float]:
    """WRONG numbers, rounded like the truth; any two differ by what the grain says.

    None is below `floor` either: what would be is as far above. How many lie below the truth is as likely to
    be any number, so its rank tells nothing.

    Raises:
        NoDistractors: TRIES draws were not enough.
    """
    bounded = replace(grain, lowest=max(floor, grain.lowest))

    def step(rng: np.random.Generator, number: float) -> float:
        return round(bounded.mirrored(number + either_way(rng, grain)), grain.digits) + 0.0

    def is_sound(numbers: Sequence[float]) -> bool:
        ordered = sorted(numbers)
        gaps = [after - before for before, after in pairwise(ordered)]
        return (
            min(gaps) >= grain.low - 1e-9
            and ordered[-1] - ordered[0] <= grain.high + 1e-9
            and ordered[0] >= bounded.lowest
        )

    return wrong_options(rng, round(truth, grain.digits) + 0.0, step, is_sound)


def bent(rng: np.random.Generator, legs: list[PolylineTurn], grain: Grain) -> list[PolylineTurn]:
    """The path with one leg longer or shorter, or one turn wider or narrower; bounds are the whole path's."""
    index = int(rng.integers(len(legs)))
    turn_deg, length_m = legs[index].turn_deg, legs[index].length_m
    if index and rng.random() < 0.5:
        turn_deg = signed_deg(turn_deg + either_way(rng, ANGLES))
    else:
        rest_m = math.fsum(leg.length_m for leg in legs) - length_m
        length_m = round(grain.mirrored(rest_m + length_m + either_way(rng, grain)) - rest_m, grain.digits)
    return [*legs[:index], PolylineTurn(turn_deg=turn_deg, length_m=length_m), *legs[index + 1 :]]


def shared_out(rng: np.random.Generator, legs: list[PolylineTurn], grain: Grain) -> list[PolylineTurn]:
    """The path with some of one leg's length, or of one turn, moved to another: the sums stay.

    Raises:
        NoDistractors: it has one leg.
    """
    if len(legs) == 1:
        raise NoDistractors("one leg has nothing to share out")
    lengths_m, turns_deg = [leg.length_m for leg in legs], [leg.turn_deg for leg in legs]
    if len(legs) > 2 and rng.random() < 0.5:
        parts, by, digits = turns_deg, either_way(rng, ANGLES), ANGLES.digits
        first, second = (1 + rng.permutation(len(legs) - 1))[:2].tolist()
    else:
        parts, by, digits = lengths_m, either_way(rng, grain), grain.digits
        first, second = rng.permutation(len(legs))[:2].tolist()
    parts[first] += round(by, digits)
    parts[second] -= round(by, digits)
    return [
        PolylineTurn(turn_deg=turn_deg, length_m=length_m)
        for turn_deg, length_m in zip(turns_deg, lengths_m, strict=True)
    ]


def are_paths(paths: Sequence[list[PolylineTurn]], grain: Grain) -> bool:
    """Whether all legs have a length and all turns are told, and no two paths are alike."""
    return all(
        leg.length_m > grain.low and (number == 0 or abs(leg.turn_deg) >= STRAIGHT_DEG)
        for path in paths[1:]
        for number, leg in enumerate(path)
    ) and all(
        any(
            abs(a.length_m - b.length_m) >= grain.low - 10**-grain.digits
            or abs(signed_deg(a.turn_deg - b.turn_deg)) >= ANGLES.low - 1e-9
            for a, b in zip(first, second, strict=True)
        )
        for first, second in combinations(paths, 2)
    )


def moved(rng: np.random.Generator, pose: Pose, spans: Spans) -> Pose:
    """A pose nearby: moved to any side, and turned about the vertical."""
    turn = from_yaw_pitch_roll(0.0 if spans.are_alike else either_way(rng, ANGLES), 0.0, 0.0)
    return Pose(position_m=pose.position_m + _any_way(rng, spans), rotation=turn @ pose.rotation)


def _any_way(rng: np.random.Generator, spans: Spans) -> Array:
    ahead = rng.normal(size=3) * (1.0, 1.0, 0.0 if spans.is_level else 1.0)
    return np.asarray(ahead / np.linalg.norm(ahead) * difference(rng, spans.lengths))


def are_poses(poses: Sequence[Pose], grain: Grain) -> bool:
    """Whether any two differ in place or in rotation."""
    return all(
        np.linalg.norm(first.position_m - second.position_m) >= grain.low
        or rotation_angle_deg(first.rotation.T @ second.rotation) >= ANGLES.low
        for first, second in combinations(poses, 2)
    )


def shifted(rng: np.random.Generator, box: truth.CameraBox, spans: Spans, lengths: Grain) -> truth.CameraBox:
    """A box nearby: moved to any side, of another length (with as many digits), turned."""
    x, y, z = (np.array(box.centre_m) + _any_way(rng, spans)).tolist()
    if spans.are_alike:
        return replace(box, centre_m=(x, y, z))
    length, width, height = box.size_m
    return truth.CameraBox(
        size_m=(lengths.mirrored(length + round(either_way(rng, lengths), lengths.digits)), width, height),
        centre_m=(x, y, z),
        heading_deg=signed_deg(box.heading_deg + either_way(rng, ANGLES)),
    )


def are_boxes(boxes: Sequence[truth.CameraBox], spans: Spans) -> bool:
    """Whether all have a length, and any two differ in place."""
    return all(box.size_m[0] >= spans.sizes.low for box in boxes[1:]) and all(
        math.dist(first.centre_m, second.centre_m) >= spans.lengths.low
        for first, second in combinations(boxes, 2)
    )
