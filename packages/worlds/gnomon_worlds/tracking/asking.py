"""Asks GTR-Bench's tasks of recorded trips, so that every answer holds for the rows as they are.

What cleaning makes of rows decides how paths look, never who was seen where and when: that is the rows' say.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product
from random import Random

import numpy as np
import shapely

from gnomon.core.clock import NOON_S, clock_span, day_span
from gnomon_worlds.forecasting import met
from gnomon_worlds.past_questions import CLEAR_S
from gnomon_worlds.question import Question, rounded_s
from gnomon_worlds.sample_making import ASK, SIGHTINGS
from gnomon_worlds.tracking.cleaning import places_at
from gnomon_worlds.tracking.neutral_form import Array, Tracking
from gnomon_worlds.tracking.sightings import Seen, gap_s_of, is_again, is_followed, times_of
from gnomon_worlds.tracking.site_world import Place, RecordedTrip
from gnomon_worlds.tracking.synthetic import seen_by
from gnomon_worlds.world import World

MEETING = "MultiTargetTrajectoryForecasting"
FOLLOWED = ("NextSpotForecasting", "TrajectoryForecasting")  # ask what comes next: nothing may come between

FEW_SIGHTINGS = "the target passed too few cameras one after the other"
OVERLAP = "your cameras overlap: these tasks need gaps between them (--cut-views makes some)"
BETWEEN = "another camera saw the target in between, too briefly or too badly for a question"
NO_ROADS = "there is no road map, so the way between two sightings is not known (--scene gives one)"
NO_WRONG = "too few cameras never saw the target and lie where a wrong answer may be (--synthetic adds some)"
NO_WAY = "the way between the sightings has too many turns, or too short ones, to be told in words"
NO_FOUR = "too few places on the way give times that are apart from the true one"
NO_ORDER = "another order of the cameras is hardly longer on the map than the true one"
NOBODY = "no second target is in view of the same camera at the same time, and for the first time"
AGAIN = "the camera saw the target twice within a short time"
NO_QUESTION: Mapping[str, str] = {
    "GeoLocation": NO_WRONG,
    "ArrivalTimeInterval": NO_FOUR,
    "MotionState": NO_WAY,
    "CausalReordering": NO_ORDER,
    "NextSpotForecasting": NO_WRONG,
    "TrajectoryForecasting": NO_WRONG,
    MEETING: NOBODY,
}

_SEES = {
    "box": "A camera sees a target from its first box in the picture to its last. ",
    "feet": (
        "Each camera watches only the area drawn for it on the map, and sees a target while it is there. "
    ),
}


def meaning_of(tracking: Tracking) -> str:
    """What "seen" means in all questions of a recording, as they say it."""
    return f"{_SEES[tracking.sees]}Breaks of up to {round(gap_s_of(tracking), 1):g} s count as seen."


class Asker:
    """Asks questions of the trips of a place."""

    def __init__(self, tracking: Tracking, place: Place) -> None:
        self._tracking, self._place = tracking, place
        self._worlds: dict[frozenset[str], World] = {}
        self._grids: dict[int, tuple[float, float] | None] = {}
        self._meetings: dict[RecordedTrip, list[tuple[int, RecordedTrip, int]]] = {}

    def ask(self, task: str, rng: Random, trip: RecordedTrip) -> Question | str:
        """A question of a task about a trip, or why there is none, in words."""
        if task == MEETING:
            question = self._meeting(rng, trip)
        else:
            part = self._part(task, rng, trip)
            if isinstance(part, str):
                return part
            world = self._without(self._barred([part]))
            question = ASK[task](world, rng, part, None) or NO_QUESTION[task]
            if isinstance(question, Question) and task == "ArrivalTimeInterval":
                question = self._on_grid(question, part)
        if isinstance(question, str):
            return question
        return replace(question, text=f"{question.text} {meaning_of(self._tracking)}")

    def _part(self, task: str, rng: Random, trip: RecordedTrip) -> RecordedTrip | str:
        """The part of a trip that a task may be about, or why there is none."""
        if task == "MotionState" and not trip.is_known and self._place.roads_from not in ("the scene", ""):
            return NO_ROADS
        least = SIGHTINGS[task]
        if len(trip.sightings) < least:
            return self._why_few(trip)
        if task in FOLLOWED:
            starts = [
                index
                for index in range(len(trip.sightings) - least + 1)
                if is_followed(trip.everyone, trip.seen[index : index + least])
            ]
            if not starts:
                return self._why_few(trip) if any(_pairs(trip.everyone)) else BETWEEN
            first = rng.choice(starts)
            return trip.part(range(first, first + least))
        kept: list[int] = []
        for index, seen in enumerate(trip.seen):
            is_after = not kept or trip.seen[kept[-1]].end_s < seen.start_s
            is_once = task != "CausalReordering" or times_of(trip.everyone, seen.camera) == 1
            if is_after and is_once:
                kept.append(index)
        return trip.part(kept) if len(kept) >= least else self._why_few(trip)

    @staticmethod
    def _why_few(trip: RecordedTrip) -> str:
        return OVERLAP if any(_pairs(trip.everyone)) else FEW_SIGHTINGS

    def _barred(self, parts: Sequence[RecordedTrip]) -> frozenset[str]:
        """Cameras that saw one of the targets outside these parts of trips: never wrong options.

        Where it is known where a target was in between, so are synthetic cameras that it passed.
        """
        place, barred = self._place, set()
        for part in parts:
            own = {sighting.camera for sighting in part.sightings}
            barred |= {place.dealt[seen.camera] for seen in part.everyone if seen.camera in place.dealt} - own
            if part.is_known:
                track = self._tracking.tracks[part.walker.target]
                start_s, end_s = part.sightings[0].start_s, part.sightings[-1].end_s
                inner_s = track.times_s[(track.times_s > start_s) & (track.times_s < end_s)]
                at_s = np.r_[start_s, inner_s, end_s]
                way = shapely.LineString(places_at(at_s, track.times_s, track.xy_m))
                barred |= {
                    camera
                    for camera in place.synthetic
                    if seen_by(place.world.scene.cameras[camera]).intersects(way)
                }
        return frozenset(barred)

    def _without(self, barred: frozenset[str]) -> World:
        if barred not in self._worlds:
            world = self._place.world
            cameras = {name: camera for name, camera in world.scene.cameras.items() if name not in barred}
            self._worlds[barred] = replace(
                world,
                scene=replace(world.scene, cameras=cameras),
                spots={name: spots for name, spots in world.spots.items() if name not in barred},
            )
        return self._worlds[barred]

    def _on_grid(self, question: Question, trip: RecordedTrip) -> Question | str:
        """The question with all intervals on the asked camera's frames, and longer than the crossing of a
        view by as much as the true one: else fractions of a second, or lengths, would tell the true one.
        """
        middle = question.middle
        if middle is None:
            raise TypeError("the question has no middle")
        seen, stay = trip.seen_of(middle), trip.stay_of(middle)
        if is_again(trip.everyone, seen):
            return AGAIN
        grid = self._grid(seen.camera)
        early_s, late_s = stay.start_s - seen.start_s, seen.end_s - stay.end_s
        true = seen.start_s, seen.end_s
        spans = []
        for text in question.options:
            span = day_span(text)
            if span is None:
                raise ValueError(f"{text} is no interval")
            moved = (
                _on(grid, span[0] - NOON_S - early_s, up=True),
                _on(grid, span[1] - NOON_S + late_s, up=False),
            )
            spans.append(true if text in question.right else moved)
        in_order = sorted(spans)
        first, last = (
            trip.seen_of(question.clip_sightings[0][1]),
            trip.seen_of(question.clip_sightings[-1][1]),
        )
        is_apart = all(a[1] + CLEAR_S / 2 <= b[0] for a, b in pairwise(in_order))
        is_within = first.end_s < in_order[0][0] and in_order[-1][1] < last.start_s
        others = [one for one in trip.everyone if one.camera == seen.camera and one is not seen]
        is_false = not any(one.start_s <= b and a <= one.end_s for one in others for a, b in spans)
        if not (is_apart and is_within and is_false and all(b > a for a, b in spans)):
            return NO_FOUR
        texts = tuple(clock_span(*rounded_s(round(a, 6), round(b, 6))) for a, b in spans)
        return replace(question, options=texts, right=(texts[spans.index(true)],))

    def _grid(self, camera: int) -> tuple[float, float] | None:
        """A camera's first frame and the time from one to the next, where its rows keep to that."""
        if camera not in self._grids:
            boxes = self._tracking.boxes
            self._grids[camera] = grid_of(np.unique(boxes.time_s[boxes.camera == camera].round(6)))
        return self._grids[camera]

    def _meeting(self, rng: Random, first: RecordedTrip) -> Question | str:
        """Where and when two recorded targets are in view of one camera; nobody is moved in time."""
        if first not in self._meetings:
            self._meetings[first] = list(self._candidates(first))
        candidates = self._meetings[first]
        for index, partner, theirs in rng.sample(candidates, len(candidates)):
            mine, other = first.part((index - 1, index)), partner.part((theirs - 1, theirs))
            world = self._without(self._barred([mine, other]))
            question = met(world, rng, (mine, 1), (other, 1), None)
            if question is not None:
                return question
        if len(first.sightings) < SIGHTINGS[MEETING]:
            return self._why_few(first)
        return NO_WRONG if candidates else NOBODY

    def _candidates(self, first: RecordedTrip) -> Iterator[tuple[int, RecordedTrip, int]]:
        for index in range(1, len(first.sightings)):
            for partner in self._place.trips:
                for theirs in range(1, len(partner.sightings)):
                    if partner.target != first.target and _is_first_meeting(first, index, partner, theirs):
                        yield index, partner, theirs


