"""Asks STI-Bench's eight tasks of a recording, with truth and wrong options, and writes published rows."""

import json
import math
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gnomon.core.errors import DataError
from gnomon.core.ids import stable_seed
from gnomon.whole_file import require_new_folder
from gnomon_tools.geometry.kinematics import displacement_m, path_length_m
from gnomon_tools.geometry.polyline import PolylineTurn, in_words
from gnomon_tools.geometry.pose import Pose
from gnomon_worlds.recordings import truth
from gnomon_worlds.recordings.recording import Array, Recording, read_recording
from gnomon_worlds.recordings.wrong_options import (
    WRONG,
    Grain,
    NoDistractors,
    Spans,
    are_boxes,
    are_paths,
    are_poses,
    bent,
    difference,
    moved,
    shared_out,
    shifted,
    wrong_numbers,
    wrong_options,
)

SIZE, RELATION, GROUNDING = "Dimensional Measurement", "Spatial Relation", "3D Video Grounding"
LENGTH, SPEED = "Displacement & Path Length", "Speed & Acceleration"
ORIENTATION, TRAJECTORY, POSE = "Ego-Centric Orientation", "Trajectory Description", "Pose Estimation"
TASKS = (SIZE, RELATION, GROUNDING, LENGTH, SPEED, ORIENTATION, TRAJECTORY, POSE)
Quantity = Literal["m", "m/s", "m/s²", "°"]


