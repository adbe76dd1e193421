"""Computes when the route between two tracks of one target was in a camera's view."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from gnomon_published.passages import stairs
from gnomon_published.passages.view_crossing import (
    BLIND_M,
    NEAR_M,
    Spot,
    Unreachable,
    distance_to_exit_m,
    reversed_legs,
)
from gnomon_tools.geometry.angles import bearing_deg
from gnomon_tools.geometry.camera_view import View, chord_of, point_along
from gnomon_tools.geometry.field_of_view import crossings
from gnomon_tools.geometry.network import Network
from gnomon_tools.geometry.route import RouteLeg, ground_leg
from gnomon_tools.scene.scene import Camera, Point, Scene

JOIN_S = 2.0  # stays this close are one: a step behind a corner of a view is no leaving


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetTrack:
    """Points of a target on one floor with their times, rising; one point will do.

    `camera` is the one that saw it: without a homography it only knows that the target was in its view.
    """

    floor: int
    points_m: Sequence[Point]
    times_s: Sequence[float]
    camera: Camera | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewInterval:
    """When and where the target was in view. `way_m` is the whole way through the gap, `detour_m` by how much
    it would be longer by the view's aim.
    """

    enters_s: float
    leaves_s: float
    entry_m: Point
    exit_m: Point
    length_m: float
    way_m: float
    detour_m: float
    error_m: float


@dataclass(frozen=True, kw_only=True)
class _Route:
    """A way from camera to camera. Expensive parts are computed when asked for, as one of many is taken."""

    scene: Scene
    cameras: tuple[Camera | None, Camera | None]
    legs: tuple[RouteLeg, ...]
    snap_m: float
    aim_at_m: float  # where it touches the view, along it

    @cached_property
    def length_m(self) -> float:
        return math.fsum(map(stairs.slowed_m, self.legs))

    @cached_property
    def behind_m(self) -> float:
        """How much of the way lies in the view in which the target was last seen."""
        return distance_to_exit_m(self.scene, self.legs, self.cameras[0])

    @cached_property
    def beyond_m(self) -> float:
        """How much of the way lies in the view in which the target was next seen."""
        return distance_to_exit_m(self.scene, reversed_legs(self.legs), self.cameras[1])

    @property
    def gone_m(self) -> float:
        """The length of the way in the gap; 0 where views overlap."""
        return max(self.length_m - self.behind_m - self.beyond_m, 0.0)


Span = tuple[float, float, Point, Point, float]  # enters and leaves in seconds, where, and metres between


def interval_in_view(
    scene: Scene,
    before: TargetTrack,
    after: TargetTrack,
    camera: Camera,
    view: View,
    speeds: tuple[float, float, float],
) -> ViewInterval:
    """The stay in view of a target that went at an even pace from the last point before to the first after.

    It took the shortest way; if neither that nor the tracks touch the view, the shortest way by it. The
    tracks count: a stay may begin before the gap and end after it. So do flights of stairs in view. Between
    two cameras of one mast a stay lies within the gap, less a blind strip on either side. Through a presumed
    view, and one that the way only touches, it went with the gap's pace if that lies within `speeds` (usual,
    lowest, highest), else with the usual speed: it waited somewhere else, or views overlap.

    Raises:
        Unreachable: the network does not join them.
    """
    tracked, half_m = [*_of_track(before, camera, view), *_of_track(after, camera, view)], _half_m(view)
    way = _way(scene, before, after, camera, view, is_seen=any(piece[4] >= half_m for piece in tracked))
    start_s, gap_s = before.times_s[-1], after.times_s[0] - before.times_s[-1]
    pace = gap_s / way.gone_m if way.gone_m else 0.0
    start_s -= way.behind_m * pace
    aim_s = start_s + way.aim_at_m * pace
    own_pace = pace if pace and speeds[1] <= 1 / pace <= speeds[2] else 1 / speeds[0]
    if view.presumed:
        span = _presumed(before, after, camera, view, aim_s, own_pace)
        if span and math.dist(before.points_m[-1], after.points_m[0]) < NEAR_M:
            span = _between_masts(span, before.times_s[-1], after.times_s[0], pace)
    else:
        flights = stairs.in_view(scene, camera.floor, view.area)
        on_way = _of_legs(way.legs, camera.floor, view, flights)
        pieces = [(start_s + a * pace, start_s + b * pace, into, out, b - a) for a, b, into, out in on_way]
        span = _longest([*tracked, *pieces])
        if span is None or (span[4] < half_m and span not in tracked):
            span = aim_s - half_m * own_pace, aim_s + half_m * own_pace, view.aim_m, view.aim_m, 2 * half_m
    span = span or (aim_s, aim_s, view.aim_m, view.aim_m, 0.0)
    return ViewInterval(
        enters_s=span[0],
        leaves_s=span[1],
        entry_m=span[2],
        exit_m=span[3],
        length_m=span[4],
        way_m=way.gone_m,
        detour_m=_detour_m(scene, before, after, camera, view),
        error_m=view.error_m + way.snap_m,
    )


def _half_m(view: View) -> float:
    """Half the view's mean width; a shorter stretch than this only touches the view."""
    return math.sqrt(view.area.area) / 2


