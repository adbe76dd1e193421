"""Plans requests of an area and checks hours, legs and times again, by code that is none of the planner's.

    python -m bench.trip_requests helsinki --count 40 --seed 7
    python -m bench.trip_requests japan --city Kyoto
    python -m bench.trip_requests liechtenstein --extract FOLDER/liechtenstein.osm.pbf

The planner runs as the command does. What it wrote is checked with the opening hours of the extract, read by
a small reader of the plain forms (other texts are counted as unread), straight lines, and sums. Requests are
drawn from PLACES, or from the named sights of the extract.
"""

import argparse
import datetime as dt
import json
import math
import os
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from gnomon_trips.commands.itinerary import itinerary

PLACES = {
    "helsinki": [
        "Ateneum",
        "Kiasma",
        "Amos Rex",
        "Vanha Kauppahalli",
        "Helsingin tuomiokirkko",
        "Kampin kappeli",
    ],
    "Kyoto": ["Kinkaku-ji", "Fushimi Inari Taisha", "Kiyomizu-dera", "Nijo Castle", "Gion", "Arashiyama"],
    "Tokyo": ["Senso-ji Temple", "Meiji Shrine", "Tokyo Tower", "Ueno Park", "Shibuya Crossing", "Akihabara"],
    "world": ["Madrid", "Seville", "Valencia", "Granada", "Lisbon", "Toledo", "Porto", "Bilbao"],
}
HOMES = {
    "helsinki": "Hotelli Torni",
    "Kyoto": "Kyoto Station",
    "Tokyo": "Shinjuku Station",
    "world": "Madrid",
}
TOP_KMH = {"walk": 9.0, "rail": 320.0, "car": 140.0}
DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
RULE = re.compile(r"(?:((?:Mo|Tu|We|Th|Fr|Sa|Su)(?:[-,](?:Mo|Tu|We|Th|Fr|Sa|Su))*) )?(off|closed|[\d:,-]+)")


def hours_on(text: str, date: dt.date) -> list[tuple[int, int]] | None:
    """When a place is open by the plain forms of OpenStreetMap's grammar; None: another form."""
    spans: list[tuple[int, int]] | None = None
    for rule in (part.strip() for part in text.split(";") if part.strip()):
        match = RULE.fullmatch(rule)
        if match is None:
            return None
        if match[1] and DAYS[date.weekday()] not in _days(match[1]):
            spans = [] if spans is None else spans
            continue
        spans = []
        for span in match[2].split(",") if match[2][0].isdigit() else ():
            ends = re.fullmatch(r"(\d\d?):(\d\d)-(\d\d?):(\d\d)", span)
            if ends is None:
                return None
            start, end = 60 * int(ends[1]) + int(ends[2]), 60 * int(ends[3]) + int(ends[4])
            spans.append((start, end if end > start else end + 1440))
    return spans


def _days(text: str) -> set[str]:
    days: set[str] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        start, end = DAYS.index(first), DAYS.index(last or first)
        days |= {DAYS[day % 7] for day in range(start, end + 1 if end >= start else end + 8)}
    return days


def straight_m(a: dict[str, Any], b: dict[str, Any]) -> float:
    """Metres between two stops, flat: good to a percent within a country."""
    across = math.cos(math.radians((a["lat"] + b["lat"]) / 2))
    return 111_195 * math.hypot(a["lat"] - b["lat"], (a["lon"] - b["lon"]) * across)


def minutes(clock: str) -> int:
    return 60 * int(clock[:2]) + int(clock[3:])


def faults(result: dict[str, Any], hours: dict[str, str], counts: Counter[str]) -> Iterator[str]:
    """What is wrong with a plan: overlaps, ways too fast or too short, stays outside hours, places missed."""
    request = result["request"]
    for number, day in enumerate(result["plan"]["days"]):
        window = (request.get("windows") or [None] * 14)[number] or request.get("window") or {}
        clock = minutes(window.get("start", "09:00"))
        last = minutes(window.get("end", "20:00"))
        stops = [day["start"], *(visit["place"] for visit in day["visits"]), day["end"]]
        times = [(minutes(v["arrive"]), minutes(v["leave"])) for v in day["visits"]]
        times.append((last if last > clock else last + 1440,) * 2)
        for leg, start, end, (arrive, leave) in zip(day["legs"], stops[:-1], stops[1:], times, strict=True):
            counts["legs"] += 1
            least = straight_m(start, end)
            if start["id"] != end["id"] and arrive - clock < leg["minutes"]:
                yield f"day {number + 1}: {leg['minutes']} min to {end['name']}, {arrive - clock} are left"
            if (
                leg["minutes"] + 1 < least / (TOP_KMH[leg["mode"]] * 1000 / 60)
                or leg["metres"] < 0.97 * least - 5
            ):
                yield f"day {number + 1}: {leg['metres']} m, {leg['minutes']} min over {least:.0f} m"
            clock = leave
        for visit in day["visits"]:
            text = hours.get(re.sub(r"^again:\d+:", "", visit["place"]["id"]))
            spans = None if text is None else hours_on(text, dt.date.fromisoformat(day["date"]))
            are_read = spans is not None
            counts["stays with hours" if are_read else "stays whose hours are unread or unknown"] += 1
            arrive, leave = minutes(visit["arrive"]), minutes(visit["leave"])
            if spans is not None and not any(start <= arrive and leave <= end for start, end in spans):
                yield f"{visit['place']['name']}: {visit['arrive']}-{visit['leave']}, but {text}"
    names = {skip["place"] for skip in result["plan"]["skipped"]}
    visited = sum(len(day["visits"]) for day in result["plan"]["days"])
    if result["plan"]["status"] == "planned" and visited + len(names) < len(request["places"]):
        yield f"{visited} stops for {len(request['places'])} places"
    arrivals = [visit["arrive"] for day in result["plan"]["days"] for visit in day["visits"]]
    for fixed in request.get("fixed", ()) if result["plan"]["status"] == "planned" else ():
        if fixed["start"] not in arrivals and fixed["place"] not in names:
            yield f"nothing begins at {fixed['start']}"
    search = result["plan"]["search"] or {}
    exactness = {leg["exactness"] for day in result["plan"]["days"] for leg in day["legs"]}
    if search.get("is_proven") and exactness - {"network", "exact"}:
        yield "called proven on estimated ways"


