"""Walks through plans line by line against the raw data, by no code of the planner or the verifier.

    python -m packages.trips.tests.itinerary.walked_plans trip.json [...]

Each file was written by `gnomon itinerary … --out trip.json`. Places are read from the extract, or from the
landmark tables, as they stand; opening hours by a small reader of its own for the weekday in question; ways
on foot by a Dijkstra over the extract's ways; rides by adding up hops of the timetable table; weekdays by
Zeller's rule; sums by adding. Each line says what was found there.
"""

import argparse
import csv
import gzip
import heapq
import itertools
import json
import math
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import osmium

ROOT = Path(__file__).parents[4]
DATA, LANDMARKS = (
    ROOT / "packages/trips/gnomon_trips/itinerary/data",
    ROOT / "packages/published/gnomon_published/gazetteer/data",
)
DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
CLOSED_WAYS = frozenset(
    (
        "motorway",
        "motorway_link",
        "trunk",
        "trunk_link",
        "construction",
        "proposed",
        "raceway",
        "bus_guideway",
    )
)
M_PER_MIN, DETOUR = 80.0, 1.3
WAIT_MIN, CHANGE_MIN, MOST_WAIT_MIN = 4.0, 4.0, 40.0
DAYS_OF_TRAINS_MIN = 4 * 18 * 60
"""The table counts trains of both directions on a weekday and a holiday, each of some 18 hours."""
DOORS = 8
"""Nodes at which one may step onto the streets: the nearest alone is at times at the back of a yard."""
TOP_M_PER_MIN = 5333.0
POSITION_M, WAY_SHARE, WAY_M = 100.0, 0.1, 80.0
"""What two readings may differ by: a place's point, and a way's length by a share and metres."""
SAME_STATION_M = 600.0
EATERIES = frozenset(("restaurant", "cafe", "fast_food", "pub", "food_court", "biergarten"))
Point = tuple[float, float]


def apart_m(start: Point, end: Point) -> float:
    """Metres on a flat patch of ground round the two: good to a thousandth within a city."""
    middle = math.radians((start[0] + end[0]) / 2)
    north, east = (end[0] - start[0]) * 111_195, (end[1] - start[1]) * 111_195 * math.cos(middle)
    return math.hypot(north, east)


