"""Finds journeys by rail round Tokyo: rides at the timetables' mean minutes, assumed waits and changes.

Each line has two layers: a local that stops everywhere, and a fast train, boarded after a longer wait, that
runs where timetabled trains pass stations by. Nothing here catches a train: the minutes are means over a day.
"""

import csv
import gzip
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gnomon_published.gazetteer.spelling import latin_key
from gnomon_trips.itinerary.haversine import metres_between
from gnomon_trips.itinerary.place import WALK_M_PER_MIN, LatLon
from gnomon_trips.itinerary.track import NO_TRACK, Track, counted_stops, simplified

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

NOTICE = "Railways round Tokyo: Mini Tokyo 3D (MIT), from the Public Transportation Open Data Center"
WAIT_LOCAL_MIN, WAIT_FAST_MIN = 4.0, 7.0
"""Assumed at each boarding, the first too, where trains are frequent; the way to the platform is in it."""
HEADWAY_MIN, MOST_WAIT_MIN = 4320.0, 40.0
"""Minutes between trains, times the trains of both directions on a weekday and a holiday: 18 hours of each.
Half of that is waited for, up to MOST_WAIT_MIN: who misses an hourly train plans for another line."""
CHANGE_STATION_MIN = 4.0
"""On foot from one station of an interchange to another, before the wait."""
REACH_M, DOORS = 1_500.0, 6
"""How far from a point its stations are, and how many of them are tried; else the nearest within FAR_M."""
FAR_M = 3_000.0
SAME_STATION_M = 600.0
"""Two sources place one station that near to each other."""
DETOUR = 1.3
KEPT, KEPT_DOORS = 300, 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A stop of a line on one of its two layers; `order` grows along the line."""

    railway: str
    order: int
    name: str
    lat_deg: float
    lon_deg: float
    is_fast: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """The two points between which a journey by rail is sought."""

    minutes: float
    first: int
    last: int
    to_first_m: float
    from_last_m: float


@dataclass(slots=True, kw_only=True, eq=False)
class Kanto:
    """Stations as nodes 0 … n − 1, then each line's platforms; `graph` holds minutes."""

    lat_deg: NDArray[np.float64]
    lon_deg: NDArray[np.float64]
    names: list[frozenset[str]]  # in Japanese, of each station
    graph: "csr_matrix"
    platforms: "list[Platform]"  # of nodes n, n + 1, …
    termini: dict[str, tuple[str, str]]  # by railway, its first and last stop; none of a loop
    metres_of: dict[tuple[int, int], float]
    _from: dict[int, tuple[NDArray[np.float64], NDArray[np.int32]]] = field(default_factory=dict)
    _doors_of: dict[tuple[LatLon, str], list[tuple[int, float]]] = field(default_factory=dict)

    def journey(
        self, start: LatLon, end: LatLon, *, stations: tuple[str, str] = ("", "")
    ) -> tuple[float, float, int] | None:
        """Minutes with walks and waits, metres, and changes; None where an end has no station here.

        `stations` holds the Japanese names of ends that are stations themselves: nobody walks to them.
        """
        best = self._best(start, end, stations)
        if best is None:
            return None
        ride_m, changes = self._track(best.first, best.last)
        return best.minutes, ride_m + best.to_first_m + best.from_last_m, changes

    def track(self, start: LatLon, end: LatLon, *, stations: tuple[str, str] = ("", "")) -> Track:
        """The parts of the same journey: walks, and rides with their line, stops, minutes and direction."""
        best = self._best(start, end, stations)
        if best is None:
            return NO_TRACK
        before = self._reach(best.first)[1]
        nodes = [best.last]
        while nodes[-1] != best.first:
            nodes.append(int(before[nodes[-1]]))
        rides: list[list[int]] = []
        for node in reversed(nodes):
            if node < len(self.lat_deg):
                rides.append([])
            else:
                rides[-1].append(node)
        rides = [ride for ride in rides if len(ride) > 1]
        if not rides:
            return NO_TRACK
        stops = [[self.platforms[node - len(self.lat_deg)] for node in ride] for ride in rides]
        via = [walk_part(best.to_first_m, to=stops[0][0].name)] if best.to_first_m else []
        for number, (ride, ride_stops) in enumerate(zip(rides, stops, strict=True)):
            if number and ride_stops[0].name != stops[number - 1][-1].name:
                via.append(f"on foot to {ride_stops[0].name}")
            minutes = self._reach(best.first)[0][ride[-1]] - self._reach(best.first)[0][ride[0]]
            via.append(self._ride(ride_stops, round(float(minutes))))
        via += [walk_part(best.from_last_m, start=stops[-1][-1].name)] if best.from_last_m else []
        line = [(stop.lat_deg, stop.lon_deg) for ride_stops in stops for stop in ride_stops]
        ends = ((start.lat_deg, start.lon_deg), (end.lat_deg, end.lon_deg))
        return Track(via=tuple(via), path=simplified([ends[0], *line, ends[1]]))

    def _ride(self, stops: "Sequence[Platform]", minutes: int) -> str:
        first, last = stops[0], stops[-1]
        fast = ", a train that passes stations by" if first.is_fast else ""
        words = f"{line_words(first.railway)} from {first.name} to {last.name}"
        words += f", {counted_stops(len(stops) - 1)}, {max(1, minutes)} min{fast}"
        ends = self.termini.get(first.railway)
        if ends is None:
            return f"{words}, first stop {stops[1].name}" if len(stops) > 2 else words
        toward = ends[stops[1].order > first.order]
        return words if toward == last.name else f"{words}, towards {toward}"

    def _best(self, start: LatLon, end: LatLon, stations: tuple[str, str]) -> "_Pair | None":
        """The stations between which the journey is shortest."""
        firsts, lasts = (self._doors(at, name) for at, name in zip((start, end), stations, strict=True))
        best: tuple[float, int, int] | None = None
        for first, first_m in firsts:
            minutes = self._reach(first)[0]
            for last, last_m in lasts:
                if last == first:
                    continue
                total = float(minutes[last]) + DETOUR * (first_m + last_m) / WALK_M_PER_MIN
                if np.isfinite(total) and (best is None or total < best[0]):
                    best = (total, first, last)
        if best is None:
            return None
        total, first, last = best
        return _Pair(
            minutes=total,
            first=first,
            last=last,
            to_first_m=DETOUR * dict(firsts)[first],
            from_last_m=DETOUR * dict(lasts)[last],
        )

    def _doors(self, at: LatLon, station: str) -> list[tuple[int, float]]:
        """The stations near a point, with their distances."""
        key = (at, station)
        if key not in self._doors_of:
            if len(self._doors_of) >= KEPT_DOORS:
                self._doors_of.clear()
            self._doors_of[key] = self._near(at, station)
        return self._doors_of[key]

    def _near(self, at: LatLon, station: str) -> list[tuple[int, float]]:
        far = metres_between(at.lat_deg, at.lon_deg, self.lat_deg, self.lon_deg)
        near = [(int(node), float(far[node])) for node in np.argsort(far, kind="stable")[:DOORS]]
        here = [
            (node, 0.0) for node, off_m in near if station in self.names[node] and off_m <= SAME_STATION_M
        ]
        if here:
            return here
        return [door for door in near if door[1] <= REACH_M] or [
            door for door in near[:1] if door[1] <= FAR_M
        ]

    def _track(self, first: int, last: int) -> tuple[float, int]:
        before = self._reach(first)[1]
        metres, boardings, node = 0.0, 0, last
        while node != first:
            earlier = int(before[node])
            metres += self.metres_of.get((min(earlier, node), max(earlier, node)), 0.0)
            boardings += node >= len(self.lat_deg) > earlier
            node = earlier
        return metres, max(0, boardings - 1)

    def _reach(self, node: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        reach = self._from.get(node)
        if reach is None:
            from scipy.sparse.csgraph import dijkstra

            if len(self._from) >= KEPT:
                self._from.clear()
            reach = dijkstra(self.graph, indices=node, return_predecessors=True)  # type: ignore[call-overload] # the stub wants an array
            self._from[node] = reach
        return reach


def station_names(latin: str) -> Sequence[tuple[str, LatLon]]:
    """The stations that timetables give this Latin name: their Japanese names and positions.

    >>> [name for name, _ in station_names("Harajuku")]
    ['原宿']
    """
    return _named().get(latin_key(latin), ()) if latin.strip() else ()


@cache
def _named() -> Mapping[str, Sequence[tuple[str, LatLon]]]:
    """The stations by the key of their Latin name; the network is not built for it."""
    named: dict[str, dict[str, LatLon]] = defaultdict(dict)
    for row in _rows("kanto-stations.csv.gz"):
        at = LatLon(lat_deg=float(row["lat"]), lon_deg=float(row["lon"]))
        named[latin_key(row["name_en"])].setdefault(row["name_ja"], at)
    return {key: list(names.items()) for key, names in named.items()}


@cache
def kanto() -> Kanto:
    """Read the network, once per process: 2,610 platforms, a tenth of a second."""
    rows = _rows("kanto-stations.csv.gz")
    numbers: dict[str, int] = {}
    members: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        members[numbers.setdefault(row["interchange"], len(numbers))].append(place)
    lat, lon = (np.array([float(row[name]) for row in rows]) for name in ("lat", "lon"))
    edges = _Edges()
    for interchange, station in numbers.items():
        for other, other_station in _other_parts(interchange, numbers):
            if interchange < other:
                edges.both(station, other_station, CHANGE_STATION_MIN)
    station_of = {place: station for station, places in members.items() for place in places}
    platforms = _lines(rows, station_of, edges, lat, lon, len(numbers))
    middle = [np.array(members[station]) for station in range(len(numbers))]
    return Kanto(
        lat_deg=np.array([lat[places].mean() for places in middle]),
        lon_deg=np.array([lon[places].mean() for places in middle]),
        names=[frozenset(rows[place]["name_ja"] for place in places) for places in middle],
        graph=edges.graph(),
        platforms=[
            Platform(
                railway=rows[place]["railway"],
                order=int(rows[place]["order"]),
                name=_bare(rows[place]["name_en"]),
                lat_deg=float(lat[place]),
                lon_deg=float(lon[place]),
                is_fast=is_fast,
            )
            for place, is_fast in platforms
        ],
        termini=_termini(rows),
        metres_of=edges.metres_of,
    )


def _termini(rows: Sequence[dict[str, str]]) -> dict[str, tuple[str, str]]:
    """The first and the last stop of each railway that is no loop."""
    stops: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for row in rows:
        stops[row["railway"]].append((int(row["order"]), _bare(row["name_en"])))
    loops = {
        rows[int(hop["start"])]["railway"] for hop in _rows("kanto-hops.csv.gz") if _closes(hop, rows, stops)
    }
    return {railway: (min(ends)[1], max(ends)[1]) for railway, ends in stops.items() if railway not in loops}


def _bare(name: str) -> str:
    """A station's name without what is written beside it, as in Oshiage<SKYTREE>."""
    return re.split(r"[<(]", name)[0].strip()


def _closes(
    hop: Mapping[str, str], rows: Sequence[dict[str, str]], stops: Mapping[str, Sequence[tuple[int, str]]]
) -> bool:
    """Whether a hop joins both ends of its line, which has more than a few stops."""
    start, end = rows[int(hop["start"])], rows[int(hop["end"])]
    ends = stops[start["railway"]]
    return (
        len(ends) > LEAST_LOOP
        and start["railway"] == end["railway"]
        and {int(start["order"]), int(end["order"])} == {min(ends)[0], max(ends)[0]}
    )


LEAST_LOOP = 4
OPERATORS = {"MIR": "Metropolitan Intercity Railway", "TWR": "Tokyo Waterfront Area Rapid Transit"}
WHOLE_NAMES = ("Express", "Monorail", "Shuttle", "Branch", "Connection", "Direct", "Railway", "Rail", "Line")


def line_words(railway: str) -> str:
    """A line's id as a traveller reads it.

    >>> line_words("JR-East.Yamanote"), line_words("TokyoMetro.Ginza"), line_words("MIR.TsukubaExpress")
    ('Yamanote Line (JR East)', 'Ginza Line (Tokyo Metro)', 'Tsukuba Express')
    """
    company, _, line = railway.partition(".")
    words = _spaced(line.removeprefix("S-"))
    operator = OPERATORS.get(company, _spaced(company).replace("-", " "))
    name = words if re.search(rf"(?:{'|'.join(WHOLE_NAMES)})(?: \d)?$", words) else f"{words} Line"
    return name if operator in name or name.startswith("Tsukuba") else f"{name} ({operator})"


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z0-9])", " ", name)


