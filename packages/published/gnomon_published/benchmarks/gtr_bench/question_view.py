"""Shows a person a question about cameras: what they saw, the right ones with their times, and an answer.

Times are seconds after midnight, on the clock of the prompt.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.core.clock import NOON_S, clock, day_span
from gnomon.core.question_view import (
    NO_ANSWER,
    Option,
    QuestionView,
    ShownPicture,
    missing_fact,
    ordinal,
    verdict_on_options,
)
from gnomon.core.sample import ImageRef, Sample
from gnomon_published.benchmarks.gtr_bench.case import CAMERA_ID, Case, Clip, as_displayed, body_of
from gnomon_published.benchmarks.gtr_bench.official import option_letter, parse
from gnomon_published.benchmarks.gtr_bench.prompt import guarded_clips
from gnomon_published.benchmarks.gtr_bench.scoring import Span as Interval
from gnomon_published.benchmarks.gtr_bench.scoring import letters_named, read_cameras, spans_named
from gnomon_published.homography import HorizonError, to_ground
from gnomon_tools.core.sketch import Dot, Line, Mark, Sketch, Span
from gnomon_tools.scene.scene import Camera, Scene

SAME_S = 0.05  # middles of intervals that are closer than this are the same in words

_ARROW = " → "
_CLIP_LABEL = re.compile(r"Clip (\d+), (picture \d+ of \d+):")
_CAMERA_LINE = re.compile(r"Camera: (\S+)")


def case_of(sample: Sample) -> Case:
    """The sample's case with the options that its reader saw."""
    return as_displayed(sample.target["case"], sample.target["protocol"])


def question_view(sample: Sample) -> QuestionView:
    """The question with the tracks that the cameras saw, and the right cameras with their times."""
    case = case_of(sample)
    return QuestionView(
        question=" ".join(case.question.split()),
        options=tuple(_options(case)),
        truth_text=_truth_text(case),
        pictures=tuple(_pictures(sample, case)),
        seen=_seen(case, sample.scene),
        truth=Sketch(cameras=right_cameras(case), spans=tuple(right_spans(case))),
        facts={**_scene_facts(sample.scene), **missing_fact(sample)},
    )


def _options(case: Case) -> Iterator[Option]:
    for choice in case.choices:
        places = [number for number, gold in enumerate(case.gold, start=1) if gold == choice]
        right = ", ".join(map(ordinal, places)) if case.task.places > 1 else "right" if places else ""
        yield Option(letter=choice[:1], text=body_of(choice), right=right)


def _truth_text(case: Case) -> str:
    intervals = [day_span(text) for text in case.correct_time_str]
    if intervals:
        pairs = zip(case.gold, intervals, strict=True)
        return "; then ".join(
            f"{choice}, {in_words(interval)}" if interval else choice for choice, interval in pairs
        )
    middle = _middle(case)
    is_told = middle is None or case.task.short == "ATI"
    return case.ground_truth if is_told or middle is None else f"{case.ground_truth} ({in_words(middle)})"


def in_words(interval: Interval) -> str:
    """An interval by the clock.

    >>> in_words((43201.0, 43202.5))
    '12:00:01.000 to 12:00:02.500'
    """
    return " to ".join(clock(end_s - NOON_S) for end_s in interval)


def _middle(case: Case) -> Interval | None:
    """When the camera between two clips saw the target, where the file says it."""
    point = case.raw.get("middle_point")
    time = point.get("time") if isinstance(point, Mapping) else None
    return day_span(time) if isinstance(time, str) else None


def right_cameras(case: Case) -> tuple[str, ...]:
    """The cameras that a right answer is about, in its order: those it names, else the one in between."""
    named = [camera for choice in case.gold for camera in CAMERA_ID.findall(body_of(choice))]
    if named:
        return tuple(named)
    return _middle_cameras(case)


def _middle_cameras(case: Case) -> tuple[str, ...]:
    """Cameras that the question itself names, but for those of the clips."""
    filmed = {clip.camera_id for clip in case.clips}
    mentioned = dict.fromkeys(CAMERA_ID.findall(case.question))
    return tuple(camera for camera in mentioned if camera not in filmed)


