"""Finds shortest routes through a scene, along its roads or through its zones and portals."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapely import Polygon

from gnomon_tools.geometry.indoor_graph import Floors
from gnomon_tools.geometry.road_graph import Roads
from gnomon_tools.geometry.route import Path, RouteLeg, joined
from gnomon_tools.geometry.route_graph import Anchor, Ground, Link
from gnomon_tools.scene.scene import Point, Scene
from gnomon_tools.scene.scene_cache import cached_per_scene

REMEMBERED_STARTS = 256  # nodes whose distances to all others are kept
REMEMBERED_WAYS = 4_096  # from node to node, whose legs are kept, and from point to point, with their lengths
REMEMBERED_POINTS = 1_024  # of which is kept how they join the network: paths begin and end at few points

# By node: the one before it, and the length of the way there (infinite where there is none). Lists, as single
# numbers come out of them faster than out of arrays.
Reached = tuple[list[int], list[float]]
Ways = tuple[NDArray[np.int32], NDArray[np.float64]]  # the same from all nodes, a row each
Links = list[tuple[int, float, Link]]  # a tuple is taken apart faster


class Network:
    """The ways of one scene: `Network.of(scene)`, made once a scene.

    Outdoors they are its roads; indoors its zones, joined by portals.
    """

    def __init__(self, ground: Ground) -> None:
        from scipy.sparse import csr_array  # late: every process loads the tools, not every one finds ways

        self._ground = ground
        ends = np.array(list(ground.lengths_m), dtype=np.intp).reshape(-1, 2)
        size = int(ends.max(initial=-1)) + 1
        lengths_m = list(ground.lengths_m.values())
        self._graph = csr_array((lengths_m, (ends[:, 0], ends[:, 1])), shape=(size, size))
        self._joined: dict[tuple[Point, int], Anchor | None] = {}
        # No cache holds the network, or only the garbage collector could free it.
        self.anchor = lru_cache(maxsize=REMEMBERED_POINTS)(partial(_anchor, ground, self._joined))
        self._shortest = _Shortest(ground, self._graph)
        self._length_m = lru_cache(maxsize=REMEMBERED_WAYS)(partial(_length_m, self.anchor, self._shortest))

    @staticmethod
    def of(scene: Scene) -> "Network":
        """The scene's network; without roads or zones it is empty and leads nowhere."""
        return _network(scene)

    def join(self, points: Sequence[tuple[Point, int]]) -> None:
        """Join points, each of a floor, to the network together, which is faster than one by one."""
        self._joined.update(zip(points, self._ground.anchors(points), strict=True))

    @property
    def empty(self) -> bool:
        """Whether the scene has no roads (outdoors) or no zones (indoors)."""
        return self._ground.empty

    def path(self, start_m: Point, start_floor: int, end_m: Point, end_floor: int) -> Path | None:
        """The shortest way from the network's point nearest to the start to that nearest to the end.

        None where a floor has no network or the end cannot be reached. Dijkstra's algorithm, by SciPy.
        """
        start, end = self.anchor(start_m, start_floor), self.anchor(end_m, end_floor)
        legs = self._shortest.legs(start, end) if start and end else None
        if start is None or end is None or legs is None:
            return None
        return Path(legs=joined(legs), start_snap_m=start.snap_m, end_snap_m=end.snap_m)

    def length_m(self, start_m: Point, start_floor: int, end_m: Point, end_floor: int) -> float:
        """The length of the `path`; infinite where there is none. Its legs are not built."""
        return self._length_m(start_m, start_floor, end_m, end_floor)

    def away_m(self, start: Anchor | None) -> NDArray[np.float64]:
        """The lengths of the shortest ways from an anchor to all nodes (infinite where there is none)."""
        leaving = self._shortest.leaving(start) if start else ()
        if not leaving:
            return np.full(self._graph.shape[0], np.inf)
        lengths_m = np.array([self._shortest.lengths_m(node) for node, *_ in leaving])
        way_m: NDArray[np.float64] = (lengths_m + [[leave_m] for _, leave_m, _ in leaving]).min(axis=0)
        return way_m

    def direct_m(self, start: Anchor, end: Anchor) -> float:
        """The length of the way between two anchors that touches no node; infinite where there is none."""
        direct = self._ground.direct(start, end)
        return math.inf if direct is None else direct.length_m

    def way_into(self, area: Polygon, area_floor: int, start_m: Point, start_floor: int) -> Path | None:
        """The shortest way from a point to the nearest part of an area; None where the network knows none."""
        start = self.anchor(start_m, start_floor)
        entries = self._ground.entries(area, start, area_floor) if start else ()
        lengths_m = [self.length_m(start_m, start_floor, entry, area_floor) for entry in entries]
        nearest_m = min(lengths_m, default=math.inf)
        if nearest_m == math.inf:
            return None
        return self.path(start_m, start_floor, entries[lengths_m.index(nearest_m)], area_floor)

    def arriving(self, end: Anchor) -> Links:
        """Every way from a node next to an anchor to the anchor."""
        return self._shortest.arriving(end)