def walk_part(metres: float, *, start: str = "", to: str = "") -> str:
    """The walk to the first or from the last station.

    >>> walk_part(418.2, to="Ueno"), walk_part(90.0, start="Ueno")
    ('420 m on foot to Ueno', '90 m on foot from Ueno')
    """
    end = f"to {to}" if to else f"from {start}"
    length = f"{max(10, round(metres, -1)):.0f} m" if metres < 995 else f"{metres / 1000:.1f} km"
    return f"{length} on foot {end}"


def _other_parts(interchange: str, numbers: dict[str, int]) -> list[tuple[str, int]]:
    """The other stations of the same interchange."""
    whole, _, part = interchange.partition(".")
    if not part:
        return []
    others = (f"{whole}.{number}" for number in range(12))
    return [(other, numbers[other]) for other in others if other in numbers and other != interchange]


def _lines(
    rows: Sequence[dict[str, str]],
    station_of: dict[int, int],
    edges: "_Edges",
    lat: NDArray[np.float64],
    lon: NDArray[np.float64],
    nodes: int,
) -> list[tuple[int, bool]]:
    """Platforms of both layers of every line, and the rides between them; what each platform is."""
    hop_rows = _rows("kanto-hops.csv.gz")
    hops = [(int(hop["start"]), int(hop["end"]), float(hop["minutes"])) for hop in hop_rows]
    order = [int(row["order"]) for row in rows]
    size: dict[str, int] = defaultdict(int)
    for row in rows:
        size[row["railway"]] = max(size[row["railway"]], int(row["order"]) + 1)
    is_skip = [
        abs(order[start] - order[end]) not in (1, size[rows[start]["railway"]] - 1) for start, end, _ in hops
    ]
    fast_stops = {
        place for (start, end, _), skips in zip(hops, is_skip, strict=True) if skips for place in (start, end)
    }
    trains: dict[tuple[int, bool], int] = defaultdict(int)
    for hop, (start, end, _), skips in zip(hop_rows, hops, is_skip, strict=True):
        for place in (start, end):
            trains[place, skips] = max(trains[place, skips], int(hop["trains"]))
    platforms: dict[tuple[int, bool], int] = {}

    def platform(place: int, *, is_fast: bool) -> int:
        node = platforms.get((place, is_fast))
        if node is None:
            node = platforms[place, is_fast] = nodes + len(platforms)
            wait_min = _wait_min(trains[place, is_fast], WAIT_FAST_MIN if is_fast else WAIT_LOCAL_MIN)
            edges.one(station_of[place], node, wait_min)
            edges.one(node, station_of[place], 0.0)
        return node

    for (start, end, minutes), skips in zip(hops, is_skip, strict=True):
        metres = float(metres_between(lat[start], lon[start], lat[end], lon[end]))
        for is_fast in (False, True):
            if (skips and not is_fast) or (is_fast and not {start, end} <= fast_stops):
                continue
            edges.both(platform(start, is_fast=is_fast), platform(end, is_fast=is_fast), minutes, metres)
    return list(platforms)


