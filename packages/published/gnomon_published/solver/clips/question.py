"""Reads the question from the text that every model gets."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from gnomon.core.clock import clocks_told_s
from gnomon.core.message import Message
from gnomon_agents.models.reference.guessing import Option, asked_text, options_in

Box = tuple[float, float, float, float]  # x, y, width, height in pixels

_TIME = r"(\d{1,2}):(\d{2}):(\d{2}(?:\.\d+)?)"
SPAN_OR_LENGTH = rf"(?:{_TIME}-{_TIME}|lasting ([\d.]+) s)"  # seven groups, as `clip_of` takes them
_CLIP = re.compile(rf"^Clip \d+: camera (\S+), target (\S+), {SPAN_OR_LENGTH}\s*$")
_BOX = re.compile(rf"^\s*(?:{_TIME}|\+?([\d.]+) s) box x=(-?[\d.]+) y=(-?[\d.]+) w=([\d.]+) h=([\d.]+)\s*$")
_SPAN = re.compile(rf"{_TIME}\s*-\s*{_TIME}")
_SIGHTING = re.compile(rf"\(([\w-]+), ?{SPAN_OR_LENGTH}\)")
_MENTION = re.compile(r"\bcamera ([\w-]*\d[\w-]*)|\(([\w-]+), ?\d{1,2}:\d{2}:")


class Kind(StrEnum):
    """What a question wants to know, by its wording."""

    PASSED_CAMERA = "which camera lies between"
    PASSING_TIME = "when it passed a camera"
    MOTION = "how it moved"
    ORDER = "in which order"
    NEXT_CAMERA = "which camera comes next"
    NEXT_TWO = "which two cameras come next"
    MEETING = "where two targets meet"
    OTHER = "something else"


_WORDING: tuple[tuple[Kind, str], ...] = (
    (Kind.NEXT_TWO, r"next two cameras"),
    (Kind.NEXT_CAMERA, r"capture the target next"),
    (Kind.MEETING, r"\bmeet\b"),
    (Kind.ORDER, r"correct order"),
    (Kind.MOTION, r"motion state"),
    (Kind.PASSING_TIME, r"(?:time period|when) (?:when )?the target appears|time period"),
    (Kind.PASSED_CAMERA, r"which camera the target passed"),
)
KEPT_TEXTS = 64  # whose clips are kept: all turns of a trial read the same text, and so do its arms
TIMES_WANTED = {Kind.NEXT_CAMERA: 1, Kind.MEETING: 1, Kind.NEXT_TWO: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """What one camera saw of one target. Seconds count from midnight, or from the clip's start where
    the question withholds the clock (`start_s` is None then).
    """

    camera: str
    target: str
    start_s: float | None
    lasting_s: float
    boxes: tuple[Box, ...]
    times_s: tuple[float, ...]

    @property
    def end_s(self) -> float | None:
        return None if self.start_s is None else self.start_s + self.lasting_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question, its clips in the order they are shown, its options; `cameras` are those it names."""

    kind: Kind
    text: str
    cameras: tuple[str, ...]
    clips: tuple[Clip, ...]
    options: tuple[Option, ...]
    about_middle: bool = False  # it asks about the time in the intermediate camera's view, not about the gap

    @property
    def ends(self) -> tuple[Clip, Clip] | None:
        """The clips before and after the gap asked about, by the order in which the question names their
        cameras; None where it does not show both.
        """
        shown = {clip.camera: clip for clip in self.clips}
        named = [shown[camera] for camera in self.cameras if camera in shown]
        if len(named) >= 2:
            return named[0], named[1]
        return (self.clips[0], self.clips[-1]) if len(self.clips) == 2 else None


def read_question(
    messages: Sequence[Message], clips_in_pictures: Callable[[], Sequence[Clip]] = tuple
) -> Question:
    """Read the user's turns; whatever is not understood is left out.

    Where no boxes are told, clips are those found in pictures, else the sightings that the question names.
    """
    text = asked_text(messages)
    body = _asked_in(text)
    clips = _clips(text) or tuple(clips_in_pictures()) or _named(body)
    return Question(
        kind=_kind_of(body),
        about_middle="intermediate time period" in body,
        text=text,
        cameras=tuple(quoted or plain for quoted, plain in _MENTION.findall(body)),
        clips=_by_true_time(clips, body),
        options=options_in(text),
    )


def kind_asked(messages: Sequence[Message]) -> Kind:
    """What the question of such messages wants to know."""
    return _kind_of(_asked_in(asked_text(messages)))


def _asked_in(text: str) -> str:
    """The last question of a text, without its options."""
    return " ".join(text.rpartition("Question:")[2].partition("Options:")[0].split())


def _kind_of(body: str) -> Kind:
    return next((kind for kind, words in _WORDING if re.search(words, body)), Kind.OTHER)


def _by_true_time(clips: Sequence[Clip], body: str) -> tuple[Clip, ...]:
    """The clips with the times that they would have if no clock were off."""
    ahead_s = clocks_told_s(body)
    return tuple(
        clip
        if clip.start_s is None or clip.camera not in ahead_s
        else replace(
            clip,
            start_s=clip.start_s - ahead_s[clip.camera],
            times_s=tuple(time_s - ahead_s[clip.camera] for time_s in clip.times_s),
        )
        for clip in clips
    )


def span_s(text: str) -> tuple[float, float] | None:
    """The first `HH:MM:SS.mmm-HH:MM:SS.mmm` in a text, in seconds.

    >>> span_s("00:01:00.5-00:01:02")
    (60.5, 62.0)
    """
    match = _SPAN.search(text)
    return (_seconds(match.groups()[:3]), _seconds(match.groups()[3:])) if match else None


@lru_cache(KEPT_TEXTS)
def _clips(text: str) -> tuple[Clip, ...]:
    clips: list[Clip] = []
    for line in text.splitlines():
        if head := _CLIP.match(line):
            clips.append(clip_of(head[1], head[2], head.groups()[2:]))
        elif clips and (box := _BOX.match(line)):
            at_s = _seconds(box.groups()[:3]) if box[1] else float(box[4])
            xywh = (float(box[5]), float(box[6]), float(box[7]), float(box[8]))
            clips[-1] = replace(clips[-1], boxes=(*clips[-1].boxes, xywh), times_s=(*clips[-1].times_s, at_s))
    return tuple(clips)


def _named(body: str) -> tuple[Clip, ...]:
    """The sightings that a question tells of in words, by camera and time."""
    return tuple(clip_of(match[1], "1", match.groups()[1:]) for match in _SIGHTING.finditer(body))


def clip_of(camera: str, target: str, times: Sequence[str]) -> Clip:
    """A clip without boxes; `times` are the groups of SPAN_OR_LENGTH."""
    start_s = _seconds(times[:3]) if times[0] else None
    lasting_s = float(times[6]) if start_s is None else _seconds(times[3:6]) - start_s
    return Clip(camera=camera, target=target, start_s=start_s, lasting_s=lasting_s, boxes=(), times_s=())


def _seconds(parts: Sequence[str]) -> float:
    hours, minutes, seconds = parts
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
