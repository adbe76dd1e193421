"""Draws how many lanes a town's roads have, and tells where on the ground each lane of a way is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from random import Random

import numpy as np
from numpy.typing import NDArray

from gnomon_tools.geometry.route import RouteLeg
from gnomon_tools.scene.scene import Point, Road

LANE_M = 3.0  # wide
NARROW_M = 3.0  # half the width of a road of two lanes: what is broader pushes masts and walls back
WIDE = 0.45  # share of the streets, by name, with several lanes in a direction
SHARP_DEG = 100.0  # a turn of more than this is gone round in two corners
TURNING_M = 6.0  # of a way for such a turn
SHARE = 0.45  # of a piece of way that a corner may cut off
BLEND_M = 10.0  # before and after a change of width, over which lanes go to their new places
PAVEMENT_M = 1.4  # from the carriageway to walkers on the pavement

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoadLanes:
    """How many lanes lead along a road's line and how many against it."""

    forward: int
    backward: int

    @property
    def half_m(self) -> float:
        """Half the carriageway's width."""
        return LANE_M * (self.forward + self.backward) / 2

    @property
    def widening_m(self) -> float:
        """How much broader it is on each side than a street of two lanes."""
        return max(0.0, self.half_m - NARROW_M)

    @property
    def borders_m(self) -> list[float]:
        """Where one lane ends and the next begins, to the right of the road's middle as its line runs."""
        count = self.forward + self.backward
        return [LANE_M * (border - count / 2) for border in range(1, count)]


def draw_lanes(
    rng: Random, roads: Mapping[str, Road], tagged: Sequence[tuple[int, int]] | None
) -> dict[str, RoadLanes]:
    """Draw the lanes of each road: as tagged in its plan, else by street."""
    if tagged is not None:
        counts = zip(roads, tagged, strict=True)
        return {road: RoadLanes(forward=forward, backward=backward) for road, (forward, backward) in counts}
    names = dict.fromkeys(road.name for road in roads.values())
    wide = {name: rng.choice((2, 2, 3)) if rng.random() < WIDE else 1 for name in names}
    return {
        road.id: RoadLanes(forward=wide[road.name], backward=0)
        if road.oneway
        else RoadLanes(forward=min(2, wide[road.name]), backward=min(2, wide[road.name]))
        for road in roads.values()
    }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Course:
    """The line of a way with the ground beside it.

    In along_m[i] of the way is the point middle_m[i]; who goes r metres to the right is at middle_m[i] +
    r * right[i] there, and goes straight between. At sharp turns two entries share their middle.
    """

    along_m: Floats  # (n)
    middle_m: Floats  # (n, 2)
    right: Floats  # (n, 2)

    def at(self, along_m: Floats, right_m: Floats) -> Floats:
        """The points (m, 2) so far along the way and so far to the right of it (m metres each)."""
        columns = [
            np.interp(along_m, self.along_m, self.middle_m[:, axis])
            + right_m * np.interp(along_m, self.along_m, self.right[:, axis])
            for axis in (0, 1)
        ]
        return np.column_stack(columns)


