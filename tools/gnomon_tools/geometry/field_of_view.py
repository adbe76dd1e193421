"""Fields of view: what a camera sees of its floor, which cameras see a point, where a path is seen."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon, STRtree

from gnomon_tools.scene.scene import Camera, Point, Scene
from gnomon_tools.scene.scene_cache import cached_per_scene

ARC_STEP_DEG = 2.0
TOUCH_M = 1e-6  # pieces of a path closer than this are one stretch; shorter ones are a touch, not a stretch


def sector(xy_m: Point, heading_deg: float, fov_deg: float, range_m: float) -> Polygon:
    """The part of the floor within `range_m` of a camera and within `fov_deg` about its heading.

    The arc is a chain of chords of at most 2°: it lies inside the true arc by less than 0.02 % of the range.
    A field of view of 360° is a disc.

    >>> round(sector((0, 0), 90, 90, 10).area, 1)  # a quarter of 100 π
    78.5

    Raises:
        ValueError: `fov_deg` is outside (0, 360] or `range_m` is not positive.
    """
    far = arc(xy_m, heading_deg, fov_deg, range_m)
    return Polygon(far[:-1] if fov_deg == 360 else np.vstack([xy_m, far]))


def arc(xy_m: Point, heading_deg: float, fov_deg: float, range_m: float) -> NDArray[np.float64]:
    """The far edge of a `sector`, from left to right: corners in metres (n × 2).

    Raises:
        ValueError: `fov_deg` is outside (0, 360] or `range_m` is not positive.
    """
    return arcs([(xy_m, heading_deg, fov_deg, range_m)])[0]


def arcs(views: Sequence[tuple[Point, float, float, float]]) -> list[NDArray[np.float64]]:
    """The `arc` of each of some views, of which position, heading, angle and range are given.

    Raises:
        ValueError: as `arc`.
    """
    if not views:
        return []
    for _, _, angle_deg, reach_m in views:
        if not (0 < angle_deg <= 360 and 0 < reach_m < math.inf):
            message = f"fov_deg must be in (0, 360] and range_m positive, not {angle_deg:g} and {reach_m:g}"
            raise ValueError(message)
    xy_m, heading_deg, fov_deg, range_m = (
        np.array([view[at] for view in views], dtype=np.float64) for at in range(4)
    )
    left_deg, right_deg = heading_deg - fov_deg / 2, heading_deg + fov_deg / 2
    steps = np.maximum(1, np.ceil(fov_deg / ARC_STEP_DEG)).astype(np.intp)
    view = np.repeat(np.arange(len(views)), steps + 1)
    first = np.cumsum(steps + 1) - (steps + 1)
    step_deg, number = (right_deg - left_deg) / steps, np.arange(len(view)) - first[view]
    angles_deg = step_deg[view] * number + left_deg[view]
    angles_deg[first + steps] = right_deg
    angles = np.radians(angles_deg)
    corners_m = xy_m[view] + range_m[view, None] * np.column_stack([np.sin(angles), np.cos(angles)])
    return np.split(corners_m, first[1:])


def view_of(camera: Camera) -> Polygon | None:
    """The camera's field of view as given, else as its sector; None where too little is known."""
    if camera.field_of_view is not None:
        return camera.field_of_view
    if camera.xy_m is None or camera.heading_deg is None or camera.fov_deg is None or camera.range_m is None:
        return None
    return sector(camera.xy_m, camera.heading_deg, camera.fov_deg, camera.range_m)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Views:
    """The known fields of view of one floor, indexed by where they lie."""

    cameras: tuple[str, ...]
    polygons: NDArray[np.object_]
    tree: STRtree


NO_VIEWS = Views(cameras=(), polygons=np.empty(0, object), tree=STRtree([]))


@cached_per_scene
def _views_by_floor(scene: Scene) -> dict[int, Views]:
    pairs = [(camera, view) for camera in scene.cameras.values() if (view := view_of(camera)) is not None]
    for _, view in pairs:
        shapely.prepare(view)
    by_floor = {}
    for floor in {camera.floor for camera, _ in pairs}:
        here = [(camera.id, view) for camera, view in pairs if camera.floor == floor]
        polygons = np.array([view for _, view in here], dtype=object)
        by_floor[floor] = Views(
            cameras=tuple(camera for camera, _ in here), polygons=polygons, tree=STRtree(polygons)
        )
    return by_floor


def views(scene: Scene, floor: int) -> Views:
    """The known fields of view of the scene's cameras on `floor`; computed once per scene."""
    return _views_by_floor(scene).get(floor, NO_VIEWS)


