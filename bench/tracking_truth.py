"""Asks questions about views that overlap, and answers each a second time from the files alone.

    python -m bench.tracking_truth [--wildtrack FOLDER] [--limit 32] [--seed 3]

The second computation shares no code with the first: it reads the files itself, groups rows by their times,
and projects feet with its own arithmetic. Without FOLDER, which holds the data set's annotations_positions
and calibrations, it is asked of a recording in that form with the errors of real trackers.
"""

import json
import math
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.tables import parser_of, tell
from bench.tracking_data import write_wildtrack
from gnomon_worlds.tracking.look import look_at
from gnomon_worlds.tracking.overlapping import build_overlaps
from gnomon_worlds.tracking.reading import Inputs, read_layout

Span = tuple[float, float]


def overlap_faults(folder: Path, out: Path) -> Iterator[str]:
    """What is wrong with each question, answered again from the files."""
    names = json.loads((out / "build" / "cameras.json").read_text())["cameras"]
    maps, whose = dict(_wildtrack_maps(folder)), dict[tuple[Any, ...], str]()
    times_s: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    order = list(maps)
    for person, moment, view in _wildtrack_views(folder):
        name = order[int(view["viewNum"])]
        times_s[person][name].append(moment)
        box = view["xmin"], view["ymin"], view["xmax"] - view["xmin"], view["ymax"] - view["ymin"]
        whose[name, round(moment, 3), *(round(side, 1) for side in box)] = person
    sources = (out / "build" / "overlaps.ndjson").read_text().splitlines()
    for line, source in zip((out / "questions.jsonl").read_text().splitlines(), sources, strict=True):
        question, targets = json.loads(line), json.loads(source)["targets"]
        asked, said = question["question"].split("?")[0], question["options"][ord(question["answer"]) - 65]
        times = [_seconds(text) for text in re.findall(r"\d\d:\d\d:[\d.]+\d", asked)]
        cameras = [names[name] for name in re.findall(r"\bc\d\d\b", asked)]
        boxes = [tuple(map(float, text.split(","))) for text in re.findall(r"\[([^]]+)\]", asked)]
        spans = {name: _spans(own, 2.0) for name, own in times_s[targets[0]].items()}
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


def _spans(times_s: list[float], gap_s: float) -> list[Span]:
    spans: list[Span] = []
    for moment in sorted(times_s):
        if spans and moment - spans[-1][1] <= gap_s + 1e-6:
            spans[-1] = (spans[-1][0], moment)
        else:
            spans.append((moment, moment))
    return spans


def _seconds(text: str) -> float:
    hours, minutes, seconds = text.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds) - 43200


def main() -> None:
    """Print what is wrong, and how many are the same."""
    parser = parser_of(__doc__)
    parser.add_argument("--wildtrack", type=Path)
    parser.add_argument("--limit", type=int, default=32, help="questions")
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        folder = options.wildtrack or write_wildtrack(Path(root, "plaza"), seed=options.seed)
        out = Path(root, "out")
        build_overlaps(look_at(read_layout("wildtrack", folder, Inputs())), out, limit=options.limit)
        faults = list(overlap_faults(folder, out))
    for fault in filter(None, faults):
        tell(fault)
    tell(f"{faults.count('')} of {len(faults)} the same")


if __name__ == "__main__":
    main()
