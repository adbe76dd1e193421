"""Measures the ways between a point and many fixed points at once."""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from gnomon_tools.geometry.network import Network
from gnomon_tools.geometry.route_graph import Anchor
from gnomon_tools.scene.scene import Point


class Stops:
    """Points of a network to and from which many ways lead.

    Lengths are those of the network's paths to within rounding: their parts are added in another order.
    """

    def __init__(self, network: Network, points: Sequence[tuple[Point, int]]) -> None:
        """Each point in metres, with its floor."""
        self._network, self._count = network, len(points)
        network.join(points)
        anchors = [network.anchor(*point) for point in points]
        self._by_ground: dict[str, list[tuple[int, Anchor]]] = {}  # by road or zone
        arriving: list[tuple[int, int, float]] = []
        for stop, anchor in enumerate(anchors):
            if anchor is not None:
                self._by_ground.setdefault(anchor.id, []).append((stop, anchor))
                arriving += [(stop, node, length_m) for node, length_m, _ in network.arriving(anchor)]
        self._stop, self._first = np.unique([stop for stop, *_ in arriving], return_index=True)
        self._node = np.array([node for _, node, _ in arriving], dtype=np.intp)
        self._arrive_m = np.array([length_m for *_, length_m in arriving])
        self._anchors = anchors

    @cached_property
    def _away_m(self) -> list[list[float]]:
        """Of each stop the lengths of the shortest ways to all nodes."""
        return [self._network.away_m(anchor).tolist() for anchor in self._anchors]

    def lengths_from_m(self, start_m: Point, floor: int) -> list[float]:
        """The lengths of the shortest ways from a point to each stop (infinite where there is none)."""
        start = self._network.anchor(start_m, floor)
        best_m = np.full(self._count, np.inf)
        if start is not None and self._node.size:
            way_m = self._network.away_m(start)[self._node] + self._arrive_m
            best_m[self._stop] = np.minimum.reduceat(way_m, self._first)
        return self._with_direct_m(best_m.tolist(), start, is_start=True)

    def lengths_to_m(self, end_m: Point, floor: int) -> list[float]:
        """The lengths of the shortest ways from each stop to a point (infinite where there is none)."""
        end = self._network.anchor(end_m, floor)
        links = self._network.arriving(end) if end else ()
        best_m = [
            min((away_m[node] + way_m for node, way_m, _ in links), default=math.inf)
            for away_m in self._away_m
        ]
        return self._with_direct_m(best_m, end, is_start=False)

    def _with_direct_m(self, best_m: list[float], point: Anchor | None, *, is_start: bool) -> list[float]:
        """The least of these lengths and those of the ways that stay on one road or in one zone."""
        for stop, anchor in self._by_ground.get(point.id, ()) if point else ():
            ends = (point, anchor) if is_start else (anchor, point)
            best_m[stop] = min(best_m[stop], self._network.direct_m(*ends))
        return best_m
