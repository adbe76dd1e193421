"""Small VIR-Bench and EscherVerse in their published layouts, with clips that number their frames."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.numbered import write_clip

Row = dict[str, Any]


def place(ja: str, en: str, category: str, start: int, **told: Any) -> tuple[str, str, str]:
    """A point of interest, as the columns `type`, `display_name` and `attributes` have it."""
    types = told.pop("types", None)
    parsed = {"is_unknown": False, "is_store_unknown": False, "store_name": "", "category": category, **told}
    attributes = {"start": start, "end": start + 5, "parsed_description": parsed}
    if types:
        attributes["details_parsed"] = {"types": types}
    return "POI", str({"ja": ja, "en": en}), str(attributes)


def area(kind: str, ja: str, en: str) -> tuple[str, str, str]:
    """A prefecture or city, likewise."""
    return kind, str({"ja": ja, "en": en}), str({"start": 0, "end": 5, "parsed_description": {}})


def graph(nodes: Sequence[tuple[str, str, str]], edges: Sequence[tuple[str, str, str]]) -> Row:
    """A graph as published: parallel lists, nodes numbered from the root on."""
    every = [("ROOT", str({"ja": "", "en": ""}), "{}"), *nodes]
    return {
        "nodes": {
            "id": [str(number) for number in range(len(every))],
            "type": [kind for kind, _, _ in every],
            "display_name": [name for _, name, _ in every],
            "attributes": [attributes for _, _, attributes in every],
        },
        "edges": {
            "source": [source for source, _, _ in edges],
            "target": [target for _, target, _ in edges],
            "type": [kind for _, _, kind in edges],
        },
    }


KANSAI = graph(
    [
        area("PREFECTURE", "大阪府", "Osaka"),
        area("PREFECTURE", "奈良県", "Nara"),
        area("CITY", "大阪市", "Osaka"),
        area("CITY", "奈良市", "Nara"),
        place("なんば駅", "Namba Station", "train_station", 0, types=["train_station", "transit_station"]),
        place("グリコサイン", "Glico Running Man Sign", "tourist_attraction", 10),
        place("スターバックス(店舗不明)", "Starbucks (Store Unknown)", "cafe", 20, is_store_unknown=True),
        place("食堂", "A diner", "restaurant", 30, is_unknown=True),
        place("東大寺", "Todai-ji", "place_of_worship", 40, types=["place_of_worship"]),
        place("", "", "cafe", 45),
    ],
    [
        ("0", "1", "INCLUSION"),
        ("0", "2", "INCLUSION"),
        ("1", "3", "INCLUSION"),
        ("2", "4", "INCLUSION"),
        *(("3", str(number), "INCLUSION") for number in (5, 6, 7, 8)),
        ("4", "9", "INCLUSION"),
        ("4", "10", "INCLUSION"),
        ("5", "6", "TRANSITION"),
        ("6", "7", "TRANSITION"),
        ("7", "8", "TRANSITION"),
        ("1", "2", "TRANSITION"),
        ("7", "6", "OVERLAP"),
    ],
)
KANTO = graph(
    [
        area("PREFECTURE", "東京都", "Tokyo"),
        area("CITY", "渋谷区", "Shibuya"),
        area("CITY", "新宿区", "Shinjuku"),
        place("渋谷駅", "Shibuya Station", "train_station", 0),
        place("新宿御苑", "Shinjuku Gyoen", "park", 10),
    ],
    [
        ("0", "1", "INCLUSION"),
        ("1", "2", "INCLUSION"),
        ("1", "3", "INCLUSION"),
        ("2", "4", "INCLUSION"),
        ("3", "5", "INCLUSION"),
        ("2", "3", "TRANSITION"),
    ],
)
VIR_ROWS: list[Row] = [{"video_id": "kansai_01", "graph": KANSAI}, {"video_id": "kanto-02", "graph": KANTO}]

ESCHER_ROWS: list[Row] = [
    {
        "index": 11,
        "P": "abc_d_003_12.5_20.0.mp4",
        "Q": "[Single-Choice] Where is the cup after the turn? [Options] A) left of the plate"
        " B) right of the plate C) behind it D) under the table",
        "A": "B",
        "C": "Category 2: Dynamic Spatial Relationships",
        "scene_type": "Object-Centric",
        "question_type": "Single-Choice",
    },
    {
        "index": 12,
        "P": "abc_d_003_12.5_20.0.mp4",
        "Q": "[Multiple-Select] What does she move?\n[Options]\nA) the cup\nB) the plate\nC) the chair",
        "A": "A, C",
        "C": "Category 3: Action & Intent-Driven Spatial Reasoning",
        "scene_type": "Human-Centric",
        "question_type": "Multiple-Select",
    },
    {
        "index": 13,
        "P": "xyz_001_0_3.mp4",
        "Q": "[True/False] The ball stays hidden behind the box.",
        "A": "True",
        "C": "Category 1: Object Permanence & Occlusion Tracking",
        "scene_type": "Object-Centric",
        "question_type": "True/False",
    },
    {
        "index": 14,
        "P": "xyz_001_0_3.mp4",
        "Q": "[Fill-in-the-Blank] From where she stands, the door is on the ____.",
        "A": "left side",
        "C": "Category 6:Egocentric vs. Allocentric Reference Frames",
        "scene_type": "Human-Centric",
        "question_type": "Fill-in-the-Blank",
    },
]


def publish_vir(folder: Path, rows: Sequence[Row] = VIR_ROWS, *, clips: bool = True) -> Path:
    """`data/*.parquet`, the last row as validation, and `videos/`: 300 frames at 10 a second, and 40."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for split, part in (("test", rows[:-1]), ("validation", rows[-1:])):
        pq.write_table(pa.Table.from_pylist(list(part)), folder / "data" / f"{split}-00000-of-00001.parquet")
    if clips:
        write_clip(folder / "videos" / "kansai_01.mp4", 300)
        write_clip(folder / "videos" / "kanto-02.mp4", 40)
    return folder


def publish_escher(folder: Path, rows: Sequence[Any] = ESCHER_ROWS, *, clips: bool = True) -> Path:
    """`Escher-Bench.json` and `videos/`: 61 frames at 10 a second, and 9."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Escher-Bench.json").write_text(json.dumps(list(rows)), encoding="utf-8")
    if clips:
        write_clip(folder / "videos" / "abc_d_003_12.5_20.0.mp4", 61)
        write_clip(folder / "videos" / "xyz_001_0_3.mp4", 9)
    return folder
