"""Draws many maps of one town, and measures under each the ways from one camera's view to another's."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import LineString

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
    is_alone: Flags  # by camera: no part of its view is nearer to another street
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
        return np.minimum(by_crossing[:, ::2], by_crossing[:, 1::2])

    def route_m(self, map_: int, crossed: Sequence[int]) -> list[Point]:
        """The junctions on the shortest way under a map that makes these crossings one after the other."""
        nodes = [int(self.tail[crossed[0]])]
        for crossing in crossed:
            while nodes[-1] != self.tail[crossing]:
                left_m = self.hop_m[map_, nodes[-1]] + self.way_m[map_, :, self.tail[crossing]]
                nodes.append(int(left_m.argmin()))
            nodes.append(int(self.head[crossing]))
        return [self.junctions_m[node] for node in nodes]

    def unseen_m(self, map_: int, crossed: Sequence[int]) -> list[Point]:
        """The part of that way from where it leaves the first view to where it enters the last."""
        start_m, *inner_m, end_m = self.route_m(map_, crossed)
        leaves_m = _towards(start_m, self.after_m[crossed[0]], inner_m[0])
        return [leaves_m, *inner_m, _towards(end_m, self.before_m[crossed[-1]], inner_m[-1])]

    def town_of(self, town: World, map_: int, name: str) -> World:
        roads = {}
        for road, (along, against) in zip(town.scene.roads.values(), self.is_open[map_], strict=True):
            if along or against:
                line = road.line if along else shapely.reverse(road.line)
                roads[road.id] = replace(road, line=line, oneway=not (along and against))
        scene = replace(town.scene, id=name, roads=roads)
        return replace(town, scene=with_map(scene, file=f"{name}.png"))


def _towards(end_m: Point, short_m: float, junction_m: Point) -> Point:
    """The point of a street that lies so far short of its junction, towards its other end."""
    share = short_m / math.dist(junction_m, end_m)
    (x, y), (end_x, end_y) = junction_m, end_m
    return x + share * (end_x - x), y + share * (end_y - y)


@lru_cache(TOWNS)
def crossings_of(town: World) -> Crossings:
    """The crossings in a town, with its maps drawn by lot. Cameras that see several streets have none."""
    lines: list[LineString] = [road.line for road in town.scene.roads.values()]
    length_m = np.array([line.length for line in lines])
    ends_m = [[(x, y) for x, y in (line.coords[0], line.coords[-1])] for line in lines]
    junctions_m = tuple(dict.fromkeys(end for both in ends_m for end in both))
    number = {end: at for at, end in enumerate(junctions_m)}
    ends = np.array([[number[end] for end in both] for both in ends_m], dtype=np.intp)
    in_view = shapely.intersection(lines, _views(town)[:, None])
    is_seen: Flags = np.asarray(shapely.length(in_view) > 0)
    viewed = list(_viewed(town, lines, in_view, is_seen))
    is_open = _drawn(town, np.asarray(is_seen.any(axis=0)))
    hop_m, way_m = _ways(len(junctions_m), ends, length_m, is_open)

    def both_ways(along: Sequence[float], against: Sequence[float]) -> Floats:
        return np.stack([along, against], axis=1).reshape(-1)

    street = [each.street for each in viewed]
    start_m = [each.enter_m for each in viewed]
    rest_m = [length_m[each.street] - each.leave_m for each in viewed]
    before_m, after_m = both_ways(start_m, rest_m), both_ways(rest_m, start_m)
    seen_m = np.array([each.leave_m - each.enter_m for each in viewed]).repeat(2)
    tail, head = ends[street].reshape(-1), ends[street][:, ::-1].reshape(-1)
    is_made = is_open[:, street].reshape(MAPS, -1).T
    own, back = np.arange(len(tail)) // 2, np.arange(len(tail)) ^ 1
    is_way = is_made[:, None] & is_made & (own[:, None] != own)[:, :, None]
    to_m = after_m[:, None, None] + way_m[head][:, tail] + before_m[:, None]
    onward_m = np.where(is_way, to_m, np.inf)
    turned_m = np.minimum(onward_m, onward_m[back] + seen_m[:, None, None])
    shortest_m = np.minimum(turned_m, turned_m[:, back] + seen_m[:, None])
    return Crossings(
        cameras=tuple(each.camera for each in viewed),
        is_alone=np.array([each.is_alone for each in viewed]),
        tail=tail,
        head=head,
        before_m=before_m,
        seen_m=seen_m,
        after_m=after_m,
        junctions_m=junctions_m,
        is_open=is_open,
        hop_m=np.moveaxis(hop_m, 2, 0),
        way_m=np.moveaxis(way_m, 2, 0),
        onward_m=np.moveaxis(onward_m, 2, 0),
        shortest_m=np.moveaxis(shortest_m, 2, 0),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Viewed:
    """A camera, the street that it sees, and from where to where along that."""

    camera: str
    street: int
    enter_m: float
    leave_m: float
    is_alone: bool


def _views(town: World) -> NDArray[Any]:
    return np.array([camera.field_of_view for camera in town.scene.cameras.values()], dtype=object)


def _viewed(
    town: World, lines: Sequence[LineString], in_view: NDArray[Any], is_seen: Flags
) -> Iterator[_Viewed]:
    """The cameras that see one street in one piece, with nobody turning in sight."""
    corners_m, of_view = shapely.get_coordinates(_views(town), return_index=True)
    nearest = np.asarray(shapely.STRtree(lines).nearest(shapely.points(corners_m)))
    for at, camera in enumerate(town.scene.cameras):
        street = int(is_seen[at].argmax())
        part, line = in_view[at, street], lines[street]
        if is_seen[at].sum() != 1 or part.geom_type != "LineString":
            continue
        enter_m, leave_m = sorted(line.project(shapely.Point(part.coords[end])) for end in (0, -1))
        if enter_m >= STREET_M and line.length - leave_m >= STREET_M:
            is_alone = bool((nearest[of_view == at] == street).all())
            yield _Viewed(camera=camera, street=street, enter_m=enter_m, leave_m=leave_m, is_alone=is_alone)


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
    """`hop_m` and `way_m` between so many junctions, from × to × maps (algorithm of Floyd and Warshall)."""
    hop_m = np.full((count, count, MAPS), np.inf)
    for street, (start, end) in enumerate(ends.tolist()):
        for way, (come, go) in enumerate(((start, end), (end, start))):
            hop_m[come, go, is_open[:, street, way]] = length_m[street]
    way_m = hop_m.copy()
    way_m[range(count), range(count)] = 0.0
    for between in range(count):
        np.minimum(way_m, way_m[:, between, None] + way_m[between], out=way_m)
    return hop_m, way_m
