"""Reads numbers and directions off the true steps, and tries the computation that they leave to be done.

What words and single look-ups give away a learner finds (`step_features.py` has what it learns from).
"""

import math
import re
from collections.abc import Sequence
from itertools import pairwise

import networkx as nx

from gnomon.core.clock import day_span
from gnomon_tools.geometry.angles import EIGHTHS
from gnomon_worlds.benchmarks.worlds.audit.shown_steps import Crossing, Place, ShownSteps

Left = list[int] | None
CAMERA_TASKS = ("GL", "NSF", "TF", "MTTF")
FORECASTS = ("NSF", "TF")
ALONG_WAYS = "lengths added along the shortest ways"
_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")
_RUN = re.compile(r"([\d.]+) meters (\w+)")
COMPASS = {name: 45.0 * index for index, name in enumerate(EIGHTHS)}


def least(values: Sequence[float]) -> Left:
    """The options with the smallest value; None where all values are equal."""
    smallest = min(values)
    left = [index for index, value in enumerate(values) if value <= smallest + 1e-9]
    return left if len(left) < len(values) else None


def spans_of(shown: ShownSteps) -> list[tuple[float, float]]:
    """The clips' intervals in seconds of the day, in the prompt's order."""
    return [clip.span_s or (0.0, 0.0) for clip in shown.question.clips]


def intervals_of(shown: ShownSteps) -> list[tuple[float, float]]:
    """The options of ATI in seconds of the day."""
    return [day_span(option) or (0.0, 0.0) for option in shown.options]


def runs_of(option: str) -> list[tuple[float, float]]:
    """The runs of a motion: length in metres, direction in degrees.

    >>> runs_of("The target moves at 8.9 m/s on average: 118.2 meters east, then 75.0 meters north.")
    [(118.2, 90.0), (75.0, 0.0)]
    """
    return [(float(length_m), COMPASS[name]) for length_m, name in _RUN.findall(option)]


def numbers_beside(shown: ShownSteps, name: str) -> list[float]:
    """The numbers on every line of the steps that names the camera."""
    lines = (line for line in shown.text.splitlines() if re.search(rf"\b{name}\b", line))
    return [float(number) for line in lines for number in _NUMBERS.findall(line.replace(name, ""))]


def number_of_way(way: str) -> float:
    """The number in a way's name."""
    return float(re.sub(r"\D", "", way) or 0)


def nearest_printed(shown: ShownSteps, values: Sequence[float]) -> list[float]:
    """How far each value is from the nearest number of the steps."""
    numbers = [abs(float(number)) for number in _NUMBERS.findall(shown.text)]
    return [min(abs(value - number) for number in numbers) for value in values]


def meets(shown: ShownSteps, first: str, second: str) -> bool:
    """Whether two ways are one or share a junction."""
    return bool(set(shown.ways[first].ends) & set(shown.ways[second].ends))


def direction_deg(shown: ShownSteps, clip: Crossing) -> float | None:
    """Where a target was going, by the bearing of its way; None where it changed ways in view."""
    if clip.entry.way != clip.exit.way:
        return None
    bearing = shown.ways[clip.entry.way].bearing_deg
    return bearing if clip.exit.along_m > clip.entry.along_m else (bearing + 180) % 360


def along_ways(shown: ShownSteps) -> Left:
    """The answer by the lengths of the shortest ways; None for MS, which asks for none."""
    rules = {
        "GL": _smallest_detour,
        "ATI": _share_of_gap,
        "CR": _shortest_order,
        "NSF": _next,
        "TF": _next,
        "MTTF": _arriving_together,
    }
    rule = rules.get(shown.task)
    return rule(shown) if rule else None


def _way_m(shown: ShownSteps, start: Place, end: Place) -> float:
    lengths_m = nx.single_source_dijkstra_path_length(shown.joined, start)
    return float(lengths_m.get(end, math.inf))


def _to_view_m(shown: ShownSteps, start: Place, camera: str) -> float:
    return min(_way_m(shown, start, place) for place in shown.views[camera])


def _from_view_m(shown: ShownSteps, camera: str, end: Place) -> float:
    return min(_way_m(shown, place, end) for place in shown.views[camera])


def _smallest_detour(shown: ShownSteps) -> Left:
    first, second = shown.clips
    return least(
        [
            _to_view_m(shown, first.exit, option) + _from_view_m(shown, option, second.entry)
            for option in shown.options
        ]
    )


def _share_of_gap(shown: ShownSteps) -> Left:
    first, second = shown.clips
    named = re.search(r"passed through camera (\S+?)\.", shown.question.text)
    if named is None:
        return None
    to_m = _to_view_m(shown, first.exit, named[1])
    on_m = _from_view_m(shown, named[1], second.entry)
    (_, left_s), (came_s, _) = spans_of(shown)
    at_s = left_s + (came_s - left_s) * to_m / (to_m + on_m)
    return least([abs((start + end) / 2 - at_s) for start, end in intervals_of(shown)])


def _shortest_order(shown: ShownSteps) -> Left:
    clips = {clip.camera: clip for clip in shown.clips}
    return least(
        [
            sum(_way_m(shown, clips[here].exit, clips[there].entry) for here, there in pairwise(order))
            if clips.keys() >= set(order)
            else math.inf
            for order in shown.question.option_orders()
        ]
    )


def _next(shown: ShownSteps) -> Left:
    """The nearest camera that is nearer to where the target left than to where it came from."""
    last = shown.clips[-1]

    def cost_m(option: str) -> float:
        onward_m, back_m = (_to_view_m(shown, spot, option) for spot in (last.exit, last.entry))
        return onward_m + 10_000.0 * (back_m < onward_m)

    return least([cost_m(option) for option in shown.options])


def _arriving_together(shown: ShownSteps) -> Left:
    def gap_s(option: str) -> float:
        first_s, second_s = (
            end_s + _to_view_m(shown, clip.exit, option) / clip.speed_mps
            for clip, (_, end_s) in zip(shown.clips, spans_of(shown), strict=True)
        )
        return abs(first_s - second_s)

    return least([gap_s(option) for option in shown.options])
