"""Cuts overlapping views into regions apart, so that a target goes out of one before the next."""

from dataclasses import replace
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import MultiPoint, Polygon, affinity, box

from gnomon.core.errors import DataError
from gnomon_worlds.tracking.calibration import GroundPoints
from gnomon_worlds.tracking.neutral_form import Array, BodyKind, Boxes, Tracking

BETWEEN_M: dict[BodyKind, float] = {"vehicle": 10.0, "pedestrian": 1.5}  # between two regions
AROUND_M: dict[BodyKind, float] = {"vehicle": 1.0, "pedestrian": 0.3}  # what was seen, so that it is within
LEAST_M2: dict[BodyKind, float] = {"vehicle": 60.0, "pedestrian": 3.0}  # a smaller region is none
FAR_M = 1e5


def with_cut_views(
    tracking: Tracking, ground: GroundPoints
) -> tuple[Tracking, NDArray[np.bool_], Boxes, str]:
    """The recording with a region for each camera and the boxes whose feet are in it; which boxes; a note.

    Before the note come the boxes with feet in the region of another camera, as if they were that one's.

    A region is the part of a view that is nearer to one of its points than to those of the other cameras (a
    Voronoi cell); the points are moved by turns, each as far as possible from the others.

    Raises:
        DataError: fewer than four cameras get a region.
    """
    boxes, gap_m = tracking.boxes, BETWEEN_M[tracking.body]
    hulls: dict[int, Polygon] = {}
    points: dict[int, Array] = {}
    for index in range(len(tracking.cameras)):
        rows = (boxes.camera == index) & ground.on_floor
        points_m = ground.xy_m[rows]
        if len(points_m) < 3:
            continue
        low, high = np.quantile(points_m, (0.02, 0.98), axis=0)
        points_m = points_m[((points_m >= low) & (points_m <= high)).all(axis=1)]
        if len(points_m) < 3:
            continue
        hull = MultiPoint(points_m).convex_hull.buffer(AROUND_M[tracking.body], quad_segs=2)
        if isinstance(hull, Polygon):
            hulls[index] = hull
            points[index] = points_m[np.linspace(0, len(points_m) - 1, min(len(points_m), 400)).astype(int)]
    regions = {}
    sites = _sites(points)
    for index, hull in hulls.items():
        region: Any = hull
        for other, site in sites.items():
            if other != index and tracking.cameras[other].floor == tracking.cameras[index].floor:
                region = region.intersection(_nearer(sites[index], site, gap_m / 2))
        if isinstance(region, Polygon) and region.area >= LEAST_M2[tracking.body]:
            regions[index] = region
    if len(regions) < 4:
        raise DataError(
            f"only {len(regions)} of {len(hulls)} cameras see a part of the floor of their own; questions"
            " need four",
            field="--cut-views",
        )
    floors = np.array([camera.floor for camera in tracking.cameras])[boxes.camera]
    watching = np.full(len(boxes), -1)  # the camera in whose region the feet are
    for index, region in regions.items():
        rows = np.flatnonzero((floors == tracking.cameras[index].floor) & ground.on_floor)
        watching[rows[shapely.contains_xy(region, ground.xy_m[rows])]] = index
    kept = watching == boxes.camera
    passed = replace(boxes, camera=watching).only((watching >= 0) & ~kept)
    cameras = tuple(replace(camera, view=regions.get(index)) for index, camera in enumerate(tracking.cameras))
    left_out = [camera.id for index, camera in enumerate(tracking.cameras) if index not in regions]
    text = (
        f"views are cut to regions that lie {gap_m:g} m apart, as drawn on the map: {int(kept.sum()):,} of"
        f" {len(boxes):,} boxes have their feet in that of their camera"
        + (f"; without a region: {', '.join(left_out)}" if left_out else "")
    )
    cut = replace(tracking, cameras=cameras, boxes=boxes.only(kept), sees="feet")
    return cut, kept, passed, text


def _sites(points: dict[int, Array]) -> dict[int, Array]:
    """A point of each camera's view, far from those of the others: each is moved in turn until none gains."""
    sites = {index: np.median(points_m, axis=0) for index, points_m in points.items()}
    for _ in range(4):
        for index, points_m in points.items():
            others = np.array([site for other, site in sites.items() if other != index])
            if len(others):
                apart_m = np.linalg.norm(points_m[:, None] - others[None], axis=2).min(axis=1)
                sites[index] = points_m[int(apart_m.argmax())]
    return sites


def _nearer(own: Array, other: Array, back_m: float) -> Polygon:
    """All points that are nearer to one point than to another, but for a strip along the border."""
    ahead = (own - other) / max(float(np.linalg.norm(own - other)), 1e-9)
    angle = float(np.degrees(np.arctan2(ahead[1], ahead[0])))
    start = (own + other) / 2 + ahead * back_m
    half = affinity.rotate(box(0, -FAR_M, 2 * FAR_M, FAR_M), angle, origin=(0, 0))
    return affinity.translate(half, *start)
