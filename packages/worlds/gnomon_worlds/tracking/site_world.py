"""Makes a world of a site and its paths, so that packages/worlds/gnomon_worlds asks its questions of them.

Ways between two views are not seen. They are taken to be the shortest, gone at constant speed; how well that
fits is measured (`rules.py`). Camera ids are dealt anew. Outdoors synthetic cameras are put along the roads,
as GTR-Bench's authors did: copies of real views that no question has as its answer.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import shapely
from shapely import LineString, MultiPoint, Polygon

from gnomon.core.errors import DataError
from gnomon.core.ids import stable_seed
from gnomon_published.drawn_maps.map_sheet import with_map
from gnomon_tools.geometry.angles import bearing_deg
from gnomon_tools.geometry.polyline import simplified
from gnomon_tools.scene.scene import Camera, Point, Road, Scene
from gnomon_worlds.camera_model import Installation
from gnomon_worlds.movement import Journey
from gnomon_worlds.names import camera_ids
from gnomon_worlds.tracking.calibration import Calibration
from gnomon_worlds.tracking.cleaning import Stay, Walker
from gnomon_worlds.tracking.neutral_form import Track, Tracking
from gnomon_worlds.tracking.paths import BODIES, Gap, PathMaker, journey_along, point_at
from gnomon_worlds.tracking.sightings import Seen
from gnomon_worlds.tracking.summary import TOLERANCE_M
from gnomon_worlds.tracking.synthetic import NEAR_M, copies_of, seen_by
from gnomon_worlds.trajectory import Sighting, Trip
from gnomon_worlds.world import Spot, World

CAMERAS = 12  # a site with fewer gets synthetic ones outdoors, up to this many
UNBUILT = 60  # further places that might have a camera: the wrong intervals of arrival times
MARGIN_M = {"outdoor": 40.0, "indoor": 12.0}  # as of generated worlds: ways that differ by less are too close
MARGIN_SHARE = {"outdoor": 0.08, "indoor": math.inf}  # of the extent of all views, where that is less
EDGE_M = {"outdoor": 1.5, "indoor": 0.5}  # a view is the hull of what was seen in it, and this much around
FAR_M = {"outdoor": 150.0, "indoor": 40.0}  # a camera farther from what it sees is elsewhere than it is said
WHOLE = 0.6  # share of a sighting by the rows that its cleaned path covers, at least
ROAD_APART_M = 20.0  # tracks that are nearer to one another go on one road


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedTrip(Trip):
    """A recorded target's way past cameras, each of which sees it once.

    `stays` and `seen` (by the rows alone) belong to its sightings; `everyone` are all sightings of the target
    by any camera, whether fit for questions or not. `is_known`: where it was between them is known, too.
    """

    walker: Walker
    stays: tuple[Stay, ...]
    seen: tuple[Seen, ...]
    everyone: tuple[Seen, ...]
    gaps: tuple[Gap, ...]
    is_known: bool = False

    def stay_of(self, sighting: Sighting) -> Stay:
        return self.stays[self._place(sighting)]

    def seen_of(self, sighting: Sighting) -> Seen:
        """The rows that a sighting stands for."""
        return self.seen[self._place(sighting)]

    def _place(self, sighting: Sighting) -> int:
        return [one.camera for one in self.sightings].index(sighting.camera)

    def part(self, numbers: Sequence[int]) -> "RecordedTrip":
        """The trip past some of its cameras, as if the others had not been asked about."""
        return replace(
            self,
            sightings=tuple(self.sightings[number] for number in numbers),
            stays=tuple(self.stays[number] for number in numbers),
            seen=tuple(self.seen[number] for number in numbers),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The world of a site, its trips, and the data set's name of each camera by the dealt one.

    `dealt` has the same by the cameras' indices; a camera that saw nothing fit is not in the world.
    """

    world: World
    trips: tuple[RecordedTrip, ...]
    names: Mapping[str, str]
    dealt: Mapping[int, str]
    synthetic: tuple[str, ...]
    roads_from: str


