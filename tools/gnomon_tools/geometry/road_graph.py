"""The route graph of roads: driven from junction to junction, one-way where the scene says so."""

import math
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import shapely
from shapely import LineString, Polygon, STRtree
from shapely.ops import substring

from gnomon_tools.geometry.route import RouteLeg, ground_leg
from gnomon_tools.geometry.route_graph import Anchor, Edge, Link
from gnomon_tools.scene.scene import Point, Road

Mark = tuple[float, Point]  # a point of a road: how far along it, and where
JUNCTION_M = 0.5  # ends of roads this close are one junction
FLOOR = 0


class Roads:
    """Roads joined where their ends meet; where they cross without ending, one bridges the other."""

    def __init__(self, roads: Iterable[Road]) -> None:
        self._roads = {road.id: road for road in roads}
        self._ids = tuple(self._roads)
        self._lines = [road.line for road in self._roads.values()]
        self._tree = STRtree(self._lines)
        self._ends = dict(zip(self._ids, _junctions(self._lines), strict=True))
        self._legs: dict[Edge, RouteLeg] = {}
        self._straight: set[str] = set()  # roads between whose ends there is nothing
        self._marks: dict[str, tuple[Mark, Mark]] = {}  # by road: its beginning and its end
        lengths_m = shapely.length(self._lines).tolist()
        for road, length_m in zip(self._roads.values(), lengths_m, strict=True):
            ahead = [(x_m, y_m) for x_m, y_m in shapely.get_coordinates(road.line).tolist()]
            self._marks[road.id] = ((0.0, ahead[0]), (length_m, ahead[-1]))
            if len(ahead) == 2:
                self._straight.add(road.id)
            self._add(self._ends[road.id], road.id, ahead)
            if not road.oneway:
                self._add(self._ends[road.id][::-1], road.id, ahead[::-1])
        self.lengths_m = {edge: leg.length_m for edge, leg in self._legs.items()}

    @property
    def empty(self) -> bool:
        return not self._ids

    def leg(self, edge: Edge, /) -> RouteLeg:
        """Along the shortest road between two junctions."""
        return self._legs[edge]

    def anchors(self, points: Sequence[tuple[Point, int]]) -> list[Anchor | None]:
        """The nearest point of the nearest road; None away from floor 0 or where there are no roads."""
        if not self._ids or not points:
            return [None] * len(points)
        places = shapely.points([xy_m for xy_m, _ in points])
        nearest = self._tree.nearest(places)
        roads = self._tree.geometries[nearest]
        along_m = shapely.line_locate_point(roads, places)
        on_road = shapely.line_interpolate_point(roads, along_m)
        columns = (nearest, shapely.get_coordinates(on_road), shapely.distance(on_road, places), along_m)
        return [
            Anchor(id=self._ids[index], xy_m=(x_m, y_m), floor=FLOOR, snap_m=snap_m, along_m=at_m)
            if floor == FLOOR
            else None
            for (_, floor), index, (x_m, y_m), snap_m, at_m in zip(
                points, *(column.tolist() for column in columns), strict=True
            )
        ]

    def leaving(self, start: Anchor) -> list[Link]:
        """Ahead to the road's last junction and, unless it is one-way, back to its first."""
        road, (first, last) = self._at(start)
        here, (foot, head) = (start.along_m, start.xy_m), self._marks[road.id]
        links = [self._link(last, road.id, here, head)]
        if not road.oneway:
            links.append(self._link(first, road.id, here, foot))
        return links

    def arriving(self, end: Anchor) -> list[Link]:
        """From the road's first junction and, unless it is one-way, from its last."""
        road, (first, last) = self._at(end)
        here, (foot, head) = (end.along_m, end.xy_m), self._marks[road.id]
        links = [self._link(first, road.id, foot, here)]
        if not road.oneway:
            links.append(self._link(last, road.id, head, here))
        return links

    def direct(self, start: Anchor, end: Anchor) -> RouteLeg | None:
        """Along one and the same road, if it may be driven that way."""
        road, _ = self._at(start)
        if start.id != end.id or (road.oneway and end.along_m < start.along_m):
            return None
        return self._leg(road.id, (start.along_m, start.xy_m), (end.along_m, end.xy_m))

    def entries(self, _area: Polygon, _start: Anchor, _floor: int, /) -> list[Point]:
        """None: the way to the middle of an area tells where roads enter it."""
        return []

    def _at(self, anchor: Anchor) -> tuple[Road, tuple[int, int]]:
        return self._roads[anchor.id], self._ends[anchor.id]

    def _add(self, edge: Edge, road: str, corners_m: Sequence[Point]) -> None:
        """Join two junctions by a road, unless a shorter one joins them already."""
        leg = ground_leg(road, "road", FLOOR, corners_m)
        if edge not in self._legs or leg.length_m < self._legs[edge].length_m:
            self._legs[edge] = leg

    def _link(self, node: int, road: str, start: Mark, end: Mark) -> Link:
        if road in self._straight:
            return Link(node, math.dist(start[1], end[1]), partial(self._leg, road, start, end))
        leg = self._leg(road, start, end)
        return Link(node, leg.length_m, lambda: leg)

    def _leg(self, road: str, start: Mark, end: Mark) -> RouteLeg:
        if road in self._straight:
            points_m = [start[1], end[1]]
        else:
            line = self._roads[road].line
            points_m = [(x_m, y_m) for x_m, y_m in substring(line, start[0], end[0]).coords]
        # A stretch without length comes back as one point, but a leg has a beginning and an end.
        return ground_leg(road, "road", FLOOR, points_m if len(points_m) > 1 else points_m * 2)


def _junctions(lines: list[LineString]) -> list[tuple[int, int]]:
    """Numbers of the junctions at the first and last point of every line."""
    if not lines:
        return []
    from scipy.sparse import coo_array  # late: every process loads the tools, not every one walks roads
    from scipy.sparse.csgraph import connected_components

    ends = np.stack([shapely.get_point(lines, 0), shapely.get_point(lines, -1)], axis=1).ravel()
    start, end = STRtree(ends).query(ends, predicate="dwithin", distance=JUNCTION_M)
    close = coo_array((np.ones(len(start)), (start, end)), shape=(len(ends), len(ends)))
    _, junction = connected_components(close, directed=False)
    return [(first, last) for first, last in junction.reshape(-1, 2).tolist()]