def right_spans(case: Case) -> Iterator[Span]:
    """When the right cameras see the target, as far as the file says it."""
    if case.correct_time_str:
        for choice, text in zip(case.gold, case.correct_time_str, strict=True):
            interval = day_span(text)
            if interval:
                yield Span(start_s=interval[0], end_s=interval[1], label=_label(choice))
        return
    if case.task.short == "CR":
        clips = {clip.camera_id: clip for clip in case.clips}
        for camera in right_cameras(case):
            if camera in clips:
                yield clip_span(clips[camera])
        return
    middle = _middle(case) or day_span(body_of(case.ground_truth))
    if middle:
        cameras = right_cameras(case)
        yield Span(start_s=middle[0], end_s=middle[1], label=cameras[0] if cameras else "")


def _label(choice: str) -> str:
    return f"{choice[:1]} {body_of(choice)}"


def clip_span(clip: Clip) -> Span:
    """A clip on the question's clock, with its camera's name."""
    return Span(start_s=clip.start_s + NOON_S, end_s=clip.end_s + NOON_S, label=clip.camera_id)


def _seen(case: Case, scene: Scene | None) -> Sketch:
    cameras = scene.cameras if scene else {}
    tracks = [_track(clip, cameras[clip.camera_id]) for clip in case.clips if clip.camera_id in cameras]
    return Sketch(
        marks=tuple(track for track in tracks if track is not None),
        spans=tuple(map(clip_span, case.clips)),
        cameras=tuple(dict.fromkeys(clip.camera_id for clip in case.clips)),
    )


def _track(clip: Clip, camera: Camera) -> Mark | None:
    """Where the target stood, by the middles of its boxes' lower edges; None without a homography.

    Boxes whose feet are on or beyond the horizon are left out.
    """
    if camera.homography is None or not clip.bboxes:
        return None
    feet_px = np.array([(x + width / 2, y + height) for x, y, width, height in clip.bboxes])
    times_s = np.array(clip.box_times_s()) + NOON_S
    size = camera.image_size
    ground_pixel = (size[0] / 2, float(size[1])) if size else None
    try:
        points_m = to_ground(camera.homography, feet_px, ground_pixel=ground_pixel)
    except HorizonError as error:
        kept = np.setdiff1d(np.arange(len(feet_px)), error.indices)
        if not len(kept):
            return None
        times_s = times_s[kept]
        points_m = to_ground(camera.homography, feet_px[kept], ground_pixel=ground_pixel)
    if not np.isfinite(points_m).all():
        return None
    points = tuple((float(x_m), float(y_m)) for x_m, y_m in points_m)
    if len(points) == 1:
        return Dot(at=points[0], label=clip.camera_id, floor=camera.floor)
    return Line(
        points=points,
        label=clip.camera_id,
        floor=camera.floor,
        times_s=tuple(map(float, times_s)),
        has_arrow=True,
    )


def _pictures(sample: Sample, case: Case) -> Iterator[ShownPicture]:
    """The map and the frames of the prompt; which camera took a frame is said by the text before it."""
    clips = guarded_clips(case)
    camera, number = "", 0
    for part in sample.parts:
        if isinstance(part.content, ImageRef):
            number += 1
            caption = "The map" if part.shown == "map" else camera or f"Picture {number}"
            yield ShownPicture(image=part.content, caption=caption)
        elif not isinstance(part.content, str):
            continue
        elif label := _CLIP_LABEL.fullmatch(part.content):
            camera = f"Camera {clips[int(label[1]) - 1].camera_id}, {label[2]}"
        elif line := _CAMERA_LINE.match(part.content):
            camera = f"Camera {line[1]}"


def _scene_facts(scene: Scene | None) -> dict[str, str]:
    return {"Scene": f"{scene.id}, {len(scene.cameras)} cameras"} if scene else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraAnswer:
    """What an answer says: its letters in order, and the interval of each where it has one.

    There may be more or fewer letters than places: the released scorer takes any number.
    """

    letters: Sequence[str]
    intervals: Sequence[Interval | None]


def read(case: Case, answer: str) -> CameraAnswer | None:
    """An answer as the scorers read it: a whole reply, or the letters or options that were stored of it."""
    places = case.task.places
    cameras = read_cameras(case, answer).value
    if cameras is not None:
        return CameraAnswer(letters=cameras[0], intervals=spans_named(cameras[1], places))
    letters = letters_named(case, answer)
    if letters is None:
        options = parse(answer, timed=True).get("options", []) if "{" in answer else [answer]
        letters = [letter for option in options if (letter := option_letter(option, case.choices))]
    return CameraAnswer(letters=letters, intervals=[None] * len(letters)) if letters else None


