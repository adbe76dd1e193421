"""The route graph of a building: straight across each zone, from zone to zone through portals."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations

import numpy as np
import shapely
from shapely import Polygon
from shapely.ops import nearest_points

from gnomon_tools.geometry.route import RouteLeg, ground_leg
from gnomon_tools.geometry.route_graph import Anchor, Edge, Link
from gnomon_tools.scene.scene import Point, Portal, Zone


class Floors:
    """Zones joined by portals; every portal has two nodes, one in each of its zones.

    An escalator leads from the first of its nodes to the second only.
    """

    def __init__(self, zones: Mapping[str, Zone], portals: Iterable[Portal]) -> None:
        self._zones = zones
        self._xy_m: list[Point] = []
        self._doors: dict[str, list[int]] = {zone: [] for zone in zones}  # nodes by zone
        self._legs: dict[Edge, RouteLeg] = {}
        # By edge, the zone that it leads across. Its leg is made when asked for, by several threads at once.
        self._crossed: dict[Edge, str] = {}
        self.lengths_m: dict[Edge, float] = {}
        for portal in portals:
            self._add_portal(portal)
        for zone, nodes in self._doors.items():
            for start, end in combinations(nodes, 2):
                length_m = math.dist(self._xy_m[start], self._xy_m[end])
                for edge in ((start, end), (end, start)):
                    if length_m < self.lengths_m.get(edge, math.inf):
                        self.lengths_m[edge] = length_m
                        self._crossed[edge] = zone
                        self._legs.pop(edge, None)
        self._areas = {
            floor: (tuple(on_floor), np.array([zone.area for zone in on_floor.values()], dtype=object))
            for floor in {zone.floor for zone in self._zones.values()}
            if (on_floor := {name: zone for name, zone in self._zones.items() if zone.floor == floor})
        }

    @property
    def empty(self) -> bool:
        return not self._zones

    def leg(self, edge: Edge, /) -> RouteLeg:
        """Across a zone, or through a portal."""
        leg = self._legs.get(edge)
        if leg is None:
            start, end = edge
            leg = self._legs[edge] = self._across(self._crossed[edge], self._xy_m[start], self._xy_m[end])
        return leg

    def anchors(self, points: Sequence[tuple[Point, int]]) -> list[Anchor | None]:
        """The points themselves inside a zone, else the nearest point of the nearest zone of their floor."""
        anchors: list[Anchor | None] = [None] * len(points)
        for level, (zones, areas) in self._areas.items():
            rows = [row for row, (_, floor) in enumerate(points) if floor == level]
            if not rows:
                continue
            here = np.asarray(shapely.points([points[row][0] for row in rows]), dtype=object)
            distances_m = shapely.distance(areas, here[:, None])
            nearest = distances_m.argmin(axis=1).tolist()  # the first of them
            for row, place, zone, of_zones_m in zip(rows, here, nearest, distances_m, strict=True):
                xy_m, snap_m = points[row][0], float(of_zones_m[zone])
                if snap_m > 0:
                    on_zone, _ = nearest_points(areas[zone], place)
                    xy_m = (on_zone.x, on_zone.y)
                anchors[row] = Anchor(id=zones[zone], xy_m=xy_m, floor=level, snap_m=snap_m)
        return anchors

    def leaving(self, start: Anchor) -> list[Link]:
        """Straight to every portal of the zone."""
        return [self._link(node, start.id, start.xy_m, self._xy_m[node]) for node in self._doors[start.id]]

    def arriving(self, end: Anchor) -> list[Link]:
        """Straight from every portal of the zone."""
        return [self._link(node, end.id, self._xy_m[node], end.xy_m) for node in self._doors[end.id]]

    def direct(self, start: Anchor, end: Anchor) -> RouteLeg | None:
        """Straight across one and the same zone."""
        return self._across(start.id, start.xy_m, end.xy_m) if start.id == end.id else None

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
        self._legs[first, last] = self._through(portal, 0, 1)
        if not portal.is_oneway:
            self._legs[last, first] = self._through(portal, 1, 0)
        self.lengths_m |= {
            edge: self._legs[edge].length_m for edge in ((first, last), (last, first)) if edge in self._legs
        }

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

    def _link(self, node: int, zone: str, start_m: Point, end_m: Point) -> Link:
        return Link(node, math.dist(start_m, end_m), partial(self._across, zone, start_m, end_m))

    def _across(self, zone: str, start_m: Point, end_m: Point) -> RouteLeg:
        return ground_leg(zone, "zone", self._zones[zone].floor, (start_m, end_m))
