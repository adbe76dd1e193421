"""Asks questions of tracking with real errors, and answers each a second time from the raw rows alone.

    python -m bench.tracking_truth [--buses FOLDER] [--wildtrack FOLDER] [--only cityflow] [--limit 105]
        [--seed 7]

The second computation shares no code with the first: it reads the files itself, groups rows by their times,
and projects feet with its own arithmetic. Of each recording: targets in, targets past two cameras, questions
by task, and how many of them come out the same. `--buses` is a folder with one table of GPS positions
(trip_id, timestamp, longitude, latitude), such as `data/liverpool_bus` of movingpandas-examples.
"""

import argparse
import csv
import json
import math
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bench.tables import head_of, line_of, parser_of, tell
from bench.tracking_data import Made, write_cityflow, write_mot, write_wildtrack

SHORT = {
    "GeoLocation": "GL", "ArrivalTimeInterval": "ATI", "MotionState": "MS", "CausalReordering": "CR",
    "NextSpotForecasting": "NSF", "TrajectoryForecasting": "TF", "MultiTargetTrajectoryForecasting": "MTTF",
}  # fmt: skip
WAYS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
Span = tuple[float, float]
Rows = dict[
    str, dict[str, list[tuple[float, tuple[float, float]]]]
]  # target, camera: time, foot (pixels or metres)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--buses", type=Path)
    parser.add_argument(
        "--wildtrack", type=Path, help="annotations_positions and calibrations of the data set"
    )
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=105)
    parser.add_argument("--seed", type=int, default=0, help="added to those of the recordings")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        _tables(Path(name), options)


def _tables(home: Path, options: argparse.Namespace) -> None:
    seed, limit = options.seed, options.limit
    recordings = [
        ("CityFlow with roads", lambda: write_cityflow(home / "a", seed=seed + 1)),
        ("CityFlow without", lambda: write_cityflow(home / "b", seed=seed + 4, roads=False)),
        ("MOT", lambda: write_mot(home / "c", seed=seed + 2)),
        ("WILDTRACK, views cut", lambda: write_wildtrack(home / "d", seed=seed + 3)),
    ]
    if options.buses is not None:
        recordings.append(("GPS of buses", lambda: Made(folder=options.buses, layout="gps")))
    if options.wildtrack is not None:
        published = Made(folder=options.wildtrack, layout="wildtrack", cut_views=True)
        recordings.append(("the published WILDTRACK", lambda: published))
    tell(head_of(["recording", "targets", "past two cameras", *SHORT.values(), "right", "of", "minutes"]))
    right_of_all, all_of = 0, 0
    for number, (name, make) in enumerate(recordings):
        if options.only.lower() not in name.lower():
            continue
        made = make()
        began = time.monotonic()
        report = _built(made, home / f"out{number}", limit)
        minutes = (time.monotonic() - began) / 60
        verdicts = list(_verdicts(made, home / f"out{number}"))
        counts = Counter(SHORT[task] for task, _, _ in verdicts)
        right = sum(fault == "" for _, _, fault in verdicts)
        right_of_all, all_of = right_of_all + right, all_of + len(verdicts)
        trips = report["place"]["with_two_sightings"]
        cells = [counts[short] for short in SHORT.values()]
        tell(line_of([name, report["targets_read"], trips, *cells, right, len(verdicts), f"{minutes:.1f}"]))
        for task, case, fault in verdicts:
            if fault:
                tell(f"    {case} ({task}): {fault}")
    if all_of:
        tell(f"\n{right_of_all} of {all_of} the same: {100 * right_of_all / all_of:.1f} %")


def _built(made: Made, out: Path, limit: int) -> dict[str, Any]:
    from gnomon_worlds.tracking.build import Options, build
    from gnomon_worlds.tracking.reading import Inputs, read_layout

    tracking = read_layout(made.layout, made.folder, Inputs(**made.inputs))  # type: ignore[arg-type]
    report = build(tracking, out, Options(limit=limit, cut_views=made.cut_views))
    return report | {"targets_read": len(tracking.targets)}