def _way(
    scene: Scene, before: TargetTrack, after: TargetTrack, camera: Camera, view: View, *, is_seen: bool
) -> _Route:
    """The direct way if it is in view anyway, else the shortest by the view's aim or one of its corners."""
    direct = None if view.presumed else _joined(scene, before, after)
    half_m = _half_m(view)
    on_way = _of_legs(direct.legs, camera.floor, view, {}) if direct else ()
    if direct and (is_seen or any(leaves_m - enters_m >= half_m for enters_m, leaves_m, *_ in on_way)):
        return direct
    corners = [] if view.presumed else [(x_m, y_m) for x_m, y_m in view.area.exterior.coords[:-1]]
    ways = [_joined(scene, before, after, (at_m, camera.floor)) for at_m in (view.aim_m, *corners)]
    joined = [way for way in ways if way is not None]
    if not joined:
        raise Unreachable(camera.id)
    return min(joined, key=lambda way: way.length_m)


def _detour_m(scene: Scene, before: TargetTrack, after: TargetTrack, camera: Camera, view: View) -> float:
    by_aim = _joined(scene, before, after, (view.aim_m, camera.floor))
    direct = _joined(scene, before, after)
    if by_aim is None:
        raise Unreachable(camera.id)
    return by_aim.length_m - direct.length_m if direct else 0.0


def _joined(scene: Scene, before: TargetTrack, after: TargetTrack, *via: Spot) -> _Route | None:
    """The shortest way from one track to the other, by a spot if one is given (`aim_at_m`)."""
    spots = [(before.points_m[-1], before.floor), *via, (after.points_m[0], after.floor)]
    network = Network.of(scene)
    legs: list[RouteLeg] = []
    snap_m = aim_at_m = 0.0
    for (one_m, floor), (other_m, to_floor) in pairwise(spots):
        if network.empty:
            if floor != to_floor:
                return None
            legs.append(ground_leg("", "zone", floor, (one_m, other_m)))
        else:
            path = network.path(one_m, floor, other_m, to_floor)
            if path is None:
                return None
            legs += path.legs
            snap_m += path.start_snap_m + path.end_snap_m
        aim_at_m = aim_at_m or math.fsum(map(stairs.slowed_m, legs))
    return _Route(
        scene=scene,
        cameras=(before.camera, after.camera),
        legs=tuple(legs),
        snap_m=snap_m,
        aim_at_m=aim_at_m,
    )


def _of_track(track: TargetTrack, camera: Camera, view: View) -> list[Span]:
    """When the track itself was in view; nothing for a presumed view."""
    if track.floor != camera.floor or view.presumed or len(track.points_m) < 2:
        return []
    line = list(track.points_m)
    at_m = np.concatenate([[0.0], np.cumsum([math.dist(*pair) for pair in pairwise(line)])])
    spans = []
    for enters_m, leaves_m in crossings(line, view.area):
        enters_s, leaves_s = (
            float(np.interp(metres, at_m, track.times_s)) for metres in (enters_m, leaves_m)
        )
        spans.append(
            (
                enters_s,
                leaves_s,
                point_along(line, enters_m),
                point_along(line, leaves_m),
                leaves_m - enters_m,
            )
        )
    return spans


def _of_legs(
    legs: Sequence[RouteLeg], floor: int, view: View, flights: dict[str, float]
) -> Iterator[tuple[float, float, Point, Point]]:
    """Where the legs are in view, in metres along them; a flight counts at its end on the floor."""
    offset_m = 0.0
    for leg in legs:
        line, length_m = list(leg.points_m), stairs.slowed_m(leg)
        if leg.id in flights:
            shown_m = flights[leg.id]
            begin_m = offset_m if leg.floor == floor else offset_m + length_m - shown_m
            yield begin_m, begin_m + shown_m, line[0], line[-1]
        elif leg.on_ground and leg.floor == floor and leg.length_m > 0:
            for enters_m, leaves_m in crossings(line, view.area):
                ends = point_along(line, enters_m), point_along(line, leaves_m)
                yield offset_m + enters_m, offset_m + leaves_m, *ends
        offset_m += length_m


def _presumed(
    before: TargetTrack, after: TargetTrack, camera: Camera, view: View, aim_s: float, pace: float
) -> Span | None:
    """The chord of a presumed view, at this pace in seconds a metre, its aim passed at `aim_s`."""
    start_m, end_m = before.points_m[-1], after.points_m[0]
    if math.dist(start_m, end_m) < NEAR_M and len(before.points_m) > 1:
        start_m, end_m = before.points_m[0], before.points_m[-1]
    if start_m == end_m:
        return None
    chord = chord_of(view, camera, bearing_deg(start_m, end_m))
    if chord is None:
        return None
    length_m, entry_m, exit_m = chord
    enters_s = aim_s - pace * math.dist(entry_m, view.aim_m)
    return enters_s, aim_s + pace * math.dist(exit_m, view.aim_m), entry_m, exit_m, length_m


def _between_masts(span: Span, left_s: float, met_s: float, pace: float) -> Span:
    """The stay as far as it lies between two sightings by cameras of one mast, blind strips left out.

    What is left of it after a longer blind strip is still a moment: one in the middle of the gap.
    """
    blind_s = BLIND_M * pace
    enters_s, leaves_s = max(span[0], left_s + blind_s), min(span[1], met_s - blind_s)
    if leaves_s <= enters_s:
        enters_s = leaves_s = (left_s + met_s) / 2
    return enters_s, leaves_s, *span[2:]


def _longest(pieces: Sequence[Span]) -> Span | None:
    joined: list[Span] = []
    for piece in sorted(pieces, key=lambda each: each[:2]):
        if joined and piece[0] <= joined[-1][1] + JOIN_S:
            last = joined.pop()
            ends = (last[3] if last[1] >= piece[1] else piece[3], last[4] + piece[4])
            piece = (last[0], max(last[1], piece[1]), last[2], *ends)
        joined.append(piece)
    return max(joined, key=lambda each: each[1] - each[0], default=None)
