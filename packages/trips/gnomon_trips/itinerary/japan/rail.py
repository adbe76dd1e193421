"""Estimates how long trains take between stations, from where the stations of each line are.

There is no open timetable of Japan, so each line is the shortest tree through its stations, run on two
layers: a local that stops everywhere and a fast train that is boarded after a longer wait. Times are
estimates, good for planning and never for catching a train.
"""

import functools
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree
from scipy.spatial import Delaunay, QhullError, cKDTree

from gnomon_published.gazetteer.tables import points_deg, tables
from gnomon_trips.itinerary.haversine import flat_m, metres_between

LOCAL_KMH, FAST_KMH, SHINKANSEN_KMH = 52.0, 88.0, 265.0
LOCAL_STOP_MIN, FAST_STOP_MIN, SHINKANSEN_STOP_MIN = 0.8, 0.0, 1.3
BOARD_LOCAL_MIN, BOARD_FAST_MIN, BOARD_SHINKANSEN_MIN = 4.0, 12.0, 9.0
FIRST_BOARD_MIN = 4.0
"""A timetable does not count the wait for the first train: a local's share of it is taken off."""
WINDING = 1.08
"""Track between two stations, over the straight line."""
MIDDLE_LAT_DEG = 36.0
LOCAL, FAST, SHINKANSEN = "local", "fast", "shinkansen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ride:
    """A ride on one line: the gazetteer's rows of the stations on its way, and which train it is."""

    rows: tuple[int, ...]
    layer: str
    minutes: int


@dataclass(slots=True, kw_only=True, eq=False)
class Rail:
    """Stations as nodes 0 … n − 1, then each line's platforms; edges in minutes, with metres beside them."""

    lat_deg: NDArray[np.float64]
    lon_deg: NDArray[np.float64]
    tree: cKDTree
    graph: csr_matrix
    platforms: list[tuple[int, str]]  # of nodes n, n + 1, …: the row of the station, and the layer
    metres_of: dict[tuple[int, int], float]
    _from: dict[int, tuple[NDArray[np.float64], NDArray[np.int32]]]

    def near(self, lat_deg: float, lon_deg: float, reach_m: float) -> list[tuple[int, float]]:
        """The nearest station, and others within reach, with how far off they lie in metres."""
        xy = flat_m(np.array([lat_deg]), np.array([lon_deg]), MIDDLE_LAT_DEG)[0]
        near = np.asarray(self.tree.query(xy, k=6)[1])
        far = metres_between(lat_deg, lon_deg, self.lat_deg[near], self.lon_deg[near])
        ranked = [(int(near[place]), float(far[place])) for place in np.argsort(far, kind="stable")]
        return [ranked[0], *(station for station in ranked[1:] if station[1] <= reach_m)]

    def trip(self, start: int, end: int) -> tuple[float, float, int] | None:
        """Minutes, metres and changes between two stations; None where no rail joins them."""
        if start == end:
            return 0.0, 0.0, 0
        low, high = sorted((start, end))
        reach = self._from.get(low)
        if reach is None:
            if len(self._from) > 300:
                self._from.clear()
            reach = dijkstra(self.graph, indices=low, return_predecessors=True)  # type: ignore[call-overload] # the stub wants an array
            self._from[low] = reach
        minutes, before = reach
        if not np.isfinite(minutes[high]):
            return None
        metres, boardings, node = 0.0, 0, high
        while node != low:
            earlier = int(before[node])
            metres += self.metres_of.get((min(earlier, node), max(earlier, node)), 0.0)
            boardings += node >= len(self.lat_deg) > earlier
            node = earlier
        return max(1.0, float(minutes[high]) - FIRST_BOARD_MIN), metres, max(0, boardings - 1)

    def rides(self, start: int, end: int) -> list["Ride"]:
        """The rides of the trip between two stations, in their order."""
        if start == end or self.trip(start, end) is None:
            return []
        low, high = sorted((start, end))
        minutes, before = self._from[low]
        nodes = [high]
        while nodes[-1] != low:
            nodes.append(int(before[nodes[-1]]))
        if start == low:
            nodes.reverse()
        parts: list[list[int]] = []
        for node in nodes:
            if node < len(self.lat_deg):
                parts.append([])
            else:
                parts[-1].append(node)
        return [
            Ride(
                rows=tuple(self.platforms[node - len(self.lat_deg)][0] for node in part),
                layer=self.platforms[part[0] - len(self.lat_deg)][1],
                minutes=max(1, round(abs(float(minutes[part[-1]] - minutes[part[0]])))),
            )
            for part in parts
            if len(part) > 1
        ]


