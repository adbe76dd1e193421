"""The walking network of an extract, and the shortest ways over it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import cKDTree

from gnomon_trips.itinerary.haversine import apart_m, flat_m, metres_between
from gnomon_trips.itinerary.osm.extract import Street
from gnomon_trips.itinerary.place import LatLon
from gnomon_trips.itinerary.track import Track, simplified, street_names

KEPT_SNAPS = 50_000
KEPT = 500  # searches kept, a few hundred kB each
SNAP_M = 250.0
"""A point farther than this from any street is not on foot's reach."""


@dataclass(slots=True, kw_only=True, eq=False)
class Streets:
    """The largest connected walking network; distances from a node are computed once and kept.

    `named` has the same cells as `graph`: the number in `names` of the street that each belongs to.
    """

    lat_deg: NDArray[np.float64]
    lon_deg: NDArray[np.float64]
    graph: csr_matrix
    named: csr_matrix
    names: tuple[str, ...]
    tree: cKDTree
    middle_lat_deg: float
    _snapped: dict[LatLon, tuple[int, float] | None] = field(default_factory=dict)
    _from: dict[int, tuple[NDArray[np.float64], NDArray[np.int32]]] = field(default_factory=dict)

    def snap(self, at: LatLon) -> tuple[int, float] | None:
        """The nearest node and how far off it lies in metres; None beyond SNAP_M."""
        try:
            return self._snapped[at]
        except KeyError:
            pass
        if len(self._snapped) > KEPT_SNAPS:
            self._snapped.clear()
        snapped = self._snapped[at] = self._nearest(at)
        return snapped

    def _nearest(self, at: LatLon) -> tuple[int, float] | None:
        _, node = self.tree.query(
            flat_m(np.array([at.lat_deg]), np.array([at.lon_deg]), self.middle_lat_deg)[0]
        )
        off_m = float(
            metres_between(at.lat_deg, at.lon_deg, float(self.lat_deg[node]), float(self.lon_deg[node]))
        )
        return (int(node), off_m) if off_m <= SNAP_M else None

    def metres(self, start: LatLon, end: LatLon) -> float | None:
        """How far it is on foot, with the steps to and from the street; None where either is out of reach.

        Symmetric to the bit: it is always computed from the lower node.
        """
        if start == end:
            return 0.0
        first, last = self.snap(start), self.snap(end)
        if first is None or last is None:
            return None
        low, high = sorted((first[0], last[0]))
        along_m = float(self._reach(low)[0][high])
        return max(along_m + first[1] + last[1], apart_m(start, end))

    def table(self, points: Sequence[LatLon]) -> list[list[float | None]]:
        """The same among all points."""
        snaps = [self.snap(point) for point in points]
        lat = np.array([point.lat_deg for point in points])
        lon = np.array([point.lon_deg for point in points])
        nodes = np.array([snap[0] if snap else 0 for snap in snaps], dtype=np.int64)
        off_m = np.array([snap[1] if snap else np.inf for snap in snaps])
        reach_m = {int(node): self._reach(int(node))[0][nodes] for node in np.unique(nodes)}
        there = np.array([reach_m[int(node)] for node in nodes])
        along = np.where(nodes[:, None] <= nodes[None, :], there, there.T)
        metres = along + off_m[:, None] + off_m[None, :]
        straight = metres_between(lat[:, None], lon[:, None], lat[None, :], lon[None, :])
        # Where the straight line is about as long, the pair is computed alone, to the same bit.
        is_plain = metres > 1.0001 * straight + 1.0
        return [
            [
                float(metres[row, column])
                if start != end and is_plain[row, column] and np.isfinite(metres[row, column])
                else self.metres(start, end)
                for column, end in enumerate(points)
            ]
            for row, start in enumerate(points)
        ]

    def line(self, start: LatLon, end: LatLon) -> tuple[tuple[float, float], ...]:
        """The shortest way as (lat, lon) points, both ends included."""
        ends = ((start.lat_deg, start.lon_deg), (end.lat_deg, end.lon_deg))
        middle = ((float(self.lat_deg[node]), float(self.lon_deg[node])) for node in self._nodes(start, end))
        return (ends[0], *middle, ends[1])

    def track(self, start: LatLon, end: LatLon) -> Track:
        """The streets of the shortest way in the order walked, and its line; empty where there is none."""
        nodes = self._nodes(start, end)
        if start == end or not nodes:
            return Track()
        stretches = []
        for here, there in pairwise(nodes):
            low, high = self.graph.indptr[here], self.graph.indptr[here + 1]
            cell = low + self.graph.indices[low:high].tolist().index(there)
            name = self.names[int(self.named.data[cell]) - 1]
            stretches.append((name, float(self.graph.data[cell])))
        return Track(via=street_names(stretches), path=simplified(self.line(start, end)))

    def _nodes(self, start: LatLon, end: LatLon) -> list[int]:
        """The nodes of the shortest way; none where an end is out of reach."""
        first, last = self.snap(start), self.snap(end)
        if first is None or last is None:
            return []
        low, high = sorted((first[0], last[0]))
        before = self._reach(low)[1]
        nodes = [high]
        while nodes[-1] != low and before[nodes[-1]] >= 0:
            nodes.append(int(before[nodes[-1]]))
        return nodes if first[0] == high else nodes[::-1]

    def _reach(self, node: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        reach = self._from.get(node)
        if reach is None:
            if len(self._from) >= KEPT:
                self._from.clear()
            reach = dijkstra(self.graph, indices=node, return_predecessors=True)  # type: ignore[call-overload] # the stub wants an array
            self._from[node] = reach
        return reach


def build_streets(ways: Sequence[Street]) -> Streets:
    """Join ways at their common nodes and keep the largest connected part."""
    positions: dict[int, tuple[float, float]] = {}
    for way in ways:
        positions.update(zip(way.nodes, way.points, strict=True))
    index = {node: place for place, node in enumerate(positions)}
    lat, lon = np.array(list(positions.values())).T
    start = np.array([index[node] for way in ways for node in way.nodes[:-1]])
    end = np.array([index[node] for way in ways for node in way.nodes[1:]])
    length_m = metres_between(lat[start], lon[start], lat[end], lon[end])
    number = {name: place for place, name in enumerate(dict.fromkeys(way.name for way in ways), 1)}
    name_of = np.array([number[way.name] for way in ways for _ in way.nodes[1:]])
    # Two ways between the same nodes must not add up, so the shorter is kept.
    order = np.lexsort((length_m, np.maximum(start, end), np.minimum(start, end)))
    pair = np.column_stack([np.minimum(start, end), np.maximum(start, end)])[order]
    first = np.ones(len(pair), dtype=bool)
    first[1:] = (pair[1:] != pair[:-1]).any(axis=1) if len(pair) > 1 else True
    pair, length_m = pair[first], np.maximum(length_m[order][first], 1e-3)
    name_of = name_of[order][first]
    both = np.vstack([pair, pair[:, ::-1]])
    whole, named = (
        csr_matrix((np.tile(cells, 2), (both[:, 0], both[:, 1])), shape=(len(lat), len(lat)))
        for cells in (length_m, name_of)
    )
    _, part = connected_components(whole, directed=False)
    kept = np.flatnonzero(part == np.bincount(part).argmax())
    middle = float(np.median(lat[kept]))
    return Streets(
        lat_deg=lat[kept],
        lon_deg=lon[kept],
        graph=csr_matrix(whole[kept][:, kept]),
        named=csr_matrix(named[kept][:, kept]),
        names=tuple(number),
        tree=cKDTree(flat_m(lat[kept], lon[kept], middle)),
        middle_lat_deg=middle,
    )
