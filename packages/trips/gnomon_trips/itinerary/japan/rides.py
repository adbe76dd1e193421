"""Holds the stops, rides and walks of a journey by rail, and puts them into words."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from gnomon_published.gazetteer.spelling import latin_key
from gnomon_trips.itinerary.data_rows import data_rows
from gnomon_trips.itinerary.haversine import apart_m, metres_between
from gnomon_trips.itinerary.place import LatLon
from gnomon_trips.itinerary.track import Track, counted_stops, simplified

NOTICE = "Railways round Tokyo: Mini Tokyo 3D (MIT), from the Public Transportation Open Data Center"
Service = Literal["local", "fast", "shinkansen"]
WINDING = 1.08
"""Track over the straight line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A stop of a line by one of its services; `order` grows along a timetabled line."""

    line: str
    name: str
    lat_deg: float
    lon_deg: float
    service: Service
    is_timed: bool
    order: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ride:
    """A ride without a change, and its minutes."""

    stops: tuple[Stop, ...]
    minutes: float

    @property
    def words(self) -> str:
        """The ride as a traveller reads it: lines, ends, stops, minutes, direction."""
        first, last = self.stops[0], self.stops[-1]
        lines = " and ".join(dict.fromkeys(line_words(stop.line) for stop in self.stops[:-1]))
        words = f"{lines} from {first.name} to {last.name}"
        if first.is_timed or first.service == "local":
            words += f", {counted_stops(len(self.stops) - 1)}"
        words += f", {'' if first.is_timed else 'about '}{max(1, round(self.minutes))} min"
        if first.service == "fast":
            words += ", a train that passes stations by"
        ends = _termini().get(first.line)
        if ends is None:
            is_loop = first.is_timed and len(self.stops) > 2
            return f"{words}, first stop {self.stops[1].name}" if is_loop else words
        toward = ends[self.stops[1].order > first.order]
        return words if toward == last.name else f"{words}, towards {toward}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """Walks and rides from point to point; `walks_m` are before, between and after the rides.

    A journey that is shorter without any train has no rides, and no track.
    """

    minutes: float
    rides: tuple[Ride, ...]
    walks_m: tuple[float, ...]

    @property
    def metres(self) -> float:
        ridden = 0.0
        for ride in self.rides:
            lat, lon = (
                np.array([getattr(stop, axis) for stop in ride.stops]) for axis in ("lat_deg", "lon_deg")
            )
            ridden += WINDING * float(metres_between(lat[:-1], lon[:-1], lat[1:], lon[1:]).sum())
        return ridden + sum(self.walks_m)

    @property
    def is_timed(self) -> bool:
        return all(ride.stops[0].is_timed for ride in self.rides)

    def track(self, start: LatLon, end: LatLon) -> Track:
        via: list[str] = []
        for number, ride in enumerate(self.rides):
            walked_m, name = self.walks_m[number], ride.stops[0].name
            if number == 0 and walked_m:
                via.append(walk_part(walked_m, to=name))
            elif number and (walked_m or name != self.rides[number - 1].stops[-1].name):
                via.append(walk_part(walked_m, to=name) if walked_m else f"on foot to {name}")
            via.append(ride.words)
        if self.walks_m[-1]:
            via.append(walk_part(self.walks_m[-1], start=self.rides[-1].stops[-1].name))
        line = [(stop.lat_deg, stop.lon_deg) for ride in self.rides for stop in ride.stops]
        path = simplified([(start.lat_deg, start.lon_deg), *line, (end.lat_deg, end.lon_deg)])
        return Track(via=tuple(via), path=path)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedStation:
    """A station with both its names, and how far from `at` it lies at most."""

    name_ja: str
    name_en: str
    at: LatLon
    reach_m: float

    def is_at(self, at: LatLon) -> bool:
        return apart_m(self.at, at) <= self.reach_m


def station_names(latin: str) -> Sequence[NamedStation]:
    """The stations of this Latin name that the gazetteer may know by their Japanese name alone.

    >>> [station.name_ja for station in station_names("Emmachi")]
    ['円町']
    """
    return [*_named().get(latin_key(latin) or "-", {}).values()]


def latin_name(name_ja: str, at: LatLon) -> str:
    """The Latin name of the station of that name at a point; empty: it is not known.

    >>> latin_name("原宿", LatLon(lat_deg=35.6706, lon_deg=139.702))
    'Harajuku'
    """
    stations = _named().get(unicodedata.normalize("NFKC", name_ja), {}).values()
    return next((station.name_en for station in stations if station.is_at(at)), "")


@cache
def _named() -> Mapping[str, Mapping[tuple[str, float], NamedStation]]:
    """Stations by the key of each of their names; the network is not built for it."""
    named: dict[str, dict[tuple[str, float], NamedStation]] = defaultdict(dict)
    rows = [
        (row, LatLon(lat_deg=float(row["lat"]), lon_deg=float(row["lon"])), SAME_STATION_M)
        for row in data_rows("kanto-stations.csv.gz")
    ]
    rows += [(row, KANSAI, KANSAI_M) for row in data_rows("rail-names.csv") if row["kind"] == "station"]
    for row, at, reach_m in rows:
        name_ja, name_en = row["name_ja"], bare_name(row["name_en"])
        station = NamedStation(name_ja=name_ja, name_en=name_en, at=at, reach_m=reach_m)
        for key in (latin_key(row["name_en"]), unicodedata.normalize("NFKC", name_ja)):
            named[key].setdefault((name_ja, reach_m), station)
    return named


@cache
def _latin_words() -> Mapping[str, str]:
    """Latin names of lines and operators outside the timetables."""
    return {row["name_ja"]: row["name_en"] for row in data_rows("rail-names.csv") if row["kind"] != "station"}


@cache
def _termini() -> Mapping[str, tuple[str, str]]:
    """The first and the last stop of each timetabled railway that is no loop."""
    rows = data_rows("kanto-stations.csv.gz")
    stops: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for row in rows:
        stops[row["railway"]].append((int(row["order"]), bare_name(row["name_en"])))
    loops = set()
    for hop in data_rows("kanto-hops.csv.gz"):
        start, end = rows[int(hop["start"])], rows[int(hop["end"])]
        ends = stops[start["railway"]]
        joined = {int(start["order"]), int(end["order"])}
        if len(ends) > LEAST_LOOP and joined == {min(ends)[0], max(ends)[0]}:
            loops.add(start["railway"])
    return {railway: (min(ends)[1], max(ends)[1]) for railway, ends in stops.items() if railway not in loops}


LEAST_LOOP, SAME_STATION_M = 4, 2_000.0
KANSAI, KANSAI_M = LatLon(lat_deg=34.75, lon_deg=135.55), 60_000.0
"""Round Osaka, Kyoto, Nara and Kobe, where the Latin names of stations are known without their position."""
OPERATORS = {"MIR": "Metropolitan Intercity Railway", "TWR": "Tokyo Waterfront Area Rapid Transit"}
WHOLE_NAMES = ("Express", "Monorail", "Shuttle", "Branch", "Connection", "Direct", "Railway", "Rail", "Line")


def bare_name(name: str) -> str:
    """A station's name without what is written beside it, as in Oshiage<SKYTREE>."""
    return re.split(r"[<(]", name)[0].strip()


def line_words(line: str) -> str:
    """A line as a traveller reads it: a timetable's id in words, any other name as it stands.

    >>> line_words("JR-East.Yamanote"), line_words("TokyoMetro.Ginza"), line_words("MIR.TsukubaExpress")
    ('Yamanote Line (JR East)', 'Ginza Line (Tokyo Metro)', 'Tsukuba Express')
    >>> line_words("山陰線 (西日本旅客鉄道)"), line_words("木次線 (西日本旅客鉄道)")
    ("San'in Line (JR West)", '木次線 (JR West)')
    """
    company, dot, own = line.partition(".")
    if not dot:
        name, _, operator = line.rstrip(")").rpartition(" (")
        latin = _latin_words()
        return f"{latin.get(name, name)} ({latin.get(operator, operator)})" if name else line
    words = _spaced(own.removeprefix("S-"))
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
