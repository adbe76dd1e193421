"""Tries rules on the true steps: words and numbers, one look-up, and the whole computation.

Rules of *words* take an option by a number, a place or a count beside its name; they must give no more than
the raw prompt does. Rules of *one step* look one thing up in the list of ways, as which camera is on the
same way or which street meets it: what they give is what the measurements are worth in part. The rule of
*ways* adds up lengths along the shortest way: the computation that the steps leave to be done.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import networkx as nx

from gnomon.core.clock import day_span
from gnomon_tools.geometry.angles import EIGHTHS, turn_deg
from gnomon_worlds.benchmarks.worlds.audit.shown_steps import Crossing, Place, ShownSteps

Left = list[int] | None
Rule = Callable[[ShownSteps], Left]
Apart = Callable[[Place, Place], float]  # in metres

CAMERA_TASKS = ("GL", "NSF", "TF", "MTTF")
FORECASTS = ("NSF", "TF")
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


def _beside(pick: Callable[[list[float]], float]) -> Rule:
    def rule(shown: ShownSteps) -> Left:
        beside = [numbers_beside(shown, option) for option in shown.options]
        return least([pick(numbers) for numbers in beside]) if all(beside) else None

    return rule


def _like_the_clip(shown: ShownSteps) -> Left:
    """The camera whose position along its way is most like that at which a target left, whatever the way."""
    clips = shown.clips[-1:] if shown.task in FORECASTS else shown.clips
    exits_m = [clip.exit.along_m for clip in clips]
    return least(
        [
            min(abs(place.along_m - exit_m) for place in shown.views[option] for exit_m in exits_m)
            for option in shown.options
        ]
    )


def number_of_way(way: str) -> float:
    """The number in a way's name."""
    return float(re.sub(r"\D", "", way) or 0)


def _like_numbered_way(shown: ShownSteps) -> Left:
    """The camera on the way whose number is most like that of the way of a clip."""
    clips = shown.clips[-1:] if shown.task in FORECASTS else shown.clips
    ways = [number_of_way(clip.exit.way) for clip in clips]
    return least(
        [
            min(abs(number_of_way(place.way) - way) for place in shown.views[option] for way in ways)
            for option in shown.options
        ]
    )


def _mentioned(sign: float) -> Rule:
    return lambda shown: least([sign * shown.text.find(f" {option}:") for option in shown.options])


def _order_by(key: Callable[[Crossing], float]) -> Rule:
    def rule(shown: ShownSteps) -> Left:
        order = tuple(clip.camera for clip in sorted(shown.clips, key=key))
        left = [index for index, option in enumerate(shown.question.option_orders()) if option == order]
        return left or None

    return rule


def _as_long_as_a_stay(shown: ShownSteps) -> Left:
    stays_s = [clip.stay_s for clip in shown.clips]
    return least([min(abs(end - start - stay) for stay in stays_s) for start, end in intervals_of(shown)])


def _matching_number(shown: ShownSteps) -> Left:
    """The interval that begins as long after the first clip as some number of the steps."""
    numbers = [abs(float(number)) for number in _NUMBERS.findall(shown.text)]
    left_s = min(span[1] for span in spans_of(shown))
    return least(
        [min(abs(start - left_s - number) for number in numbers) for start, _ in intervals_of(shown)]
    )


def _middle_of_gap(shown: ShownSteps) -> Left:
    spans = sorted(spans_of(shown))
    middle_s = (spans[0][1] + spans[-1][0]) / 2
    return least([abs((start + end) / 2 - middle_s) for start, end in intervals_of(shown)])


def _length_printed(shown: ShownSteps) -> Left:
    """The motion whose first length is nearest to a number of the steps."""
    numbers = [abs(float(number)) for number in _NUMBERS.findall(shown.text)]
    firsts = [runs_of(option)[0][0] for option in shown.options]
    return least([min(abs(first - number) for number in numbers) for first in firsts])