@functools.cache
def rail() -> Rail:
    """The network, built once per process from the gazetteer's stations."""
    rows = tables().stations
    lat, lon = points_deg(rows)
    number = np.asarray(rows["station"])
    operators, lines = rows["operator"].to_pylist(), rows["line"].to_pylist()
    is_fast = np.asarray(rows["shinkansen"])
    stations = int(number.max()) + 1
    station_lat, station_lon = np.zeros(stations), np.zeros(stations)
    station_lat[number[::-1]], station_lon[number[::-1]] = lat[::-1], lon[::-1]
    by_line: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row, key in enumerate(zip(operators, lines, strict=True)):
        by_line[key].append(row)
    build = _Builder(number=number, lat=lat, lon=lon, stations=stations)
    for members in by_line.values():
        build.line(np.array(members), is_shinkansen=bool(is_fast[members].any()))
    return Rail(
        lat_deg=station_lat,
        lon_deg=station_lon,
        tree=cKDTree(flat_m(station_lat, station_lon, MIDDLE_LAT_DEG)),
        graph=build.graph(),
        platforms=build.platforms,
        metres_of=build.metres_of,
        _from={},
    )


class _Builder:
    """Collects edges: boarding and leaving at platforms, riding between them."""

    def __init__(
        self,
        *,
        number: NDArray[np.int64],
        lat: NDArray[np.float64],
        lon: NDArray[np.float64],
        stations: int,
    ) -> None:
        self.number, self.lat, self.lon, self.nodes = number, lat, lon, stations
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.minutes: list[float] = []
        self.metres_of: dict[tuple[int, int], float] = {}
        self.platforms: list[tuple[int, str]] = []

    def line(self, rows: NDArray[np.int64], *, is_shinkansen: bool) -> None:
        """One line: a tree over its stations, on one layer (Shinkansen) or two."""
        edges = _tree(self.lat[rows], self.lon[rows])
        if is_shinkansen:
            self._layer(rows, edges, SHINKANSEN_KMH, SHINKANSEN_STOP_MIN, BOARD_SHINKANSEN_MIN, SHINKANSEN)
            return
        self._layer(rows, edges, LOCAL_KMH, LOCAL_STOP_MIN, BOARD_LOCAL_MIN, LOCAL)
        self._layer(rows, edges, FAST_KMH, FAST_STOP_MIN, BOARD_FAST_MIN, FAST)

    def _layer(
        self,
        rows: NDArray[np.int64],
        edges: list[tuple[int, int, float]],
        kmh: float,
        stop_min: float,
        board_min: float,
        layer: str,
    ) -> None:
        self.platforms += [(int(row), layer) for row in rows]
        platform = {int(row): self.nodes + place for place, row in enumerate(rows)}
        self.nodes += len(rows)
        for row, node in platform.items():
            # Half of a change is paid on boarding and half on leaving, so that times are the same both ways.
            self._edge(int(self.number[row]), node, board_min / 2)
        for a, b, straight_m in edges:
            start, end = platform[int(rows[a])], platform[int(rows[b])]
            length_m = WINDING * straight_m
            self._edge(start, end, length_m / 1000 / kmh * 60 + stop_min)
            self.metres_of[min(start, end), max(start, end)] = length_m

    def _edge(self, start: int, end: int, minutes: float) -> None:
        self.starts += [start, end]
        self.ends += [end, start]
        self.minutes += [max(minutes, 1e-6)] * 2

    def graph(self) -> csr_matrix:
        ends = (np.array(self.starts), np.array(self.ends))
        return coo_matrix((np.array(self.minutes), ends), shape=(self.nodes, self.nodes)).tocsr()


def _tree(lat: NDArray[np.float64], lon: NDArray[np.float64]) -> list[tuple[int, int, float]]:
    """The shortest tree through points, as (start, end, metres); the tree is part of the triangulation."""
    count = len(lat)
    if count < 2:
        return []
    pairs = (
        {(later, earlier) for later in range(count) for earlier in range(later)}
        if count < 60
        else _close(lat, lon)
    )
    start, end = np.array(sorted(pairs)).T
    metres = np.maximum(metres_between(lat[start], lon[start], lat[end], lon[end]), 0.1)
    tree = minimum_spanning_tree(coo_matrix((metres, (start, end)), shape=(count, count)).tocsr()).tocoo()
    return [(int(a), int(b), float(m)) for a, b, m in zip(tree.row, tree.col, tree.data, strict=True)]


def _close(lat: NDArray[np.float64], lon: NDArray[np.float64]) -> set[tuple[int, int]]:
    flat = flat_m(lat, lon, float(lat.mean()))
    try:
        triangles = Delaunay(flat).simplices
    except QhullError:
        return {(later, earlier) for later in range(len(lat)) for earlier in range(later)}
    corners = ((int(a), int(b)) for triangle in triangles for a in triangle for b in triangle if a > b)
    return set(corners)
