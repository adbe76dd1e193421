"""Computes the features of a question for a learner: words and numbers of each of its options.

Features are of the *text*; of the *prompt*, by hand: what clips, times and options have to do with one
another; of the prompt with the *words* and numbers of the true steps; and of these with *one step* (one
look-up in the list of ways). What is learned from words must not exceed what is learned from the prompt; what
one step adds is what measurements are worth in part.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, pairwise

from gnomon.core.audit_plugin import Kind, View
from gnomon.core.option_features import worded
from gnomon_tools.geometry.angles import turn_deg
from gnomon_worlds.benchmarks.worlds.audit.shown_steps import ShownSteps
from gnomon_worlds.benchmarks.worlds.audit.steps_rules import (
    CAMERA_TASKS,
    COMPASS,
    FORECASTS,
    direction_deg,
    intervals_of,
    meets,
    nearest_printed,
    number_of_way,
    numbers_beside,
    runs_of,
    spans_of,
)


def _camera_number(camera: str) -> float:
    return float(camera.removeprefix("c"))


def _of_prompt(shown: ShownSteps) -> list[list[float]]:
    clips = shown.question.clips
    if shown.task in CAMERA_TASKS:
        filmed = [_camera_number(clip.camera) for clip in clips]
        numbers = [_camera_number(option) for option in shown.options]
        return [
            [float(index), number, min(abs(number - other) for other in filmed), float(number > filmed[-1])]
            for index, number in enumerate(numbers)
        ]
    if shown.task == "ATI":
        spans = sorted(spans_of(shown))
        gap_s = spans[-1][0] - spans[0][1]
        stays_s = [end - start for start, end in spans]
        intervals = intervals_of(shown)
        ranks = {interval: float(rank) for rank, interval in enumerate(sorted(intervals))}
        return [
            [
                float(index),
                ranks[start, end],
                abs(ranks[start, end] - 1.5),
                end - start,
                (start - spans[0][1]) / gap_s,
                abs((start + end) / 2 - (spans[0][1] + spans[-1][0]) / 2) / gap_s,
                min(abs(end - start - stay) for stay in stays_s),
            ]
            for index, (start, end) in enumerate(intervals)
        ]
    if shown.task == "MS":
        return [
            [float(index), float(len(runs)), runs[0][0], *_one_hot(runs[0][1]), *_one_hot(runs[-1][1])]
            for index, runs in enumerate(map(runs_of, shown.options))
        ]
    orders = shown.question.option_orders()
    places = {clip.camera: float(place) for place, clip in enumerate(clips)}
    return [
        [
            float(index),
            float(sum(sum(map(str.__eq__, order, other)) for other in orders)),
            places.get(order[-1], 0.0) - places.get(order[0], 0.0),
            _camera_number(order[-1]) - _camera_number(order[0]),
        ]
        for index, order in enumerate(orders)
    ]


def _one_hot(direction_deg: float) -> list[float]:
    return [float(direction_deg == degrees) for degrees in COMPASS.values()]


def _of_words(shown: ShownSteps) -> list[list[float]]:
    if shown.task in CAMERA_TASKS:
        clips = shown.clips[-1:] if shown.task in FORECASTS else shown.clips
        rows = []
        for option in shown.options:
            beside, views = numbers_beside(shown, option), shown.views[option]
            ways = [
                number_of_way(place.way) - number_of_way(clip.exit.way) for place in views for clip in clips
            ]
            along_m = [place.along_m - clip.exit.along_m for place in views for clip in clips]
            rows.append(
                [
                    *(min(beside), max(beside), sum(beside), float(len(beside))),
                    *(float(shown.text.find(f" {option}:")), views[0].along_m, number_of_way(views[0].way)),
                    *(min(map(abs, ways)), min(map(abs, along_m)), ways[0], along_m[0]),
                ]
            )
        return rows
    if shown.task == "ATI":
        left_s = min(span[1] for span in spans_of(shown))
        speeds = [clip.speed_mps for clip in shown.clips]
        lengths_m = [clip.speed_mps * clip.stay_s for clip in shown.clips]
        return [
            [
                *((start - left_s) * speed / 100 for speed in speeds),
                *(
                    (end - start) * speed - length_m
                    for speed, length_m in zip(speeds, lengths_m, strict=True)
                ),
                *nearest_printed(shown, [start - left_s]),
            ]
            for start, end in intervals_of(shown)
        ]
    if shown.task == "MS":
        exit_m, entry_m = shown.clips[0].exit.along_m, shown.clips[1].entry.along_m
        return [
            [abs(runs[0][0] - exit_m), abs(runs[-1][0] - entry_m), *nearest_printed(shown, [runs[0][0]])]
            for runs in map(runs_of, shown.options)
        ]
    clips_by = {clip.camera: clip for clip in shown.clips}
    rows = []
    for order in shown.question.option_orders():
        first, last = (clips_by.get(order[place]) for place in (0, -1))
        if first is None or last is None:
            rows.append([0.0] * 4)
            continue
        rows.append(
            [
                last.speed_mps - first.speed_mps,
                last.stay_s - first.stay_s,
                last.entry.along_m - first.entry.along_m,
                number_of_way(last.entry.way) - number_of_way(first.entry.way),
            ]
        )
    return rows


def _of_one_step(shown: ShownSteps) -> list[list[float]]:
    if shown.task in CAMERA_TASKS:
        clips = shown.clips[-1:] if shown.task in FORECASTS else shown.clips
        return [
            [
                float(sum(clip.exit.way == place.way for clip in clips for place in shown.views[option])),
                float(
                    sum(
                        meets(shown, clip.exit.way, place.way)
                        for clip in clips
                        for place in shown.views[option]
                    )
                ),
                float(
                    sum(
                        meets(shown, clip.entry.way, place.way)
                        for clip in clips
                        for place in shown.views[option]
                    )
                ),
            ]
            for option in shown.options
        ]
    if shown.task == "MS":
        first, second = (direction_deg(shown, clip) for clip in shown.clips)
        return [
            [
                abs(turn_deg(first, runs[0][1])) if first is not None else 0.0,
                abs(turn_deg(second, runs[-1][1])) if second is not None else 0.0,
            ]
            for runs in map(runs_of, shown.options)
        ]
    if shown.task == "CR":
        clips_by = {clip.camera: clip for clip in shown.clips}
        return [
            [
                float(
                    sum(
                        meets(shown, clips_by[here].exit.way, clips_by[there].entry.way)
                        for here, there in pairwise(order)
                        if {here, there} <= clips_by.keys()
                    )
                )
            ]
            for order in shown.question.option_orders()
        ]
    return [[0.0] for _ in shown.options]


def _of_text(shown: ShownSteps) -> list[list[float]]:
    return worded(shown.options, shown.question.text)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a learner sees of a question's options, and what it is to find something by that."""

    words: str
    kind: Kind
    view: View
    parts: tuple[Callable[[ShownSteps], list[list[float]]], ...]

    def features(self, shown: ShownSteps) -> list[list[float]]:
        """A row for each option."""
        return [list(chain(*rows)) for rows in zip(*(part(shown) for part in self.parts), strict=True)]


SEEN = (
    Seen("by text", "floor", "guarded", (_of_text,)),
    Seen("by the prompt", "floor", "guarded", (_of_prompt,)),
    Seen("by words of the steps", "leak", "steps", (_of_prompt, _of_words)),
    Seen("by one step", "floor", "steps", (_of_prompt, _of_words, _of_one_step)),
)