def weekday(date: str) -> str:
    """The weekday of an ISO date by Zeller's rule.

    >>> weekday("2026-06-09"), weekday("2024-02-29")
    ('Tu', 'Th')
    """
    year, month, day = map(int, date.split("-"))
    if month < 3:
        year, month = year - 1, month + 12
    century, rest = divmod(year, 100)
    found = (day + 13 * (month + 1) // 5 + rest + rest // 4 + century // 4 + 5 * century) % 7
    return DAYS[(found + 5) % 7]


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def hours_on(text: str, day: str, month: int = 1) -> list[tuple[int, int]] | None:
    """Open from and until, in minutes, by the last rule that names the day; None: not for this small reader.

    >>> hours_on("Tu, Fr 10:00-18:00; We-Th 10:00-20:00; Sa-Su 10:00-17:00", "Tu")
    [(600, 1080)]
    >>> hours_on("Mo-Fr 09:00-19:30;Sa 10:00-18:00", "Su"), hours_on("Mo-Su sunrise-sunset", "Mo")
    ([], None)
    """
    spans: list[tuple[int, int]] = []
    rules = re.split(r";|(?<=\d),(?=\s*(?:Mo|Tu|We|Th|Fr|Sa|Su|PH)\b)", text)
    for rule in filter(None, (part.strip() for part in rules)):
        if season := re.match(rf"({'|'.join(MONTHS)})-({'|'.join(MONTHS)}):?\s+", rule):
            first, last = (MONTHS.index(name) + 1 for name in season.groups())
            rule = rule[season.end() :]
            if not (first <= month <= last if first <= last else month >= first or month <= last):
                continue
        match = re.fullmatch(
            r"((?:(?:Mo|Tu|We|Th|Fr|Sa|Su|PH)[\s,\-–]*)*)(off|closed|24/7|[\d:,\s\-–]+)", rule
        )
        if match is None:
            return None
        named = re.sub(r"\s", "", match[1]).rstrip(",")
        days = set(_days(named)) if named else set(DAYS)
        if day not in days:
            continue
        if match[2] == "24/7":
            spans = [(0, 1440)]
            continue
        times = re.findall(r"(\d{1,2}):(\d\d)\s*[-–]\s*(\d{1,2}):(\d\d)", match[2])
        spans = [(60 * int(a) + int(b), 60 * int(c) + int(d)) for a, b, c, d in times]
        spans = [(start, end if end > start else end + 1440) for start, end in spans]
    return spans


def _days(text: str) -> Iterator[str]:
    for part in text.replace("–", "-").split(","):
        first, _, last = part.partition("-")
        if first not in DAYS:
            continue
        number = DAYS.index(first)
        until = DAYS.index(last) if last in DAYS else number
        yield from (DAYS[step % 7] for step in range(number, until + 1 + (7 if until < number else 0)))


@dataclass(kw_only=True)
class Raw:
    """What a file says of a place: its tags and where it lies."""

    tags: Mapping[str, str]
    at: Point


@dataclass(kw_only=True)
class Streets:
    """The ways of an extract that one may walk, node by node."""

    at: dict[int, Point] = field(default_factory=dict)
    next_to: dict[int, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    shortest_m: dict[tuple[Point, Point, int], float] = field(default_factory=dict)

    def metres(self, start: Point, end: Point, doors: int) -> float:
        """The shortest way; looked for once, as a plan is read many times."""
        key = start, end, doors
        if key not in self.shortest_m:
            self.shortest_m[key] = self._shortest(*key)
        return self.shortest_m[key]

    def _shortest(self, start: Point, end: Point, doors: int) -> float:
        """Straight to one of the nearest nodes, along the ways, and straight again."""
        sources, targets = self._near(start, doors), dict(self._near(end, doors))
        best = dict(sources)
        queue = [(far, node) for node, far in sources]
        heapq.heapify(queue)
        shortest = math.inf
        while queue:
            far, node = heapq.heappop(queue)
            if far >= shortest:
                break
            if far > best.get(node, math.inf):
                continue
            if node in targets:
                shortest = min(shortest, far + targets[node])
            for other, length in self.next_to[node]:
                if far + length < best.get(other, math.inf):
                    best[other] = far + length
                    heapq.heappush(queue, (far + length, other))
        return shortest

    def _near(self, at: Point, doors: int) -> list[tuple[int, float]]:
        near = ((apart_m(at, other), node) for node, other in self.at.items())
        return [(node, far) for far, node in heapq.nsmallest(doors, near)]


def read_extract(file: Path, wanted: Iterable[str]) -> tuple[dict[str, Raw], Streets]:
    """The elements of those ids (`n1`, `w1`, `r1`), and the streets, straight from the file."""
    ids, places, streets = set(wanted), dict[str, Raw](), Streets()
    members: dict[str, list[int]] = {}
    for relation in osmium.FileProcessor(str(file), osmium.osm.RELATION):
        if f"r{relation.id}" in ids:
            members[f"r{relation.id}"] = [member.ref for member in relation.members if member.type == "w"]
            tags = {tag.k: tag.v for tag in relation.tags}
            places[f"r{relation.id}"] = Raw(tags=tags, at=(math.nan, math.nan))
    parts: dict[int, list[Point]] = {way: [] for ways in members.values() for way in ways}
    for entity in osmium.FileProcessor(str(file)).with_locations():
        tags = {tag.k: tag.v for tag in entity.tags}
        if entity.is_node() and f"n{entity.id}" in ids:
            places[f"n{entity.id}"] = Raw(tags=tags, at=(entity.lat, entity.lon))
        elif entity.is_way():
            nodes = [(node.ref, (node.lat, node.lon)) for node in entity.nodes if node.location.valid()]
            if f"w{entity.id}" in ids and nodes:
                places[f"w{entity.id}"] = Raw(tags=tags, at=_middle([at for _, at in nodes]))
            if _may_walk(tags):
                for (first, start), (then, end) in itertools.pairwise(nodes):
                    length = apart_m(start, end)
                    streets.at[first], streets.at[then] = start, end
                    streets.next_to[first].append((then, length))
                    streets.next_to[then].append((first, length))
            if entity.id in parts:
                parts[entity.id] = [at for _, at in nodes]
    for key, ways in members.items():
        if points := [point for way in ways for point in parts[way]]:
            places[key].at = _middle(points)
    return places, streets


def _middle(points: list[Point]) -> Point:
    """The middle of the box round the points."""
    lats, lons = zip(*points, strict=True)
    return (min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2


def _may_walk(tags: Mapping[str, str]) -> bool:
    foot, access = tags.get("foot"), tags.get("access")
    if "highway" not in tags or tags["highway"] in CLOSED_WAYS or tags.get("area") == "yes":
        return False
    return foot not in ("no", "private") and (
        access not in ("no", "private") or foot in ("yes", "designated")
    )


@dataclass(kw_only=True)
class Rails:
    """The table of hops: platforms, which of them are one interchange, and the mean minutes between two."""

    platforms: list[dict[str, str]]
    hops: dict[int, list[tuple[int, float]]]
    changes: dict[int, list[int]]
    wait_min: dict[int, float]

    @classmethod
    def read(cls) -> "Rails":
        platforms, rows = _table(DATA / "kanto-stations.csv.gz"), _table(DATA / "kanto-hops.csv.gz")
        hops: dict[int, list[tuple[int, float]]] = defaultdict(list)
        trains: dict[int, int] = defaultdict(int)
        for row in rows:
            for end in (int(row["start"]), int(row["end"])):
                trains[end] = max(trains[end], int(row["trains"]))
            start, end, minutes = int(row["start"]), int(row["end"]), float(row["minutes"])
            hops[start].append((end, minutes))
            hops[end].append((start, minutes))
        groups: dict[str, list[int]] = defaultdict(list)
        for number, row in enumerate(platforms):
            groups[row["interchange"].partition(".")[0] or f"own{number}"].append(number)
        changes = {number: group for group in groups.values() for number in group}
        wait_min = {
            number: min(MOST_WAIT_MIN, max(WAIT_MIN, DAYS_OF_TRAINS_MIN / trains[number] / 2))
            for number in trains
        }
        return cls(platforms=platforms, hops=hops, changes=changes, wait_min=wait_min)

    def ride(self, start: Point, end: Point) -> tuple[float, str]:
        """The quickest way by the table, waits and changes as assumed, and how it is made up."""
        queue: list[tuple[float, int, tuple[tuple[int, str], ...]]] = []
        ends = {number: walk / M_PER_MIN for number, walk in self._near(end)}
        for number, walk in self._near(start):
            wait = self.wait_min.get(number, math.inf)
            heapq.heappush(queue, (walk / M_PER_MIN + wait, number, ((number, ""),)))
        best: dict[int, float] = {}
        answer, way = math.inf, tuple[tuple[int, str], ...]()
        while queue:
            minutes, number, path = heapq.heappop(queue)
            if minutes >= answer:
                break
            if number in best:
                continue
            best[number] = minutes
            if number in ends and minutes + ends[number] < answer:
                answer, way = minutes + ends[number], path
            for other, hop in self.hops[number]:
                if other not in best:
                    heapq.heappush(queue, (minutes + hop, other, (*path, (other, f"{hop:g}"))))
            for other in self.changes[number]:
                if other not in best and other != number:
                    same = self.platforms[other]["interchange"] == self.platforms[number]["interchange"]
                    wait = self.wait_min.get(other, math.inf) + (0 if same else CHANGE_MIN)
                    heapq.heappush(queue, (minutes + wait, other, (*path, (other, "change"))))
        return answer, self._told(way)

    def _near(self, at: Point) -> list[tuple[int, float]]:
        far = ((DETOUR * apart_m(at, _at(row)), number) for number, row in enumerate(self.platforms))
        return [(number, metres) for metres, number in heapq.nsmallest(12, far) if metres <= 3900]

    def _told(self, way: tuple[tuple[int, str], ...]) -> str:
        parts: list[str] = []
        hops: list[str] = []
        for number, step in way:
            row = self.platforms[number]
            if step in ("", "change"):
                if hops:
                    parts.append(f"{' + '.join(hops)} min →")
                    hops = []
                line = row["railway"].rpartition(".")[2]
                parts.append(f"{'change at ' if step else ''}{row['name_en']} ({line})")
            else:
                hops.append(step)
        if hops:
            parts.append(f"{' + '.join(hops)} min → {self.platforms[way[-1][0]]['name_en']}")
        return " ".join(parts)


def _at(row: Mapping[str, str]) -> Point:
    return float(row["lat"]), float(row["lon"])


def _table(file: Path) -> list[dict[str, str]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def landmarks() -> dict[str, Raw]:
    """The rows of the landmark tables, by the ids that plans use."""
    rows: dict[str, Raw] = {}
    for name in ("landmarks.csv", "landmarks-wikipedia.csv", "landmarks-plateau.csv"):
        with (LANDMARKS / name).open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                tags = {"name": row["name_ja"], "name:en": row["name_en"], "kind": row["kind"]}
                key = f"jp:landmark:{row['id'].removeprefix('plateau:')}"
                rows[key] = Raw(tags={**tags, "file": name}, at=_at(row))
    return rows


@dataclass(kw_only=True)
class Walk:
    """One plan, and what the raw data say of it."""

    plan: Mapping[str, Any]
    request: Mapping[str, Any]
    places: Mapping[str, Raw]
    streets: Streets | None
    rails: Rails | None
    faults: int = 0
    date: str = ""

    def lines(self) -> Iterator[str]:
        """The plan as a table: each line with what was found and whether it agrees."""
        yield "| the plan says | the raw data say | |"
        yield "|---|---|---|"
        first = self.request["start_date"]
        for number, day in enumerate(self.plan["days"]):
            name, self.date = weekday(day["date"]), day["date"]
            is_next = _days_between(first, day["date"]) == number
            yield self._line(f"**day {number + 1}, {day['date']}**", f"{name} by Zeller's rule", is_next)
            yield from self._day(day, name)
        minutes = sum(leg["minutes"] for day in self.plan["days"] for leg in day["legs"])
        metres = sum(leg["metres"] for day in self.plan["days"] for leg in day["legs"])
        totals = self.plan["totals"]
        told = f"in all {totals['minutes']} min, {totals['metres']} m"
        is_right = (minutes, metres) == (totals["minutes"], totals["metres"])
        yield self._line(told, f"added up: {minutes} min, {metres} m", is_right)

    def _day(self, day: Mapping[str, Any], name: str) -> Iterator[str]:
        clock = _minutes(self.request.get("window", {}).get("start", "09:00"))
        latest = _minutes(self.request.get("window", {}).get("end", "20:00"))
        stops = [day["start"], *(visit["place"] for visit in day["visits"]), day["end"]]
        for index, leg in enumerate(day["legs"]):
            if leg["from_id"] != leg["to_id"]:
                yield self._leg(leg, stops[index], stops[index + 1])
            reached = clock + (leg["minutes"] if leg["from_id"] != leg["to_id"] else 0)
            if index < len(day["visits"]):
                visit = day["visits"][index]
                yield self._visit(visit, name, reached)
                clock = _minutes(visit["leave"])
            else:
                told = f"the day ends at {stops[-1]['name']}"
                yield self._line(
                    told, f"{_clock(reached)} by adding, until {_clock(latest)}", reached <= latest
                )
        for meal in self.request.get("meals", ()):
            yield self._meal(meal, day)

    def _leg(self, leg: Mapping[str, Any], start: Mapping[str, Any], end: Mapping[str, Any]) -> str:
        told = f"{leg['mode']} {leg['minutes']} min, {leg['metres']} m ({leg['exactness']})"
        ends = [self.places[stop["id"]].at for stop in (start, end) if stop["id"] in self.places]
        if len(ends) < 2 or any(math.isnan(at[0]) for at in ends):
            return self._line(told, "an end is in no file", None)
        straight = apart_m(*ends)
        if leg["mode"] == "walk" and self.streets is not None:
            low, high = sorted(self.streets.metres(*ends, doors) for doors in (DOORS, 1))
            is_right = low * (1 - WAY_SHARE) - WAY_M <= leg["metres"] <= high * (1 + WAY_SHARE) + WAY_M
            is_right = is_right and leg["minutes"] >= leg["metres"] / M_PER_MIN - 0.01
            nearest = "" if math.isinf(high) else f", {high:.0f} m from the nearest node alone"
            found = f"{low:.0f} m by an own Dijkstra{nearest}; straight {straight:.0f} m"
            return self._line(told, found, is_right)
        if leg["mode"] == "rail" and self.rails is not None and leg["exactness"] == "timetable":
            own, way = self.rails.ride(*ends)
            is_right = abs(own - leg["minutes"]) <= max(5.0, 0.25 * own) and leg["metres"] >= straight - 50
            return self._line(told, f"{own:.1f} min: {way}; straight {straight:.0f} m", is_right)
        is_right = leg["metres"] >= 0.98 * straight - 20 and leg["minutes"] >= straight / TOP_M_PER_MIN
        return self._line(told, f"no street or line at hand; straight {straight:.0f} m", is_right)

    def _visit(self, visit: Mapping[str, Any], name: str, reached: int) -> str:
        stop = visit["place"]
        arrive, leave = _minutes(visit["arrive"]), _minutes(visit["leave"])
        told = f"{visit['arrive']}–{visit['leave']} {stop['name']} ({stop['kind'].replace('_', ' ')})"
        raw = self.places.get(stop["id"])
        is_right: bool | None = reached <= arrive < leave
        found = [f"reached {_clock(reached)} by adding"]
        if raw is None:
            return self._line(told, "; ".join([*found, f"{stop['id']} is in no file"]), None)
        names = [value for key, value in raw.tags.items() if "name" in key]
        off = apart_m(raw.at, (stop["lat"], stop["lon"]))
        is_called = stop["name"] in names
        is_right = is_right and is_called and (math.isnan(off) or off <= POSITION_M)
        found.append(f"{stop['id']} is {raw.tags.get('name')}, {off:.0f} m off")
        text = raw.tags.get("opening_hours")
        if text:
            spans = hours_on(text, name, int(self.date.split("-")[1]))
            if spans is None:
                found.append(f"`{text}` is not for a small reader")
                is_right = None if is_right else is_right
            else:
                is_right = is_right and any(start <= arrive and leave <= end for start, end in spans)
                told_spans = ", ".join(f"{_clock(start)}–{_clock(end)}" for start, end in spans) or "closed"
                found.append(f"`{text}`: {name} {told_spans}")
        else:
            found.append("no hours there")
        return self._line(told, "; ".join(found), is_right)

    def _meal(self, meal: Mapping[str, Any], day: Mapping[str, Any]) -> str:
        name, need = meal.get("name", "lunch"), meal.get("minutes", 45)
        start, end = _minutes(meal.get("start", "11:30")), _minutes(meal.get("end", "14:30"))
        for visit in day["visits"]:
            raw = self.places.get(visit["place"]["id"])
            shared = min(_minutes(visit["leave"]), end) - max(_minutes(visit["arrive"]), start)
            if raw is not None and raw.tags.get("amenity") in EATERIES and shared >= need:
                where = f"{visit['place']['name']}, amenity={raw.tags['amenity']}, {shared} min in it"
                return self._line(f"{name} {_clock(start)}–{_clock(end)}", where, True)
        return self._line(f"{name} {_clock(start)}–{_clock(end)}", "nowhere to eat", False)

    def _line(self, told: str, found: str, is_right: bool | None) -> str:
        self.faults += is_right is False
        mark = "?" if is_right is None else "✓" if is_right else "✕"
        return f"| {told} | {found.replace('|', '/')} | {mark} |"


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return 60 * int(hours) + int(minutes)


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def _days_between(first: str, then: str) -> int:
    """Days from one ISO date to another, by counting from 1 March of year 0."""
    numbers = []
    for date in (first, then):
        year, month, day = map(int, date.split("-"))
        year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
        numbers.append(365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day)
    return numbers[1] - numbers[0]


def walked(file: Path) -> Walk:
    """A plan with the raw data of its area."""
    document = json.loads(file.read_text(encoding="utf-8"))
    plan, request = document["plan"], document["request"]
    stops = {
        stop["id"]
        for day in plan["days"]
        for stop in (day["start"], day["end"], *(visit["place"] for visit in day["visits"]))
    }
    area = request["area"].lower()
    if area == "japan":
        return Walk(plan=plan, request=request, places=landmarks(), streets=None, rails=Rails.read())
    folders = [DATA, *(Path(one) for one in os.environ.get("GNOMON_CITIES", "").split(":") if one)]
    extract = next(folder / f"{area}.osm.pbf" for folder in folders if (folder / f"{area}.osm.pbf").is_file())
    found, streets = read_extract(extract, (stop.partition("/")[2] for stop in stops))
    places = {f"{area}/{key}": raw for key, raw in found.items()}
    return Walk(plan=plan, request=request, places=places, streets=streets, rails=None)


def _day_count(count: int) -> str:
    return f"{count} day{'s' * (count != 1)}"


def main() -> None:
    """Print each plan as a table of what it says and what the raw data say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trips", nargs="+", type=Path)
    faults = 0
    for file in parser.parse_args().trips:
        walk = walked(file)
        sys.stdout.write(
            f"\n## {walk.request['area'].title()}, {_day_count(len(walk.plan['days']))}: {file.name}\n\n"
        )
        for line in walk.lines():
            sys.stdout.write(f"{line}\n")
        faults += walk.faults
    sys.stdout.write(f"\n{faults} lines do not agree.\n")
    raise SystemExit(1 if faults else 0)


if __name__ == "__main__":
    main()