class _Shortest:
    """The shortest ways between anchors."""

    def __init__(self, ground: Ground, graph: Any) -> None:
        self._ground, self._nodes = ground, _Nodes(graph)
        self._reached = lru_cache(maxsize=REMEMBERED_STARTS)(self._nodes.reach)
        self._between = lru_cache(maxsize=REMEMBERED_WAYS)(partial(_legs, ground, self._reached))
        self.leaving = lru_cache(maxsize=REMEMBERED_POINTS)(lambda anchor: _links(ground.leaving(anchor)))
        self.arriving = lru_cache(maxsize=REMEMBERED_POINTS)(lambda anchor: _links(ground.arriving(anchor)))

    def legs(self, start: Anchor, end: Anchor) -> list[RouteLeg] | None:
        """The legs of the shortest way between two anchors, as the ground has them."""
        direct = self._ground.direct(start, end)
        best_m, best = direct.length_m if direct else math.inf, None
        arriving = self.arriving(end)
        for node, leave_m, leaving in self.leaving(start):
            _, length_m = self._reached(node)
            for to_node, arrive_m, arrival in arriving:
                total_m = leave_m + length_m[to_node] + arrive_m
                if total_m < best_m:
                    best_m, best = total_m, (leaving, node, to_node, arrival)
        if best is None:
            return [direct] if direct else None
        leaving, node, to_node, arrival = best
        return [leaving.leg, *self._between(node, to_node), arrival.leg]

    def lengths_m(self, node: int) -> Sequence[float] | NDArray[np.float64]:
        """The lengths of the ways from a node to all nodes."""
        return self._reached(node)[1] if (ways := self._nodes.ways()) is None else ways[1][node]


class _Nodes:
    """The shortest ways between the nodes of a graph (Dijkstra's algorithm, by SciPy)."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._everywhere: Ways | None = None

    def reach(self, node: int) -> Reached:
        """All nodes from one."""
        from scipy.sparse.csgraph import dijkstra

        if (ways := self.ways()) is not None:
            return ways[0][node].tolist(), ways[1][node].tolist()
        length_m, before = dijkstra(self._graph, indices=[node], return_predecessors=True)
        return before[0].tolist(), length_m[0].tolist()

    def ways(self) -> Ways | None:
        """All ways of a small network, computed together, since a call costs more than a way."""
        if self._everywhere is None and self._graph.shape[0] <= REMEMBERED_STARTS:
            from scipy.sparse.csgraph import dijkstra

            length_m, before = dijkstra(self._graph, return_predecessors=True)
            self._everywhere = before, length_m
        return self._everywhere


def _anchor(
    ground: Ground, joined_already: Mapping[tuple[Point, int], Anchor | None], xy_m: Point, floor: int
) -> Anchor | None:
    point = (xy_m, floor)
    return joined_already[point] if point in joined_already else ground.anchors([point])[0]


def _length_m(
    anchor: Callable[[Point, int], Anchor | None],
    shortest: _Shortest,
    start_m: Point,
    start_floor: int,
    end_m: Point,
    end_floor: int,
) -> float:
    start, end = anchor(start_m, start_floor), anchor(end_m, end_floor)
    legs = shortest.legs(start, end) if start and end else None
    if legs is None:
        return math.inf
    if any((a.id, a.kind) == (b.id, b.kind) for a, b in pairwise(legs)):
        legs = list(joined(legs))
    return math.fsum([leg.length_m for leg in legs])


def _legs(ground: Ground, reached: Callable[[int], Reached], start: int, end: int) -> tuple[RouteLeg, ...]:
    before, _ = reached(start)
    nodes = [end]
    while nodes[-1] != start:
        nodes.append(before[nodes[-1]])
    return tuple(map(ground.leg, pairwise(reversed(nodes))))


def _links(links: Sequence[Link]) -> Links:
    return [(link.node, link.length_m, link) for link in links]


@cached_per_scene
def _network(scene: Scene) -> Network:
    if scene.kind == "outdoor":
        return Network(Roads(scene.roads.values()))
    return Network(Floors(scene.zones, scene.portals.values()))
