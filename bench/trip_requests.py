"""Draws trips as people ask for them and plans each: how many are planned, refused with proof or not found.

    GNOMON_CITIES=FOLDER python -m bench.trip_requests --count 1000 --out FILE.jsonl

FOLDER holds `liechtenstein.osm.pbf`. Each request is drawn from its number: places by name in either script
or by id, one city or several, days, hotels or none, meals, wishes, order, caps, pace, at times tighter than
can be kept. Every plan is verified; what the verifier finds wrong is printed. FILE has a line per request;
a second run, or a second process with `--part 1/2` beside one with `--part 0/2`, goes on where it ends.
`--table` prints the table of FILE alone.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tools.gazetteer.landmarks import Landmark, landmarks
from tools.itinerary.draft import plan_of
from tools.itinerary.errors import PlaceError
from tools.itinerary.place import LatLon, Place
from tools.itinerary.planning import find_plan
from tools.itinerary.provider import NearbyQuery, Provider, answered
from tools.itinerary.registry import embedded
from tools.itinerary.request import read_request
from tools.itinerary.trip import open_trip
from tools.itinerary.verify.verify import verify_plan

AREAS = ("helsinki", "liechtenstein", "tokyo", "kyoto")
SIGHTS = (
    *("museum", "gallery", "attraction", "park", "place_of_worship", "library", "theatre", "memorial"),
    *("monument", "castle", "viewpoint", "artwork", "mall", "marketplace"),
)
CENTRES = {
    "helsinki": (LatLon(lat_deg=60.170, lon_deg=24.940),),
    "liechtenstein": (LatLon(lat_deg=47.141, lon_deg=9.521), LatLon(lat_deg=47.168, lon_deg=9.510)),
}
STATIONS = {
    "tokyo": ("Tokyo Station", "新宿駅", "Ueno Station", "渋谷駅", "Ikebukuro Station", "品川駅", "浅草駅"),
    "kyoto": ("Kyoto Station", "京都駅", "四条駅", "Sanjo Station", "Arashiyama Station"),
    "osaka": ("大阪駅", "Namba Station"),
    "hiroshima": ("Hiroshima Station",),
    "nara": ("奈良駅",),
    "yokohama": ("Yokohama Station",),
}
WISHES = {
    "helsinki": ("park", "museum", "cafe", "gallery", "viewpoint", "library"),
    "liechtenstein": ("park", "museum", "cafe", "viewpoint", "artwork"),
    "tokyo": ("museum", "park", "garden", "place_of_worship", "district", "mall"),
    "kyoto": ("place_of_worship", "garden", "museum", "castle"),
}
BREAKFAST = {"name": "breakfast", "start": "08:00", "end": "10:00", "minutes": 30}
LUNCH = {"name": "lunch", "start": "11:30", "end": "14:30", "minutes": 45}
DINNER = {"name": "dinner", "start": "17:30", "end": "21:00", "minutes": 60}
WITHIN = 0.1
"""A plan that costs at most that much more than the bound is counted as near the best."""


def drawn(number: int, area: str) -> dict[str, Any]:
    """The request of a number in an area."""
    chance = random.Random(f"{number} {area}")
    days = chance.choices((1, 2, 3, 4, 5, 7, 14), (30, 24, 20, 8, 9, 5, 4))[0]
    a_day = chance.choice((1, 2, 2, 3, 3, 4, 5, 6, 10))
    count = max(1, min(60, days * a_day))
    request: dict[str, Any] = {
        "id": f"r{number}",
        "area": area,
        "start_date": f"2026-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}",
        "days": days,
        "window": {
            "start": chance.choice(("08:00", "09:00", "09:30", "10:00")),
            "end": chance.choice(("17:00", "19:00", "20:00", "21:30")),
        },
    }
    if area in CENTRES:
        _in_city(request, area, count, chance)
    else:
        _in_japan(request, area, count, chance)
    _wanted(request, area, chance)
    return request


def _in_city(request: dict[str, Any], area: str, count: int, chance: random.Random) -> None:
    """Places and a hotel out of an extract."""
    provider = embedded(area)
    centre = chance.choice(CENTRES[area])
    near = _near(provider, centre, chance.choice((1200.0, 2500.0, 4000.0)), SIGHTS)
    places = chance.sample(near, min(len(near), count))
    is_by_name = chance.random() < 0.6
    request["places"] = _distinct(place.name if is_by_name else place.id for place in places)
    hotels = _near(provider, centre, 4000.0, ("hotel", "hostel", "guest_house"))
    if hotels and chance.random() < 0.65:
        hotel = chance.choice(hotels)
        request["hotel"] = hotel.name if is_by_name else hotel.id


def _in_japan(request: dict[str, Any], city: str, count: int, chance: random.Random) -> None:
    """Landmarks by name in either script, of one city or of two, and stations to stay at."""
    request["area"] = "japan"
    days = request["days"]
    entries = sorted(landmarks().by_id.values(), key=lambda entry: entry.id)
    request["places"] = _named(entries, city, count, chance)
    request["mode"] = "rail" if chance.random() < 0.85 else "walk"
    homes = [chance.choice(STATIONS[city])]
    if days > 1 and chance.random() < 0.3:
        request["mode"] = "rail"
        other = chance.choice([name for name in STATIONS if name != city])
        more = _named(entries, other, max(1, min(count // 2, 10)), chance)
        request["places"] = _distinct([*request["places"][: max(1, count - len(more))], *more])
        homes.append(chance.choice(STATIONS[other]))
    if chance.random() < 0.55:
        if len(homes) == 1:
            request["hotel"] = homes[0]
        else:
            turn = chance.randint(0, days - 1)
            request["nights"] = [homes[night >= turn] for night in range(days - 1)]


def _named(entries: Sequence[Landmark], city: str, count: int, chance: random.Random) -> list[str]:
    """Names of landmarks of a city, the important ones more often."""
    own = [entry for entry in entries if entry.city.casefold() == city]
    ranked = sorted(own, key=lambda entry: -(chance.random() ** (1.0 / entry.importance)))
    return _distinct(
        chance.choice((entry.name_en, entry.name_ja, entry.name_en, *entry.also))
        if chance.random() < 0.9
        else entry.id
        for entry in ranked[:count]
    )


def _wanted(request: dict[str, Any], area: str, chance: random.Random) -> None:
    """Meals, wishes, caps, an order and a pace."""
    latest = request["window"]["end"]
    if chance.random() < (0.6 if area in CENTRES else 0.08):
        meals = [LUNCH] if chance.random() < 0.8 else []
        meals += [DINNER] if latest >= "20:00" and chance.random() < 0.6 else []
        meals += [BREAKFAST] if request["window"]["start"] == "08:00" and chance.random() < 0.3 else []
        request["meals"] = meals
    if chance.random() < 0.35:
        request["wishes"] = chance.sample(WISHES[area], chance.choice((1, 1, 2)))
        if chance.random() < 0.15 and "hotel" in request:
            request["places"] = []
    if request.get("mode", "walk") == "walk" and chance.random() < 0.3:
        request["max_walk_m"] = chance.choice((2000, 4000, 6000, 8000, 12_000))
    if chance.random() < 0.15 and len(request["places"]) > 2:
        request["order"] = [request["places"][:2]]
    if chance.random() < 0.1:
        request["max_leg_min"] = chance.choice((20, 30, 45, 60))
    if chance.random() < 0.15:
        request["party"] = chance.randint(1, 4)
        request["rules"] = {"price": {"museum": 15.0, "restaurant": 25.0, "place_of_worship": 5.0}}
        request["budget"] = {"amount": float(chance.choice((50, 150, 400, 1000))), "currency": "EUR"}
    preferences: dict[str, Any] = {}
    if chance.random() < 0.35:
        preferences["pace"] = chance.choice(("relaxed", "packed"))
    if preferences:
        request["preferences"] = preferences
    if chance.random() < 0.15:
        request["prefer"] = chance.choice(("early_end", "short_walk"))


def _distinct(names: Any) -> list[str]:
    return list(dict.fromkeys(names))


def _near(provider: Provider, at: LatLon, radius_m: float, kinds: tuple[str, ...]) -> list[Place]:
    query = NearbyQuery(at, radius_m, kinds=kinds, limit=300)
    return [hit.place for hit in answered(provider.nearby(query), is_local=True).value]


def answer(request: dict[str, Any], seconds: float) -> dict[str, Any]:
    """What the planner answers, how long that took, and what is wrong with it."""
    provider = embedded(request["area"])
    trip = answered(open_trip(read_request(request), provider), is_local=True)
    started, busy = time.monotonic(), time.process_time()
    found = answered(find_plan(trip, seconds=seconds), is_local=True)
    took, cpu = time.monotonic() - started, time.process_time() - busy
    plan = answered(plan_of(found.draft, trip), is_local=True)
    verification = answered(verify_plan(plan, trip), is_local=True)[1]
    outcome = plan.status if plan.status == "planned" else "proven" if found.search.is_proven else "not found"
    lost = set(trip.lost) & set(request["places"])
    return {
        "outcome": outcome,
        "is_best": plan.status == "planned" and found.search.is_proven,
        "is_cut": found.search.is_cut,
        "gap": found.search.gap,
        "cost": found.cost,
        "is_below_bound": found.cost is not None and found.least is not None and found.cost < found.least - 1,
        "seconds": round(took, 3),
        "cpu_seconds": round(cpu, 3),
        "conflict": plan.conflict,
        "names_lost": sorted(lost),
        # A name without a place is told as not visited: no fault of the plan.
        "faults": sorted(
            {
                fault.code
                for fault in verification.violations
                if fault.severity == "error" and not any(fault.expected.endswith(name) for name in lost)
            }
        ),
        "request": request,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Every so many-th request, from the first one on: what one of several processes does."""

    first: int
    of: int

    @classmethod
    def read(cls, text: str) -> "Part":
        """The part that `first/of` means."""
        first, _, of = text.partition("/")
        return cls(first=int(first), of=int(of or 1))


