"""Finds journeys by rail over all Japan: by timetables round Tokyo, by estimates elsewhere.

Every line has a local that stops everywhere and, where such trains run, a fast one that is waited for longer.
Nothing here catches a train: minutes are means over a day, with assumed waits, the first one too.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree
from scipy.spatial import Delaunay, QhullError, cKDTree

from gnomon_published.gazetteer.tables import points_deg, tables
from gnomon_trips.itinerary.data_rows import data_rows
from gnomon_trips.itinerary.haversine import flat_m, metres_between
from gnomon_trips.itinerary.japan.rides import Journey, Ride, Service, Stop, bare_name, latin_name
from gnomon_trips.itinerary.place import WALK_M_PER_MIN, LatLon

Pace = tuple[float, float]
Point = tuple[float, float]
RAIL, SUBWAY, TRAM, CABLE, SHINKANSEN = (0.95, 0.89), (0.75, 1.14), (1.0, 1.8), (1.0, 5.0), (1.3, 0.2445)
"""Minutes from stop to stop: the first number, and the second for each kilometre of the straight line.

The first two are least squares over 2,396 hops of timetables round Tokyo (mean error 0.5 min). What is no
railway of its own, or a city's, runs as a subway does, on the street as a tram.
"""
FAST_SHARE, SPARSE_SHARE = 0.65, 0.8
SPARSE_M, SPARSE_STATIONS = 15_000.0, 20
"""Of a local's minutes; the second where fewer stations lie around, as along a single track in the hills.
A fast train runs on over other lines of its operator, a Shinkansen over any other's."""
WAIT_MIN: dict[Service, float] = {"local": 4.0, "fast": 7.0, "shinkansen": 15.0}
"""Assumed at each boarding, the first too, where trains are frequent; the way to the platform is in it."""
DENSE_KM, WAIT_KM_MIN, MOST_LOCAL_MIN = 1.5, 1.5, 10.0
"""Where stations lie farther apart fewer trains stop: one waits longer for each kilometre, up to the most."""
HEADWAY_MIN, MOST_WAIT_MIN = 4320.0, 40.0
"""Minutes between trains, times the trains of both directions on a weekday and a holiday: 18 hours of each.
Half of that is waited for, up to MOST_WAIT_MIN: who misses an hourly train plans for another line."""
CHANGE_MIN, CHANGE_M = 4.0, 400.0
"""On foot from one station to another, at least, and how far in a straight line; the wait comes after."""
REACH_M = 3_000.0
"""So far in a straight line one walks to a station, or from one."""
SAME_STATION_M = 600.0
"""Two sources place one station that near to each other."""
TRAM_KM = 0.75
DETOUR = 1.3
"""Streets over the straight line."""
MIDDLE_LAT_DEG = 36.0
KEPT = 128
SHINKANSEN_LINES = {
    "東海道新幹線": "Tokaido Shinkansen",
    "山陽新幹線": "Sanyo Shinkansen",
    "東北新幹線": "Tohoku Shinkansen",
    "上越新幹線": "Joetsu Shinkansen",
    "北陸新幹線": "Hokuriku Shinkansen",
    "北海道新幹線": "Hokkaido Shinkansen",
    "九州新幹線": "Kyushu Shinkansen",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rail:
    """Stations as nodes 0 … n − 1, then the stops of each line; `graph` holds minutes, the same both ways.

    `lines` has each hop as two points in degrees (lat, lon), for drawing; no trains that pass stations by.
    """

    lat_deg: NDArray[np.float64]
    lon_deg: NDArray[np.float64]
    names: list[frozenset[str]]  # in Japanese, of each station
    graph: csr_matrix
    stops: list[Stop]  # of nodes n, n + 1, …
    lines: tuple[tuple[Point, Point], ...]

    def journey(self, start: LatLon, end: LatLon, *, stations: tuple[str, str] = ("", "")) -> Journey | None:
        """The journey of least time; None where an end has no station within reach, or no rail joins the two.

        `stations` holds the Japanese names of ends that are stations themselves: nobody walks to them.
        """
        points = sorted(zip((start, end), stations, strict=True), key=lambda p: (p[0].lat_deg, p[0].lon_deg))
        (low, low_name), (high, high_name) = points
        minutes, before, first_walks = self._reach(low, low_name)
        last_walks = self._doors(high, high_name)
        nodes = np.fromiter(last_walks, dtype=np.int64, count=len(last_walks))
        totals = minutes[nodes] + np.fromiter(last_walks.values(), dtype=float) / WALK_M_PER_MIN
        if not len(nodes) or not np.isfinite(totals.min()):
            return None
        path = [int(nodes[int(totals.argmin())])]
        while (earlier := int(before[path[-1]])) != self._nodes:
            path.append(earlier)
        walks = [first_walks[path[-1]], last_walks[path[0]]]
        is_turned = low != start
        if not is_turned:
            path.reverse()
        return self._journey(float(totals.min()), path, minutes, walks[::-1] if is_turned else walks)

    @property
    def _nodes(self) -> int:
        return len(self.lat_deg) + len(self.stops)

    def _journey(
        self, total: float, path: Sequence[int], minutes: NDArray[np.float32], ends_m: Sequence[float]
    ) -> Journey:
        rides: list[Ride] = []
        walks_m, ridden, station = [ends_m[0]], list[int](), -1
        for node in path:
            if node >= len(self.lat_deg):
                ridden.append(node)
                continue
            if len(ridden) > 1:
                spent = abs(float(minutes[ridden[-1]] - minutes[ridden[0]]))
                stops = tuple(self.stops[one - len(self.lat_deg)] for one in ridden)
                rides.append(Ride(stops=_distinct(stops), minutes=spent))
                walks_m.append(0.0)
            elif station >= 0 and not self.names[station] & self.names[node]:
                straight = metres_between(
                    self.lat_deg[station], self.lon_deg[station], self.lat_deg[node], self.lon_deg[node]
                )
                walks_m[-1] += DETOUR * float(straight)
            ridden, station = [], node
        walks_m[-1] += ends_m[1]
        return Journey(minutes=total, rides=tuple(rides), walks_m=tuple(walks_m))

    @lru_cache(maxsize=KEPT)  # noqa: B019 (the network lives as long as the process)
    def _reach(
        self, at: LatLon, station: str
    ) -> tuple[NDArray[np.float32], NDArray[np.int32], Mapping[int, float]]:
        """Minutes from a point to every node, the node before each, and the walks to the first stations."""
        walks = self._doors(at, station)
        graph, count = self.graph, self._nodes
        # The point is one more node, from which one walks to its stations.
        cost = np.maximum(np.fromiter(walks.values(), dtype=float) / WALK_M_PER_MIN, 1e-6)
        with_point = csr_matrix(
            (
                np.concatenate([graph.data, cost]),
                np.concatenate([graph.indices, np.fromiter(walks, dtype=graph.indices.dtype)]),
                np.append(graph.indptr, graph.nnz + len(walks)),
            ),
            shape=(count + 1, count + 1),
        )
        minutes, before = dijkstra(with_point, indices=count, return_predecessors=True)  # type: ignore[call-overload] # the stub wants an array
        return minutes.astype(np.float32), before, walks

    @lru_cache(maxsize=KEPT)  # noqa: B019 (as above)
    def _doors(self, at: LatLon, station: str) -> Mapping[int, float]:
        """The stations within reach, with the metres on foot; none where the point is a station itself."""
        far = metres_between(at.lat_deg, at.lon_deg, self.lat_deg, self.lon_deg)
        near = np.flatnonzero(far <= SAME_STATION_M)
        here = {int(node): 0.0 for node in near if station in self.names[node]}
        return here or {int(node): DETOUR * float(far[node]) for node in np.flatnonzero(far <= REACH_M)}


def _distinct(stops: Sequence[Stop]) -> tuple[Stop, ...]:
    """The stops of a ride without those where it runs on from one line to another."""
    kept = [stop for stop, then in pairwise(stops) if stop.line == then.line]
    return (*(kept or stops[:1]), stops[-1])


@cache
def rail() -> Rail:
    """The network, built once per process from the gazetteer's stations and the timetables round Tokyo."""
    build = _Builder()
    timed = build.timetables()
    build.estimates(timed)
    build.transfers()
    return build.rail()


class _Builder:
    """Collects stations, stops and edges. Stops are numbered from −1 down until all stations are known."""

    def __init__(self) -> None:
        self.at: list[tuple[float, float]] = []
        self.names: list[set[str]] = []
        self.stops: list[Stop] = []
        self.edges: dict[tuple[int, int], float] = {}
        self.lines: list[tuple[Point, Point]] = []

    def station(self, at: tuple[float, float]) -> int:
        self.at.append(at)
        self.names.append(set())
        return len(self.at) - 1

    def stop(self, station: int, stop: Stop, wait_min: float) -> int:
        """A stop of a line; half the wait is paid on leaving, so that times are the same both ways."""
        self.stops.append(stop)
        self.edge(station, -len(self.stops), wait_min / 2)
        return -len(self.stops)

    def edge(self, start: int, end: int, minutes: float) -> None:
        self.edges[start, end] = max(minutes, 1e-6)

    def timetables(self) -> dict[str, list[int]]:
        """The railways round Tokyo; answers with their stations, by each Japanese name."""
        rows = data_rows("kanto-stations.csv.gz")
        at = [(float(row["lat"]), float(row["lon"])) for row in rows]
        members: dict[str, list[int]] = defaultdict(list)
        for place, row in enumerate(rows):
            members[row["interchange"]].append(place)
        station_of: dict[int, int] = {}
        wholes: dict[str, list[int]] = defaultdict(list)
        timed: dict[str, list[int]] = defaultdict(list)
        for interchange, places in members.items():
            middle = np.mean([at[place] for place in places], axis=0)
            station = self.station((float(middle[0]), float(middle[1])))
            station_of |= dict.fromkeys(places, station)
            for name in {rows[place]["name_ja"] for place in places}:
                self.names[station].add(name)
                timed[name].append(station)
            whole, _, part = interchange.partition(".")
            for other in wholes[whole] if part else ():
                self.edge(other, station, CHANGE_MIN)
            wholes[whole].append(station)
        self._timed_lines(rows, at, station_of)
        return timed

    def _timed_lines(
        self,
        rows: Sequence[Mapping[str, str]],
        at: Sequence[tuple[float, float]],
        station_of: Mapping[int, int],
    ) -> None:
        hops = [
            (int(hop["start"]), int(hop["end"]), float(hop["minutes"]), int(hop["trains"]))
            for hop in data_rows("kanto-hops.csv.gz")
        ]
        order = [int(row["order"]) for row in rows]
        size: dict[str, int] = defaultdict(int)
        for row, number in zip(rows, order, strict=True):
            size[row["railway"]] = max(size[row["railway"]], number + 1)
        skips = [
            abs(order[start] - order[end]) not in (1, size[rows[start]["railway"]] - 1)
            for start, end, *_ in hops
        ]
        trains: dict[tuple[int, bool], int] = defaultdict(int)
        for (start, end, _, count), is_skip in zip(hops, skips, strict=True):
            for place in (start, end):
                trains[place, is_skip] = max(trains[place, is_skip], count)
        nodes: dict[tuple[int, Service], int] = {}
        for (start, end, minutes, _), is_skip in zip(hops, skips, strict=True):
            services: list[Service] = [] if is_skip else ["local"]
            if is_skip or (trains[start, True] and trains[end, True]):
                services.append("fast")
            for service in services:
                ends = []
                for place in (start, end):
                    if (place, service) not in nodes:
                        row = rows[place]
                        wait_min = _wait_min(trains[place, service == "fast"], WAIT_MIN[service])
                        stop = Stop(
                            line=row["railway"],
                            name=bare_name(row["name_en"]),
                            lat_deg=at[place][0],
                            lon_deg=at[place][1],
                            service=service,
                            is_timed=True,
                            order=order[place],
                        )
                        nodes[place, service] = self.stop(station_of[place], stop, wait_min)
                    ends.append(nodes[place, service])
                self.edge(ends[0], ends[1], minutes)
                if service == "local":
                    self.lines.append((at[start], at[end]))

    def _gazetteer(
        self,
        rows: Sequence[Mapping[str, Any]],
        lat: NDArray[np.float64],
        lon: NDArray[np.float64],
        timed: Mapping[str, Sequence[int]],
    ) -> tuple[dict[int, int], set[int]]:
        """The gazetteer's stations by number, and the rows of those that the timetables have too."""
        station_of: dict[int, int] = {}
        twins: set[int] = set()
        for place, row in enumerate(rows):
            at = (float(lat[place]), float(lon[place]))
            number = row["station"]
            if number not in station_of:
                station_of[number] = self.station(at)
            self.names[station_of[number]].add(row["name_ja"])
            same = [
                other
                for other in timed.get(row["name_ja"], ())
                if metres_between(*at, *self.at[other]) <= SAME_STATION_M
            ]
            if same:
                twins.add(place)
            for other in same:
                self.edge(other, station_of[number], CHANGE_MIN / 2 if len(same) > 1 else 0.0)
        return station_of, twins

    def estimates(self, timed: Mapping[str, Sequence[int]]) -> None:
        """The gazetteer's lines, but for hops between stations that the timetables have."""
        table = tables().stations
        lat, lon = points_deg(table)
        rows = table.to_pylist()
        station_of, twins = self._gazetteer(rows, lat, lon, timed)
        by_line: dict[tuple[str, str], list[int]] = defaultdict(list)
        for place, row in enumerate(rows):
            by_line[row["operator"], row["line"]].append(place)
        flat = flat_m(lat, lon, MIDDLE_LAT_DEG)
        firsts = {row["station"]: place for place, row in reversed(list(enumerate(rows)))}
        tree = cKDTree(flat[list(firsts.values())])
        around = np.asarray(tree.query_ball_point(flat, SPARSE_M, return_length=True))
        through: dict[tuple[str, int], list[int]] = defaultdict(list)
        trees = _trees(list(by_line.values()), lat, lon)
        for ((operator, line), places), hops in zip(by_line.items(), trees, strict=True):
            spacing_km = float(np.median([metres for *_, metres in hops])) / 1000 if hops else 0.0
            pace, services = _pace(operator, [rows[place] for place in places], spacing_km)
            hops = [hop for hop in hops if "shinkansen" in services or not {*hop[:2]} <= twins]
            for service in services:
                wait_min = WAIT_MIN[service]
                if service == "local":
                    wait_min = min(MOST_LOCAL_MIN, wait_min + WAIT_KM_MIN * max(0.0, spacing_km - DENSE_KM))
                if "観光" in line:  # for sightseers: hourly, and by reservation
                    wait_min = MOST_WAIT_MIN
                nodes: dict[int, int] = {}
                for place in dict.fromkeys(place for a, b, _ in hops for place in (a, b)):
                    row = rows[place]
                    at = LatLon(lat_deg=float(lat[place]), lon_deg=float(lon[place]))
                    stop = Stop(
                        line=SHINKANSEN_LINES.get(line, f"{line} ({operator})"),
                        name=row["name_en"] or latin_name(row["name_ja"], at) or row["name_ja"],
                        lat_deg=at.lat_deg,
                        lon_deg=at.lon_deg,
                        service=service,
                        is_timed=False,
                    )
                    nodes[place] = self.stop(station_of[row["station"]], stop, wait_min)
                    if service != "local":
                        others = through[operator if service == "fast" else service, row["station"]]
                        for other in others:
                            self.edge(other, nodes[place], 0.0)
                        others.append(nodes[place])
                for a, b, metres in hops:
                    minutes = pace[0] + pace[1] * metres / 1000
                    if service == "fast":
                        is_sparse = around[[a, b]].min() < SPARSE_STATIONS
                        minutes *= SPARSE_SHARE if is_sparse else FAST_SHARE
                    self.edge(nodes[a], nodes[b], minutes)
                    if service != "fast":
                        self.lines.append(((float(lat[a]), float(lon[a])), (float(lat[b]), float(lon[b]))))

    def transfers(self) -> None:
        """Ways on foot between stations that lie near each other."""
        lat, lon = np.array(self.at).T
        stretch = np.cos(np.radians(MIDDLE_LAT_DEG)) / np.cos(np.radians(lat.max()))
        near = cKDTree(flat_m(lat, lon, MIDDLE_LAT_DEG)).query_pairs(
            CHANGE_M * stretch, output_type="ndarray"
        )
        metres = metres_between(*(axis[near[:, end]] for end in (0, 1) for axis in (lat, lon)))
        for (start, end), straight_m in zip(near.tolist(), metres.tolist(), strict=True):
            if straight_m <= CHANGE_M and (start, end) not in self.edges:
                self.edge(start, end, max(CHANGE_MIN, DETOUR * straight_m / WALK_M_PER_MIN))

    def rail(self) -> Rail:
        count = len(self.at)
        ends = np.array(list(self.edges), dtype=np.int64)
        ends = np.where(ends < 0, count - 1 - ends, ends)
        minutes = np.fromiter(self.edges.values(), dtype=float)
        shape = (count + len(self.stops),) * 2
        one_way = coo_matrix((minutes, (ends[:, 0], ends[:, 1])), shape=shape).tocsr()
        lat, lon = np.array(self.at).T
        return Rail(
            lat_deg=lat,
            lon_deg=lon,
            names=[frozenset(names) for names in self.names],
            graph=(one_way + one_way.T).tocsr(),
            stops=self.stops,
            lines=tuple(self.lines),
        )


def _pace(
    operator: str, rows: Sequence[Mapping[str, str]], spacing_km: float
) -> tuple[Pace, tuple[Service, ...]]:
    """How fast the trains of a line are, and which there are."""
    if any(row["shinkansen"] for row in rows):
        return SHINKANSEN, ("shinkansen",)
    if any("鋼索" in row["railway_class"] for row in rows):
        return CABLE, ("local",)
    is_rail = sum(row["railway_class"].startswith("普通") for row in rows) * 2 > len(rows)
    if not is_rail and spacing_km < TRAM_KM and any(row["railway_class"] == "軌道" for row in rows):
        return TRAM, ("local",)
    if not is_rail or "市" in operator:
        return SUBWAY, ("local",)
    return RAIL, ("local", "fast")


def _trees(
    lines: Sequence[Sequence[int]], lat: NDArray[np.float64], lon: NDArray[np.float64]
) -> list[list[tuple[int, int, float]]]:
    """The shortest tree through the places of each line, as (start, end, metres): all in one forest."""
    pairs = [pair for places in lines for pair in _neighbours(places, lat, lon)]
    start, end = np.array(pairs).T
    metres = np.maximum(metres_between(lat[start], lon[start], lat[end], lon[end]), 0.1)
    forest = minimum_spanning_tree(coo_matrix((metres, (start, end)), shape=(len(lat),) * 2).tocsr()).tocoo()
    hops = zip(forest.row.tolist(), forest.col.tolist(), forest.data.tolist(), strict=True)
    line_of = {place: number for number, places in enumerate(lines) for place in places}
    trees: list[list[tuple[int, int, float]]] = [[] for _ in lines]
    for hop in hops:
        trees[line_of[hop[0]]].append(hop)
    return trees


def _neighbours(
    places: Sequence[int], lat: NDArray[np.float64], lon: NDArray[np.float64]
) -> Iterable[tuple[int, int]]:
    """The pairs of places that a shortest tree may join: all, or of many those of the triangulation."""
    if len(places) > 60:
        with suppress(QhullError):
            flat = flat_m(lat[places], lon[places], float(lat[places].mean()))
            triangles = Delaunay(flat).simplices.tolist()
            return sorted(
                {(places[a], places[b]) for corners in triangles for a in corners for b in corners if a > b}
            )
    return ((later, earlier) for at, later in enumerate(places) for earlier in places[:at])


def _wait_min(trains: int, least_min: float) -> float:
    """Half the time between trains, and at least the wait that is assumed everywhere.

    >>> _wait_min(1020, 4.0), round(_wait_min(132, 4.0)), _wait_min(44, 4.0)
    (4.0, 16, 40.0)
    """
    return min(MOST_WAIT_MIN, max(least_min, HEADWAY_MIN / max(1, trains) / 2))