def answer_sketch(sample: Sample, answer: str) -> Sketch:
    """The cameras that an answer names and their times, as far as it says them."""
    case = case_of(sample)
    reading = read(case, answer)
    if reading is None:
        return Sketch()
    choices = [_choice(case, letter) for letter in reading.letters]
    cameras = [camera for choice in choices for camera in CAMERA_ID.findall(body_of(choice))]
    intervals = list(reading.intervals)
    labels = [_label(choice) for choice in choices]
    if case.task.short == "ATI":
        intervals = [day_span(body_of(choice)) for choice in choices]
        cameras = list(_middle_cameras(case))
        labels = [choice[:1] for choice in choices]
    return Sketch(
        spans=tuple(
            Span(start_s=interval[0], end_s=interval[1], label=label)
            for interval, label in zip(intervals, labels, strict=True)
            if interval is not None
        ),
        cameras=tuple(dict.fromkeys(cameras)),
    )


def _choice(case: Case, letter: str) -> str:
    return next((choice for choice in case.choices if choice[:1] == letter), letter)


def verdict_in_words(sample: Sample, answer: str, metrics: Mapping[str, float | str | None]) -> str:
    """Which cameras of an answer are right, and by how much its times are off."""
    case = case_of(sample)
    reading = read(case, answer)
    if reading is None:
        return NO_ANSWER
    gold = [choice[:1] for choice in case.gold]
    if list(reading.letters) == gold and metrics.get("MCQacc") == 0.0:
        return f"Answered {', '.join(gold)}, which is right, but not in the form that is scored."
    if case.task.metric == "MCQ_Acc":
        return verdict_on_options(_options(case), reading.letters)
    cameras = _cameras_in_words(case, reading)
    times = _times_in_words(case, reading) or _overlap_in_words(case, metrics)
    return f"{cameras}, {times}." if times else f"{cameras}."


def _cameras_in_words(case: Case, reading: CameraAnswer) -> str:
    gold = [choice[:1] for choice in case.gold]
    if len(reading.letters) != len(gold):
        return f"Answered {', '.join(reading.letters)}, right is {', '.join(case.gold)}"
    hits = [letter == right for letter, right in zip(reading.letters, gold, strict=True)]
    if len(gold) == 1:
        if hits[0]:
            return "Camera right"
        return f"Answered {_choice(case, reading.letters[0])}, right is {case.gold[0]}"
    if all(hits):
        return "Both cameras right" if len(hits) == 2 else "All cameras right"
    if sorted(reading.letters) == sorted(gold):
        return "Right cameras in the wrong order"
    if not any(hits):
        return "Both cameras wrong" if len(hits) == 2 else "All cameras wrong"
    words = [f"{ordinal(number)} {'right' if hit else 'wrong'}" for number, hit in enumerate(hits, start=1)]
    return f"Cameras: {', '.join(words)}"


def _times_in_words(case: Case, reading: CameraAnswer) -> str:
    """By how much the middle of each interval is off; empty where one cannot be compared."""
    offs_s = []
    if len(reading.intervals) != len(case.correct_time_str):
        return ""
    for text, interval in zip(case.correct_time_str, reading.intervals, strict=True):
        right = day_span(text)
        if right is None or interval is None:
            return ""
        offs_s.append((sum(interval) - sum(right)) / 2)
    sides = {"right" if abs(off_s) < SAME_S else "early" if off_s < 0 else "late" for off_s in offs_s}
    if len(offs_s) == 1:
        side = sides.pop()
        return "time right" if side == "right" else f"time {abs(offs_s[0]):.1f} s {side}"
    if sides == {"right"}:
        return "both times right"
    if len(sides) == 1:
        amounts = " and ".join(f"{abs(off_s):.1f} s" for off_s in offs_s)
        return f"both times {sides.pop()}, by {amounts}"
    return "times " + " and ".join(
        "right" if abs(off_s) < SAME_S else f"{abs(off_s):.1f} s {'early' if off_s < 0 else 'late'}"
        for off_s in offs_s
    )


def _overlap_in_words(case: Case, metrics: Mapping[str, float | str | None]) -> str:
    """How far the times overlap the right ones by the scorer's metric, where it is known."""
    overlap = metrics.get("TimeIoU")
    if not isinstance(overlap, int | float):
        return ""
    times, right = ("time", "the right one") if case.task.places == 1 else ("times", "the right ones")
    return f"{times} overlapping {right} by {100 * overlap:.0f} %" if overlap else f"no overlap with {right}"
