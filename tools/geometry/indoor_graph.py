"""The route graph of a building: straight across each zone, from zone to zone through portals."""

import math
from collections.abc import Iterable, Mapping
from itertools import permutations

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon, STRtree
from shapely.ops import nearest_points

from tools.geometry.route import RouteLeg, ground_leg
from tools.geometry.route_graph import Anchor, Joins, Legs, Link, add_leg
from tools.scene.scene import Point, Portal, Zone


class Floors:
    """Zones joined by portals; every portal has two nodes, one in each of its zones.

    An escalator leads from the first of its nodes to the second only.
    """

    def __init__(self, zones: Mapping[str, Zone], portals: Iterable[Portal]) -> None:
        self._zones = zones
        self._xy_m: list[Point] = []
        self._doors: dict[str, list[int]] = {zone: [] for zone in zones}  # nodes by zone
        self.legs: Legs = {}
        for portal in portals:
            self._add_portal(portal)
        for zone, nodes in self._doors.items():
            for start, end in permutations(nodes, 2):
                add_leg(self.legs, start, end, self._across(zone, self._xy_m[start], self._xy_m[end]))

    @property
    def empty(self) -> bool:
        return not self._zones

    def anchor(self, xy_m: Point, floor: int) -> Anchor | None:
        """The point itself inside a zone, else the nearest point of the nearest zone of its floor."""
        point = shapely.Point(xy_m)
        here = [zone for zone in self._zones.values() if zone.floor == floor]
        if not here:
            return None
        distances_m = shapely.distance([zone.area for zone in here], point).tolist()
        snap_m = min(distances_m)
        nearest = here[distances_m.index(snap_m)]
        if snap_m > 0:
            on_zone, _ = nearest_points(nearest.area, point)
            xy_m = (on_zone.x, on_zone.y)
        return Anchor(id=nearest.id, xy_m=xy_m, floor=floor, snap_m=snap_m)

    def leaving(self, start: Anchor) -> list[Link]:
        """Straight to every portal of the zone."""
        return [
            Link(node=node, leg=self._across(start.id, start.xy_m, self._xy_m[node]))
            for node in self._doors[start.id]
        ]

    def arriving(self, end: Anchor) -> list[Link]:
        """Straight from every portal of the zone."""
        return [
            Link(node=node, leg=self._across(end.id, self._xy_m[node], end.xy_m))
            for node in self._doors[end.id]
        ]

    def direct(self, start: Anchor, end: Anchor) -> RouteLeg | None:
        """Straight across one and the same zone."""
        return self._across(start.id, start.xy_m, end.xy_m) if start.id == end.id else None

    def joins(self, points_m: NDArray[np.float64], floor: NDArray[np.int64]) -> Joins:
        """The points themselves inside a zone, else the nearest point of the nearest zone of their floor."""
        place, snap_m = np.full(len(points_m), -1, dtype=np.intp), np.zeros(len(points_m))
        xy_m, zones = points_m.copy(), list(self._zones.values())
        for level in {zone.floor for zone in zones}:
            here = [number for number, zone in enumerate(zones) if zone.floor == level]
            rows = np.flatnonzero(floor == level)
            points = np.asarray(shapely.points(points_m[rows]), dtype=object)
            tree = STRtree([zones[number].area for number in here])
            row, nearest = tree.query_nearest(points)  # all zones at the same distance: the first counts
            first = np.full(len(rows), len(here))
            np.minimum.at(first, row, nearest)
            place[rows] = np.array(here)[first]
            outside = ~shapely.intersects(tree.geometries[first], points)
            lines = shapely.shortest_line(tree.geometries[first[outside]], points[outside])
            xy_m[rows[outside]] = shapely.get_coordinates(shapely.get_point(lines, 0))
            snap_m[rows[outside]] = shapely.length(lines)
        return self._joined(place, xy_m, snap_m)

    def _joined(
        self, place: NDArray[np.intp], xy_m: NDArray[np.float64], snap_m: NDArray[np.float64]
    ) -> Joins:
        """Straight to and from every portal of the zone."""
        doors = [self._doors[zone] for zone in self._zones]
        most = max(map(len, doors), default=0)
        padded = np.array([nodes + [0] * (most - len(nodes)) for nodes in doors], dtype=np.intp)
        is_door = np.arange(most) < np.array([len(nodes) for nodes in doors])[:, None]
        nodes, spots_m = padded[place], np.array(self._xy_m).reshape(-1, 2)
        away_m = (
            np.hypot(*np.moveaxis(spots_m[nodes] - xy_m[:, None], -1, 0))
            if most
            else np.empty((len(place), 0))
        )
        away_m = np.where(is_door[place], away_m, np.inf)
        return Joins(
            place=place,
            xy_m=xy_m,
            snap_m=snap_m,
            along_m=np.zeros(len(place)),
            nodes=nodes,
            leaving_m=away_m,
            arriving_m=away_m,
        )

    def directs_m(self, start: Joins, end: Joins) -> NDArray[np.float64]:
        """Straight across one and the same zone."""
        across_m = np.hypot(*(end.xy_m - start.xy_m).T)
        return np.where(start.place == end.place, across_m, np.inf)

    def entries(self, area: Polygon, start: Anchor, floor: int, /) -> list[Point]:
        """Of each zone that an area lies in: its points there nearest to the zone's portals and the start."""
        points = []
        for zone in self._zones.values():
            if zone.floor != floor or not zone.area.intersects(area):
                continue
            part = zone.area.intersection(area)
            spots = {self._xy_m[node] for node in self._doors[zone.id]}
            if start.id == zone.id:
                spots.add(start.xy_m)
            for spot in sorted(spots):
                near, _ = nearest_points(part, shapely.Point(spot))
                points.append((near.x, near.y))
        return points

    def _add_portal(self, portal: Portal) -> None:
        first, last = len(self._xy_m), len(self._xy_m) + 1
        self._xy_m.extend(portal.ends_m)
        for node, zone in zip((first, last), portal.zones, strict=True):
            self._doors[zone].append(node)
        add_leg(self.legs, first, last, self._through(portal, 0, 1))
        if not portal.is_oneway:
            add_leg(self.legs, last, first, self._through(portal, 1, 0))

    def _through(self, portal: Portal, start: int, end: int) -> RouteLeg:
        ends_m = (portal.ends_m[start], portal.ends_m[end])
        return RouteLeg(
            id=portal.id,
            kind=portal.kind,
            floor=self._zones[portal.zones[start]].floor,
            to_floor=self._zones[portal.zones[end]].floor,
            points_m=ends_m,
            length_m=max(portal.length_m, math.dist(*ends_m)),
        )

    def _across(self, zone: str, start_m: Point, end_m: Point) -> RouteLeg:
        return ground_leg(zone, "zone", self._zones[zone].floor, (start_m, end_m))
