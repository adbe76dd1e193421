"""Computes short ways to answers about rides: with one step of the measurement left out."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from gnomon_tools.geometry.kinematics import displacement_m, path_length_m, speeds_mps
from gnomon_worlds.motion.short_ways import ShortWay, on_circle
from gnomon_worlds.recordings import truth
from gnomon_worlds.recordings.questions import (
    GROUNDING,
    LENGTH,
    ORIENTATION,
    POSE,
    RELATION,
    SIZE,
    SPEED,
    TRAJECTORY,
    Draft,
)
from gnomon_worlds.recordings.recording import Array, Frame, Recording

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LEG = re.compile(r"move forward ([\d.]+)m")
_TURN = re.compile(r"turn (left|right) (\d+)°")


def ways_of(draft: Draft, recording: Recording) -> Sequence[ShortWay]:
    """The short ways of a question about a ride, or about the part of one that it asks about."""
    return WAYS[draft.task](draft, recording)


def _options(draft: Draft) -> list[str]:
    return [draft.right, *draft.wrong]


def _numbers(draft: Draft) -> list[list[float]]:
    """The only number of each option."""
    return [[float(_NUMBER.findall(option)[0])] for option in _options(draft)]


def _frame(draft: Draft, recording: Recording) -> Frame:
    return next(frame for frame in recording.frames if frame.time_s == draft.at_s)


def _size(draft: Draft, recording: Recording) -> list[ShortWay]:
    """The size along the axis of the world along which it is longest."""
    frame = _frame(draft, recording)
    box = frame.boxes[str(draft.about[0])]
    if draft.question.startswith("How far"):
        between_m = np.abs(np.array(box.centre_m) - np.array(frame.camera.position_m))
        end_m = float(between_m.max())
    else:
        side = next(
            n for n, word in enumerate(("length", "width", "height")) if f"the {word} of" in draft.question
        )
        turn = math.radians(box.heading_deg)
        longest = 1.0 if side == 2 else max(abs(math.cos(turn)), abs(math.sin(turn)))
        end_m = box.size_m[side] * longest
    return [ShortWay.to("along one axis alone", [end_m], _numbers(draft))]


def _side(draft: Draft, recording: Recording) -> list[ShortWay]:
    """The side if north were ahead."""
    frame = _frame(draft, recording)
    name, beside = (np.array(frame.boxes[str(each)].centre_m) for each in draft.about)
    east_m, north_m = (name - beside)[:2].tolist()
    words = None
    if max(abs(east_m), abs(north_m)) >= truth.DOMINANT * min(abs(east_m), abs(north_m)):
        is_across = abs(east_m) > abs(north_m)
        words = ("Right" if east_m > 0 else "Left") if is_across else ("Back" if north_m > 0 else "Front")
    return [ShortWay.says("as if north were ahead", words, _options(draft))]


def _box(draft: Draft, recording: Recording) -> list[ShortWay]:
    """The box in the world's axes instead of the camera's; and by its length or its heading alone."""
    frame = _frame(draft, recording)
    between_m = np.array(frame.boxes[str(draft.about[0])].centre_m) - np.array(frame.camera.position_m)
    boxes = [json.loads(option) for option in _options(draft)]
    lengths = [[box["C_lwh"][0]] for box in boxes]
    headings = on_circle(boxes[0]["C_heading"], [box["C_heading"] for box in boxes])
    return [
        ShortWay.to("axes of the world", between_m, [box["C_central_point"] for box in boxes]),
        ShortWay.to("length alone", lengths[0], lengths),
        ShortWay.to("heading alone", headings[0], headings),
    ]


def _length(draft: Draft, recording: Recording) -> list[ShortWay]:
    """The straight line instead of the whole way, or the other way round."""
    _, positions_m = recording.track(draft.about[0])
    if "path length" in draft.question:
        return [ShortWay.to("straight line", [displacement_m(positions_m)], _numbers(draft))]
    return [ShortWay.to("whole way", [path_length_m(positions_m)], _numbers(draft))]


def _speed(draft: Draft, recording: Recording) -> list[ShortWay]:
    """The speed at first."""
    times_s, positions_m = recording.track(draft.about[0])
    speeds = speeds_mps(positions_m, times_s)
    end = speeds[0] if "speed" in draft.question else (speeds[1] - speeds[0]) / (times_s[2] - times_s[1])
    return [ShortWay.to("as it goes at first", [end], _numbers(draft))]


def _turn(draft: Draft, recording: Recording) -> list[ShortWay]:
    """The turn in the first half of the time."""
    times_s = [frame.time_s for frame in recording.frames]
    half_deg = truth.orientation_change_deg(recording, times_s[0], times_s[(len(times_s) - 1) // 2])
    return [ShortWay.to("first half alone", [half_deg], _numbers(draft))]


def _path(draft: Draft, recording: Recording) -> list[ShortWay]:
    """The sums of all legs and of all turns."""
    del recording
    sums = []
    for option in _options(draft):
        length_m = math.fsum(map(float, _LEG.findall(option)))
        turn_deg = sum(int(by) * (1 if side == "left" else -1) for side, by in _TURN.findall(option))
        sums.append([round(length_m, 2), float(turn_deg)])
    return [ShortWay.to("sums alone", sums[0], sums)]


def _pose(draft: Draft, recording: Recording) -> list[ShortWay]:
    """The pose from moves added up as if it never turned; and from the whole turn alone."""
    poses = [frame.camera.pose() for frame in recording.frames]
    moves_m = sum(after.seen_from(before).position_m for before, after in pairwise(poses))
    end_m: Array = poses[0].position_m + poses[0].rotation @ moves_m
    records = [json.loads(option) for option in _options(draft)]
    headings = [[record["r11"], record["r21"]] for record in records]
    return [
        ShortWay.to("as if it never turned", end_m[:2], [[record["tx"], record["ty"]] for record in records]),
        ShortWay.to("turn alone", headings[0], headings),
    ]


WAYS: Mapping[str, Callable[[Draft, Recording], Sequence[ShortWay]]] = {
    SIZE: _size,
    RELATION: _side,
    GROUNDING: _box,
    LENGTH: _length,
    SPEED: _speed,
    ORIENTATION: _turn,
    TRAJECTORY: _path,
    POSE: _pose,
}