def lettered(rng: np.random.Generator, truth: str, wrong: Sequence[str]) -> tuple[dict[str, str], str]:
    """The options in an order drawn at random, by letter, and the right letter."""
    texts = [truth, *wrong]
    order = rng.permutation(len(texts))
    options = {"ABCDE"[place]: texts[index] for place, index in enumerate(order)}
    return options, next(letter for letter, text in options.items() if text == truth)


Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A question before its letters are dealt.

    `about` names the objects that it asks about, None for the camera; `at_s` is the moment, where it asks
    about one.
    """

    task: str
    question: str
    right: str
    wrong: list[str]
    start_s: float
    end_s: float
    about: tuple[str | None, ...]
    at_s: float | None = None


class Maker:
    """Makes questions of one recording; the same seed makes the same."""

    def __init__(self, recording: Recording, *, seed: int, spans: Spans | None = None) -> None:
        """`spans`: None for those of the recording's kind of scene."""
        self.recording = recording
        self.rng = np.random.default_rng(stable_seed("motion", recording.id, seed))
        self.spans = spans or Spans.of(recording.scene)
        self.start_s, self.end_s = recording.frames[0].time_s, recording.frames[-1].time_s

    def rows(self) -> list[Row]:
        """One row for each question that the recording can be asked, in the columns of STI-Bench."""
        rows: list[Row] = []
        for draft in self.drafts():
            options, letter = lettered(self.rng, draft.right, draft.wrong)
            rows.append(
                {
                    "Video": self.recording.clip,
                    "ID": len(rows),
                    "Source": self.recording.id,
                    "Task": draft.task,
                    "Question": draft.question,
                    "Candidates": json.dumps(options, ensure_ascii=False),
                    "Answer": letter,
                    "time_start": round(draft.start_s, 3),
                    "time_end": round(draft.end_s, 3),
                    "scene": self.recording.scene,
                }
            )
        return rows

    def drafts(self, tasks: Collection[str] = TASKS) -> Iterator[Draft]:
        """Every question of these tasks that the recording can be asked."""
        makers: list[tuple[str, Callable[[], Draft | None]]] = [
            (ORIENTATION, self._orientation),
            (TRAJECTORY, self._trajectory),
            (POSE, self._pose),
        ]
        for name in (None, *self.recording.objects):
            times_s, positions_m = self.recording.track(name)
            if len(times_s) >= 3:
                makers += [
                    (task, partial(make, name, positions_m, times_s))
                    for task, make in (
                        (LENGTH, self._length_of), (SPEED, self._speed), (SPEED, self._acceleration)
                    )
                ]  # fmt: skip
        for name in self.recording.objects:
            makers += [
                (task, partial(make, name))
                for task, make in (
                    (SIZE, self._size),
                    (GROUNDING, self._grounding),
                    (RELATION, self._relation),
                )
            ]
        for task, make in makers:
            if task not in tasks:
                continue
            try:
                draft = make()
            except NoDistractors:
                continue
            if draft is not None:
                yield draft

    def _called(self, name: str | None) -> str:
        return "the camera" if name is None else self.recording.objects[name]

    def _number(
        self,
        task: str,
        question: str,
        value: float,
        unit: Quantity,
        grain: Grain,
        about: str | None,
        *,
        is_signed: bool = False,
        at_s: float | None = None,
    ) -> Draft:
        lowest = -grain.highest if math.isinf(grain.lowest) else grain.lowest
        wrong = wrong_numbers(self.rng, value, grain, floor=lowest if is_signed else 0.0)
        right, *others = (
            f"{round(number, grain.digits) + 0.0:.{grain.digits}f}{unit}" for number in (value, *wrong)
        )
        return self._draft(task, question, right, others, (about,), at_s)

    def _length_of(self, name: str | None, positions_m: Array, times_s: Array) -> Draft:
        del times_s
        measures = {
            "displacement (straight-line distance)": displacement_m,
            "path length": path_length_m,
        }
        kind = list(measures)[int(self.rng.integers(2))]
        question = f"What is the {kind} of {self._called(name)}?"
        return self._number(LENGTH, question, measures[kind](positions_m), "m", self.spans.lengths, name)

    def _speed(self, name: str | None, positions_m: Array, times_s: Array) -> Draft:
        question = f"What is the average speed of {self._called(name)}?"
        value = truth.average_speed(positions_m, times_s)
        return self._number(SPEED, question, value, "m/s", self.spans.speeds, name)

    def _acceleration(self, name: str | None, positions_m: Array, times_s: Array) -> Draft:
        question = f"What is the average acceleration of {self._called(name)}?"
        value = truth.average_acceleration(positions_m, times_s)
        return self._number(SPEED, question, value, "m/s²", self.spans.accelerations, name, is_signed=True)

    def _orientation(self) -> Draft:
        question = "By how much does the camera's direction, seen from above, change? Left is positive."
        value = truth.orientation_change_deg(self.recording, self.start_s, self.end_s)
        return self._number(ORIENTATION, question, value, "°", self.spans.turns, None, is_signed=True)

    def _trajectory(self) -> Draft:
        grain = self.spans.lengths
        legs = truth.trajectory(self.recording.track(None)[1], grain.low * 2)
        question = "Which option describes the camera's path best?"
        told = legs or [PolylineTurn(turn_deg=0.0, length_m=difference(self.rng, grain))]
        step = partial(shared_out if self.spans.are_alike else bent, grain=grain)
        wrong = wrong_options(self.rng, told, step, partial(are_paths, grain=grain))
        texts = [in_words(path) for path in wrong]
        return self._draft(TRAJECTORY, question, in_words(legs), texts, (None,))

    def _pose(self) -> Draft:
        grain = self.spans.lengths
        first, last = (truth.pose_at(self.recording, time_s) for time_s in (self.start_s, self.end_s))
        question = (
            f"At {self.start_s:g} s the camera's pose is {_record_of(first)}. What is it at {self.end_s:g} s?"
        )
        step = partial(moved, spans=self.spans)
        wrong = wrong_options(self.rng, last, step, partial(are_poses, grain=grain))
        return self._draft(POSE, question, _record_of(last), [_record_of(pose) for pose in wrong], (None,))

    def _size(self, name: str) -> Draft | None:
        frame = next((frame for frame in self.recording.frames if name in frame.boxes), None)
        if frame is None:
            return None
        side = int(self.rng.integers(4))
        if side == 3:
            question = f"How far is {self._called(name)} from the camera at {frame.time_s:g} s?"
            value = truth.distance_m(frame.boxes[name], frame.camera.pose())
            return self._number(SIZE, question, value, "m", self.spans.lengths, name, at_s=frame.time_s)
        question = f"What is the {('length', 'width', 'height')[side]} of {self._called(name)}?"
        value = frame.boxes[name].size_m[side]
        grain = self.spans.sizes_of(self._called(name))[side]
        return self._number(SIZE, question, value, "m", grain, name, at_s=frame.time_s)

    def _grounding(self, name: str) -> Draft | None:
        frames = [frame for frame in self.recording.frames if name in frame.boxes]
        if not frames:
            return None
        frame = frames[int(self.rng.integers(len(frames)))]
        box = truth.camera_box(self.recording, frame, name)
        question = (
            f"What is the 3D box of {self._called(name)} at {frame.time_s:g} s, in camera coordinates"
            " (x ahead, y left, z up; length, width, height; heading in degrees)?"
        )
        spans = self.spans
        step = partial(shifted, spans=spans, lengths=spans.sizes_of(self._called(name))[0])
        wrong = wrong_options(self.rng, box, step, partial(are_boxes, spans=spans))
        return self._draft(GROUNDING, question, _box(box), [*map(_box, wrong)], (name,), frame.time_s)

    def _relation(self, name: str) -> Draft | None:
        for frame in self.recording.frames:
            for other in frame.boxes:
                side = truth.relation(self.recording, frame, name, other) if name in frame.boxes else None
                if side not in self.spans.sides or other == name:
                    continue
                question = (
                    f"Seen from the camera at {frame.time_s:g} s, on which side of {self._called(other)} is"
                    f" {self._called(name)}? Front is nearer to the camera."
                )
                others = [text for text in self.spans.sides if text != side]
                wrong = [str(text) for text in self.rng.permutation(others)[:WRONG]]
                return self._draft(RELATION, question, side, wrong, (name, other), frame.time_s)
        return None

    def _draft(
        self,
        task: str,
        question: str,
        right: str,
        wrong: list[str],
        about: tuple[str | None, ...],
        at_s: float | None = None,
    ) -> Draft:
        return Draft(
            task=task,
            question=question,
            right=right,
            wrong=wrong,
            start_s=self.start_s,
            end_s=self.end_s,
            about=about,
            at_s=at_s,
        )