def place_of(
    tracking: Tracking,
    calibrated: Mapping[str, Calibration],
    walkers: Sequence[Walker],
    seen: Mapping[int, Sequence[Seen]],
    *,
    seed: int,
    synthetic: int | None = None,
) -> Place:
    """The place that questions are about; the same seed makes the same. `seen` has each target's sightings.

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
        raise DataError(
            "no target moves in view of a camera for long enough; `gnomon check-recording` says what became"
            " of the boxes"
        )
    if tracking.kind == "indoor" and given is not None:
        floors = {zone.floor for zone in given.zones.values()}
        above = next((one for index in used if (one := tracking.cameras[index]).floor not in floors), None)
        if above is not None:
            raise DataError(
                f"the floor plan has no room on floor {above.floor}, where camera {above.id} is",
                field="floor",
            )
    views = {index: _view(tracking, index, walkers) for index in used}
    zones, portals = (given.zones, given.portals) if given else ({}, {})
    has_roads = given is not None and bool(given.roads)
    roads = dict(given.roads) if given and has_roads else {}
    if tracking.kind == "outdoor" and not roads:
        roads = (
            _roads_along(tracking.tracks, _extent_m(views.values()))
            if tracking.tracks
            else _roads_of(walkers, views)
        )
    real = {
        index: _camera(tracking, calibrated[tracking.cameras[index].id], index, views[index])
        for index in used
    }
    fewest = max(CAMERAS, 2 * len(real)) if tracking.tracks else CAMERAS
    spare = (
        (max(fewest - len(real), 0) if synthetic is None else synthetic) if tracking.kind == "outdoor" else 0
    )
    copies = list(copies_of(rng, tracking, list(real.values()), roads, zones, portals, spare + UNBUILT))
    spare = min(spare, len(copies))
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
        margin_m=min(MARGIN_M[tracking.kind], _extent_m(views.values()) * MARGIN_SHARE[tracking.kind]),
        spots={camera_id: _spots(camera, roads) for camera_id, camera in built.items()},
    )
    guessed = "where targets went" if tracking.tracks else "straight lines between the views"
    roads_from = "the scene" if has_roads else guessed if roads else ""
    dealt = dict(zip(used, ids, strict=False))
    targets = list(dict.fromkeys(walker.target for walker in walkers))
    numbers = dict(zip(targets, rng.sample(range(1, 1_000_000), len(targets)), strict=True))
    indices = {name: index for index, name in enumerate(tracking.targets)}
    trips = tuple(
        _trip(world, tracking, walker, part, seen[indices[walker.target]], dealt, numbers[walker.target])
        for walker in walkers
        for part in _once_each(_whole(walker.stays, seen[indices[walker.target]]))
    )
    return Place(
        world=world,
        trips=trips,
        names={dealt[index]: tracking.cameras[index].id for index in used},
        dealt=dealt,
        synthetic=tuple(ids[len(real) :]),
        roads_from=roads_from,
    )


def _extent_m(views: Iterable[Polygon]) -> float:
    west, south, east, north = shapely.total_bounds(list(views)).tolist()
    return math.hypot(east - west, north - south)


def _view(tracking: Tracking, index: int, walkers: Sequence[Walker]) -> Polygon:
    """The camera's own view or the scene's, else the hull of all paths that it saw."""
    watched = tracking.cameras[index].view
    if watched is not None:
        return watched
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
    eye_m = calibration.eye_m
    if eye_m is None or shapely.Point(eye_m).distance(view) > FAR_M[tracking.kind]:
        eye_m = _nearest_seen(calibration, tracked.image_size, view)
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


def _roads_along(tracks: Mapping[str, Track], extent_m: float) -> dict[str, Road]:
    """Roads where targets went, the longest way first; of the others only what lies beside the roads."""
    apart_m, lines = min(ROAD_APART_M, extent_m / 25), list[LineString]()
    ways = [
        LineString(track.xy_m[simplified(track.xy_m, apart_m / 8)])
        for track in tracks.values()
        if np.ptp(track.xy_m, axis=0).any()
    ]
    for way in sorted(ways, key=lambda way: -way.length):
        beside = way.difference(shapely.union_all(lines).buffer(apart_m)) if lines else way
        for part in shapely.get_parts(beside):
            if isinstance(part, LineString) and part.length >= 3 * apart_m:
                lines.append(_joined(part, lines, 1.5 * apart_m))
    noded = shapely.get_parts(shapely.node(shapely.union_all(lines)))
    return {f"r{number:02d}": Road(id=f"r{number:02d}", line=line) for number, line in enumerate(noded, 1)}


def _joined(part: LineString, lines: Sequence[LineString], near_m: float) -> LineString:
    """A road with its ends led on to a road that they come near to."""
    if not lines:
        return part
    points = list(part.coords)
    roads = shapely.union_all(lines)
    for end in (0, -1):
        at = shapely.Point(points[end])
        there = shapely.get_point(shapely.shortest_line(roads, at), 0)
        if 0 < at.distance(there) <= near_m:
            points.insert(0 if end == 0 else len(points), (there.x, there.y))
    return LineString(points)


def _axis(view: Polygon) -> tuple[Point, Point]:
    corners = shapely.get_coordinates(shapely.oriented_envelope(view))
    sides = sorted(pairwise([*corners[:4].tolist(), corners[0].tolist()]), key=lambda side: math.dist(*side))
    first, second = ((np.array(side[0]) + np.array(side[1])) / 2 for side in sides[:2])
    return (float(first[0]), float(first[1])), (float(second[0]), float(second[1]))


def _spots(camera: Camera, roads: Mapping[str, Road]) -> tuple[Spot, ...]:
    """The middle of every road in a camera's view; without a road, the view's middle."""
    view = seen_by(camera)
    parts = [
        part
        for road in roads.values()
        if road.line.intersects(view)
        for part in shapely.get_parts(road.line.intersection(view))
    ]
    middles = [part.interpolate(0.5, normalized=True) for part in parts if isinstance(part, LineString)]
    return tuple(Spot(xy_m=(at.x, at.y), floor=camera.floor) for at in middles or [view.centroid])


def _whole(stays: Sequence[Stay], seen: Sequence[Seen]) -> list[tuple[Stay, Seen]]:
    """The sightings of a target of which one cleaned path covers most, with these, in order of time."""
    whole = []
    for one in seen:
        if not len(one.rows):
            continue
        within = [
            stay
            for stay in stays
            if stay.camera == one.camera and stay.start_s <= one.end_s and one.start_s <= stay.end_s
        ]
        if len(within) == 1 and within[0].end_s - within[0].start_s >= WHOLE * (one.end_s - one.start_s):
            whole.append((within[0], one))
    return whole


def _once_each(stays: Sequence[tuple[Stay, Seen]]) -> Iterator[tuple[tuple[Stay, Seen], ...]]:
    """The stays, cut before a camera that has already seen the target."""
    part: list[tuple[Stay, Seen]] = []
    for stay, seen in stays:
        if stay.camera in {before.camera for before, _ in part}:
            yield tuple(part)
            part = []
        part.append((stay, seen))
    if part:
        yield tuple(part)


def _trip(
    world: World,
    tracking: Tracking,
    walker: Walker,
    part: Sequence[tuple[Stay, Seen]],
    everyone: Sequence[Seen],
    dealt: Mapping[int, str],
    number: int,
) -> RecordedTrip:
    body = tracking.body_of(tracking.targets.index(walker.target))
    path = PathMaker(world, TOLERANCE_M[body] / 2)
    for stay, _ in part:
        path.add(stay)
    sightings = tuple(
        Sighting(
            camera=dealt[stay.camera],
            start_s=seen.start_s,
            end_s=seen.end_s,
            entry=Spot(xy_m=point_at(stay.xy_m, 0), floor=stay.floor),
            exit=Spot(xy_m=point_at(stay.xy_m, -1), floor=stay.floor),
        )
        for stay, seen in part
    )
    track = tracking.tracks.get(walker.target)
    return RecordedTrip(
        target=number,
        journey=journey_along(track, part[0][0].floor, body)
        if track
        else Journey(body=BODIES[body], stretches=path.stretches()),
        sightings=sightings,
        walker=walker,
        stays=tuple(stay for stay, _ in part),
        seen=tuple(seen for _, seen in part),
        everyone=tuple(everyone),
        gaps=() if track else tuple(path.gaps),
        is_known=track is not None,
    )


def clip_of(
    tracking: Tracking, trip: RecordedTrip, sighting: Sighting, *, boxes: int, path: str
) -> dict[str, Any]:
    """What a camera saw of a target, as GTR-Bench publishes it: `boxes` boxes at about equal steps."""
    whole, rows = trip.seen_of(sighting).rows, trip.stay_of(sighting).rows
    rows = np.concatenate([whole[:1], rows[(rows != whole[0]) & (rows != whole[-1])], whole[-1:]])
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
