"""Shortcuts within one question. Each leaves some options, or None where it does not apply."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from gnomon.core.audit_plugin import Kind
from gnomon_published.benchmarks.gtr_bench.audit.shown_question import Seen, SeenClip
from gnomon_published.benchmarks.gtr_bench.case import CAMERA_ID, GRID_S
from gnomon_published.benchmarks.gtr_bench.rules_of_thumb import RULES as RULES_OF_THUMB
from gnomon_published.benchmarks.gtr_bench.rules_of_thumb import evidence, scores_of, taken

Left = Iterable[int] | None
Rule = Callable[[Seen], Left]

SAME_S = 0.06  # ends of an interval that agree to the 0.1 s grid
_SPEED = re.compile(r"(\d+(?:\.\d+)?)(?:\s*[–-]\s*(\d+(?:\.\d+)?))?\s*m/s")
_LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*(?:meters?|metres?|m)\b(?!/)")


def clip_order(question: Seen) -> Left:
    """The option that repeats the order in which the clips are shown."""
    return _order_of(question, question.clips)


def clip_times(question: Seen) -> Left:
    """The option in the order of the clips' start times."""
    timed = [(clip.span_s[0], clip) for clip in question.clips if clip.span_s]
    if len(timed) < len(question.clips):
        return None
    return _order_of(question, [clip for _, clip in sorted(timed, key=lambda pair: pair[0])])


def frame_numbers(question: Seen) -> Left:
    """The option in the order of the clips' first frame numbers."""
    numbered = [(clip.first_frame, clip) for clip in question.clips if clip.first_frame is not None]
    if len(numbered) < len(question.clips):
        return None
    return _order_of(question, [clip for _, clip in sorted(numbered, key=lambda pair: pair[0])])


def agreement(question: Seen) -> Left:
    """The options that share most with the others: the same camera at the same place in the order."""
    return _most_agreeing(question.option_orders())


def in_the_clips(question: Seen) -> Left:
    """The options that name no camera but those of the clips; does not apply where all do."""
    filmed = {clip.camera for clip in question.clips}
    left = [index for index, order in enumerate(question.option_orders()) if filmed.issuperset(order)]
    return left if len(left) < len(question.options) else None


def agreement_in_the_clips(question: Seen) -> Left:
    """Of the options that name no camera but those of the clips, the ones that share most with all others."""
    left = in_the_clips(question)
    return agreement(question) if not left else _most_agreeing(question.option_orders(), set(left))


def off_the_grid(question: Seen) -> Left:
    """The options with an end that is not a multiple of 0.1 s; does not apply where all or none have one."""
    spans = question.option_spans()
    left = [index for index, span in enumerate(spans) if span and any(map(_is_off_grid, span))]
    return left if len(left) < len(spans) else None


def whole_seconds(question: Seen) -> Left:
    """The options with both ends in whole seconds; does not apply where all or none are so."""
    spans = question.option_spans()
    left = [index for index, span in enumerate(spans) if span and all(end == round(end) for end in span)]
    return left if 0 < len(left) < len(spans) else None


def hidden_fields(question: Seen) -> Left:
    """What `middle_path` and `middle_point.time` reveal: the camera, the interval, or the motion's time."""
    if question.task == "GL":
        return [index for index, option in enumerate(question.options) if option in question.middle_path]
    if question.middle_span_s is None:
        return None
    if question.task == "ATI":
        return same_interval(question, [question.middle_span_s])
    lasted_s = question.middle_span_s[1] - question.middle_span_s[0]
    misfits = [_misfit(motion_s(option), lasted_s) for option in question.options]
    best = min(misfits)
    return [index for index, misfit in enumerate(misfits) if misfit == best] if best < math.inf else None


def of_thumb(name: str) -> Rule:
    """Make the shortcut from the rule of thumb of that name; it needs known places and times."""

    def left(question: Seen) -> Left:
        filmed = {clip.camera for clip in question.clips}
        asked = [name for name in CAMERA_ID.findall(question.text) if name not in filmed]
        clips = ((clip.camera, clip.boxes, clip.span_s) for clip in question.clips)
        seen = evidence(question.task, clips, question.cameras, asked=asked[0] if asked else "")
        scores = scores_of(seen, question.options).get(name) if seen else None
        return taken([scores[option] for option in question.options]) or None if scores else None

    return left


def same_interval(question: Seen, spans_s: Iterable[tuple[float, float]]) -> list[int]:
    """The options equal to one of the intervals, to the grid."""
    intervals_s = list(spans_s)
    return [
        index
        for index, option in enumerate(question.option_spans())
        if option
        and any(max(abs(option[0] - span[0]), abs(option[1] - span[1])) <= SAME_S for span in intervals_s)
    ]


def motion_s(option: str) -> float | None:
    """How long a described motion takes by its own lengths and speeds; None where it names either not.

    Lengths and speeds are paired in order; where they are not as many, the mean speed applies to all.

    >>> motion_s("The target moves east at 2.0 m/s for 4 meters, then 3.0 meters north at 1.0–2.0 m/s.")
    4.0
    """
    speeds = [
        sum(map(float, filter(None, pair))) / len(list(filter(None, pair))) for pair in _SPEED.findall(option)
    ]
    lengths = [float(length) for length in _LENGTH.findall(option)]
    if not lengths or not speeds or min(speeds) <= 0:
        return None
    if len(speeds) == len(lengths):
        return sum(length / speed for length, speed in zip(lengths, speeds, strict=True))
    return sum(lengths) / (sum(speeds) / len(speeds))


RULES: Mapping[str, tuple[Kind, Sequence[str], Rule]] = {
    "CR: order of the clips": ("leak", ("CR",), clip_order),
    "CR: start times": ("leak", ("CR",), clip_times),
    "CR: frame numbers": ("leak", ("CR",), frame_numbers),
    "ATI: options off the 0.1 s grid": ("leak", ("ATI",), off_the_grid),
    "ATI: options in whole seconds": ("leak", ("ATI",), whole_seconds),
    "hidden middle_path, middle_point": ("leak", ("GL", "ATI", "MS"), hidden_fields),
    "CR: option most like the others": ("floor", ("CR",), agreement),
    "CR: options within the clips' cameras": ("leak", ("CR",), in_the_clips),
    "CR: both together": ("floor", ("CR",), agreement_in_the_clips),
    **{name: ("floor", tasks, of_thumb(name)) for name, (tasks, _) in RULES_OF_THUMB.items()},
}


def _order_of(question: Seen, clips: Sequence[SeenClip]) -> Left:
    order = tuple(clip.camera for clip in clips)
    return [index for index, option in enumerate(question.option_orders()) if option == order]


def _most_agreeing(orders: Sequence[tuple[str, ...]], among: set[int] | None = None) -> Left:
    shared = {
        index: sum(
            sum(map(str.__eq__, order, other_order))
            for place, other_order in enumerate(orders)
            if place != index
        )
        for index, order in enumerate(orders)
        if among is None or index in among
    }
    return [index for index, count in shared.items() if count == max(shared.values())]


def _is_off_grid(second: float) -> bool:
    return abs(second / GRID_S - round(second / GRID_S)) > 0.005


def _misfit(took_s: float | None, lasted_s: float) -> float:
    return abs(math.log(took_s / lasted_s)) if took_s and lasted_s > 0 else math.inf