def _record_of(pose: Pose) -> str:
    names = [f"r{row}{column}" for row in (1, 2, 3) for column in (1, 2, 3)]
    numbers = dict(zip(("tx", "ty", "tz"), pose.position_m.tolist(), strict=True))
    numbers |= dict(zip(names, pose.rotation.ravel().tolist(), strict=True))
    return json.dumps({name: round(number, 2) + 0.0 for name, number in numbers.items()})


def _box(box: truth.CameraBox) -> str:
    record = {
        "C_lwh": [round(side, 3) for side in box.size_m],
        "C_central_point": [round(side, 3) + 0.0 for side in box.centre_m],
        "C_heading": round(box.heading_deg, 1) + 0.0,
    }
    return json.dumps(record)


def write_questions(recordings: Sequence[Path], out: Path, *, seed: int = 0) -> dict[str, int]:
    """Write `qa.parquet` and `video/`; how many questions there are of each task.

    A recording names its clip beside it; clips that are not there are left out, and their questions stay.

    Raises:
        DataError: a file is no recording, or two name one clip.
        SpecError: `out` is not new or empty.
    """
    require_new_folder(out)
    rows: list[Row] = []
    clips: dict[str, Path] = {}
    for path in recordings:
        recording = read_recording(path)
        if recording.clip in clips or PurePosixPath(recording.clip).name != recording.clip:
            raise DataError(
                f"{path.name}: {recording.clip!r} is a path, or another recording's", field="clip"
            )
        clips[recording.clip] = path.parent / recording.clip
        rows += Maker(recording, seed=seed).rows()
    (out / "video").mkdir(parents=True)
    for name, source in clips.items():
        if source.is_file():
            shutil.copyfile(source, out / "video" / name)
    pq.write_table(pa.Table.from_pylist(rows), out / "qa.parquet")
    tasks = [row["Task"] for row in rows]
    return {task: tasks.count(task) for task in sorted(set(tasks))}
