"""Reads and checks one published question of GTR-Bench, and gives the options that a prompt lists."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
    model_validator,
)

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.clock import NOON_S, clock_span, day_span
from gnomon.core.errors import DataError

Box = tuple[float, float, float, float]  # x, y, width, height in pixels, y down
Metric = Literal["MCQ_Acc", "ST-IoU"]

M = TypeVar("M", bound="_Published")

CAMERA_ID = re.compile(r"\bc\d+\b", re.ASCII)
_CHOICE = re.compile(r"([A-Z])\. (.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task: its name in the files, in the paper's tables, its metric and how many places an answer has."""

    task_id: str
    short: str
    metric: Metric
    places: int = 1


TASKS: Mapping[str, Task] = {
    task.task_id: task
    for task in (
        Task(task_id="GeoLocation", short="GL", metric="MCQ_Acc"),
        Task(task_id="ArrivalTimeInterval", short="ATI", metric="MCQ_Acc"),
        Task(task_id="MotionState", short="MS", metric="MCQ_Acc"),
        Task(task_id="CausalReordering", short="CR", metric="MCQ_Acc"),
        Task(task_id="NextSpotForecasting", short="NSF", metric="ST-IoU"),
        Task(task_id="TrajectoryForecasting", short="TF", metric="ST-IoU", places=2),
        Task(task_id="MultiTargetTrajectoryForecasting", short="MTTF", metric="ST-IoU"),
    )
}
TASK_NAMES: Mapping[str, str] = {  # as reports spell them out: ATI is the arrival time interval
    task.short: re.sub(r"(?<=[a-z])(?=[A-Z])", " ", task.task_id).lower() for task in TASKS.values()
}
# The released scorer keeps 0 as the TimeIoU of questions without a time.
METRIC_TASKS = {"TimeIoU": frozenset(task.task_id for task in TASKS.values() if task.metric == "ST-IoU")}
SCENES = ("outdoor", "indoor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """What one camera saw of one target: a box at each frame, times in seconds after 12:00:00."""

    camera_id: str
    object_id: str
    frame_ids: tuple[int, ...]
    bboxes: tuple[Box, ...]
    start_s: float
    end_s: float
    direction: str = ""
    video_path: str = ""

    def box_times_s(self) -> tuple[float, ...]:
        """The time of each box, spread from start to end by frame number.

        >>> Clip(camera_id="c1", object_id="7", frame_ids=(10, 15, 20), bboxes=((0, 0, 1, 1),) * 3,
        ...      start_s=1.0, end_s=3.0).box_times_s()
        (1.0, 2.0, 3.0)
        """
        first, last = self.frame_ids[0], self.frame_ids[-1]
        span = max(last - first, 1)
        return tuple(
            self.start_s + (frame - first) / span * (self.end_s - self.start_s) for frame in self.frame_ids
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question with its gold answer. Choices are `"A. body"`; `raw` is the published object, unread.

    Gold is `ground_truth` (a whole choice) for multiple choice, and for forecasting the parallel
    `correct_cam_name` (whole choices) and `correct_time_str` (`HH:MM:SS.mmm-HH:MM:SS.mmm`).
    """

    scene: str
    task_id: str
    choices: tuple[str, ...]
    case_id: str = ""
    map_image_path: str = ""
    clips: tuple[Clip, ...] = ()
    question: str = ""
    ground_truth: str = ""
    correct_cam_name: tuple[str, ...] = ()
    correct_time_str: tuple[str, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    clip_order: tuple[int, ...] = ()  # places of the clips as the guarded prompt shows them; empty: drawn

    @property
    def task(self) -> Task:
        return TASKS[self.task_id]

    @property
    def cell(self) -> str:
        """The column of the paper's table, such as `indoor.GL`."""
        return f"{self.scene}.{self.task.short}"

    @property
    def gold(self) -> tuple[str, ...]:
        """The right choices in full: one, or as many as the task has places."""
        return (self.ground_truth,) if self.task.metric == "MCQ_Acc" else self.correct_cam_name


def body_of(choice: str) -> str:
    """A choice without its letter; a text without one stays as it is.

    >>> body_of("B. c09"), body_of("c09")
    ('c09', 'c09')
    """
    match = _CHOICE.fullmatch(choice)
    return match[2] if match else choice


class _Published(BaseModel):
    """Base of what the files hold: fields that are not read may be present."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _PublishedClip(_Published):
    camera_id: str = Field(min_length=1)
    object_id: int | str
    frame_ids: list[int] = Field(min_length=1)
    bboxes: list[tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat]]
    start_timestamp: FiniteFloat
    end_timestamp: FiniteFloat
    direction: str = ""
    video_path: str = ""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if len(self.bboxes) != len(self.frame_ids):
            raise ValueError(f"{len(self.frame_ids)} frame_ids but {len(self.bboxes)} bboxes")
        if sorted(set(self.frame_ids)) != self.frame_ids:
            raise ValueError("frame_ids must ascend")
        if self.end_timestamp < self.start_timestamp:
            raise ValueError("end_timestamp is before start_timestamp")
        return self

    def clip(self) -> Clip:
        return Clip(
            camera_id=self.camera_id,
            object_id=str(self.object_id),
            frame_ids=tuple(self.frame_ids),
            bboxes=tuple(self.bboxes),
            start_s=self.start_timestamp,
            end_s=self.end_timestamp,
            direction=self.direction,
            video_path=self.video_path,
        )


def _known_task(task_id: str) -> str:
    if task_id not in TASKS:
        raise ValueError(f"no {task_id!r}; allowed: {', '.join(TASKS)}")
    return task_id


class _PublishedGold(_Published):
    """The fields of a case that scoring reads."""

    task_id: Annotated[str, AfterValidator(_known_task)]
    choices: list[str] = Field(min_length=1)
    ground_truth: str | None = None
    correct_cam_name: list[str] | None = None
    correct_time_str: list[str] | None = None

    @model_validator(mode="after")
    def _has_gold(self) -> Self:
        task = TASKS[self.task_id]
        if task.metric == "MCQ_Acc":
            if not self.ground_truth:
                raise ValueError(f"{self.task_id} needs a ground_truth")
        elif not (len(self.correct_cam_name or ()) == len(self.correct_time_str or ()) == task.places):
            raise ValueError(
                f"{self.task_id} needs correct_cam_name and correct_time_str of {task.places} each"
            )
        return self


class _PublishedCase(_PublishedGold):
    case_id: Annotated[str, Field(min_length=1)]
    question: str
    map_image_path: str = ""
    camera_images: list[_PublishedClip] = Field(min_length=1)

    @model_validator(mode="after")
    def _choices_are_regular(self) -> Self:
        letters = [choice[:3] for choice in self.choices]
        if letters != [f"{chr(ord('A') + i)}. " for i in range(len(letters))]:
            raise ValueError(f"choices must begin with 'A. ', 'B. ' and so on, got {letters}")
        gold = [self.ground_truth] if TASKS[self.task_id].metric == "MCQ_Acc" else self.correct_cam_name
        for choice in gold or ():
            if choice not in self.choices:
                raise ValueError(f"the gold {choice!r} is not among the choices")
        return self


def case_from_json(obj: object, scene: str) -> Case:
    """A whole published case.

    Raises:
        DataError: a field is absent or malformed; the message names the first such field and what is wrong.
    """
    published = _checked(_PublishedCase, obj)
    return Case(
        scene=scene,
        case_id=published.case_id,
        map_image_path=published.map_image_path,
        clips=tuple(clip.clip() for clip in published.camera_images),
        question=published.question,
        **_gold_fields(published, obj),
    )


def gold_from_json(obj: object, scene: str = "") -> Case:
    """The part of a published case that scoring reads; everything else may be absent or broken.

    Raises:
        DataError: `task_id`, `choices` or the gold fields are absent or malformed.
    """
    return Case(scene=scene, **_gold_fields(_checked(_PublishedGold, obj), obj))


def _gold_fields(published: _PublishedGold, obj: object) -> dict[str, Any]:
    return {
        "task_id": published.task_id,
        "choices": tuple(published.choices),
        "ground_truth": published.ground_truth or "",
        "correct_cam_name": tuple(published.correct_cam_name or ()),
        "correct_time_str": tuple(published.correct_time_str or ()),
        "raw": obj if isinstance(obj, Mapping) else {},
    }


def _checked(model: type[M], obj: object) -> M:
    try:
        return model.model_validate(obj)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError(first["msg"].removeprefix("Value error, "), field=field) from None


GRID_S = 0.1  # published false intervals are multiples of it, the true one is not


def displayed_choices(case: Case, protocol: PromptProtocol) -> tuple[str, ...]:
    """The options as the prompt of that protocol lists them, letters included.

    Official: as published. Guarded: arrival intervals all rounded to 0.1 s, orders of cameras that are in no
    clip left out, and options of equal text listed once, with letters given anew.

    >>> case = Case(scene="indoor", task_id="ArrivalTimeInterval",
    ...             choices=("A. 12:00:01.000-12:00:02.000", "B. 12:00:01.486-12:00:02.013"))
    >>> displayed_choices(case, "guarded")[1]
    'B. 12:00:01.500-12:00:02.000'
    """
    if protocol == "official":
        return case.choices
    possible = [choice for choice in case.choices if not _names_unfilmed_camera(case, choice)]
    bodies = dict.fromkeys(_guarded_body(case, choice) for choice in possible)
    return tuple(f"{chr(ord('A') + index)}. {body}" for index, body in enumerate(bodies))


def as_displayed(case: Case, protocol: PromptProtocol) -> Case:
    """The case with the options that its reader saw, the right ones among them."""
    if protocol == "official":
        return case
    choices = displayed_choices(case, protocol)
    by_body = {body_of(choice): choice for choice in choices}
    return replace(
        case,
        choices=choices,
        ground_truth=by_body.get(_guarded_body(case, case.ground_truth), ""),
        correct_cam_name=tuple(by_body.get(_guarded_body(case, name), "") for name in case.correct_cam_name),
    )


def _names_unfilmed_camera(case: Case, choice: str) -> bool:
    """Whether an order of the clips names a camera that filmed none of them, which its text alone shows."""
    filmed = {clip.camera_id for clip in case.clips}
    return case.task.short == "CR" and bool(filmed) and not filmed.issuperset(CAMERA_ID.findall(choice))


def _guarded_body(case: Case, choice: str) -> str:
    body = " ".join(body_of(choice).split())
    span = day_span(body) if case.task.short == "ATI" else None
    if span is None:
        return body
    start_s, end_s = (round(round(end / GRID_S) * GRID_S - NOON_S, 3) for end in span)
    return clock_span(start_s, end_s)