def _verdicts(made: Made, out: Path) -> Any:
    """Of every published question its task, its name, and what is wrong with it."""
    rows, fixes = _raw(made, out)
    names = json.loads((out / "build" / "cameras.json").read_text())["cameras"]
    lines = (out / "build" / "questions.ndjson").read_text().splitlines()[1:]
    for line in lines:
        entry = json.loads(line)
        if entry["status"] != "kept":
            continue
        record = entry["record"]
        targets = [source["target"] for source in entry["sources"]]
        yield entry["task"], record["case_id"], _fault(entry["task"], record, targets, names, rows, fixes)


def _raw(made: Made, out: Path) -> tuple[Rows, dict[str, list[tuple[float, float, float]]]]:
    """All rows by target and camera; for GPS also the fixes by target, in metres."""
    rows: Rows = defaultdict(lambda: defaultdict(list))
    fixes: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    if made.layout == "cityflow":
        for path in sorted(made.folder.glob("S04/c*/gt/gt.txt")):
            for line in path.read_text().splitlines():
                frame, name, left, top, wide, high = (float(word) for word in line.split(",")[:6])
                foot = (left + wide / 2, top + high)
                rows[f"{name:.0f}"][path.parents[1].name].append(((frame - 1) / 10, foot))
    elif made.layout == "mot":
        for path in sorted(made.folder.glob("c*/gt/gt.txt")):
            for line in path.read_text().splitlines():
                frame, name, left, top, wide, high, _, kind, _ = (float(word) for word in line.split(","))
                if kind == 1:
                    foot = (left + wide / 2, top + high)
                    rows[f"{name:.0f}"][path.parents[1].name].append(((frame - 1) / 15, foot))
    elif made.layout == "wildtrack":
        _raw_wildtrack(made.folder, _regions(out), rows)
    else:
        _raw_gps(made.folder, _regions(out), rows, fixes)
    for by_camera in rows.values():
        for own in by_camera.values():
            own.sort()
    return rows, fixes


def _regions(out: Path) -> dict[str, Any]:
    """The published views by the data set's names."""
    path = next((out / "data" / "outdoor" / "scenes").glob("*.geojson"))
    document = json.loads(path.read_text())
    names = json.loads((out / "build" / "cameras.json").read_text())["cameras"]
    views: dict[str, Any] = {}
    for feature in document["features"]:
        name = names.get(feature["id"].removeprefix("camera:"), names.get(feature["id"]))
        if name and feature["geometry"]["type"] == "Polygon":
            views[name] = np.array(feature["geometry"]["coordinates"][0])
        elif name and "field_of_view" in feature["properties"]:
            views[name] = np.array(feature["properties"]["field_of_view"]["coordinates"][0])
    return views


def _is_in(ring: Any, x: float, y: float) -> bool:
    """Ray casting."""
    inside = False
    for (x1, y1), (x2, y2) in pairwise(ring):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            inside = not inside
    return inside


def _wildtrack_maps(folder: Path) -> list[tuple[str, Any]]:
    """The data set's cameras, with pixels to metres on the floor."""
    maps = []
    for name in ["CVLab1", "CVLab2", "CVLab3", "CVLab4", "IDIAP1", "IDIAP2", "IDIAP3"]:
        inner = (folder / "calibrations/intrinsic_zero" / f"intr_{name}.xml").read_text()
        outer = (folder / "calibrations/extrinsic" / f"extr_{name}.xml").read_text()
        k = np.array([float(w) for w in re.findall(r"(?s)<data>(.*?)</data>", inner)[0].split()]).reshape(
            3, 3
        )
        r, t = (
            np.array([float(w) for w in re.findall(rf"(?s)<{tag}>(.*?)</{tag}>", outer)[0].split()])
            for tag in ("rvec", "tvec")
        )
        angle = float(np.linalg.norm(r))
        a = r / angle
        turn = (
            math.cos(angle) * np.eye(3)
            + (1 - math.cos(angle)) * np.outer(a, a)
            + math.sin(angle) * np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
        )
        maps.append((name, np.linalg.inv(k @ np.column_stack([turn[:, 0], turn[:, 1], t / 100]))))
    return maps


