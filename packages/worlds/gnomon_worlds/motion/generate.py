"""Writes questions about moving cameras as files, in the layouts of STI-Bench (rides) and UrbanVideo-Bench.

Each camera has a folder of its own with the questions, the clips if they are wanted, and a recording a tour
(docs/motion.md). Questions that need the town's map are left out: the layouts have none.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gnomon.whole_file import PUBLIC, require_new_folder, write_whole
from gnomon_worlds.families.family import FamilyQuestion
from gnomon_worlds.families.family_numbers import FamilyNumber
from gnomon_worlds.motion.sample_making import FLYING, MOTION_TASKS, RIDING, SCENES, DrawnMotion, draw_motion
from gnomon_worlds.motion.tour import Tour, clip_name

FILES = {RIDING: ("qa.parquet", "video"), FLYING: ("MCQ.parquet", "videos")}


def write_tours(
    out: Path,
    *,
    seed: int,
    tours: int,
    has_clips: bool,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, int]:
    """Write the questions of so many tours of each camera; how many there are of each task.

    Raises:
        SpecError: `out` is not new or empty.
    """
    require_new_folder(out)
    counts: dict[str, int] = {}
    for done, camera in enumerate(SCENES):
        rows: list[dict[str, Any]] = []
        file, clips = FILES[camera]
        written: set[str] = set()
        for k in range(tours):
            for number, drawn in _questions(camera, seed, k):
                sample_id, task = number.sample_id, number.family.task
                rows.append(
                    _ride_row(sample_id, task, len(rows), drawn)
                    if camera == RIDING
                    else _flight_row(sample_id, task, drawn)
                )
                counts[number.family.task] = counts.get(number.family.task, 0) + 1
                if drawn.tour.id not in written:
                    written.add(drawn.tour.id)
                    _write_tour(out / camera, clips, drawn.tour, has_clip=has_clips)
            if progress is not None:
                progress(done * tours + k + 1, len(SCENES) * tours)
        (out / camera / clips).mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows), out / camera / file)
    return counts


def _questions(camera: str, seed: int, k: int) -> Iterator[tuple[FamilyNumber[Any], DrawnMotion]]:
    for task in MOTION_TASKS:
        if camera in task.scenes and not task.has_map:
            number = FamilyNumber(task, camera, seed, k)
            yield number, draw_motion(number)


def _write_tour(folder: Path, clips: str, tour: Tour, *, has_clip: bool) -> None:
    recording = tour.recording.model_dump_json(indent=1)
    write_whole(folder / "recordings" / f"{tour.id}.json", recording.encode(), rights=PUBLIC)
    if has_clip:
        from gnomon_worlds.rendering.film import film
        from gnomon_worlds.rendering.tour_clip import TourClip

        clip = TourClip(tour=tour)
        write_whole(folder / clips / clip_name(tour.id), film(clip.pictures(), clip.times_s), rights=PUBLIC)


def _ride_row(sample_id: str, task: str, number: int, drawn: DrawnMotion) -> dict[str, Any]:
    """A row of STI-Bench."""
    question: FamilyQuestion = drawn.question
    start_s, end_s = question.window_s or (0.0, drawn.tour.times_s[-1])
    return {
        "Video": clip_name(drawn.tour.id),
        "ID": number,
        "Source": sample_id,
        "Task": task,
        "Question": question.text,
        "Candidates": json.dumps(dict(question.by_letter), ensure_ascii=False),
        "Answer": question.gold,
        "time_start": start_s,
        "time_end": end_s,
        "scene": "outdoor",
    }


def _flight_row(sample_id: str, task: str, drawn: DrawnMotion) -> dict[str, Any]:
    """A row of UrbanVideo-Bench."""
    question: FamilyQuestion = drawn.question
    options = "\n".join(f"{letter}. {words}" for letter, words in question.by_letter.items())
    return {
        "Question_id": sample_id,
        "video_id": clip_name(drawn.tour.id),
        "question_category": task,
        "question": f"{question.text}\nChoices:\n{options}",
        "answer": question.gold,
    }