def course_of(points_m: Sequence[Point], widest_m: float) -> Course:
    """The course of a line, for bodies that go up to `widest_m` beside it."""
    ends = np.array(points_m)
    pieces = np.diff(ends, axis=0)
    lengths_m = np.hypot(*pieces.T)
    rights = np.column_stack([pieces[:, 1], -pieces[:, 0]]) / lengths_m[:, None]
    along_m, middle_m, right = [0.0], [ends[0]], [rights[0]]
    for number, (before, after) in enumerate(pairwise(rights), start=1):
        along_m.append(along_m[-1] + lengths_m[number - 1])
        middle_m.append(ends[number])
        share = 1 + float(before @ after)  # 2 for straight on, 0 for back
        turn_rad = math.acos(max(-1.0, min(1.0, share - 1)))
        cut_m = widest_m * math.tan(turn_rad / 2) if turn_rad < math.pi - 1e-6 else math.inf
        if turn_rad > math.radians(SHARP_DEG) or cut_m > SHARE * min(lengths_m[number - 1 : number + 1]):
            right.append(before)
            along_m.append(along_m[-1] + TURNING_M * turn_rad / math.pi)
            middle_m.append(ends[number])
            right.append(after)
        else:
            right.append((before + after) / share)
    along_m.append(along_m[-1] + lengths_m[-1])
    return Course(
        along_m=np.array(along_m),
        middle_m=np.array([*middle_m, ends[-1]]),
        right=np.array([*right, rights[-1]]),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LaneWay:
    """A way in lanes: its course, and metre by metre how many lanes lead along it and how wide it is.

    Where the next road has fewer lanes, those on the left end END_M before it.
    """

    course: Course
    corners: NDArray[np.intp]  # of each of the way's points the number of its first entry in the course
    counts: NDArray[np.intp]
    halves_m: Floats

    @property
    def length_m(self) -> float:
        return float(self.course.along_m[-1])

    @property
    def corners_m(self) -> Floats:
        """How far along the way each of its points is."""
        return self.course.along_m[self.corners]

    def points_m(self, along_m: Floats, lane: Floats) -> Floats:
        """Where vehicles are (n, 2) that have gone so far, in a lane or between two (n each)."""
        half_m = np.interp(along_m, np.arange(len(self.halves_m)) + 0.5, self.halves_m)
        return self.course.at(along_m, half_m - LANE_M * (lane + 0.5))

    def pavement_m(self, first: int, last: int) -> tuple[Point, ...]:
        """The way on the pavement to its right, from one of its points to another."""
        begin = int(self.corners[first])
        if first and begin + 1 < len(self.course.along_m):  # round a sharp turn the way has gone already
            begin += int((self.course.middle_m[begin] == self.course.middle_m[begin + 1]).all())
        corners_m = self.course.along_m[begin : self.corners[last] + 1]
        along_m = np.concatenate([corners_m, corners_m[:-1] + BLEND_M, corners_m[1:] - BLEND_M])
        is_between = (along_m >= corners_m[0]) & (along_m <= corners_m[-1])
        along_m = np.unique(np.round(along_m[is_between], 6))
        half_m = np.interp(along_m, np.arange(len(self.halves_m)) + 0.5, self.halves_m)
        return tuple((x, y) for x, y in self.course.at(along_m, half_m + PAVEMENT_M).tolist())


END_M = 20.0  # before the end of a road, where lanes end that do not go on


def lane_way(legs: Sequence[RouteLeg], roads: Mapping[str, Road], lanes: Mapping[str, RoadLanes]) -> LaneWay:
    """A way along roads, in the lanes that lead along it."""
    points_m = [legs[0].points_m[0]]
    stretches: list[tuple[float, int, float]] = []  # until how far in the middle, how many lanes, half width
    for leg in legs:
        points_m += [point for point in leg.points_m if point != points_m[-1]]
        there = lanes[leg.id]
        is_forward = _leads_along(roads[leg.id], leg)
        until_m = math.fsum(math.dist(a, b) for a, b in pairwise(points_m))
        stretches.append((until_m, there.forward if is_forward else there.backward, there.half_m))
    course = course_of(points_m, max(half_m for *_, half_m in stretches) + PAVEMENT_M)
    middle_m = list(accumulate((math.dist(a, b) for a, b in pairwise(points_m)), initial=0.0))
    firsts = _firsts(course, len(points_m))
    cells = max(2, math.ceil(course.along_m[-1]))
    counts, halves_m = np.ones(cells, dtype=np.intp), np.empty(cells)
    before_m = 0.0
    for (until_m, count, half_m), after in zip(stretches, [*stretches[1:], None], strict=True):
        end_m = float(np.interp(until_m, middle_m, course.along_m[firsts]))
        counts[math.floor(before_m) : math.ceil(end_m)] = count
        halves_m[math.floor(before_m) : math.ceil(end_m)] = half_m
        if after is not None and after[1] < count:
            counts[max(math.floor(before_m), math.floor(end_m - END_M)) : math.ceil(end_m)] = after[1]
        before_m = end_m
    window = round(2 * BLEND_M) + 1
    padded = np.pad(halves_m, window // 2, mode="edge")
    return LaneWay(
        course=course,
        corners=firsts,
        counts=counts,
        halves_m=np.convolve(padded, np.full(window, 1 / window), mode="valid"),
    )


def _firsts(course: Course, count: int) -> NDArray[np.intp]:
    """For each point of the line, the index of its first entry in the course."""
    is_first = np.ones(len(course.along_m), dtype=bool)
    is_first[1:] = (np.diff(course.middle_m, axis=0) != 0).any(axis=1)
    firsts = np.flatnonzero(is_first)
    if len(firsts) != count:
        raise ValueError("a way with a point twice in a row")
    return firsts


def _leads_along(road: Road, leg: RouteLeg) -> bool:
    (ax_m, ay_m), (bx_m, by_m) = road.line.coords[0][:2], road.line.coords[-1][:2]
    (cx_m, cy_m), (dx_m, dy_m) = leg.points_m[0], leg.points_m[-1]
    return (bx_m - ax_m) * (dx_m - cx_m) + (by_m - ay_m) * (dy_m - cy_m) >= 0