def _is_first_meeting(first: RecordedTrip, index: int, partner: RecordedTrip, theirs: int) -> bool:
    """Whether two sightings are by one camera at one time, and no camera had both targets in view before."""
    mine, other = first.seen[index - 1 : index + 1], partner.seen[theirs - 1 : theirs + 1]
    if (
        mine[1].camera != other[1].camera
        or mine[0].camera == other[0].camera
        or not mine[1].overlaps(other[1])
    ):
        return False
    if not (is_followed(first.everyone, mine) and is_followed(partner.everyone, other)):
        return False
    since_s, met_s = min(mine[0].start_s, other[0].start_s), max(mine[1].start_s, other[1].start_s)
    return not any(
        a.camera == b.camera and a.overlaps(b) and since_s <= max(a.start_s, b.start_s) < met_s
        for a, b in product(first.everyone, partner.everyone)
    )


def _pairs(seen: Sequence[Seen]) -> Iterator[bool]:
    """Of every two sightings by different cameras, whether they overlap."""
    return (a.overlaps(b) for a, b in combinations(seen, 2) if a.camera != b.camera)


def grid_of(times_s: Array) -> tuple[float, float] | None:
    """The first of rising times, and the step of which all are multiples away from it; None without one.

    >>> grid_of(np.array([1.5, 2.5, 5.5])), grid_of(np.array([0.0, 1.0, 2.3, 7.123]))
    ((1.5, 1.0), None)
    """
    if len(times_s) < 2:
        return None
    step_s = float(np.diff(times_s).min())
    steps = (times_s - times_s[0]) / step_s
    if np.abs(steps - steps.round()).max() > 0.02:
        return None
    return float(times_s[0]), float((times_s[-1] - times_s[0]) / steps[-1].round())


def _on(grid: tuple[float, float] | None, time_s: float, *, up: bool) -> float:
    """The time of the nearest frame within an interval that starts (`up`) or ends at a time."""
    if grid is None:
        return time_s
    first_s, step_s = grid
    steps = (time_s - first_s) / step_s
    return float(first_s + step_s * (np.ceil(steps - 1e-6) if up else np.floor(steps + 1e-6)))
