"""Finds where a way from a point enters and leaves a camera's view, and how far that is.

Metres on stairs and in lifts count as 1.75 here, as they take so much longer (`stairs.py`).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import shapely
from shapely import Polygon

from gnomon_published.passages import stairs
from gnomon_tools.geometry.angles import bearing_deg
from gnomon_tools.geometry.camera_view import BEYOND_M, View, buffered, chord_of, point_ahead, point_along
from gnomon_tools.geometry.field_of_view import TOUCH_M, crossings, view_of
from gnomon_tools.geometry.network import Network
from gnomon_tools.geometry.route import RouteLeg
from gnomon_tools.scene.scene import Camera, Point, Scene

NEAR_M = 30.0  # cameras this close stand at one crossing: the bearing from one to the other means nothing
# Between two views of one mast: a car that a picture's edge cuts is not boxed, so a car's length.
BLIND_M = 4.0

Spot = tuple[Point, int]  # (x, y) in metres, and the floor
Span = tuple[float, float, Point, Point]  # enters and leaves after so many metres, and where
Run = tuple[float, Sequence[Point]]  # where it begins along the way, its points


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewCrossing:
    """A way into and through a view; lengths count from the way's start, `length_m` to the view's aim.

    `enters_m` is negative where the start lies in the view and was in it before.
    """

    length_m: float
    enters_m: float
    leaves_m: float
    entry_m: Point
    exit_m: Point
    starts_inside: bool
    error_m: float

    @property
    def heading_deg(self) -> float | None:
        """Direction through the view; None where that has no length."""
        return bearing_deg(self.entry_m, self.exit_m) if self.entry_m != self.exit_m else None


class Unreachable(ValueError):
    """The network does not lead from the start to the view."""


def view_crossing(
    scene: Scene,
    start: Spot,
    camera: Camera,
    view: View,
    *,
    heading_deg: float | None = None,
    seen_by: Camera | None = None,
) -> ViewCrossing:
    """The shortest way from a spot to the view's aim, and straight on until it leaves the view.

    A start inside the view moves through it straight by `heading_deg`, if that is known. Streets run along a
    presumed view or square to it; near by, `heading_deg` decides which. Where the way misses a known view it
    is in view for √area, its mean width, about the aim. Who comes to stairs in view goes on by them. The part
    of the way in the view of `seen_by` is behind the target where no homography told its place there.

    Raises:
        Unreachable: the network does not join the two, or floors differ and there is no network.
    """
    (start_m, floor), network = start, Network.of(scene)
    path = None if network.empty else network.path(start_m, floor, view.aim_m, camera.floor)
    if path is None and (floor != camera.floor or not network.empty):
        raise Unreachable(camera.id)
    legs, total_m = (path.legs, _length_m(path.legs)) if path else ((), math.dist(start_m, view.aim_m))
    inside = floor == camera.floor and shapely.intersects_xy(view.area, *start_m).item()
    within = buffered(view)
    if view.presumed and path is None:
        span = _presumed_span(start_m, camera, view, heading_deg)
    elif inside and heading_deg is not None:
        span = _span_about(start_m, heading_deg, within)
    else:
        runs: list[Run] = list(_runs(legs, camera.floor)) if path else [(0.0, (start_m, view.aim_m))]
        span = _crossing(runs, within)
    enters_m, leaves_m, *ends = span or _about_aim(view, total_m)
    near = (
        None
        if inside or network.empty or view.presumed
        else network.way_into(within, camera.floor, start_m, floor)
    )
    if near is not None:
        near_m = min(_length_m(near.legs), enters_m)
        enters_m, leaves_m = near_m, near_m + leaves_m - enters_m
    flights = stairs.in_view(scene, camera.floor, view.area) if path else {}
    if not inside:
        enters_m = stairs.enters_before_m(enters_m, total_m, legs, flights)
        leaves_m = stairs.leaves_after_m(leaves_m, total_m, legs, flights)
    gone_m = distance_to_exit_m(scene, legs, seen_by)
    return ViewCrossing(
        length_m=total_m - gone_m,
        enters_m=enters_m - gone_m if inside else max(0.0, enters_m - gone_m),
        leaves_m=leaves_m - gone_m,
        entry_m=ends[0],
        exit_m=ends[1],
        starts_inside=inside,
        error_m=view.error_m + (path.start_snap_m + path.end_snap_m if path else 0.0),
    )


def _length_m(legs: Iterable[RouteLeg]) -> float:
    return math.fsum(stairs.slowed_m(leg) for leg in legs)


def _about_aim(view: View, total_m: float) -> Span:
    """A stay of the view's mean width about its aim."""
    half_m = math.sqrt(view.area.area) / 2
    return total_m - half_m, total_m + half_m, view.aim_m, view.aim_m


