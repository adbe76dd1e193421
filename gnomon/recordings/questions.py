"""Asks STI-Bench's eight tasks of a recording, with truth and wrong options, and writes published rows.

The distance of a wrong option from the right one fits the scene, drawn evenly in its logarithm. STI-Bench
(2025), section 3.2: millimetres to centimetres on a desk, centimetres to decimetres in a room, decimetres to
metres outdoors. The spans and digits here are ours.
"""

import json
import math
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gnomon.core.errors import DataError
from gnomon.core.ids import stable_seed
from gnomon.recordings import truth
from gnomon.recordings.recording import Array, Recording, read_recording
from gnomon.whole_file import require_new_folder
from tools.geometry.kinematics import displacement_m, path_length_m
from tools.geometry.polyline import STRAIGHT_DEG, PolylineTurn, in_words
from tools.geometry.pose import Pose, from_yaw_pitch_roll, rotation_angle_deg, wrapped_deg

WRONG, TRIES = 4, 400

SIZE, RELATION, GROUNDING = "Dimensional Measurement", "Spatial Relation", "3D Video Grounding"
LENGTH, SPEED = "Displacement & Path Length", "Speed & Acceleration"
ORIENTATION, TRAJECTORY, POSE = "Ego-Centric Orientation", "Trajectory Description", "Pose Estimation"
TASKS = (SIZE, RELATION, GROUNDING, LENGTH, SPEED, ORIENTATION, TRAJECTORY, POSE)
Quantity = Literal["m", "m/s", "m/s²", "°"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Grain:
    """The smallest and the largest difference between options, and the digits that they print.

    No option is above `highest` or below `lowest`: where one would be, it is as far on this side.
    """

    low: float
    high: float
    digits: int
    highest: float = math.inf
    lowest: float = -math.inf

    def mirrored(self, number: float) -> float:
        """The number, or as far within the bound that it is beyond."""
        number = 2 * self.lowest - number if number < self.lowest else number
        return 2 * self.highest - number if number > self.highest else number


LENGTHS: Mapping[str, Grain] = {
    "desktop": Grain(0.005, 0.1, 3),
    "indoor": Grain(0.05, 1.0, 2),
    "outdoor": Grain(0.5, 10.0, 2),
}
ANGLES = Grain(5.0, 60.0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """How far options lie apart, by what is asked, and the sides that are offered.

    `is_level`: all stands on level ground, so that wrong boxes and poses have the right one's height.
    `sizes_by_kind`: of objects whose words end so, the grains of length, width and height; they hold bounds.
    """

    lengths: Grain
    sizes: Grain
    speeds: Grain
    accelerations: Grain
    turns: Grain = ANGLES
    sides: tuple[str, ...] = truth.SIDES
    is_level: bool = False
    sizes_by_kind: Mapping[str, tuple[Grain, Grain, Grain]] = field(default_factory=dict)

    def sizes_of(self, words: str) -> tuple[Grain, Grain, Grain]:
        """The grains of the length, the width and the height of what is called so."""
        own = (grains for kind, grains in self.sizes_by_kind.items() if words.endswith(kind))
        return next(own, (self.sizes, self.sizes, self.sizes))

    @classmethod
    def of(cls, scene: str) -> Self:
        """Those of a kind of scene."""
        grain = LENGTHS[scene]
        return cls(lengths=grain, sizes=grain, speeds=grain, accelerations=grain)


class NoDistractors(ValueError):
    """Not enough different wrong options could be drawn."""


def difference(rng: np.random.Generator, grain: Grain) -> float:
    """A difference between the grain's ends, even in its logarithm."""
    return math.exp(rng.uniform(math.log(grain.low), math.log(grain.high)))


def either_way(rng: np.random.Generator, grain: Grain) -> float:
    """A difference with a sign drawn by lot."""
    return difference(rng, grain) * (1 if rng.random() < 0.5 else -1)


def wrong_options(
    rng: np.random.Generator,
    right: T,
    step: Callable[[np.random.Generator, T], T],
    is_sound: Callable[[Sequence[T]], bool],
) -> list[T]:
    """WRONG options that tell nothing by where they lie: all are links of one chain of small steps.

    The right one is a link drawn evenly; steps lead on from it to both sides. As a step and the way back
    are equally likely, any link could have been the first. The chain is drawn anew until all its links
    `is_sound`, which sees the right one first.

    Raises:
        NoDistractors: TRIES draws were not enough.
    """
    for _ in range(TRIES):
        before = int(rng.integers(0, WRONG + 1))
        links = [right]
        for count in (before, WRONG - before):
            link = right
            for _ in range(count):
                link = step(rng, link)
                links.append(link)
        if is_sound(links):
            return links[1:]
    raise NoDistractors(f"no {WRONG} options other than {right!r}")


def wrong_numbers(
    rng: np.random.Generator, truth: float, grain: Grain, *, floor: float = -math.inf
) -> list[float]:
    """WRONG numbers, rounded like the truth; any two of all differ by what the grain says.

    None is below `floor` either: what would be is as far above. How many lie below the truth is as likely to
    be any number, so its rank tells nothing.

    Raises:
        NoDistractors: TRIES draws were not enough.
    """
    bounded = replace(grain, lowest=max(floor, grain.lowest))

    def step(rng: np.random.Generator, number: float) -> float:
        return round(bounded.mirrored(number + either_way(rng, grain)), grain.digits) + 0.0

    def is_sound(numbers: Sequence[float]) -> bool:
        ordered = sorted(numbers)
        gaps = [after - before for before, after in pairwise(ordered)]
        return (
            min(gaps) >= grain.low - 1e-9
            and ordered[-1] - ordered[0] <= grain.high + 1e-9
            and ordered[0] >= bounded.lowest
        )

    return wrong_options(rng, round(truth, grain.digits) + 0.0, step, is_sound)


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
        wrong = wrong_numbers(self.rng, value, grain, floor=-grain.highest if is_signed else 0.0)
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
        wrong = wrong_options(self.rng, told, partial(_bent, grain=grain), partial(_are_paths, grain=grain))
        texts = [in_words(path) for path in wrong]
        return self._draft(TRAJECTORY, question, in_words(legs), texts, (None,))

    def _pose(self) -> Draft:
        grain = self.spans.lengths
        first, last = (truth.pose_at(self.recording, time_s) for time_s in (self.start_s, self.end_s))
        question = (
            f"At {self.start_s:g} s the camera's pose is {_record_of(first)}. What is it at {self.end_s:g} s?"
        )
        step = partial(_moved, spans=self.spans)
        wrong = wrong_options(self.rng, last, step, partial(_are_poses, grain=grain))
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
        step = partial(_shifted, spans=spans, lengths=spans.sizes_of(self._called(name))[0])
        wrong = wrong_options(self.rng, box, step, partial(_are_boxes, spans=spans))
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


def _bent(rng: np.random.Generator, legs: list[PolylineTurn], grain: Grain) -> list[PolylineTurn]:
    """The path with one leg longer or shorter, or one turn wider or narrower; bounds are the whole path's."""
    index = int(rng.integers(len(legs)))
    turn_deg, length_m = legs[index].turn_deg, legs[index].length_m
    if index and rng.random() < 0.5:
        turn_deg = wrapped_deg(turn_deg + either_way(rng, ANGLES))
    else:
        rest_m = math.fsum(leg.length_m for leg in legs) - length_m
        length_m = round(grain.mirrored(rest_m + length_m + either_way(rng, grain)) - rest_m, grain.digits)
    return [*legs[:index], PolylineTurn(turn_deg=turn_deg, length_m=length_m), *legs[index + 1 :]]


def _are_paths(paths: Sequence[list[PolylineTurn]], grain: Grain) -> bool:
    """Whether all legs have a length and all turns are told, and no two paths are alike."""
    return all(
        leg.length_m > grain.low and (number == 0 or abs(leg.turn_deg) >= STRAIGHT_DEG)
        for path in paths[1:]
        for number, leg in enumerate(path)
    ) and all(
        any(
            abs(a.length_m - b.length_m) >= grain.low - 10**-grain.digits
            or abs(wrapped_deg(a.turn_deg - b.turn_deg)) >= ANGLES.low - 1e-9
            for a, b in zip(first, second, strict=True)
        )
        for first, second in combinations(paths, 2)
    )


def _moved(rng: np.random.Generator, pose: Pose, spans: Spans) -> Pose:
    """A pose nearby: moved to any side, and turned about the vertical."""
    turn = from_yaw_pitch_roll(either_way(rng, ANGLES), 0.0, 0.0)
    return Pose(position_m=pose.position_m + _any_way(rng, spans), rotation=turn @ pose.rotation)


def _any_way(rng: np.random.Generator, spans: Spans) -> Array:
    ahead = rng.normal(size=3) * (1.0, 1.0, 0.0 if spans.is_level else 1.0)
    return np.asarray(ahead / np.linalg.norm(ahead) * difference(rng, spans.lengths))


def _are_poses(poses: Sequence[Pose], grain: Grain) -> bool:
    return all(
        np.linalg.norm(first.position_m - second.position_m) >= grain.low
        or rotation_angle_deg(first.rotation.T @ second.rotation) >= ANGLES.low
        for first, second in combinations(poses, 2)
    )


def _shifted(rng: np.random.Generator, box: truth.CameraBox, spans: Spans, lengths: Grain) -> truth.CameraBox:
    """A box nearby: moved to any side, of another length (with as many digits), turned."""
    x, y, z = (np.array(box.centre_m) + _any_way(rng, spans)).tolist()
    length, width, height = box.size_m
    return truth.CameraBox(
        size_m=(lengths.mirrored(length + round(either_way(rng, lengths), lengths.digits)), width, height),
        centre_m=(x, y, z),
        heading_deg=wrapped_deg(box.heading_deg + either_way(rng, ANGLES)),
    )


def _are_boxes(boxes: Sequence[truth.CameraBox], spans: Spans) -> bool:
    return all(box.size_m[0] >= spans.sizes.low for box in boxes[1:]) and all(
        math.dist(first.centre_m, second.centre_m) >= spans.lengths.low
        for first, second in combinations(boxes, 2)
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