def _wildtrack_views(folder: Path) -> Iterator[tuple[str, float, dict[str, float]]]:
    """Of every box in a picture the person, the time and the box."""
    for path in (folder / "annotations_positions").glob("*.json"):
        for person in json.loads(path.read_text()):
            for view in person["views"]:
                middle = (view["xmin"] + view["xmax"]) / 2, (view["ymin"] + view["ymax"]) / 2
                is_there = view["xmax"] > view["xmin"]
                if is_there and 0 <= middle[0] <= 1920 and 0 <= middle[1] <= 1080:
                    yield str(person["personID"]), int(path.stem) / 10, view


def _raw_wildtrack(folder: Path, regions: dict[str, Any], rows: Rows) -> None:
    # Places that lie nowhere on Earth are published about 0° north, 0° east.
    regions = {name: ring * (111_319.49, 110_574.28) for name, ring in regions.items()}
    maps = _wildtrack_maps(folder)
    for person, moment, view in _wildtrack_views(folder):
        name, to_floor = maps[int(view["viewNum"])]
        x, y, w = to_floor @ ((view["xmin"] + view["xmax"]) / 2, view["ymax"], 1.0)
        if name in regions and w * to_floor[2] @ (960, 1080, 1) > 0 and _is_in(regions[name], x / w, y / w):
            rows[person][name].append((moment, (x / w, y / w)))


def overlap_faults(folder: Path, out: Path) -> Iterator[str]:
    """What is wrong with each question, answered again from the files."""
    names = json.loads((out / "build" / "cameras.json").read_text())["cameras"]
    maps, whose = dict(_wildtrack_maps(folder)), dict[tuple[Any, ...], str]()
    rows: Rows = defaultdict(lambda: defaultdict(list))
    order = list(maps)
    for person, moment, view in _wildtrack_views(folder):
        name = order[int(view["viewNum"])]
        rows[person][name].append((moment, None))
        box = view["xmin"], view["ymin"], view["xmax"] - view["xmin"], view["ymax"] - view["ymin"]
        whose[name, round(moment, 3), *(round(side, 1) for side in box)] = person
    for by_camera in rows.values():
        for own in by_camera.values():
            own.sort()
    sources = (out / "build" / "overlaps.ndjson").read_text().splitlines()
    for line, source in zip((out / "questions.jsonl").read_text().splitlines(), sources, strict=True):
        question, targets = json.loads(line), json.loads(source)["targets"]
        asked, said = question["question"].split("?")[0], question["options"][ord(question["answer"]) - 65]
        times = [_seconds(f"{text}-{text}")[0] for text in re.findall(r"\d\d:\d\d:[\d.]+\d", asked)]
        cameras = [names[name] for name in re.findall(r"\bc\d\d\b", asked)]
        boxes = [tuple(map(float, text.split(","))) for text in re.findall(r"\[([^]]+)\]", asked)]
        spans = {name: _spans(own, 2.0) for name, own in rows[targets[0]].items()}
        if question["task"] == "WhichCamerasSee":
            sees = [any(a <= times[0] <= b for a, b in spans.get(name, [])) for name in cameras[1:]]
            again = {(0, 0): "neither", (1, 0): "only", (0, 1): "only", (1, 1): "both"}[sees[0], sees[1]]
            dealt = re.findall(r"\bc\d\d\b", said)
            fits = said.startswith(again) and (again != "only" or names[dealt[0]] == cameras[1 + sees[1]])
        elif question["task"] == "HandOver":
            looks = [(a, b) for a, b in spans.get(cameras[1], []) if a <= times[1] and times[0] <= b]
            is_first, is_last = (any(a <= moment <= b for a, b in looks) for moment in times)
            words = {(1, 1): "all the time", (0, 1): "comes", (1, 0): "loses", (0, 0): "does not"}
            again = f"{words[is_first, is_last]}, {len(looks)} looks"
            fits = words[is_first, is_last] in said and len(looks) == int(is_first or is_last)
        elif question["task"] == "InBothViews":
            lists = [
                {whose[cameras[at], times[0], *box] for box in boxes[4 * at : 4 * at + 4]} for at in (0, 1)
            ]
            again = str(len(lists[0] & lists[1]))
            fits = again == said
        else:
            places = []
            for name, (left, top, wide, high) in zip(cameras, boxes, strict=True):
                x, y, w = maps[name] @ (left + wide / 2, top + high, 1.0)
                places.append((x / w, y / w))
            again = f"{math.dist(*places):.1f} m"
            fits = abs(float(again[:-2]) - float(said[:-2])) <= 0.05 + 0.01 * float(said[:-2])
        yield "" if fits else f"{question['id']} ({question['task']}): {said} told, {again} found"