WORDS: Mapping[str, tuple[Sequence[str], Rule]] = {
    "smallest number beside the option": (CAMERA_TASKS, _beside(min)),
    "largest number beside the option": (CAMERA_TASKS, _beside(lambda numbers: -max(numbers))),
    "sum of the numbers beside the option": (CAMERA_TASKS, _beside(sum)),
    "first option that is mentioned": (CAMERA_TASKS, _mentioned(1)),
    "last option that is mentioned": (CAMERA_TASKS, _mentioned(-1)),
    "position most like the clip's": (CAMERA_TASKS, _like_the_clip),
    "number of the way most like the clip's": (CAMERA_TASKS, _like_numbered_way),
    "order of mention": (("CR",), _order_by(lambda clip: float(clip.camera[1:]))),
    "order of speeds": (("CR",), _order_by(lambda clip: clip.speed_mps)),
    "order of stays": (("CR",), _order_by(lambda clip: clip.stay_s)),
    "order of positions": (("CR",), _order_by(lambda clip: clip.entry.along_m)),
    "order of the ways' numbers": (("CR",), _order_by(lambda clip: number_of_way(clip.entry.way))),
    "as long as a stay": (("ATI",), _as_long_as_a_stay),
    "a printed number after the first clip": (("ATI",), _matching_number),
    "middle of the gap": (("ATI",), _middle_of_gap),
    "a printed length": (("MS",), _length_printed),
}


def meets(shown: ShownSteps, first: str, second: str) -> bool:
    """Whether two ways are one or share a junction."""
    return bool(set(shown.ways[first].ends) & set(shown.ways[second].ends))


def _on_meeting_way(shown: ShownSteps) -> Left:
    """The cameras on the way of a clip, else on one that meets it."""
    clips = shown.clips[-1:] if shown.task in FORECASTS else shown.clips

    def steps(option: str) -> float:
        pairs = [(clip.exit.way, place.way) for clip in clips for place in shown.views[option]]
        return min(0.0 if here == there else 2.0 - meets(shown, here, there) for here, there in pairs)

    return least([steps(option) for option in shown.options])


def _order_of_meeting_ways(shown: ShownSteps) -> Left:
    """The order in which most clips follow one another on ways that meet."""
    clips = {clip.camera: clip for clip in shown.clips}
    return least(
        [
            -float(
                sum(
                    meets(shown, clips[here].exit.way, clips[there].entry.way)
                    for here, there in pairwise(order)
                    if {here, there} <= clips.keys()
                )
            )
            for order in shown.question.option_orders()
        ]
    )


def direction_deg(shown: ShownSteps, clip: Crossing) -> float | None:
    """Where a target was going, by the bearing of its way; None where it changed ways in view."""
    if clip.entry.way != clip.exit.way:
        return None
    bearing = shown.ways[clip.entry.way].bearing_deg
    return bearing if clip.exit.along_m > clip.entry.along_m else (bearing + 180) % 360


def _directions(shown: ShownSteps) -> Left:
    """The motion that begins as the first target left and ends as the second came."""
    first, second = (direction_deg(shown, clip) for clip in shown.clips)

    def off_deg(option: str) -> float:
        runs = runs_of(option)
        begins = abs(turn_deg(first, runs[0][1])) if first is not None else 0.0
        return begins + (abs(turn_deg(second, runs[-1][1])) if second is not None else 0.0)

    return least([off_deg(option) for option in shown.options])


ONE_STEP: Mapping[str, tuple[Sequence[str], Rule]] = {
    "on the clip's way, else on one that meets it": (CAMERA_TASKS, _on_meeting_way),
    "clips on ways that meet": (("CR",), _order_of_meeting_ways),
    "directions of both clips": (("MS",), _directions),
}


def along_ways(shown: ShownSteps) -> Left:
    """The answer by the lengths of the shortest ways; None for MS, which asks for none."""
    rules: Mapping[str, Rule] = {
        "GL": _smallest_detour,
        "ATI": _share_of_gap,
        "CR": _shortest_order,
        "NSF": _next,
        "TF": _next,
        "MTTF": _arriving_together,
    }
    rule = rules.get(shown.task)
    return rule(shown) if rule else None


WHOLE: Mapping[str, tuple[Sequence[str], Rule]] = {
    "lengths added along the shortest ways": ((*CAMERA_TASKS, "ATI", "CR"), along_ways)
}


def _way_m(shown: ShownSteps, start: Place, end: Place) -> float:
    return float(nx.dijkstra_path_length(shown.joined, start, end))


def _to_view_m(shown: ShownSteps, start: Place, camera: str) -> float:
    return min(_way_m(shown, start, place) for place in shown.views[camera])


def _smallest_detour(shown: ShownSteps) -> Left:
    first, second = shown.clips
    return least(
        [
            _to_view_m(shown, first.exit, option) + _to_view_m(shown, second.entry, option)
            for option in shown.options
        ]
    )


def _share_of_gap(shown: ShownSteps) -> Left:
    first, second = shown.clips
    named = re.search(r"passed through camera (\S+?)\.", shown.question.text)
    if named is None:
        return None
    to_m = _to_view_m(shown, first.exit, named[1])
    on_m = _to_view_m(shown, second.entry, named[1])
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
