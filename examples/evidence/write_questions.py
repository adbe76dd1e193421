"""Writes the questions of `make evidence`, drawn by a seed: forty of time zones, forty of Tokyo's stations.

    python examples/evidence/write_questions.py --seed 1 --out FOLDER

No zone and no station is named twice on the same side. Zones are among those that have kept their offset
since 2024 and need no date, so an answer holds on any day.
"""

import argparse
import csv
import json
import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from geographiclib.geodesic import Geodesic

HERE = Path(__file__).parent
QUESTIONS = 40
SCENE = "tokyo.geojson"
Position = tuple[float, float]  # latitude, longitude


def main() -> None:
    """Write `time-zones.jsonl`, `stations.jsonl` and the scene that holds the stations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    random_source = random.Random(options.seed)
    zones = (HERE / "zones.txt").read_text(encoding="utf-8").split()
    with (HERE / "stations.csv").open(encoding="utf-8", newline="") as file:
        stations = {
            row["name"]: (float(row["lat_deg"]), float(row["lon_deg"])) for row in csv.DictReader(file)
        }
    (options.out / SCENE).write_text(json.dumps(scene_of(stations)), encoding="utf-8")
    for name, questions in (
        ("time-zones", time_zone_questions(zones, random_source)),
        ("stations", station_questions(stations, random_source)),
    ):
        lines = (json.dumps(question, ensure_ascii=False) + "\n" for question in questions)
        (options.out / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


def time_zone_questions(zones: list[str], random_source: random.Random) -> list[dict[str, Any]]:
    """Clock times in one zone that are asked for in another with another offset."""
    day = datetime(2026, 3, 1, tzinfo=UTC)
    offset = {zone: ZoneInfo(zone).utcoffset(day) or timedelta() for zone in zones}
    questions = []
    for number, (start, end) in enumerate(pairs(zones, random_source, lambda a, b: offset[a] != offset[b])):
        time = day + timedelta(minutes=15 * random_source.randrange(96))
        wanted = time - offset[start] + offset[end]
        whole = (offset[end] - offset[start]) % timedelta(hours=1) == timedelta()
        question = f"When it is {time:%H:%M} in {start}, what time is it in {end} (24-hour clock, HH:MM)?"
        questions.append(
            {
                "id": f"zone-{number:02}",
                "task": "whole hours" if whole else "parts of hours",
                "question": question,
                "answer": f"{wanted:%H:%M}",
                "scorer": "time",
            }
        )
    return questions


def station_questions(stations: Mapping[str, Position], random_source: random.Random) -> list[dict[str, Any]]:
    """Straight distances in metres (right within 5 %) and bearings (within 5°) of two stations."""
    questions = []
    for number, (start, end) in enumerate(pairs(list(stations), random_source, lambda a, b: a != b)):
        line = Geodesic.WGS84.Inverse(*stations[start], *stations[end])
        if number % 2:
            asked = "What is the compass bearing, in degrees clockwise from north,"
            question = f"{asked} from {start} Station to {end} Station in Tokyo?"
            answer, scorer = f"{line['azi1'] % 360:.1f}", {"angle": {"tolerance": 5}}
        else:
            asked = "How many metres is it in a straight line"
            question = f"{asked} from {start} Station to {end} Station in Tokyo?"
            answer = f"{line['s12']:.0f}"
            scorer = {"number": {"tolerance": 0.05, "relative": True, "unit": "m"}}
        questions.append(
            {
                "id": f"station-{number:02}",
                "task": "bearing" if number % 2 else "distance",
                "question": question,
                "answer": answer,
                "scorer": scorer,
                "scene": SCENE,
                "cluster": f"{start} to {end}",  # else all are one cluster, as they share the scene
            }
        )
    return questions


def scene_of(stations: Mapping[str, Position]) -> dict[str, Any]:
    """The stations as places of a scene: docs/scenes.md."""
    lat_deg, lon_deg = stations["Tokyo"]
    return {
        "type": "FeatureCollection",
        "gnomon": {
            "format": 1,
            "id": "tokyo",
            "kind": "outdoor",
            "attribution": "Stations: N02 as packed by Info-Proto, CC BY 4.0",
            "frame": {"lon_deg": lon_deg, "lat_deg": lat_deg, "anchored": True},
        },
        "features": [
            {
                "type": "Feature",
                "id": f"s{number:02}",
                "geometry": {"type": "Point", "coordinates": [lon_deg, lat_deg]},
                "properties": {"kind": "place", "category": "station", "name": f"{name} Station"},
            }
            for number, (name, (lat_deg, lon_deg)) in enumerate(stations.items())
        ],
    }


def pairs(names: list[str], random_source: random.Random, fits: Any) -> list[tuple[str, str]]:
    """As many pairs as there are questions, each name at most once first and once second."""
    while True:
        starts, ends = (random_source.sample(names, QUESTIONS) for _ in range(2))
        if all(fits(start, end) for start, end in zip(starts, ends, strict=True)):
            return list(zip(starts, ends, strict=True))


if __name__ == "__main__":
    main()