def _raw_gps(folder: Path, regions: dict[str, Any], rows: Rows, fixes: Any) -> None:
    """Positions up to a minute apart joined by straight lines, ten times a second, in the views."""
    rings = {
        name: (*ring.min(axis=0).tolist(), *ring.max(axis=0).tolist(), ring.tolist())
        for name, ring in regions.items()
    }
    table = next(folder.glob("*.csv"))
    by_trip: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    with table.open(encoding="utf-8-sig") as file:
        for line in csv.DictReader(file):
            moment = datetime.fromisoformat(line["timestamp"]).replace(tzinfo=UTC).timestamp()
            by_trip[line["trip_id"]].append((moment, float(line["longitude"]), float(line["latitude"])))
    first = math.floor(min(moment for own in by_trip.values() for moment, _, _ in own))
    for trip, own in by_trip.items():
        own.sort()
        parts = [[own[0]]]
        for fix in own[1:]:
            past_s = fix[0] - parts[-1][-1][0]
            if past_s > 60:
                parts.append([fix])
            elif past_s > 0:
                parts[-1].append(fix)
        for part, kept in enumerate(parts, start=1):
            name = trip if part == 1 else f"{trip}/{part}"
            fixes[name] = [(moment - first, x, y) for moment, x, y in kept]
            for (t1, x1, y1), (t2, x2, y2) in pairwise(fixes[name]):
                for tick in range(math.ceil(t1 * 10), math.floor(t2 * 10) + 1):
                    share = (tick / 10 - t1) / (t2 - t1)
                    x, y = x1 + (x2 - x1) * share, y1 + (y2 - y1) * share
                    for camera, (west, south, east, north, ring) in rings.items():
                        if west <= x <= east and south <= y <= north and _is_in(ring, x, y):
                            rows[name][camera].append((tick / 10, (x, y)))


def _spans(rows: list[tuple[float, Any]], gap_s: float) -> list[Span]:
    spans: list[Span] = []
    for moment, _ in rows:
        if spans and moment - spans[-1][1] <= gap_s + 1e-6:
            spans[-1] = (spans[-1][0], moment)
        else:
            spans.append((moment, moment))
    return spans


def _seconds(text: str) -> Span:
    clocks = re.findall(r"(\d+):(\d+):(\d+(?:\.\d+)?)", text)
    a, b = (int(h) * 3600 + int(m) * 60 + float(s) - 43200 for h, m, s in clocks[:2])
    return a, b


def _same(a: Span, b: Span) -> float:
    shared, whole = min(a[1], b[1]) - max(a[0], b[0]), max(a[1], b[1]) - min(a[0], b[0])
    return shared / whole if whole > 0 and shared > 0 else 0.0


