"""Reads a context as published into a map record, line by line, and says which lines are behind tools.

Each line is read by one pattern; what none reads, or what no tool answers from, is counted as not.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from gnomon_published.map_record.record import (
    WEEKDAYS,
    Amounts,
    Leg,
    MapPlace,
    MapRecord,
    MapRoute,
    Mode,
    NearbyList,
    RouteStep,
)

MODES: Mapping[str, Mode] = {
    "on foot": "foot",
    "by car": "car",
    "by cycle": "bicycle",
    "by bicycle": "bicycle",
    "by public transport": "transit",
}
METRES = {"m": 1.0, "km": 1000.0, "mi": 1609.344, "ft": 0.3048}
DEGREE_M = 111_320.0  # of latitude

_MODE = rf"({'|'.join(MODES)})"
MAX_LINE_CHARS = 1_500  # of a longer line the patterns would take seconds; published ones have up to 920

# Digits are bounded, so that each number that is read is finite.
_DURATION = r"(?:(?:\d{1,6} days? ?)?(?:\d{1,6} hours? ?)?(?:\d{1,6} mins?)?)"
_DISTANCE = r"\d[\d,]{0,11}(?:\.\d{1,6})? (?:km|m|mi|ft)"
_POSITION = r"\((-?\d{1,3}\.\d{1,20}), (-?\d{1,3}\.\d{1,20})\)"
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("place", r"Information of (?:<b>(.*?)</b>|(\S.*?)):"),
        ("address", rf"- (?:Location|Address): (.*?)\s*(?:{_POSITION})?\.?"),
        ("rating", r"- Rating: ([\d.]+?)\.? \((\d{1,12}) ratings?\)\.?"),
        ("hours", r"- Open: (\w+day: .*)"),
        ("price_level", r"- Price Level: (.*?)\.?"),
        ("phone", r"- Phone Number: (.*?)\.?"),
        (
            "feature",
            r"- ((?:Serves|Reservable|Wheelchair|Delivery|Takeout|Dine|Outdoor|Good|Allows)\b[^.:]*)\.?",
        ),
        (
            "list",
            (
                r"(?:Nearby (.+?) (?:of|around|to) (.+?)(?: of type \"([^\"]+)\")?"
                r"|POIs for query \"(.+?)\") +are(?: \(([^()]+)\))?:"
            ),
        ),
        ("listed", rf"\d+\. <b>(.*?)</b>\s*(?:{_POSITION}|\((.*)\))?"),
        ("travel_time", rf"Travel Time from (.+) {_MODE} is ({_DURATION}) \(({_DISTANCE})\)\.?"),
        (
            "distance",
            rf"Distance from (.+?)(?: {_MODE})? is ({_DISTANCE}) \(({_DURATION})\)(?: {_MODE})?\.?",
        ),
        ("routes", rf"There (?:is|are) \d+ routes? from (.+) {_MODE}\b.*"),
        ("route", rf"\d+\. Via (.*?)\s*(?:\| ({_DURATION}) \| ({_DISTANCE}))?"),
        ("step", rf"- (?:\(({_DURATION}) \| ({_DISTANCE})\) )?(.+)"),
        ("listed_plain", r"\d+\.\s+(.+?)(?: - | \| )(?=\S)(.+)"),
    )
)

_NOTE = re.compile(r'<div style="[^"]*">(.*?)</div>')
_TAG = re.compile(r"<[^>]*>")
_GAP = re.compile(r"\s{3,}")  # patterns take long over long ones
_WEEKDAY = re.compile(rf"({'|'.join(WEEKDAYS)}): ")

Section = Literal["place", "list", "routes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReading:
    """The record of a context, how many of its lines each pattern read, and the lines that none did."""

    record: MapRecord
    lines_by_pattern: Mapping[str, int]
    left_over: tuple[str, ...]

    @property
    def behind_tools(self) -> int:
        """The number of lines that tools answer from."""
        return sum(self.lines_by_pattern.values())

    @property
    def lines(self) -> int:
        """The number of lines that are not empty."""
        return self.behind_tools + len(self.left_over)


def read_context(context: str) -> ContextReading:
    """Read a context; a line that says something in no known form is left over."""
    reader = _Reader()
    for line in context.splitlines():
        if line.strip():
            reader.read(_GAP.sub("  ", line.strip()))
    return reader.reading()


@dataclass(slots=True)
class _Reader:
    """The record so far, and the section that a line belongs to."""

    places: list[MapPlace] = field(default_factory=list)
    nearby: list[NearbyList] = field(default_factory=list)
    ways: list[tuple[str, Mode, Amounts]] = field(default_factory=list)
    routes: list[tuple[str, Mode, MapRoute]] = field(default_factory=list)
    section: Section | None = None
    pair: tuple[str, Mode] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    left_over: list[str] = field(default_factory=list)

    def read(self, line: str) -> None:
        for name, pattern in _PATTERNS if len(line) <= MAX_LINE_CHARS else ():
            match = pattern.fullmatch(line)
            if match is not None and getattr(self, f"_{name}")(match):
                self.counts[name] += 1
                return
        self.left_over.append(line)

    def reading(self) -> ContextReading:
        names = [place.name for place in self.places]
        names += [place.name for listed in self.nearby for place in listed.places]
        legs = []
        for pair, mode, amounts in self.ways:
            start, end = ends_of(pair, names)
            legs.append(Leg(start=start, end=end, mode=mode, amounts=amounts))
        routes = []
        for pair, _, route in self.routes:
            start, end = ends_of(pair, names)
            routes.append(replace(route, start=start, end=end))
        return ContextReading(
            record=MapRecord(
                places=tuple(self.places), nearby=tuple(self.nearby), legs=tuple(legs), routes=tuple(routes)
            ),
            lines_by_pattern=dict(self.counts),
            left_over=tuple(self.left_over),
        )

    def _place(self, match: re.Match[str]) -> bool:
        name = plain_text(match[1] or match[2] or "")
        if not name:
            return False
        self.places.append(MapPlace(name=name))
        self.section = "place"
        return True

    def _list(self, match: re.Match[str]) -> bool:
        kind, around, type_name, query, note = match.groups()
        if query is not None:
            query = query.strip()
            kind, _, around = query.partition(" in ") if " in " in query else ("places", "", query)
        note = note or ""
        radius = re.search(r"(?<![\d.])(\d{1,9}(?:\.\d{1,6})?) ?(km|m)\b", note)
        self.nearby.append(
            NearbyList(
                around=plain_text(around),
                kind=plain_text(type_name or kind),
                order="nearest first" if "ascending" in note else "not sorted",
                radius_m=float(radius[1]) * METRES[radius[2]] if radius else None,
            )
        )
        self.section = "list"
        return True

    def _listed(self, match: re.Match[str]) -> bool:
        lat, lon = match[2], match[3]
        place = MapPlace(name=plain_text(match[1]), address=plain_text(match[4] or ""))
        return self._add_listed(_with_position(place, lat, lon))

    def _listed_plain(self, match: re.Match[str]) -> bool:
        name, address = match[1], match[2]
        if " | " in match[0]:  # a name may hold the mark too
            name, _, address = match[0].partition(". ")[2].rpartition(" | ")
        return self._add_listed(MapPlace(name=plain_text(name), address=plain_text(address)))

    def _add_listed(self, place: MapPlace) -> bool:
        if self.section != "list":
            return False
        self.nearby[-1] = replace(self.nearby[-1], places=(*self.nearby[-1].places, place))
        return True

    def _address(self, match: re.Match[str]) -> bool:
        place = self._current()
        if place is None:
            return False
        return self._put(_with_position(replace(place, address=plain_text(match[1])), match[2], match[3]))

    def _rating(self, match: re.Match[str]) -> bool:
        place = self._current()
        return place is not None and self._put(replace(place, rating=match[1], ratings=int(match[2])))

    def _hours(self, match: re.Match[str]) -> bool:
        place = self._current()
        parts = _WEEKDAY.split(_spaced(match[1]))
        hours = {day: text.strip(" ,.") for day, text in zip(parts[1::2], parts[2::2], strict=True)}
        return place is not None and self._put(replace(place, hours=hours))

    def _price_level(self, match: re.Match[str]) -> bool:
        place = self._current()
        return place is not None and self._put(replace(place, price_level=match[1]))

    def _phone(self, match: re.Match[str]) -> bool:
        place = self._current()
        return place is not None and self._put(replace(place, phone=match[1]))

    def _feature(self, match: re.Match[str]) -> bool:
        place = self._current()
        return place is not None and self._put(replace(place, features=(*place.features, match[1])))

    def _travel_time(self, match: re.Match[str]) -> bool:
        self.ways.append((match[1], MODES[match[2]], amounts_of(match[3], match[4])))
        self.section = None
        return True

    def _distance(self, match: re.Match[str]) -> bool:
        mode = match[2] or match[5]
        if mode is None:
            return False
        self.ways.append((match[1], MODES[mode], amounts_of(match[4], match[3])))
        self.section = None
        return True

    def _routes(self, match: re.Match[str]) -> bool:
        self.pair = match[1], MODES[match[2]]
        self.section = "routes"
        return True

    def _route(self, match: re.Match[str]) -> bool:
        if self.section != "routes" or self.pair is None:
            return False
        amounts = amounts_of(match[2], match[3]) if match[2] else None
        pair, mode = self.pair
        route = MapRoute(start="", end="", mode=mode, via=plain_text(match[1]), amounts=amounts)
        self.routes.append((pair, mode, route))
        return True

    def _step(self, match: re.Match[str]) -> bool:
        if self.section != "routes" or not self.routes:
            return False
        amounts = amounts_of(match[1], match[2]) if match[1] else None
        pair, mode, route = self.routes[-1]
        step = RouteStep(text=plain_text(match[3]), amounts=amounts)
        self.routes[-1] = (pair, mode, replace(route, steps=(*route.steps, step)))
        return True

    def _current(self) -> MapPlace | None:
        """The place that a line about a place belongs to."""
        if self.section == "place":
            return self.places[-1]
        if self.section == "list" and self.nearby[-1].places:
            return self.nearby[-1].places[-1]
        return None

    def _put(self, place: MapPlace) -> bool:
        if self.section == "place":
            self.places[-1] = place
        else:
            self.nearby[-1] = replace(self.nearby[-1], places=(*self.nearby[-1].places[:-1], place))
        return True


def plain_text(text: str) -> str:
    """A text without markup: notes of a step follow it in parentheses.

    >>> plain_text('Turn <b>left</b> onto <b>A St</b>/<wbr/><b>B1</b><div style="x">Toll road</div> ')
    'Turn left onto A St/B1 (Toll road)'
    """
    return " ".join(_spaced(_TAG.sub("", _NOTE.sub(r" (\1)", text))).split())


def _spaced(text: str) -> str:
    """Thin and narrow spaces as spaces, dashes as hyphens."""
    return re.sub(r"[\u2009\u202f\u00a0]", " ", text).replace("\u2013", "-")


def amounts_of(duration: str, distance: str) -> Amounts:
    """A time and a length from their words.

    >>> amounts = amounts_of("1 hour 5 mins", "4.2 km")
    >>> amounts.duration_s, amounts.distance_m, amounts.distance_error_m
    (3900.0, 4200.0, 50.0)
    """
    value, unit = distance.replace(",", "").split()
    decimals = len(value.partition(".")[2])
    return Amounts(
        duration=duration.strip(),
        duration_s=seconds_of(duration),
        distance=distance,
        distance_m=float(value) * METRES[unit],
        distance_error_m=METRES[unit] * 10**-decimals / 2,
    )


def seconds_of(duration: str) -> float:
    """A time in words as seconds.

    >>> seconds_of("2 hours 3 mins"), seconds_of("1 day 2 hours")
    (7380.0, 93600.0)
    """
    units = {"day": 86_400, "hour": 3600, "min": 60}
    parts = re.findall(r"(\d+) (day|hour|min)s?", duration)
    return float(sum(int(count) * units[unit] for count, unit in parts))


def ends_of(pair: str, names: list[str]) -> tuple[str, str]:
    """The two places of "A to B". A name may hold "to" itself: known names decide, else the first "to".

    >>> ends_of("Road to Hana to Port", ["Road to Hana", "Port"])
    ('Road to Hana', 'Port')
    """
    known = set(names)
    splits = [
        (" ".join(pair[: cut.start()].split()), " ".join(pair[cut.end() :].split()))
        for cut in re.finditer(r" to ", pair)
    ]
    if not splits:
        return pair.strip(), ""
    return max(splits, key=lambda ends: (ends[0] in known) + (ends[1] in known))


def _with_position(place: MapPlace, lat: str | None, lon: str | None) -> MapPlace:
    if lat is None or lon is None:
        return place
    decimals = min(len(text.partition(".")[2]) for text in (lat, lon))
    error_m = DEGREE_M * 10**-decimals / 2 * 2**0.5
    return replace(place, lat_deg=float(lat), lon_deg=float(lon), position_error_m=error_m)