def fields_containing(
    scene: Scene, points_m: NDArray[np.float64], floor: int = 0
) -> dict[str, NDArray[np.intp]]:
    """Which of the points each camera sees: camera id → rising indices into `points_m` (n × 2).

    The edge of a field of view belongs to it. Cameras that see none of the points are left out.
    """
    on_floor = views(scene, floor)
    by_x = np.argsort(points_m[:, 0], kind="stable")
    x_m, y_m = points_m[by_x, 0], points_m[by_x, 1]
    bounds = shapely.bounds(on_floor.polygons)
    first = np.searchsorted(x_m, bounds[:, 0], side="left")
    last = np.searchsorted(x_m, bounds[:, 2], side="right")
    in_view: dict[str, NDArray[np.intp]] = {}
    for index in np.flatnonzero(first < last):
        strip = slice(first[index], last[index])
        near = np.flatnonzero((y_m[strip] >= bounds[index, 1]) & (y_m[strip] <= bounds[index, 3]))
        inside = shapely.intersects_xy(on_floor.polygons[index], x_m[strip][near], y_m[strip][near])
        if inside.any():
            in_view[on_floor.cameras[index]] = np.sort(by_x[strip][near[inside]])
    return in_view


def crossings(path_m: Sequence[Point], area: Polygon) -> list[tuple[float, float]]:
    """Where a path runs inside `area`: stretches (enters, leaves) in metres along the path, in order.

    Exact for the straight pieces of the path, also where the path crosses itself. A mere touch is no stretch.
    """
    if not path_m or _is_apart(path_m, area):  # as most are: few parts of a way to a view run through it
        return []
    return crossings_of_each(path_m, [area])[0]


def _is_apart(path_m: Sequence[Point], area: Polygon) -> bool:
    """Whether all of a path lies to one side of an area: west, east, south or north of it."""
    west_m, south_m, east_m, north_m = area.bounds  # NaN of an empty area, which is apart from nothing
    xs_m, ys_m = zip(*path_m, strict=True)
    return bool(max(xs_m) < west_m or min(xs_m) > east_m or max(ys_m) < south_m or min(ys_m) > north_m)


def crossings_of_each(path_m: Sequence[Point], areas: Sequence[Polygon]) -> list[list[tuple[float, float]]]:
    """The `crossings` of a path with each of several areas."""
    return Crossed(areas).by(path_m)


Piece = tuple[Point, Point]


@dataclass(frozen=True, slots=True)
class Inside:
    """A straight piece; of its parts inside areas the area's number, nearest and farthest from its start."""

    length_m: float
    parts: list[tuple[int, float, float]]


class Crossed:
    """Areas that many paths cross. Paths share their straight pieces; each is held against the areas once."""

    def __init__(self, areas: Sequence[Polygon]) -> None:
        self._areas = np.array(areas, dtype=object)
        self._tree: STRtree | None = None
        self._inside: dict[Piece, Inside] = {}
        self._near: dict[tuple[Point, ...], list[int]] = {}
        self._bounds: list[list[float]] = shapely.bounds(self._areas).tolist()

    def look_along(self, paths_m: Iterable[Sequence[Point]]) -> None:
        """Hold all pieces of several paths against the areas at once: faster than path by path."""
        pieces = dict.fromkeys(piece for path_m in paths_m for piece in pairwise(path_m))
        if new := [piece for piece in pieces if piece not in self._inside]:
            self._inside.update(zip(new, self._looked_at(new), strict=True))

    def near(self, path_m: tuple[Point, ...]) -> list[int]:
        """Numbers of the areas whose bounds each piece of a path enters: it crosses no others."""
        near = self._near.get(path_m)
        if near is None:
            boxes = [
                (min(x_m, to_x_m), min(y_m, to_y_m), max(x_m, to_x_m), max(y_m, to_y_m))
                for (x_m, y_m), (to_x_m, to_y_m) in pairwise(path_m)
            ]
            near = self._near[path_m] = [
                area
                for area, (left, bottom, right, top) in enumerate(self._bounds)
                for west, south, east, north in boxes
                if west <= right and left <= east and south <= top and bottom <= north
            ]
        return near

    def by(self, path_m: Sequence[Point]) -> list[list[tuple[float, float]]]:
        """The `crossings` of a path, by area."""
        by_area: list[list[tuple[float, float]]] = [[] for _ in self._areas]
        start_m = 0.0
        for inside in self._insides(path_m):
            for area, near_m, far_m in inside.parts:
                by_area[area].append((start_m + near_m, start_m + far_m))
            start_m += inside.length_m
        return [_merged(sorted(stretches)) if stretches else [] for stretches in by_area]

    def _insides(self, path_m: Sequence[Point]) -> list[Inside]:
        """Of each straight piece of a path."""
        pieces = list(pairwise(path_m))
        try:
            return [self._inside[piece] for piece in pieces]
        except KeyError:
            self.look_along([path_m])
            return [self._inside[piece] for piece in pieces]

    def _looked_at(self, pieces: Sequence[Piece]) -> list[Inside]:
        """All pieces against all areas in one go."""
        ends = np.array(pieces, dtype=float)
        lengths_m = np.hypot(*(ends[:, 1] - ends[:, 0]).T)
        lines = np.asarray(shapely.linestrings(ends), dtype=object)
        if self._tree is None:
            self._tree = STRtree(self._areas)
        met = self._tree.query(lines, predicate="intersects")
        line, area = met[:, lengths_m[met[0]] > 0]
        looked_at = [Inside(length_m, []) for length_m in lengths_m.tolist()]
        if not line.size:
            return looked_at
        parts, pair = shapely.get_parts(
            shapely.intersection(lines[line], self._areas[area]), return_index=True
        )
        corners, part = shapely.get_coordinates(parts, return_index=True)
        along_m = np.hypot(*(corners - ends[line[pair[part]], 0]).T)
        if part.size:
            first = np.concatenate([[0], 1 + np.flatnonzero(part[1:] != part[:-1])])  # of each part's corners
            near_m, far_m = np.minimum.reduceat(along_m, first), np.maximum.reduceat(along_m, first)
            whose = pair[part[first]]
            columns = (line[whose], area[whose], near_m, far_m)
            for piece, *part_of in zip(*(column.tolist() for column in columns), strict=True):
                looked_at[piece].parts.append((part_of[0], part_of[1], part_of[2]))
        return looked_at