def _fault(task: str, record: Any, targets: list[str], names: Any, rows: Rows, fixes: Any) -> str:
    gap_s = float(re.findall(r"Breaks of up to ([\d.]+) s", record["question"])[0])
    sightings = [{camera: _spans(own, gap_s) for camera, own in rows[target].items()} for target in targets]
    clips = [
        (names[clip["camera_id"]], clip["start_timestamp"], clip["end_timestamp"])
        for clip in record["camera_images"]
    ]
    options = [choice.split(". ", 1)[1] for choice in record["choices"]]
    for camera, start, end in clips:
        if not any(_same((start, end), span) > 0.9 for spans in sightings for span in spans.get(camera, [])):
            return f"the clip of {camera} is no sighting"
    mine = sightings[0]
    every = sorted((a, b, camera) for camera, spans in mine.items() for a, b in spans)
    if task == "GeoLocation":
        start, end = sorted(clips, key=lambda clip: clip[1])
        between = {c for a, b, c in every if a > start[2] and b < end[1]}
        anywhere = {c for _, _, c in every}
        truth = names[record["ground_truth"].split(". ", 1)[1]]
        others = {names.get(o) for o in options} - {truth}
        return (
            "" if truth in between and not others & anywhere else f"between: {sorted(between)}, {truth} told"
        )
    if task == "ArrivalTimeInterval":
        asked = names[re.findall(r"through camera (\S+)\.", record["question"])[0]]
        start, end = sorted(clips, key=lambda clip: clip[1])
        true = [(a, b) for a, b, c in every if c == asked and a > start[2] and b < end[1]]
        fit = {option: max((_same(_seconds(option), span) for span in true), default=0) for option in options}
        best = max(fit, key=lambda option: fit[option])
        truth = record["ground_truth"].split(". ", 1)[1]
        wrong = [value for option, value in fit.items() if option != truth]
        return (
            ""
            if len(true) == 1 and best == truth and fit[best] > 0.9 and not any(wrong)
            else f"{true}: {fit}"
        )
    if task == "CausalReordering":
        order = [names[c] for c in record["ground_truth"].split(". ", 1)[1].split(" → ")]
        firsts = sorted(order, key=lambda camera: mine[camera][0][0])
        return "" if firsts == order and all(len(mine[c]) == 1 for c in order) else f"{firsts}, {order} told"
    if task in ("NextSpotForecasting", "TrajectoryForecasting"):
        last = max(clips, key=lambda clip: clip[2])
        coming = [(a, b, c) for a, b, c in every if a > last[1] + 1e-3 or (c != last[0] and b > last[2])]
        right = [names[c.split(". ", 1)[1]] for c in record["correct_cam_name"]]
        others = {names.get(o) for o in options} - set(right)
        if [c for _, _, c in coming[: len(right)]] != right or others & {c for _, _, c in every}:
            return (
                f"coming: {[c for _, _, c in coming[:3]]}, {right} told; options {sorted(map(str, others))}"
            )
        near = [
            _same((a, b), _seconds(t))
            for (a, b, _), t in zip(coming, record["correct_time_str"], strict=False)
        ]
        return "" if min(near) > 0.9 else f"times agree by {near}"
    if task == "MultiTargetTrajectoryForecasting":
        since = min(clip[1] for clip in clips)
        joint = sorted(
            (max(a[0], b[0]), min(a[1], b[1]), camera)
            for camera in sightings[0].keys() & sightings[1].keys()
            for a in sightings[0][camera] for b in sightings[1][camera]
            if max(a[0], b[0]) <= min(a[1], b[1]) and max(a[0], b[0]) >= since
        )  # fmt: skip
        camera = names[record["correct_cam_name"][0].split(". ", 1)[1]]
        fits = (
            joint
            and joint[0][2] == camera
            and _same(joint[0][:2], _seconds(record["correct_time_str"][0])) > 0.9
        )
        return "" if fits else f"together: {joint[:2]}, {camera} told"
    return _motion_fault(record, clips, rows[targets[0]], fixes.get(targets[0]), names)


def _motion_fault(record: Any, clips: Any, rows: Any, fixes: Any, names: Any) -> str:
    """Whether the ways told lead from where the target was last seen to where it was next, at that speed."""
    truth = record["ground_truth"].split(". ", 1)[1]
    led_m = np.zeros(2)
    length = 0.0
    for metres, way in re.findall(r"([\d.]+) meters (\w+)", truth):
        angle = math.radians(45 * WAYS.index(way))
        led_m += float(metres) * np.array([math.sin(angle), math.cos(angle)])
        length += float(metres)
    start, end = sorted(clips, key=lambda clip: clip[1])
    speed = float(re.findall(r"at ([\d.]+) m/s", truth)[0])
    took = end[1] - start[2]
    if abs(speed * took - length) > 0.06 * took + 0.02 * length:
        return f"{length:.0f} m in {took:.1f} s is not {speed} m/s"
    if fixes is None:
        return ""
    times = [fix[0] for fix in fixes]
    xs, ys = [fix[1] for fix in fixes], [fix[2] for fix in fixes]
    ends = [(np.interp(at, times, xs), np.interp(at, times, ys)) for at in (start[2], end[1])]
    east = (ends[1][0] - ends[0][0]) * 111_320 * math.cos(math.radians(ends[0][1]))
    north = (ends[1][1] - ends[0][1]) * 111_200
    off = float(np.hypot(led_m[0] - east, led_m[1] - north))
    return "" if off <= 0.42 * length else f"the ways told lead {off:.0f} m beside"


if __name__ == "__main__":
    main()
