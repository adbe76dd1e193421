"""A small GTR-Bench in its published layout, made by the tests."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gnomon.media import MediaStore

Entry = dict[str, Any]


def clip(camera: str, target: int | str, start_s: float, *, frame: int = 100) -> Entry:
    return {
        "camera_id": camera,
        "object_id": target,
        "video_path": f"./data/indoor/mtmmc/train/s01/{camera}/rgb",
        "frame_ids": [frame, frame + 10, frame + 20, frame + 30],
        "bboxes": [[100.0 + at, 50.0, 40.0, 90.0] for at in range(4)],
        "start_timestamp": start_s,
        "end_timestamp": start_s + 6.0,
        "direction": "12.00° North of West",
    }


def case(task_id: str, case_id: str, clips: list[Entry], **fields: Any) -> Entry:
    return {
        "task_id": task_id,
        "case_id": case_id,
        "map_image_path": f"./data/indoor/map/{task_id}_map_7_{case_id}.png",
        "camera_images": clips,
        "question": "\nWhich camera comes next,\nafter c01 at 12:00:10.000?\n",
        **fields,
    }


def choice_case(task_id: str, case_id: str, bodies: list[str], clips: list[Entry], right: int = 0) -> Entry:
    choices = [f"{'ABCDEF'[index]}. {body}" for index, body in enumerate(bodies)]
    return case(task_id, case_id, clips, choices=choices, ground_truth=choices[right], middle_path=["c99"])


@pytest.fixture
def reordering() -> Entry:
    """A CR case as published: in the order of the answer, with two equal options."""
    clips = [clip("c03", 7, 10.0), clip("c01", 7, 30.0, frame=700), clip("c02", 7, 50.0, frame=1400)]
    bodies = ["c01 → c02 → c03", "c03 → c01 → c02", "c01 → c02 → c03", "c02 → c01 → c03"]
    return choice_case("CausalReordering", "case-cr", bodies, clips, right=1)


@pytest.fixture
def arrival() -> Entry:
    """An ATI case: only the right interval is not on the 0.1 s grid."""
    bodies = [
        "12:00:11.000-12:00:12.000",
        "12:00:13.486-12:00:14.513",
        "12:00:15.000-12:00:15.200",
        "12:00:19.100-12:00:21.000",
    ]
    return choice_case(
        "ArrivalTimeInterval", "case-ati", bodies, [clip("c01", 7, 3.0), clip("c03", 7, 30.0)], right=1
    )


@pytest.fixture
def forecast() -> Entry:
    """A TF case of another target than the others."""
    return case(
        "TrajectoryForecasting",
        "case-tf",
        [clip("c04", 8, 5.0), clip("c05", 8, 12.0)],
        choices=["A. c01", "B. c02", "C. c03", "D. c04", "E. c05"],
        correct_cam_name=["E. c05", "A. c01"],
        correct_time_str=["12:00:20.000-12:00:30.000", "12:00:40.000-12:00:50.000"],
    )


@pytest.fixture
def meeting() -> Entry:
    """An MTTF case that ties target 8 to target 9."""
    return case(
        "MultiTargetTrajectoryForecasting",
        "case-mttf",
        [clip("c04", "8", 5.0), clip("c05", 9, 12.0)],
        choices=["A. c01", "B. c02"],
        correct_cam_name=["B. c02"],
        correct_time_str=["12:00:20.000-12:00:30.000"],
    )


@pytest.fixture
def publish(tmp_path: Path) -> Callable[..., Path]:
    """Write entries as published, each with its map but for those in `without_map`."""

    def write(*entries: Any, scene: str = "indoor", without_map: tuple[str, ...] = ()) -> Path:
        root = tmp_path / "published"
        (root / "data" / scene / "map").mkdir(parents=True, exist_ok=True)
        by_task: dict[str, list[Any]] = {}
        for entry in entries:
            task = entry.get("task_id", "GeoLocation") if isinstance(entry, dict) else "GeoLocation"
            by_task.setdefault(task, []).append(entry)
            if isinstance(entry, dict) and entry.get("case_id") and entry["case_id"] not in without_map:
                Image.new("RGB", (60, 40), "grey").save(root / entry["map_image_path"])
        for task, cases in by_task.items():
            path = root / "data" / scene / f"{scene}_{task}_30.json"
            path.write_text(json.dumps({"cases": cases}), encoding="utf-8")
        return root

    return write


@pytest.fixture
def media(tmp_path: Path) -> MediaStore:
    return MediaStore(tmp_path / "media")


@pytest.fixture
def png() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "white").save(buffer, "PNG")
    return buffer.getvalue()
