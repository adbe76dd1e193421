"""Draws many maps of one town, and measures under each the ways from one camera's view to another's."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

import numpy as np
import shapely
from numpy.typing import NDArray

from gnomon.core.ids import stable_seed
from gnomon_published.drawn_maps.map_sheet import with_map
from gnomon_tools.scene.scene import Point
from gnomon_worlds.world import World

MAPS = 160  # drawn of a town
CLOSED, ONE_WAY, ONE_WAY_IN_VIEW = 0.3, 0.3, 0.8  # shares of the streets that no camera sees; of those seen
STREET_M = 3.0  # between a view and the next junction, at least: nobody turns in sight
TOWNS = 8  # whose crossings are remembered

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Crossings:
    """The ways in which views are crossed, and the ways between them under each map. Lengths are in metres.

    Crossings 2c and 2c + 1 are those of camera c, the one against the other. Each leads from the junction
    `tail` over `before_m` of street to the view, over `seen_m` in it and over `after_m` to `head`. Ways are
    maps × from × to, infinite where there is none: `hop_m` a single street between junctions, `way_m` the
    shortest way between them; `onward_m` from where one crossing leaves its view to where another enters
    its own, `shortest_m` the same where one may turn round first, or come from the other side.
    """

    cameras: tuple[str, ...]
    is_alone: tuple[bool, ...]  # by camera: no part of its view is nearer to another street
    tail: Places
    head: Places
    before_m: Floats
    seen_m: Floats
    after_m: Floats
    junctions_m: tuple[Point, ...]
    is_open: Flags  # maps × streets × 2: along it, against it
    hop_m: Floats
    way_m: Floats
    onward_m: Floats
    shortest_m: Floats

    def by_camera(self, by_crossing: Floats) -> Floats:
        """The lesser value of each camera's crossings: maps × cameras."""
        least: Floats = by_crossing.reshape(len(by_crossing), -1, 2).min(axis=2)
        return least

    def route_m(self, map_: int, crossed: Sequence[int]) -> list[Point]:
        """The junctions on the shortest way under a map that makes these crossings one after the other."""
        nodes = [int(self.tail[crossed[0]])]
        for crossing in crossed:
            while nodes[-1] != self.tail[crossing]:
                left_m = self.hop_m[map_, nodes[-1]] + self.way_m[map_, :, self.tail[crossing]]
                nodes.append(int(left_m.argmin()))
            nodes.append(int(self.head[crossing]))
        return [self.junctions_m[node] for node in nodes]

    def town_of(self, town: World, map_: int, name: str) -> World:
        """The town as one of the maps has it."""
        roads = {}
        for road, (along, against) in zip(town.scene.roads.values(), self.is_open[map_], strict=True):
            if along or against:
                line = road.line if along else shapely.reverse(road.line)
                roads[road.id] = replace(road, line=line, oneway=not (along and against))
        scene = replace(town.scene, id=name, roads=roads)
        return replace(town, scene=with_map(scene, file=f"{name}.png"))


@lru_cache(TOWNS)
def crossings_of(town: World) -> Crossings:
    """The crossings in a town, with its maps drawn by lot. Cameras that see several streets have none."""
    roads, cameras = list(town.scene.roads.values()), list(town.scene.cameras.values())
    lines = np.array([road.line for road in roads], dtype=object)
    length_m = shapely.length(lines)
    views = np.array([camera.field_of_view for camera in cameras], dtype=object)
    in_view = shapely.intersection(lines, views[:, None])
    is_seen = shapely.length(in_view) > 0
    street, enters_m, leaves_m, names, is_alone = [], [], [], [], []
    corners_m, of_view = shapely.get_coordinates(views, return_index=True)
    nearest = shapely.STRtree(lines).nearest(shapely.points(corners_m))
    for at, (camera, seen, parts) in enumerate(zip(cameras, is_seen, in_view, strict=True)):
        own = int(seen.argmax())
        if seen.sum() == 1 and parts[own].geom_type == "LineString":
            enter_m, leave_m = sorted(
                lines[own].project(shapely.Point(parts[own].coords[end])) for end in (0, -1)
            )
            if enter_m >= STREET_M and length_m[own] - leave_m >= STREET_M:
                names.append(camera.id)
                is_alone.append(bool((nearest[of_view == at] == own).all()))
                street.append(own)
                enters_m.append(enter_m)
                leaves_m.append(leave_m)
    ends_m = [(road.line.coords[0], road.line.coords[-1]) for road in roads]
    junctions_m = tuple(dict.fromkeys(end for both in ends_m for end in both))
    number = {end: at for at, end in enumerate(junctions_m)}
    ends = np.array([[number[end] for end in both] for both in ends_m])
    is_open = _drawn(town, is_seen.any(axis=0))
    hop_m, way_m = _ways(len(junctions_m), ends, length_m, is_open)

    def both_ways(along: Floats, against: Floats) -> Floats:
        return np.stack([along, against], axis=1).reshape(-1)

    start_m, rest_m = np.array(enters_m), length_m[street] - np.array(leaves_m)
    tail, head = ends[street].reshape(-1), ends[street][:, ::-1].reshape(-1)
    before_m, after_m = both_ways(start_m, rest_m), both_ways(rest_m, start_m)
    seen_m = np.repeat(length_m[street] - start_m - rest_m, 2)
    is_made = is_open[:, street].reshape(MAPS, -1)
    camera, back = np.arange(len(tail)) // 2, np.arange(len(tail)) ^ 1
    onward_m = after_m[:, None] + way_m[:, head][:, :, tail] + before_m
    onward_m[~(is_made[:, :, None] & is_made[:, None] & (camera[:, None] != camera))] = np.inf
    turned_m = np.minimum(onward_m, onward_m[:, back] + seen_m[:, None])
    return Crossings(
        cameras=tuple(names),
        is_alone=tuple(is_alone),
        tail=tail,
        head=head,
        before_m=before_m,
        seen_m=seen_m,
        after_m=after_m,
        junctions_m=junctions_m,
        is_open=is_open,
        hop_m=hop_m,
        way_m=way_m,
        onward_m=onward_m,
        shortest_m=np.minimum(turned_m, turned_m[:, :, back] + seen_m),
    )


def _drawn(town: World, is_seen: Flags) -> Flags:
    """By lot which streets are open along them and against them under each map; those in view never close."""
    rng = Random(stable_seed("maps", town.scene.id))
    drawn = np.array([rng.random() for _ in range(MAPS * len(is_seen))]).reshape(MAPS, -1)
    closed = np.where(is_seen, 0.0, CLOSED)
    half = np.where(is_seen, ONE_WAY_IN_VIEW, ONE_WAY) / 2
    along = drawn >= closed + half
    against = (drawn >= closed) & ((drawn < closed + half) | (drawn >= closed + 2 * half))
    return np.stack([along, against], axis=2)


def _ways(count: int, ends: Places, length_m: Floats, is_open: Flags) -> tuple[Floats, Floats]:
    """`hop_m` and `way_m` between so many junctions (algorithm of Floyd and Warshall)."""
    hop_m = np.full((MAPS, count, count), np.inf)
    for street, (start, end) in enumerate(ends.tolist()):
        for way, (come, go) in enumerate(((start, end), (end, start))):
            hop_m[is_open[:, street, way], come, go] = length_m[street]
    way_m = hop_m.copy()
    way_m[:, range(count), range(count)] = 0.0
    for between in range(count):
        np.minimum(way_m, way_m[:, :, between, None] + way_m[:, None, between], out=way_m)
    return hop_m, way_m
