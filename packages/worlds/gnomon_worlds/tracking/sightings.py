"""Tells from the rows alone when each camera saw each target, whatever cleaning makes of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gnomon_worlds.tracking.neutral_form import Boxes, Tracking

GAP_S = 2.0  # without a box for longer, a target is out of view
STEPS = 2.5  # where boxes are rare: of the usual steps from one to the next
AGAIN_S = 10.0  # two sightings by one camera that are less apart may well be one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """A camera sees a target from `start_s` to `end_s` without a gap; `rows` are its boxes, in order."""

    camera: int
    start_s: float
    end_s: float
    rows: NDArray[np.intp]

    def overlaps(self, other: "Seen") -> bool:
        """Whether both last at some moment."""
        return self.start_s <= other.end_s and other.start_s <= self.end_s


def tracks_of(boxes: Boxes, rows: NDArray[np.intp]) -> Iterator[tuple[int, int, NDArray[np.intp]]]:
    """Target, camera and boxes in order of time of every track."""
    order = rows[np.lexsort((boxes.time_s[rows], boxes.camera[rows], boxes.target[rows]))]
    keys = np.column_stack([boxes.target[order], boxes.camera[order]])
    if not len(order):
        return
    starts = np.flatnonzero(np.r_[True, (np.diff(keys, axis=0) != 0).any(axis=1)])
    for first, last in zip(starts, np.r_[starts[1:], len(order)], strict=True):
        yield int(keys[first, 0]), int(keys[first, 1]), order[first:last]


def usual_step_s(tracking: Tracking) -> float:
    """The median time from one box of a target to its next in the same camera; 0 where there is none."""
    boxes = tracking.boxes
    order = np.lexsort((boxes.time_s, boxes.camera, boxes.target))
    same = (np.diff(boxes.target[order]) == 0) & (np.diff(boxes.camera[order]) == 0)
    steps_s = np.diff(boxes.time_s[order])[same]
    steps_s = steps_s[steps_s > 0]
    return float(np.median(steps_s)) if len(steps_s) else 0.0


def gap_s_of(tracking: Tracking) -> float:
    """The longest time without a box that does not end a sighting."""
    return max(GAP_S, STEPS * usual_step_s(tracking))


def seen_of(boxes: Boxes, gap_s: float) -> Mapping[int, Sequence[Seen]]:
    """By target all its sightings, in order of their start; every row counts, however odd."""
    by_target: defaultdict[int, list[Seen]] = defaultdict(list)
    for target, camera, track in tracks_of(boxes, np.arange(len(boxes))):
        breaks = np.flatnonzero(np.diff(boxes.time_s[track]) > gap_s + 1e-6) + 1
        for rows in np.split(track, breaks):
            start_s, end_s = boxes.time_s[rows[[0, -1]]].tolist()
            by_target[target].append(Seen(camera=camera, start_s=start_s, end_s=end_s, rows=rows))
    return {target: tuple(sorted(seen, key=lambda one: one.start_s)) for target, seen in by_target.items()}


def with_passed(
    seen: Mapping[int, Sequence[Seen]], passed: Mapping[int, Sequence[Seen]], gap_s: float
) -> Mapping[int, Sequence[Seen]]:
    """The sightings with those of targets in what a camera watches that only other cameras have boxes of.

    They have no rows, so nothing is asked of them; but a question in which they matter is none. What a
    sighting with boxes covers up to a break is left out.
    """
    joined = {}
    for target, own in seen.items():
        more = [
            replace(one, rows=one.rows[:0])
            for one in passed.get(target, ())
            if not any(
                known.camera == one.camera
                and known.start_s - gap_s <= one.start_s
                and one.end_s <= known.end_s + gap_s
                for known in own
            )
        ]
        joined[target] = tuple(sorted([*own, *more], key=lambda one: one.start_s))
    return joined


def is_followed(seen: Sequence[Seen], part: Sequence[Seen]) -> bool:
    """Whether the target had no other sighting from the first of `part` to its last, and these in order.

    Nor may the last camera see it again so soon that both sightings may be one.
    """
    start_s, end_s = part[0].start_s, part[-1].end_s
    within = [one for one in seen if one.start_s <= end_s and start_s <= one.end_s]
    return (
        len(within) == len(part)
        and all(one is other for one, other in zip(within, part, strict=True))
        and all(before.end_s < after.start_s for before, after in pairwise(part))
        and not any(is_again(seen, one) for one in part)
    )


def is_again(seen: Sequence[Seen], one: Seen) -> bool:
    """Whether the camera of a sighting has another of the same target less than AGAIN_S from it."""
    return any(
        other is not one
        and other.camera == one.camera
        and other.start_s - one.end_s < AGAIN_S
        and one.start_s - other.end_s < AGAIN_S
        for other in seen
    )


def times_of(seen: Sequence[Seen], camera: int) -> int:
    """How often a camera saw the target."""
    return sum(one.camera == camera for one in seen)