def main() -> None:
    """Plan the requests that are not in --out yet, and print the table of all that are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--areas", default=",".join(AREAS))
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--part", type=Part.read, default=Part(first=0, of=1), help="as 0/2 and 1/2")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--table", action="store_true", help="print the table of --out alone")
    options = parser.parse_args()
    areas = options.areas.split(",")
    done = {row["number"] for row in rows_of(options.out)}
    numbers = [
        number
        for number in range(options.first, options.first + options.count)
        if number not in done and number % options.part.of == options.part.first
    ]
    for place, number in enumerate([] if options.table else numbers, 1):
        area = areas[number % len(areas)]
        request = drawn(number, area)
        try:
            row = answer(request, options.seconds)
        except PlaceError as error:
            row = {"outcome": "failed", "error": str(error), "request": request}
        row = {"number": number, "drawn_in": area, **row}
        if row.get("faults") or row["outcome"] == "failed":
            print(json.dumps(row, ensure_ascii=False), file=sys.stderr)
        with options.out.open("a") as lines:
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
        if place % 20 == 0:
            print(f"{place} of {len(numbers)}", file=sys.stderr)
    print_table(rows_of(options.out))


def rows_of(file: Path) -> list[dict[str, Any]]:
    """The answers that a file holds; a line that a stopped run left half is skipped."""
    rows = []
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


COLUMNS = (
    *("area", "requests", "planned", "best proven", f"within {100 * WITHIN:.0f} %", "median gap"),
    *("refused, proven", "not found", "failed", "faults", "cut", "below bound"),
    *("s p50", "s p95", "s max", "CPU s p50", "CPU s p95", "CPU s max", "CPU s mean"),
)


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """A line for each area, and one for all."""
    print(f"| {' | '.join(COLUMNS)} |")
    print("|---" * len(COLUMNS) + "|")
    for area in [*dict.fromkeys(sorted(row["drawn_in"] for row in rows)), "all"]:
        chosen = [row for row in rows if area in (row["drawn_in"], "all")]
        print(f"| {' | '.join(map(str, cells(area, chosen)))} |")


def cells(area: str, rows: Sequence[dict[str, Any]]) -> list[object]:
    """One line of the table."""
    outcomes = Counter(row["outcome"] for row in rows)
    gaps = [row["gap"] for row in rows if row.get("gap") is not None]
    line: list[object] = [area, len(rows), outcomes["planned"]]
    line += [sum(bool(row.get("is_best")) for row in rows), sum(gap <= WITHIN for gap in gaps)]
    line += [f"{100 * np.median(gaps):.0f} %" if gaps else "–"]
    line += [outcomes["proven"], outcomes["not found"], outcomes["failed"]]
    line += [sum(bool(row.get(key)) for row in rows) for key in ("faults", "is_cut", "is_below_bound")]
    for key in ("seconds", "cpu_seconds"):
        values = np.array([row[key] for row in rows if key in row] or [0.0])
        line += [f"{np.quantile(values, share):.2f}" for share in (0.5, 0.95, 1.0)]
    return [*line, f"{np.mean([row['cpu_seconds'] for row in rows if 'cpu_seconds' in row] or [0.0]):.2f}"]


if __name__ == "__main__":
    main()
