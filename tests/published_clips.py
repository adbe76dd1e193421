"""Small UrbanVideo-Bench and STI-Bench in their published layouts, with clips that number their frames."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.numbered import write_clip

URBAN_ROWS: list[dict[str, Any]] = [
    {
        "Question_id": 0,
        "video_id": "fly_1.mp4",
        "question_category": "Proximity",
        "question": "How far is the tower now?\nChoices:\nA. It is farther.\nB. It is nearer.\nC. As before.",
        "answer": "B",
    },
    {
        "Question_id": 1,
        "video_id": "fly_2.mp4",
        "question_category": "Action Generation",
        "question": "Navigation goal: the roof. What is next?\nChoose:\n"
        + "\n".join(f"{letter}. Action {letter}" for letter in "ABCDEFG"),
        "answer": "F",
    },
    {
        "Question_id": 2,
        "video_id": "fly_1.mp4",
        "question_category": "Causal",
        "question": "Why did the drone turn?",
        "answer": "A",
    },
]

STI_ROWS: list[dict[str, Any]] = [
    {
        "Video": "camera_7.mp4",
        "ID": 3,
        "Source": "Waymo",
        "Task": "Speed & Acceleration",
        "Question": "What is the average speed of the camera?",
        "Candidates": '{"A": "0.13m/s", "B": "0.44m/s", "C": "0.15m/s", "D": "0.42m/s", "E": "0.24m/s"}',
        "Answer": "D",
        "time_start": 1.0,
        "time_end": 3.5,
    },
    {
        "Video": "000123.mp4",
        "ID": 3,
        "Source": "Omni6DPose",
        "Task": "3D Video Grounding",
        "Question": "Where is the bag?",
        "Candidates": '{"A": {"C_lwh": [1, 2, 3]}, "B": {"C_lwh": [3, 2, 1]}, '
        '"C": "near", "D": "far", "E": "behind"}',
        "Answer": "A",
        "time_start": 0.0,
        "time_end": 2.0,
    },
]


def publish_urban(folder: Path, rows: list[dict[str, Any]] = URBAN_ROWS, *, clips: bool = True) -> Path:
    """`MCQ.parquet` and `videos/`: 70 frames at 10 a second, and 33."""
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / "MCQ.parquet")
    if clips:
        write_clip(folder / "videos" / "fly_1.mp4", 70)
        write_clip(folder / "videos" / "fly_2.mp4", 33)
    return folder


def publish_sti(folder: Path, rows: list[dict[str, Any]] = STI_ROWS, *, clips: bool = True) -> Path:
    """`qa.parquet` and `video/`: 59 frames at 10 a second, and 95."""
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / "qa.parquet")
    if clips:
        write_clip(folder / "video" / "camera_7.mp4", 59)
        write_clip(folder / "video" / "000123.mp4", 95)
    return folder