def _span_about(start_m: Point, heading_deg: float, area: Polygon) -> Span | None:
    """Where the straight line through a spot inside a view enters and leaves it."""
    line = [point_ahead(start_m, heading_deg, far_m) for far_m in (-BEYOND_M, BEYOND_M)]
    for enters_m, leaves_m in crossings(line, area):
        if enters_m - TOUCH_M <= BEYOND_M <= leaves_m + TOUCH_M:
            return (
                enters_m - BEYOND_M,
                leaves_m - BEYOND_M,
                point_along(line, enters_m),
                point_along(line, leaves_m),
            )
    return None


def _presumed_span(start_m: Point, camera: Camera, view: View, heading_deg: float | None) -> Span | None:
    """The chord through the aim, attached to the straight way there."""
    away_m = math.dist(start_m, view.aim_m)
    travel_deg = heading_deg if away_m < NEAR_M or not away_m else bearing_deg(start_m, view.aim_m)
    chord = None if travel_deg is None else chord_of(view, camera, travel_deg)
    if chord is None:
        return None
    _, entry_m, exit_m = chord
    return away_m - math.dist(entry_m, view.aim_m), away_m + math.dist(view.aim_m, exit_m), entry_m, exit_m


def _runs(legs: Iterable[RouteLeg], floor: int) -> Iterator[Run]:
    """The legs on the ground of a floor, without those of no length."""
    offset_m = 0.0
    for leg in legs:
        if leg.on_ground and leg.floor == floor and leg.length_m > 0:
            yield offset_m, leg.points_m
        offset_m += stairs.slowed_m(leg)


def _crossing(runs: list[Run], area: Polygon) -> Span | None:
    """Where the runs are in view: the last stretch that begins on them."""
    pieces: list[Span] = []
    for index, (offset_m, points_m) in enumerate(runs):
        length_m = math.fsum(math.dist(*pair) for pair in pairwise(points_m))
        line = [*points_m, _beyond(points_m)] if index == len(runs) - 1 else list(points_m)
        for enters_m, leaves_m in crossings(line, area):
            if enters_m <= length_m + TOUCH_M:
                ends = point_along(line, enters_m), point_along(line, leaves_m)
                pieces.append((offset_m + enters_m, offset_m + leaves_m, *ends))
    joined: list[Span] = []
    for piece in sorted(pieces, key=lambda each: each[:2]):
        if joined and piece[0] <= joined[-1][1] + TOUCH_M:
            before = joined.pop()
            piece = (before[0], max(before[1], piece[1]), before[2], piece[3])
        joined.append(piece)
    return joined[-1] if joined else None


def _beyond(points_m: Sequence[Point]) -> Point:
    """A point far ahead on the straight line of the last stretch that has a length."""
    last = points_m[-1]
    for point in reversed(points_m[:-1]):
        far_m = math.dist(point, last)
        if far_m > 0:
            share = BEYOND_M / far_m
            return last[0] + share * (last[0] - point[0]), last[1] + share * (last[1] - point[1])
    return last


def distance_to_exit_m(scene: Scene, legs: Sequence[RouteLeg], camera: Camera | None) -> float:
    """Slowed metres from the beginning of a way to where it leaves the camera's view for the first time.

    The target was seen there, so the view is taken to reach the beginning. Where the camera has a homography,
    that is exact on the ground but not on stairs: then only a way that leaves by stairs in view counts.
    0 without a camera and where nobody knows what it sees.
    """
    drawn = view_of(camera) if camera else None
    if camera is None or drawn is None or not legs or legs[0].floor != camera.floor:
        return 0.0
    reached = drawn.union(shapely.Point(legs[0].points_m[0])).convex_hull
    view = reached if isinstance(reached, Polygon) else drawn
    flights, passed_m, left_m = stairs.in_view(scene, camera.floor, view), 0.0, 0.0
    for leg in legs:
        length_m, seen_m = stairs.slowed_m(leg), 0.0
        if leg.id in flights:
            seen_m = flights[leg.id]
            left_m = passed_m + seen_m
        elif leg.on_ground and leg.floor == camera.floor and leg.length_m > TOUCH_M:
            seen_m = next((leaves_m for _, leaves_m in crossings(leg.points_m, view)), 0.0)
            left_m = left_m if camera.homography is not None else passed_m + seen_m
        if seen_m < length_m - TOUCH_M:
            break
        passed_m += length_m
    return left_m


def reversed_legs(legs: Iterable[RouteLeg]) -> list[RouteLeg]:
    """The same way, gone the other way round."""
    return [
        RouteLeg(
            id=leg.id,
            kind=leg.kind,
            floor=leg.to_floor,
            to_floor=leg.floor,
            points_m=tuple(reversed(leg.points_m)),
            length_m=leg.length_m,
        )
        for leg in reversed(list(legs))
    ]