def drawn(area: str, places: list[str], chance: random.Random) -> dict[str, Any]:
    """A request as a traveller may make it."""
    days = chance.randint(1, 3)
    start = dt.date(2027, 5, 3) + dt.timedelta(days=chance.randrange(120))
    request: dict[str, Any] = {
        "area": "japan" if area in ("Kyoto", "Tokyo") else area,
        "start_date": start.isoformat(),
        "days": days,
        "places": chance.sample(places, min(len(places), chance.randint(2, 2 + 2 * days))),
    }
    if home := HOMES.get(area):
        request["hotel"] = home
        request["places"] = [name for name in request["places"] if name != home]
    if area in ("Kyoto", "Tokyo"):
        request |= {
            "mode": "rail",
            **({"max_leg_min": chance.choice((45, 60, 90))} if chance.random() < 0.3 else {}),
        }
    if area == "world":
        request |= {"mode": "car", "window": {"start": "07:00", "end": "22:00"}}
    if days > 1 and chance.random() < 0.4 and area != "world":
        request["windows"] = [{"start": "13:00", "end": "20:00"}, *[None] * (days - 1)]
    if area != "world" and chance.random() < 0.5:
        request["meals"] = [{"name": chance.choice(("lunch", "dinner")), "start": "12:00", "end": "14:30"}]
        if request["meals"][0]["name"] == "dinner":
            request["meals"][0] |= {"start": "18:00", "end": "21:30"}
    if area != "world" and "windows" not in request and chance.random() < 0.2:
        request["window"] = {"start": "11:00", "end": "01:00"}
    if chance.random() < 0.2:
        request["latest_start"] = (start + dt.timedelta(days=5)).isoformat()
    if days > 1 and request["places"] and chance.random() < 0.2:
        request["places"].append(request["places"][0])
    if request["places"] and chance.random() < 0.2 and "latest_start" not in request:
        request["fixed"] = [{"place": request["places"][-1], "start": "15:00"}]
    return request


def extract_of(file: Path) -> tuple[dict[str, str], list[str]]:
    """Opening hours by the planner's ids, and names of sights, out of an extract."""
    import osmium

    hours, sights, prefix = {}, [], file.name.partition(".")[0].lower()
    for entity in osmium.FileProcessor(str(file)):
        tags = entity.tags
        kind = {"Node": "n", "Way": "w", "Relation": "r"}[type(entity).__name__]
        if "opening_hours" in tags:
            hours[f"{prefix}/{kind}{entity.id}"] = tags["opening_hours"]
        if "name" in tags and tags.get("tourism") in ("museum", "attraction", "viewpoint", "gallery"):
            sights.append(tags["name"])
    return hours, sorted(name for name, count in Counter(sights).items() if count == 1)


def main() -> None:
    """Plan the requests, and print what is wrong and what was looked at."""
    parser = argparse.ArgumentParser()
    parser.add_argument("area")
    parser.add_argument("--city")
    parser.add_argument("--extract", type=Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    area = args.city or args.area
    data = Path(__file__).parents[1] / "packages/trips/gnomon_trips/itinerary/data"
    file = args.extract or (data / "helsinki.osm.pbf" if area == "helsinki" else None)
    hours, sights = extract_of(file) if file else ({}, [])
    if args.extract:
        os.environ["GNOMON_CITIES"] = str(args.extract.parent)
    chance, counts, wrong = random.Random(args.seed), Counter[str](), 0
    for _ in range(args.count):
        request = drawn(area, PLACES.get(area, sights), chance)
        with tempfile.TemporaryDirectory() as folder:
            asked, out = Path(folder, "request.json"), Path(folder, "trip.json")
            asked.write_text(json.dumps(request))
            done = CliRunner().invoke(itinerary, [str(asked), "--out", str(out)])
            if not out.exists():
                counts["no answer"] += 1
                print(f"no answer: {request}: {done.output.strip()[-300:]} {done.exception}")
                continue
            result = json.loads(out.read_text())
        counts[result["plan"]["status"]] += 1
        if result["plan"]["status"] == "refused":
            print(f"refused for {', '.join(result['plan']['conflict'])}: {request}")
        plan_faults = list(faults(result, hours, counts))
        wrong += bool(plan_faults)
        for fault in plan_faults:
            print(f"{fault} in {request}")
    print(f"{wrong} of {args.count} plans are wrong; {dict(counts)}")


if __name__ == "__main__":
    main()
