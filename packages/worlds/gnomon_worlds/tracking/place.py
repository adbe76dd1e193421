"""Makes a world of a site and its paths, so that packages/worlds/gnomon_worlds asks its questions of them.

Ways between two views are not seen. They are taken to be the shortest, gone at constant speed; how well that
fits is measured (`rules.py`). Camera ids are dealt anew. Outdoors synthetic cameras are put along the roads,
as GTR-Bench's authors did: copies of real views that no question has as its answer.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import shapely
from shapely import LineString, MultiPoint, Polygon, affinity

from gnomon.core.errors import DataError
from gnomon.core.ids import stable_seed
from gnomon.drawing.map_sheet import with_map
from gnomon_tools.geometry.angles import bearing_deg
from gnomon_tools.geometry.network import Network
from gnomon_tools.geometry.polyline import simplified
from gnomon_tools.scene.scene import Camera, Point, Portal, Road, Scene, Zone
from gnomon_worlds.camera_model import Installation
from gnomon_worlds.movement import PEDESTRIAN, VEHICLE, Journey, Stretch
from gnomon_worlds.names import camera_ids
from gnomon_worlds.tracking.calibration import Calibration
from gnomon_worlds.tracking.cleaning import Stay, Walker
from gnomon_worlds.tracking.summary import TOLERANCE_M
from gnomon_worlds.tracking.tracking import Array, Tracking
from gnomon_worlds.trajectory import Sighting, Trip
from gnomon_worlds.world import Spot, World

CAMERAS = 12  # a site with fewer gets synthetic ones outdoors, up to this many
UNBUILT = 60  # further places that might have a camera: the wrong intervals of arrival times
TRIES = 40  # for each
NEAR_M = 300.0  # synthetic cameras are at most this far from a real view
MARGIN_M = {"outdoor": 40.0, "indoor": 12.0}  # as of generated worlds: ways that differ by less are too close
APART_M = {"outdoor": 6.0, "indoor": 0.5}
EDGE_M = {"outdoor": 1.5, "indoor": 0.5}  # a view is the hull of what was seen in it, and this much around
BODIES = {"vehicle": VEHICLE, "pedestrian": PEDESTRIAN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The unseen time between two stays: the way that is assumed, and how long the target took."""

    start_s: float
    end_s: float
    way_m: float
    around_mps: float  # mean speed in the stays before and after


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedTrip(Trip):
    """A recorded target's way past cameras, each of which sees it once; `stays` belong to its sightings."""

    walker: Walker
    stays: tuple[Stay, ...]
    gaps: tuple[Gap, ...]

    def stay_of(self, sighting: Sighting) -> Stay:
        """The stay that a sighting stands for."""
        return self.stays[[one.camera for one in self.sightings].index(sighting.camera)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The world of a site, its trips, and the data set's name of each camera by the dealt one."""

    world: World
    trips: tuple[RecordedTrip, ...]
    names: Mapping[str, str]
    synthetic: tuple[str, ...]
    roads_from: str


def place_of(
    tracking: Tracking,
    calibrated: Mapping[str, Calibration],
    walkers: Sequence[Walker],
    *,
    seed: int,
    synthetic: int | None = None,
) -> Place:
    """The place that questions are about; the same seed makes the same.

    Raises:
        DataError: nobody moves in view of any camera, or an indoor site has no floor plan.
    """
    rng = Random(stable_seed("tracking", tracking.id, seed))
    given = tracking.scene
    if tracking.kind == "indoor" and (given is None or not given.zones):
        raise DataError(
            "an indoor site needs its floor plan: zones and portals (docs/scenes.md)", field="scene"
        )
    used = sorted({stay.camera for walker in walkers for stay in walker.stays})
    if not used:
        raise DataError("no target moves in view of a camera for long enough: see the cleaning report")
    views = {index: _view(tracking, index, walkers) for index in used}
    zones, portals = (given.zones, given.portals) if given else ({}, {})
    has_roads = given is not None and bool(given.roads)
    roads = dict(given.roads) if given and has_roads else {}
    if tracking.kind == "outdoor" and not roads:
        roads = _roads_of(walkers, views)
    real = {
        index: _camera(tracking, calibrated[tracking.cameras[index].id], index, views[index])
        for index in used
    }
    spare = (
        (max(CAMERAS - len(real), 0) if synthetic is None else synthetic) if tracking.kind == "outdoor" else 0
    )
    copies = list(_copies(rng, tracking, list(real.values()), roads, zones, portals, spare + UNBUILT))
    if len(copies) < spare:
        spare = len(copies)
    ids = camera_ids(rng, len(real) + spare)
    built = {
        camera_id: replace(camera, id=camera_id)
        for camera_id, camera in sorted(zip(ids, [*real.values(), *copies[:spare]], strict=True))
    }
    scene = Scene(
        id=tracking.id,
        frame=tracking.frame,
        kind=tracking.kind,
        cameras=built,
        roads=roads,
        zones=zones,
        portals=portals,
        places=given.places if given else {},
        attribution=given.attribution if given else "",
    )
    scene = with_map(scene, file=f"{tracking.id}.png")
    world = World(
        scene=scene,
        installation=Installation(
            cameras=built,
            mounts={},
            unbuilt=tuple(
                replace(camera, id=f"u{number:02d}") for number, camera in enumerate(copies[spare:])
            ),
        ),
        ends=(),
        apart_m=0.0,
        margin_m=MARGIN_M[tracking.kind],
        spots={camera_id: _spots(camera, roads) for camera_id, camera in built.items()},
    )
    roads_from = "the scene" if has_roads else "straight lines between the views" if roads else ""
    dealt = dict(zip(used, ids, strict=False))
    targets = list(dict.fromkeys(walker.target for walker in walkers))
    numbers = dict(zip(targets, rng.sample(range(1, 1_000_000), len(targets)), strict=True))
    trips = tuple(
        _trip(world, tracking, walker, part, dealt, numbers[walker.target])
        for walker in walkers
        for part in _once_each(walker.stays)
    )
    return Place(
        world=world,
        trips=trips,
        names={dealt[index]: tracking.cameras[index].id for index in used},
        synthetic=tuple(ids[len(real) :]),
        roads_from=roads_from,
    )


def _view(tracking: Tracking, index: int, walkers: Sequence[Walker]) -> Polygon:
    """The scene's view of a camera, else the hull of all paths that it saw."""
    own = tracking.scene.cameras.get(tracking.cameras[index].id) if tracking.scene else None
    if own is not None and own.field_of_view is not None:
        return own.field_of_view
    points_m = np.concatenate(
        [stay.xy_m for walker in walkers for stay in walker.stays if stay.camera == index]
    )
    return Polygon(MultiPoint(points_m).convex_hull.buffer(EDGE_M[tracking.kind], quad_segs=4))


def _camera(tracking: Tracking, calibration: Calibration, index: int, view: Polygon) -> Camera:
    tracked = tracking.cameras[index]
    own = tracking.scene.cameras.get(tracked.id) if tracking.scene else None
    middle = (view.centroid.x, view.centroid.y)
    eye_m = calibration.eye_m or _nearest_seen(calibration, tracked.image_size, view)
    heading = own.heading_deg if own else None
    if heading is None:
        heading = bearing_deg(eye_m, middle) if math.dist(eye_m, middle) > 0 else 0.0
    return Camera(
        id=tracked.id,
        xy_m=eye_m,
        floor=tracked.floor,
        heading_deg=heading,
        field_of_view=view,
        homography=calibration.homography,
        image_size=tracked.image_size,
    )


def _nearest_seen(calibration: Calibration, size: tuple[int, int] | None, view: Polygon) -> Point:
    """Where the picture's lower edge shows the floor, as the camera is near; else the view's middle."""
    if size is not None:
        x, y, w = calibration.homography @ (size[0] / 2, size[1], 1.0)
        if abs(w) > 1e-12 and shapely.Point(x / w, y / w).distance(view) < NEAR_M:
            return (float(x / w), float(y / w))
    return (view.centroid.x, view.centroid.y)


def _roads_of(walkers: Sequence[Walker], views: Mapping[int, Polygon]) -> dict[str, Road]:
    """Roads where none are given: through every view along its longer axis, and from view to view."""
    axes = {index: _axis(view) for index, view in views.items()}
    lines = [LineString(axis) for axis in axes.values()]
    pairs = {
        tuple(sorted((before.camera, after.camera)))
        for walker in walkers
        for before, after in pairwise(walker.stays)
        if before.camera != after.camera
    }
    for first, second in sorted(pairs):
        ends = min(((a, b) for a in axes[first] for b in axes[second]), key=lambda pair: math.dist(*pair))
        if math.dist(*ends) > 0:
            lines.append(LineString(ends))
    return {f"r{number:02d}": Road(id=f"r{number:02d}", line=line) for number, line in enumerate(lines, 1)}


def _axis(view: Polygon) -> tuple[Point, Point]:
    corners = shapely.get_coordinates(shapely.oriented_envelope(view))
    sides = sorted(pairwise([*corners[:4].tolist(), corners[0].tolist()]), key=lambda side: math.dist(*side))
    first, second = ((np.array(side[0]) + np.array(side[1])) / 2 for side in sides[:2])
    return (float(first[0]), float(first[1])), (float(second[0]), float(second[1]))


def _spots(camera: Camera, roads: Mapping[str, Road]) -> tuple[Spot, ...]:
    """The middle of every road in a camera's view; without a road, the view's middle."""
    view = _seen_by(camera)
    parts = [
        part
        for road in roads.values()
        if road.line.intersects(view)
        for part in shapely.get_parts(road.line.intersection(view))
    ]
    middles = [part.interpolate(0.5, normalized=True) for part in parts if isinstance(part, LineString)]
    return tuple(Spot(xy_m=(at.x, at.y), floor=camera.floor) for at in middles or [view.centroid])


def _copies(
    rng: Random,
    tracking: Tracking,
    real: Sequence[Camera],
    roads: Mapping[str, Road],
    zones: Mapping[str, Zone],
    portals: Mapping[str, Portal],
    wanted: int,
) -> Iterator[Camera]:
    """Real cameras moved to other places, apart from all other views: along roads, or within rooms."""
    taken: dict[int, list[Polygon]] = {}
    for camera in real:
        taken.setdefault(camera.floor, []).append(_seen_by(camera))
    near = shapely.union_all([_seen_by(camera) for camera in real]).buffer(NEAR_M)
    reachable = [road for road in roads.values() if road.line.intersects(near)]
    if tracking.kind == "outdoor" and not reachable:
        raise DataError(
            f"no road is within {NEAR_M:g} m of what a camera sees: another place?", field="scene"
        )
    lengths = [road.line.length for road in reachable]
    for _ in range(wanted):
        for _ in range(TRIES):
            camera = rng.choice(real)
            if tracking.kind == "outdoor":
                moved = _along(rng, camera, rng.choices(reachable, lengths)[0])
            else:
                zone = rng.choice(_passed_through(zones, portals, camera.floor))
                moved = _within(rng, camera, zone.area)
            if moved is None:
                continue
            others = taken[camera.floor]
            if shapely.distance(_seen_by(moved), others).min() >= APART_M[tracking.kind]:
                others.append(_seen_by(moved))
                yield moved
                break


def _seen_by(camera: Camera) -> Polygon:
    """The camera's view; every camera of a place has one."""
    if camera.field_of_view is None:
        raise TypeError(f"camera {camera.id} has no view")
    return camera.field_of_view


def _along(rng: Random, camera: Camera, road: Road) -> Camera | None:
    line = road.line
    along_m = rng.uniform(0, line.length)
    at = line.interpolate(along_m)
    ahead = line.interpolate(min(along_m + 1.0, line.length))
    behind = line.interpolate(max(along_m - 1.0, 0.0))
    way_deg = bearing_deg((behind.x, behind.y), (ahead.x, ahead.y)) + rng.choice((0, 180))
    return _moved(camera, (at.x, at.y), way_deg)


def _passed_through(zones: Mapping[str, Zone], portals: Mapping[str, Portal], floor: int) -> list[Zone]:
    """The zones of a floor with two doors or more; all of them where there are none."""
    doors = Counter(zone for portal in portals.values() for zone in portal.zones)
    here = [zone for zone in zones.values() if zone.floor == floor]
    return [zone for zone in here if doors[zone.id] > 1] or here


def _within(rng: Random, camera: Camera, area: Polygon) -> Camera | None:
    west, south, east, north = area.bounds
    at = (rng.uniform(west, east), rng.uniform(south, north))
    if not shapely.intersects_xy(area, *at):
        return None
    moved = _moved(camera, at, rng.choice((0, 90, 180, 270)) + (camera.heading_deg or 0.0))
    view = _seen_by(moved).intersection(area)
    return replace(moved, field_of_view=view) if isinstance(view, Polygon) and view.area > 0 else None


def _moved(camera: Camera, to_m: Point, heading_deg: float) -> Camera:
    """The camera with its view's middle at a point, looking along a direction."""
    view = _seen_by(camera)
    turn = math.radians((camera.heading_deg or 0.0) - heading_deg)  # counter-clockwise
    cos, sin = math.cos(turn), math.sin(turn)
    x, y = view.centroid.x, view.centroid.y
    shift = (to_m[0] - cos * x + sin * y, to_m[1] - sin * x - cos * y)
    motion = np.array([[cos, -sin, shift[0]], [sin, cos, shift[1]], [0, 0, 1.0]])
    eye = motion @ np.array([*(camera.xy_m or (x, y)), 1.0])
    copied = Polygon(affinity.affine_transform(view, [cos, -sin, sin, cos, *shift]))
    return replace(
        camera,
        xy_m=(float(eye[0]), float(eye[1])),
        heading_deg=heading_deg % 360,
        field_of_view=copied,
        homography=None if camera.homography is None else motion @ camera.homography,
    )


def _once_each(stays: Sequence[Stay]) -> Iterator[tuple[Stay, ...]]:
    """The stays, cut before a camera that has already seen the target."""
    part: list[Stay] = []
    for stay in stays:
        if stay.camera in {before.camera for before in part}:
            yield tuple(part)
            part = []
        part.append(stay)
    if part:
        yield tuple(part)


def _trip(
    world: World,
    tracking: Tracking,
    walker: Walker,
    stays: tuple[Stay, ...],
    dealt: Mapping[int, str],
    number: int,
) -> RecordedTrip:
    path = _PathMaker(world, TOLERANCE_M[tracking.body] / 2)
    for stay in stays:
        path.add(stay)
    sightings = tuple(
        Sighting(
            camera=dealt[stay.camera],
            start_s=stay.start_s,
            end_s=stay.end_s,
            entry=Spot(xy_m=_at(stay.xy_m, 0), floor=stay.floor),
            exit=Spot(xy_m=_at(stay.xy_m, -1), floor=stay.floor),
        )
        for stay in stays
    )
    journey = Journey(body=BODIES[tracking.body], stretches=path.stretches())
    return RecordedTrip(
        target=number, journey=journey, sightings=sightings, walker=walker, stays=stays, gaps=tuple(path.gaps)
    )


def _at(xy_m: Array, index: int) -> Point:
    return float(xy_m[index, 0]), float(xy_m[index, 1])


class _PathMaker:
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
            self._go(_at(stay.xy_m, index), float(stay.times_s[index]))
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
        start_m, end_m = _at(before.xy_m, -1), _at(after.xy_m, 0)
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


def clip_of(
    tracking: Tracking, trip: RecordedTrip, sighting: Sighting, *, boxes: int, path: str
) -> dict[str, Any]:
    """What a camera saw of a target, as GTR-Bench publishes it: `boxes` boxes at about equal steps."""
    rows = trip.stay_of(sighting).rows
    times_s = tracking.boxes.time_s[rows]
    wanted = np.linspace(times_s[0], times_s[-1], boxes)
    chosen = np.unique(np.abs(times_s[:, None] - wanted[None]).argmin(axis=0))
    shown = rows[chosen]
    return {
        "camera_id": sighting.camera,
        "object_id": trip.target,
        "video_path": path,
        "frame_ids": tracking.boxes.frame[shown].tolist(),
        "bboxes": np.round(tracking.boxes.ltwh[shown], 1).tolist(),
        "start_timestamp": round(float(times_s[0]), 3),
        "end_timestamp": round(float(times_s[-1]), 3),
        "direction": "",
    }