def crossed(areas: Sequence[Polygon]) -> Crossed:
    """Areas that many paths cross; for the cheapest way to do so where none has a dent."""
    sides = _inner_sides(areas)
    return Crossed(areas) if sides is None else CrossedConvex(areas, sides)


Side = tuple[float, float, float]  # an edge's direction inwards, and how far along it the edge lies


class CrossedConvex(Crossed):
    """Areas without dents, cut in plain numbers: the same as `Crossed` up to rounding, and faster."""

    def __init__(self, areas: Sequence[Polygon], sides: Sequence[NDArray[np.float64]]) -> None:
        super().__init__(areas)
        self._rows = sides
        self._sides: dict[int, list[Side]] = {}  # the same in numbers, of the areas that a box came near

    def _looked_at(self, pieces: Sequence[Piece]) -> list[Inside]:
        """The part of each piece on the inner side of all edges, after Cyrus and Beck (1978)."""
        looked_at = []
        for (x_m, y_m), (to_x_m, to_y_m) in pieces:
            east_m, north_m = to_x_m - x_m, to_y_m - y_m
            length_m = math.hypot(east_m, north_m)
            west, east = min(x_m, to_x_m), max(x_m, to_x_m)
            south, north = min(y_m, to_y_m), max(y_m, to_y_m)
            parts = []
            for area, (left, bottom, right, top) in enumerate(self._bounds):
                if west <= right and left <= east and south <= top and bottom <= north and length_m > 0:
                    enters, leaves = _within(self._sides_of(area), x_m, y_m, east_m, north_m)
                    if enters < leaves:
                        parts.append((area, enters * length_m, leaves * length_m))
            looked_at.append(Inside(length_m, parts))
        return looked_at

    def _sides_of(self, area: int) -> list[Side]:
        sides = self._sides.get(area)
        if sides is None:
            sides = self._sides[area] = list(map(tuple, self._rows[area].tolist()))
        return sides


def _inner_sides(areas: Sequence[Polygon]) -> list[NDArray[np.float64]] | None:
    """By area its sides (n × 3); none of an empty one. None where an area has dents or holes."""
    if shapely.get_num_interior_rings(areas).any():
        return None
    corners, ring = shapely.get_coordinates(areas, return_index=True)
    is_step = ring[1:] == ring[:-1]
    (x, y), (to_x, to_y) = (corners[1:] - corners[:-1])[is_step].T, corners[1:][is_step].T
    ring = ring[1:][is_step]
    sides = [np.empty((0, 3)) for _ in areas]
    if not ring.size:
        return sides
    numbers, first, edges = np.unique(ring, return_index=True, return_counts=True)
    following = np.arange(1, len(ring) + 1)
    following[first + edges - 1] = first
    turns = x * y[following] - y * x[following]
    least, most = np.minimum.reduceat(turns, first), np.maximum.reduceat(turns, first)
    if ((least < 0) & (most > 0)).any():
        return None
    # The inside is to the left of all edges, or to the right.
    left = np.repeat(np.where(most > 0, 1.0, -1.0), edges)
    inwards = -left * y, left * x
    each = np.column_stack([*inwards, inwards[0] * to_x + inwards[1] * to_y])
    for number, own in zip(numbers.tolist(), np.split(each, first[1:]), strict=True):
        sides[number] = own
    return sides


def _within(
    sides: Sequence[Side], x_m: float, y_m: float, east_m: float, north_m: float
) -> tuple[float, float]:
    """The shares of a line between which it is inside all edges; nowhere if they do not rise."""
    enters, leaves = 0.0, 1.0
    for x, y, least in sides:
        gain, depth = x * east_m + y * north_m, x * x_m + y * y_m - least
        if gain > 0:
            enters = max(enters, -depth / gain)
        elif gain < 0:
            leaves = min(leaves, -depth / gain)
        elif depth < 0:
            return 1.0, 0.0
        if enters >= leaves:
            break
    return enters, leaves


def _merged(stretches: list[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for enters_m, leaves_m in stretches:
        if merged and enters_m <= merged[-1][1] + TOUCH_M:
            merged[-1] = (merged[-1][0], max(merged[-1][1], leaves_m))
        else:
            merged.append((enters_m, leaves_m))
    return [(enters_m, leaves_m) for enters_m, leaves_m in merged if leaves_m - enters_m > TOUCH_M]
