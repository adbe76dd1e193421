"""Asks STI-Bench's eight tasks of a recording, with truth and wrong options, and writes published rows.

The distance of a wrong option from the right one fits the scene, drawn evenly in its logarithm. STI-Bench
(2025), section 3.2: millimetres to centimetres on a desk, centimetres to decimetres in a room, decimetres to
metres outdoors. The spans and digits here are ours.
"""

import json
import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gnomon.core.errors import DataError, SpecError
from gnomon.core.ids import stable_seed
from gnomon.recordings import truth
from gnomon.recordings.recording import Array, Recording, read_recording
from tools.geometry.kinematics import displacement_m, path_length_m
from tools.geometry.polyline import PolylineTurn, in_words
from tools.geometry.pose import Pose, from_yaw_pitch_roll

WRONG = 4
TRIES = 200

Quantity = Literal["m", "m/s", "m/s²", "°"]


@dataclass(frozen=True, slots=True)
class Grain:
    """The smallest and the largest difference from the truth, and the digits that options print."""

    low: float
    high: float
    digits: int


LENGTHS: Mapping[str, Grain] = {
    "desktop": Grain(0.005, 0.1, 3),
    "indoor": Grain(0.05, 1.0, 2),
    "outdoor": Grain(0.5, 10.0, 2),
}
ANGLES = Grain(5.0, 60.0, 0)


class NoDistractors(ValueError):
    """Not enough different wrong options could be drawn."""


def difference(rng: np.random.Generator, grain: Grain) -> float:
    """A difference between the grain's ends, even in its logarithm."""
    return math.exp(rng.uniform(math.log(grain.low), math.log(grain.high)))


def wrong_numbers(
    rng: np.random.Generator, truth: float, grain: Grain, *, floor: float = -math.inf
) -> list[float]:
    """WRONG numbers, rounded like the truth, all different and none below `floor`.

    How many lie below the truth is drawn first, evenly, so that its rank among the options tells nothing;
    where the floor is near, fewer fit below.

    Raises:
        NoDistractors: TRIES draws were not enough.
    """
    below = int(rng.integers(0, WRONG + 1))
    numbers: list[float] = []
    for attempt in range(TRIES):
        is_below = len(numbers) < below and attempt < TRIES // 2
        step = difference(rng, grain)
        wrong = round(truth - step if is_below else truth + step, grain.digits)
        if wrong >= floor and wrong not in numbers and wrong != round(truth, grain.digits):
            numbers.append(wrong)
        if len(numbers) == WRONG:
            return numbers
    raise NoDistractors(f"no {WRONG} numbers other than {truth:g}")


def wrong_texts(
    rng: np.random.Generator, truth: str, draw: Callable[[np.random.Generator], str]
) -> list[str]:
    """WRONG different texts by `draw`, none of them the truth.

    Raises:
        NoDistractors: TRIES draws were not enough.
    """
    texts: dict[str, None] = {}
    for _ in range(TRIES):
        text = draw(rng)
        if text != truth:
            texts[text] = None
        if len(texts) == WRONG:
            return list(texts)
    raise NoDistractors(f"no {WRONG} texts other than {truth!r}")


