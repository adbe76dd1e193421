"""Puts copies of real cameras elsewhere, as synthetic ones and as places where one might hang too."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import shapely
from shapely import Polygon, affinity

from gnomon.core.errors import DataError
from gnomon_tools.geometry.angles import bearing_deg
from gnomon_tools.scene.scene import Camera, Point, Portal, Road, Zone
from gnomon_worlds.tracking.neutral_form import Tracking

TRIES = 40  # for each
NEAR_M = 300.0  # they are at most this far from a real view
APART_M = {"outdoor": 6.0, "indoor": 0.5}


def copies_of(
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
        taken.setdefault(camera.floor, []).append(seen_by(camera))
    near = shapely.union_all([seen_by(camera) for camera in real]).buffer(NEAR_M)
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
            if not shapely.dwithin(seen_by(moved), others, APART_M[tracking.kind]).any():
                others.append(seen_by(moved))
                yield moved
                break


def seen_by(camera: Camera) -> Polygon:
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
    view = seen_by(moved).intersection(area)
    return replace(moved, field_of_view=view) if isinstance(view, Polygon) and view.area > 0 else None


def _moved(camera: Camera, to_m: Point, heading_deg: float) -> Camera:
    """The camera with its view's middle at a point, looking along a direction."""
    view = seen_by(camera)
    turn = math.radians((camera.heading_deg or 0.0) - heading_deg)  # counter-clockwise
    cos, sin = math.cos(turn), math.sin(turn)
    x, y = view.centroid.coords[0]
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
