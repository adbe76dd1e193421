"""Joins what cameras saw of a target by the shortest ways between into one journey."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gnomon_tools.geometry.network import Network
from gnomon_tools.geometry.polyline import simplified
from gnomon_tools.scene.scene import Point
from gnomon_worlds.movement import PEDESTRIAN, VEHICLE, Body, Journey, Stretch
from gnomon_worlds.tracking.cleaning import Stay
from gnomon_worlds.tracking.neutral_form import Array, BodyKind, Track
from gnomon_worlds.tracking.summary import TOLERANCE_M
from gnomon_worlds.world import World

BODIES: Mapping[BodyKind, Body] = {"vehicle": VEHICLE, "pedestrian": PEDESTRIAN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The unseen time between two stays: the way that is assumed, and how long the target took."""

    start_s: float
    end_s: float
    way_m: float
    around_mps: float  # mean speed in the stays before and after


def point_at(xy_m: Array, index: int) -> Point:
    """A position of a path."""
    return float(xy_m[index, 0]), float(xy_m[index, 1])


def journey_along(track: Track, floor: int, body: BodyKind) -> Journey:
    """The journey of a target that was never out of sight."""
    kept = simplified(track.xy_m, TOLERANCE_M[body] / 2)
    points_m = tuple(point_at(track.xy_m, index) for index in kept)
    times_s = tuple(float(track.times_s[index]) for index in kept)
    return Journey(body=BODIES[body], stretches=(Stretch(floor=floor, points_m=points_m, times_s=times_s),))


class PathMaker:
    """Joins stays by the shortest ways between them into stretches without a break."""

    def __init__(self, world: World, tolerance_m: float) -> None:
        self._world, self._tolerance_m = world, tolerance_m
        self._done: list[Stretch] = []
        self._points: list[Point] = []
        self._times_s: list[float] = []
        self._floor = 0
        self._last: Stay | None = None
        self.gaps: list[Gap] = []

    def add(self, stay: Stay) -> None:
        """Go on with the next stay; what another camera saw before stays as it was."""
        if self._last is not None:
            self._cross(self._last, stay)
        else:
            self._floor = stay.floor
        kept = simplified(stay.xy_m, self._tolerance_m)
        for index in kept:
            self._go(point_at(stay.xy_m, index), float(stay.times_s[index]))
        if self._last is None or stay.end_s > self._last.end_s:
            self._last = stay

    def stretches(self) -> tuple[Stretch, ...]:
        """The whole way."""
        self._close()
        return tuple(self._done)

    def _go(self, at_m: Point, time_s: float) -> None:
        if not self._times_s or time_s > self._times_s[-1] + 1e-6:
            self._points.append(at_m)
            self._times_s.append(time_s)

    def _close(self) -> None:
        if len(self._points) > 1:
            self._done.append(
                Stretch(floor=self._floor, points_m=tuple(self._points), times_s=tuple(self._times_s))
            )
        self._points, self._times_s = [], []

    def _cross(self, before: Stay, after: Stay) -> None:
        gap_s = after.start_s - before.end_s
        start_m, end_m = point_at(before.xy_m, -1), point_at(after.xy_m, 0)
        around_mps = (before.speed_mps + after.speed_mps) / 2
        if gap_s <= 0:
            if before.floor != after.floor:
                self._close()
                self._floor = after.floor
            return
        path = Network.of(self._world.scene).path(start_m, before.floor, end_m, after.floor)
        legs = list(path.legs) if path is not None else []
        straight_m = math.dist(start_m, end_m)
        way_m = sum(leg.length_m for leg in legs) if legs else straight_m
        self.gaps.append(
            Gap(
                start_s=before.end_s, end_s=after.start_s, way_m=max(way_m, straight_m), around_mps=around_mps
            )
        )
        gone_m = 0.0
        for number, leg in enumerate(legs):
            if not leg.on_ground:
                self._close()
                self._floor = leg.to_floor
                gone_m += leg.length_m
                continue
            inner = list(leg.points_m)
            if number == 0:
                inner = inner[1:]  # the target is beside the road's middle where it was last seen
            if number == len(legs) - 1:
                inner = inner[:-1]
            here = leg.points_m[0]
            for point in leg.points_m:
                gone_m += math.dist(here, point)
                here = point
                if point in inner and way_m > 0:
                    self._go(point, before.end_s + gap_s * min(gone_m / way_m, 1 - 1e-6))
        if not legs and before.floor != after.floor:
            self._close()
        self._floor = after.floor