def lettered(rng: np.random.Generator, truth: str, wrong: Sequence[str]) -> tuple[dict[str, str], str]:
    """The options in an order drawn at random, by letter, and the right letter."""
    texts = [truth, *wrong]
    order = rng.permutation(len(texts))
    options = {"ABCDE"[place]: texts[index] for place, index in enumerate(order)}
    return options, next(letter for letter, text in options.items() if text == truth)


Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A question before its letters are dealt."""

    task: str
    question: str
    right: str
    wrong: list[str]
    start_s: float
    end_s: float


class Maker:
    """Makes questions of one recording; the same seed makes the same."""

    def __init__(self, recording: Recording, *, seed: int) -> None:
        self.recording = recording
        self.rng = np.random.default_rng(stable_seed("motion", recording.id, seed))
        self.grain = LENGTHS[recording.scene]
        self.start_s, self.end_s = recording.frames[0].time_s, recording.frames[-1].time_s

    def rows(self) -> list[Row]:
        """One row for each question that the recording can be asked, in the columns of STI-Bench."""
        rows: list[Row] = []
        for draft in self._drafts():
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

    def _drafts(self) -> Iterator[Draft]:
        makers: list[Callable[[], Draft | None]] = [self._orientation, self._trajectory, self._pose]
        for name in (None, *self.recording.objects):
            times_s, positions_m = self.recording.track(name)
            if len(times_s) >= 3:
                moving = (self._length_of, self._speed, self._acceleration)
                makers += [partial(make, name, positions_m, times_s) for make in moving]
        for name in self.recording.objects:
            makers += [partial(make, name) for make in (self._size, self._grounding, self._relation)]
        for make in makers:
            try:
                draft = make()
            except NoDistractors:
                continue
            if draft is not None:
                yield draft

    def _called(self, name: str | None) -> str:
        return "the camera" if name is None else self.recording.objects[name]

    def _number(self, task: str, question: str, value: float, unit: str, *, signed: bool = False) -> Draft:
        grain = ANGLES if unit == "°" else self.grain
        wrong = wrong_numbers(self.rng, value, grain, floor=-np.inf if signed else 0.0)
        right, *others = (
            f"{round(number, grain.digits):.{grain.digits}f}{unit}" for number in (value, *wrong)
        )
        return Draft(
            task=task, question=question, right=right, wrong=others, start_s=self.start_s, end_s=self.end_s
        )

    def _length_of(self, name: str | None, positions_m: Array, times_s: Array) -> Draft:
        del times_s
        measures = {
            "displacement (straight-line distance)": displacement_m,
            "path length": path_length_m,
        }
        kind = list(measures)[int(self.rng.integers(2))]
        question = f"What is the {kind} of {self._called(name)}?"
        return self._number("Displacement & Path Length", question, measures[kind](positions_m), "m")

    def _speed(self, name: str | None, positions_m: Array, times_s: Array) -> Draft:
        question = f"What is the average speed of {self._called(name)}?"
        return self._number(
            "Speed & Acceleration", question, truth.average_speed(positions_m, times_s), "m/s"
        )

    def _acceleration(self, name: str | None, positions_m: Array, times_s: Array) -> Draft:
        question = f"What is the average acceleration of {self._called(name)}?"
        value = truth.average_acceleration(positions_m, times_s)
        return self._number("Speed & Acceleration", question, value, "m/s²", signed=True)

    def _orientation(self) -> Draft:
        question = "By how much does the camera's direction, seen from above, change? Left is positive."
        value = truth.orientation_change_deg(self.recording, self.start_s, self.end_s)
        return self._number("Ego-Centric Orientation", question, value, "°", signed=True)

    def _trajectory(self) -> Draft:
        legs = truth.trajectory(self.recording.track(None)[1], self.grain.low * 2)
        question = "Which option describes the camera's path best?"
        wrong = wrong_texts(self.rng, in_words(legs), lambda rng: in_words(_bent(legs, rng, self.grain)))
        return self._draft("Trajectory Description", question, in_words(legs), wrong)

    def _pose(self) -> Draft:
        first, last = (truth.pose_at(self.recording, time_s) for time_s in (self.start_s, self.end_s))
        question = (
            f"At {self.start_s:g} s the camera's pose is {_record_of(first)}. What is it at {self.end_s:g} s?"
        )
        wrong = wrong_texts(self.rng, _record_of(last), lambda rng: _record_of(_moved(last, rng, self.grain)))
        return self._draft("Pose Estimation", question, _record_of(last), wrong)

    def _size(self, name: str) -> Draft | None:
        frame = next((frame for frame in self.recording.frames if name in frame.boxes), None)
        if frame is None:
            return None
        side = int(self.rng.integers(4))
        if side == 3:
            question = f"How far is {self._called(name)} from the camera at {frame.time_s:g} s?"
            value = truth.distance_m(frame.boxes[name], frame.camera.pose())
        else:
            question = f"What is the {('length', 'width', 'height')[side]} of {self._called(name)}?"
            value = frame.boxes[name].size_m[side]
        return self._number("Dimensional Measurement", question, value, "m")

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
        wrong = wrong_texts(self.rng, _box(box), lambda rng: _box(_shifted(box, rng, self.grain)))
        return self._draft("3D Video Grounding", question, _box(box), wrong)

    def _relation(self, name: str) -> Draft | None:
        for frame in self.recording.frames:
            for other in frame.boxes:
                side = truth.relation(self.recording, frame, name, other) if name in frame.boxes else None
                if side is None or other == name:
                    continue
                question = (
                    f"Seen from the camera at {frame.time_s:g} s, on which side of {self._called(other)} is"
                    f" {self._called(name)}? Front is nearer to the camera."
                )
                others = [text for text in truth.SIDES if text != side]
                wrong = [str(text) for text in self.rng.permutation(others)[:4]]
                return self._draft("Spatial Relation", question, side, wrong)
        return None

    def _draft(self, task: str, question: str, right: str, wrong: list[str]) -> Draft:
        return Draft(
            task=task, question=question, right=right, wrong=wrong, start_s=self.start_s, end_s=self.end_s
        )


def _bent(legs: list[PolylineTurn], rng: np.random.Generator, grain: Grain) -> list[PolylineTurn]:
    """Another path: one leg longer or shorter, and another turn, or one where there is none."""
    wrong = list(legs) or [PolylineTurn(turn_deg=0.0, length_m=difference(rng, grain))]
    index = int(rng.integers(len(wrong)))
    step_m = difference(rng, grain) * rng.choice((-1, 1))
    length_m = wrong[index].length_m + (step_m if wrong[index].length_m + step_m > grain.low else abs(step_m))
    wrong[index] = PolylineTurn(turn_deg=wrong[index].turn_deg, length_m=round(length_m, grain.digits))
    turn_deg = float(rng.choice((-1, 1)) * (15 + difference(rng, ANGLES)))
    if len(wrong) > 1:
        turned = int(rng.integers(1, len(wrong)))
        wrong[turned] = PolylineTurn(turn_deg=turn_deg, length_m=wrong[turned].length_m)
    elif rng.random() < 0.5:
        wrong.append(PolylineTurn(turn_deg=turn_deg, length_m=round(difference(rng, grain), grain.digits)))
    return wrong


def _moved(pose: Pose, rng: np.random.Generator, grain: Grain) -> Pose:
    """A pose nearby: moved to any side, and turned about the vertical."""
    ahead = rng.normal(size=3)
    turn = from_yaw_pitch_roll(float(rng.choice((-1, 1)) * difference(rng, ANGLES)), 0.0, 0.0)
    return Pose(
        position_m=pose.position_m + ahead / np.linalg.norm(ahead) * difference(rng, grain),
        rotation=turn @ pose.rotation,
    )


def _shifted(box: truth.CameraBox, rng: np.random.Generator, grain: Grain) -> truth.CameraBox:
    """A box nearby: moved to any side, of another length, turned."""
    ahead = rng.normal(size=3)
    x, y, z = (np.array(box.centre_m) + ahead / np.linalg.norm(ahead) * difference(rng, grain)).tolist()
    length, width, height = box.size_m
    stretched = length + difference(rng, grain) * (1 if rng.random() < 0.5 or length < 2 * grain.high else -1)
    turn_deg = float(rng.choice((-1, 1)) * difference(rng, ANGLES))
    return truth.CameraBox(
        size_m=(stretched, width, height), centre_m=(x, y, z), heading_deg=box.heading_deg + turn_deg
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
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SpecError(f"{out} is not a new or empty folder", field="--out")
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
