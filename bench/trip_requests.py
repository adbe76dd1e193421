"""Draws trips over cities and Japan and plans each: shares planned, refused with proof, not found, and times.

    GNOMON_CITIES=FOLDER python -m bench.trip_requests --count 300 --areas helsinki,liechtenstein,japan

Each request is drawn from its number: places that are known, days, hotels or none, meals, wishes, order and
caps, at times tighter than can be kept. Every plan is verified; what the verifier finds wrong is printed.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from tools.itinerary.draft import plan_of
from tools.itinerary.errors import PlaceError
from tools.itinerary.place import LatLon, Place
from tools.itinerary.planning import find_plan
from tools.itinerary.provider import NearbyQuery, Provider, answered
from tools.itinerary.registry import embedded
from tools.itinerary.request import read_request
from tools.itinerary.trip import open_trip
from tools.itinerary.verify.verify import verify_plan

SIGHTS = (
    *("museum", "gallery", "attraction", "park", "place_of_worship", "library", "theatre", "memorial"),
    *("monument", "castle", "viewpoint", "artwork", "mall", "marketplace", "station"),
)
CENTRES = {
    "helsinki": [LatLon(lat_deg=60.170, lon_deg=24.940)],
    "liechtenstein": [LatLon(lat_deg=47.141, lon_deg=9.521), LatLon(lat_deg=47.168, lon_deg=9.510)],
    "japan": [
        LatLon(lat_deg=35.681, lon_deg=139.767),
        LatLon(lat_deg=35.690, lon_deg=139.700),
        LatLon(lat_deg=35.003, lon_deg=135.768),
        LatLon(lat_deg=34.702, lon_deg=135.495),
    ],
}
MEALS = (
    {"name": "lunch"},
    {"name": "dinner", "start": "17:30", "end": "21:00", "minutes": 60},
    {"name": "breakfast", "start": "08:00", "end": "10:00", "minutes": 30},
)


def drawn(number: int, area: str, provider: Provider) -> dict[str, Any]:
    """The request of a number in an area."""
    chance = random.Random(f"{number} {area}")
    centre = chance.choice(CENTRES[area])
    near = _near(
        provider, centre, chance.choice((1500.0, 4000.0)), SIGHTS if area != "japan" else ("station",)
    )
    hotels = _near(provider, centre, 4000.0, ("hotel", "hostel", "guest_house")) if area != "japan" else []
    days = chance.choice((1, 1, 1, 2, 2, 3, 5, 14))
    count = min(len(near), chance.choice((1, 2, 3, 4, 5, 6, 8, 10, 14, 25, 60)))
    places = chance.sample(near, count)
    if area == "japan" and days > 1 and chance.random() < 0.4:  # a second city
        places = places[:50] + chance.sample(
            _near(provider, chance.choice(CENTRES[area]), 4000.0, ("station",)), 2
        )
    request: dict[str, Any] = {
        "id": f"r{number}",
        "area": area,
        "start_date": f"2026-{chance.randint(4, 10):02d}-{chance.randint(1, 28):02d}",
        "days": days,
        "places": list(dict.fromkeys(place.id for place in places)),
        "window": {
            "start": chance.choice(("08:00", "09:00", "10:00")),
            "end": chance.choice(("17:00", "19:00", "21:30")),
        },
        "mode": "rail" if area == "japan" and chance.random() < 0.8 else "walk",
    }
    if hotels and chance.random() < 0.7:
        request["hotel"] = chance.choice(hotels).id
    if chance.random() < 0.5:
        latest = request["window"]["end"]
        request["meals"] = [
            meal for meal in MEALS if meal.get("start", "11:30") < latest and chance.random() < 0.6
        ]
    if chance.random() < 0.3:
        request["wishes"] = chance.sample(["park", "museum", "cafe", "gallery", "viewpoint"], 2)
    if chance.random() < 0.3:
        request["max_walk_m"] = chance.choice((2000, 4000, 8000))
    if chance.random() < 0.2 and len(request["places"]) > 2:
        request["order"] = [request["places"][:2]]
    if chance.random() < 0.15:
        request["max_leg_min"] = chance.choice((10, 20, 40))
    return request


def _near(provider: Provider, at: LatLon, radius_m: float, kinds: tuple[str, ...]) -> list[Place]:
    query = NearbyQuery(at, radius_m, kinds=kinds, limit=300)
    return [hit.place for hit in answered(provider.nearby(query), is_local=True).value]


def answer(request: dict[str, Any], provider: Provider, seconds: float) -> dict[str, Any]:
    """What the planner answers, how long that took, and what is wrong with it."""
    trip = answered(open_trip(read_request(request), provider), is_local=True)
    started, busy = time.monotonic(), time.process_time()
    found = answered(find_plan(trip, seconds=seconds), is_local=True)
    took, cpu = time.monotonic() - started, time.process_time() - busy
    plan = answered(plan_of(found.draft, trip), is_local=True)
    verification = answered(verify_plan(plan, trip), is_local=True)[1]
    outcome = plan.status if plan.status == "planned" else "proven" if found.search.is_proven else "not found"
    return {
        "id": request["id"],
        "area": request["area"],
        "outcome": outcome,
        "is_best": plan.status == "planned" and found.search.is_proven,
        "gap": found.search.gap,
        "is_below_bound": found.cost is not None and found.least is not None and found.cost < found.least - 1,
        "seconds": round(took, 3),
        "cpu_seconds": round(cpu, 3),
        "conflict": plan.conflict,
        "faults": sorted({fault.code for fault in verification.violations if fault.severity == "error"}),
        "request": request,
    }


def main() -> None:
    """Plan the requests and print the table; each answer goes to --out as a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--areas", default="helsinki,japan")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    areas = options.areas.split(",")
    rows: list[dict[str, Any]] = []
    for number in range(options.first, options.first + options.count):
        area = areas[number % len(areas)]
        provider = embedded(area)
        request = drawn(number, area, provider)
        try:
            row = answer(request, provider, options.seconds)
        except PlaceError as error:
            row = {"area": area, "outcome": "failed", "seconds": 0.0, "cpu_seconds": 0.0, "error": str(error)}
        rows.append(row)
        if row.get("faults") or row["outcome"] == "failed":
            print(json.dumps(row, ensure_ascii=False), file=sys.stderr)
        if options.out:
            with options.out.open("a") as lines:
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(
        "| area | requests | planned | best proven | refused, proven | not found | faults | median gap |",
        end="",
    )
    print(" below bound | s p50 | s p95 | s max | CPU s max |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for area in [*areas, "all"]:
        chosen = [row for row in rows if area in (row["area"], "all")]
        if chosen:
            print(line(area, chosen))


def line(area: str, rows: list[dict[str, Any]]) -> str:
    """One row of the table."""
    outcomes = Counter(row["outcome"] for row in rows)
    seconds = np.array([row["seconds"] for row in rows])
    gaps = [row["gap"] for row in rows if row.get("gap") is not None]
    cells: list[object] = [
        area,
        len(rows),
        outcomes["planned"],
        sum(bool(row.get("is_best")) for row in rows),
    ]
    cells += [outcomes["proven"], outcomes["not found"], sum(bool(row.get("faults")) for row in rows)]
    cells += [f"{100 * np.median(gaps):.0f} %" if gaps else "–"]
    cells += [sum(bool(row.get("is_below_bound")) for row in rows)]
    cells += [f"{np.quantile(seconds, share):.1f}" for share in (0.5, 0.95, 1.0)]
    cells.append(f"{max(row['cpu_seconds'] for row in rows):.1f}")
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
