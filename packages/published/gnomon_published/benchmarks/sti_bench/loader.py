"""Reads the published folder: `qa.parquet`, its tasks and scenes, and the clips in `video/`."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnomon.core.errors import DataError
from gnomon.core.sample import DataFault
from gnomon.media.clip_folders import ClipFolders
from gnomon.media.clip_samples import ClipQuestion, read_rows
from gnomon_published.unique_rows import published_file, unique_rows
from gnomon_tools.core.json_text import json_value

TASKS: tuple[str, ...] = (
    "Dimensional Measurement",
    "Spatial Relation",
    "3D Video Grounding",
    "Displacement & Path Length",
    "Speed & Acceleration",
    "Ego-Centric Orientation",
    "Trajectory Description",
    "Pose Estimation",
)
SCENES: tuple[str, ...] = ("outdoor", "indoor", "desktop", "unknown")


def _key(label: str) -> str:
    return re.sub(r"[^a-z0-9]|\band\b", "", label.lower().replace("_", " "))


_BY_KEY = {_key(task): task for task in TASKS}


def task_of(label: str) -> str:
    """The paper's name of a published label, whatever its case, spaces and dashes; else the label itself.

    >>> task_of("displacement_and_path_length"), task_of("Cooking")
    ('Displacement & Path Length', 'Cooking')
    """
    return _BY_KEY.get(_key(label), label)


def scene_of(clip: str) -> str:
    """The kind of place, read off a clip's name by the released rules, in their order.

    >>> [scene_of(name) for name in ("scene_camera.mp4", "scene0011.mp4", "000123.x.mp4", "12345.mp4")]
    ['outdoor', 'indoor', 'desktop', 'unknown']
    """
    if "camera" in clip:
        return "outdoor"
    if clip.startswith("scene"):
        return "indoor"
    stem = clip.split(".")[0]
    return "desktop" if len(stem) == 6 and stem.isdigit() else "unknown"


LETTERS = "ABCDE"
MAX_SECONDS = 1_000_000


def find_layout(data: Path) -> tuple[Path, ClipFolders]:
    """The question file and the folders of clips, which may be absent.

    Raises:
        DataError: the question file is missing.
    """
    holds = "STI-Bench questions; expected qa.parquet and video/"
    file = published_file(data, "qa.parquet", "STI-Bench/qa.parquet", holds=holds)
    return file, ClipFolders(root=file.parent, beside=data)


def read_questions(file: Path) -> tuple[list[ClipQuestion], list[DataFault]]:
    """Every row that can be asked, in the order of the file, and what is wrong with rows."""
    return unique_rows(
        read_rows(file),
        question_of,
        name_of=lambda number, row: f"{row.get('Video') or 'row'}|{row.get('ID', number)}|row {number}",
        repeats="clip, ID and times",
        faults_of=_faults,
    )


def question_of(row: Mapping[str, Any]) -> ClipQuestion:
    """Read one row; its id is clip, ID and times, by which the released code identifies rows.

    Raises:
        DataError: a column is absent or empty, or its value is invalid.
    """
    for column in ("Video", "ID", "Task", "Question", "Candidates", "Answer", "time_start", "time_end"):
        if row.get(column) in (None, ""):
            raise DataError("absent or empty", field=column)
    options = _options(row["Candidates"])
    if not options:
        raise DataError("no options; expected texts by letter, or the same as JSON text", field="Candidates")
    gold = str(row["Answer"]).strip().upper()
    if gold not in options:
        raise DataError(f"{row['Answer']!r} is none of {', '.join(options)}", field="Answer")
    times = {column: _seconds(row[column], column) for column in ("time_start", "time_end")}
    clip = str(row["Video"])
    scene = str(row.get("scene") or row.get("Scene") or scene_of(clip)).lower()
    return ClipQuestion(
        sample_id=sample_id_of(row),
        task=task_of(str(row["Task"])),
        clip=clip,
        text=str(row["Question"]),
        options=options,
        gold=gold,
        scene=scene if scene in SCENES else "unknown",
        start_s=times["time_start"],
        end_s=times["time_end"],
    )


def sample_id_of(row: Mapping[str, Any]) -> str:
    """The sample's id: an id of the file is unique only together with its clip and its times."""
    return "|".join(str(row.get(column)) for column in ("Video", "ID", "time_start", "time_end"))


def _options(candidates: object) -> dict[str, str]:
    """Texts by letter; records, as poses and boxes are, as JSON text."""
    if isinstance(candidates, str):
        candidates = json_value(candidates)
    if not isinstance(candidates, Mapping):
        return {}
    return {
        letter: text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
        for letter, text in candidates.items()
        if letter in tuple(LETTERS) and text is not None
    }


def _seconds(value: object, column: str) -> float:
    """The number as published: the official prompt prints it."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < MAX_SECONDS:
        return value
    raise DataError(f"{value!r} is no time from 0 to {MAX_SECONDS} s", field=column)


def _faults(question: ClipQuestion) -> list[DataFault]:
    if question.task in TASKS:
        return []
    detail = f"no task {question.task!r} in the paper; it stays a cell of its own"
    return [DataFault(sample_id=question.sample_id, kind="unknown_task", detail=detail)]