def _wait_min(trains: int, least_min: float) -> float:
    """Half the time between trains, and at least the wait that is assumed everywhere.

    >>> _wait_min(1020, WAIT_LOCAL_MIN), round(_wait_min(132, WAIT_LOCAL_MIN)), _wait_min(44, WAIT_LOCAL_MIN)
    (4.0, 16, 40.0)
    """
    return min(MOST_WAIT_MIN, max(least_min, HEADWAY_MIN / max(1, trains) / 2))


class _Edges:
    """Collects the edges of the graph."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.minutes: list[float] = []
        self.metres_of: dict[tuple[int, int], float] = {}

    def one(self, start: int, end: int, minutes: float) -> None:
        self.starts.append(start)
        self.ends.append(end)
        self.minutes.append(max(minutes, 1e-6))

    def both(self, start: int, end: int, minutes: float, metres: float = 0.0) -> None:
        self.one(start, end, minutes)
        self.one(end, start, minutes)
        if metres:
            self.metres_of[min(start, end), max(start, end)] = metres

    def graph(self) -> Any:
        from scipy.sparse import coo_matrix

        count = max(*self.starts, *self.ends) + 1
        ends = (np.array(self.starts), np.array(self.ends))
        return coo_matrix((np.array(self.minutes), ends), shape=(count, count)).tocsr()


def _rows(name: str) -> list[dict[str, str]]:
    packed = files("gnomon_trips.itinerary").joinpath("data", name).read_bytes()
    return list(csv.DictReader(gzip.decompress(packed).decode().splitlines()))
