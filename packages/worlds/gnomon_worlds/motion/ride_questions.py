"""Asks STI-Bench's eight tasks of a ride, by the code that asks them of any recording."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from random import Random

import numpy as np
from numpy.typing import NDArray

from gnomon_tools.geometry.kinematics import accelerations_mps2, speeds_mps, step_lengths_m
from gnomon_worlds.families.family import FamilyQuestion, shuffled
from gnomon_worlds.motion.features import features_of_ride
from gnomon_worlds.motion.logs import log_of
from gnomon_worlds.motion.ride_ways import ways_of
from gnomon_worlds.motion.riding import CLOSE_DEG, WIDEST_DEG
from gnomon_worlds.motion.short_ways import BEYOND, CLEAR, Settled, closeness, rules_of
from gnomon_worlds.motion.tour import Tour
from gnomon_worlds.motion.travellers import SIZES
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
    Maker,
)
from gnomon_worlds.recordings.recording import Array, Recording
from gnomon_worlds.recordings.truth import SIDES
from gnomon_worlds.recordings.wrong_options import LENGTHS, Grain, Spans

PACES_MPS = (2.0, 11.0)  # asked about: each in between is as likely
GAINS_MPS2 = (-0.6, 0.6)  # of speed, likewise
CLOSE = 0.05  # to the pace or the gain that is wanted, as a share of all there are


def _between(low_m: float, high_m: float) -> Grain:
    """The grain of sizes within these bounds, in which every size is equally likely."""
    return Grain(0.05, 0.6, 2, highest=high_m, lowest=low_m)


BENDING_MPS = (2.0, 6.0)  # of ways that bend: in bends nobody goes faster
# Turns at a level, to either side, by whether the first half of the time tells them.
TURNS_DEG: Mapping[bool, tuple[float, float]] = {True: (-WIDEST_DEG, WIDEST_DEG), False: (30.0, WIDEST_DEG)}
PARTS = 4  # of a ride that are tried, at a level
OF_OTHERS = (SIZE, RELATION, GROUNDING)

IN_TOWN = Spans(
    lengths=LENGTHS["outdoor"],
    sizes=Grain(0.1, 0.6, 2),
    speeds=Grain(0.5, 4.0, 2, highest=PACES_MPS[1], lowest=PACES_MPS[0]),
    accelerations=Grain(0.04, 0.25, 2, highest=GAINS_MPS2[1]),
    turns=Grain(5.0, 60.0, 0, highest=WIDEST_DEG + CLOSE_DEG),
    sides=SIDES[:4],
    is_level=True,
    sizes_by_kind={
        shape: (_between(*lengths), _between(*widths), _between(*heights))
        for shape, (lengths, widths, heights) in SIZES.items()
    },
)
# At a level: where short ways find the answer, how far apart options lie at least and at most ...
APART_M: Mapping[str, tuple[float, float]] = {
    SIZE: (1.0, 8.0), GROUNDING: (4.0, 10.0), LENGTH: (1.0, 8.0), POSE: (4.0, 10.0)
}  # fmt: skip
# ... and where they tell nothing. Of paths it is as in any question: legs are told to a metre.
CLOSE_M: Mapping[str, tuple[float, float]] = {
    SIZE: (0.3, 2.0), GROUNDING: (0.4, 1.5), LENGTH: (0.08, 0.8), POSE: (1.5, 4.0)
}  # fmt: skip
NEAR_SIZES_M = (0.02, 0.2)  # of sizes of vehicles


def spans_of(task: str, settled: Settled | None) -> Spans:
    """How far options lie apart: far at a level where short ways find the answer, else close."""
    if settled is None:
        return IN_TOWN
    plain = IN_TOWN.lengths
    low_m, high_m = (APART_M if settled.is_sure else CLOSE_M).get(task, (plain.low, plain.high))
    spans = replace(IN_TOWN, lengths=replace(plain, low=low_m, high=high_m))
    if settled.is_sure:
        return replace(
            spans,
            speeds=_spread(spans.speeds, 0.5, 5.0),
            accelerations=_spread(spans.accelerations, 0.1, 1.0),
            turns=_spread(spans.turns, 12.0, 90.0),
        )
    return replace(
        spans,
        are_alike=True,
        speeds=_spread(spans.speeds, 0.04, 0.4),
        accelerations=_spread(spans.accelerations, 0.02, 0.2),
        turns=_spread(spans.turns, 2.0, 20.0),
        sizes_by_kind={
            kind: (
                _spread(length, *NEAR_SIZES_M),
                _spread(width, *NEAR_SIZES_M),
                _spread(height, *NEAR_SIZES_M),
            )
            for kind, (length, width, height) in spans.sizes_by_kind.items()
        },
    )


def _spread(grain: Grain, low: float, high: float) -> Grain:
    return replace(grain, low=low, high=high)


LEAST_FRAMES = 6  # of a track that is asked about
LEAST_PATH_FRAMES = 10  # of a path that is described
MOMENTS = 8  # at which a pair of the wanted side is looked for


def ride_question(
    task: str, tour: Tour, lots: Random, tries: Random, settled: Settled | None
) -> FamilyQuestion | None:
    """Make a question of that task about the ride; None where it holds none that obeys the lots.

    `lots` settle what is wanted first; all that follows is drawn by `tries`.
    """
    if task in MEASURES and (settled or task != ORIENTATION):
        return _measured(task, tour, lots, tries, settled)
    spans = spans_of(task, settled)
    wanted = lots.choice(SIDES[:4])
    for recording in _moments(task, tour, tries, settled):
        drafts = [
            draft
            for draft in Maker(recording, seed=tries.randrange(2**31), spans=spans).drafts({task})
            if _is_of_vehicle(draft, recording) and (task != RELATION or draft.right == wanted)
        ]
        for draft in (
            tries.sample(drafts, len(drafts)) if settled else [tries.choice(drafts)] if drafts else []
        ):
            if question := _asked(draft, recording, tries, settled, tour):
                return question
    return None


def _moments(task: str, tour: Tour, tries: Random, settled: Settled | None) -> Iterator[Recording]:
    """The recording from drawn moments on where a question is about one moment; then all of it."""
    recording = tour.recording if task in OF_OTHERS or not settled else tour.alone.recording
    if task in (RELATION, SIZE):
        for _ in range(MOMENTS):
            yield recording.part(tries.randrange(len(recording.frames) - 1), len(recording.frames) - 1)
    yield recording


Frames = NDArray[np.intp]
Rates = Callable[[Array, Array, Frames, Frames], Array]


@dataclass(frozen=True, slots=True)
class Measure:
    """A quantity measured on a way: its name in questions, its value in m/s or m/s2 and its bounds.

    `rates` tells it of many parts of a way at once: of all positions (n × 3) and times (n), and the first and
    the last frame of each part. `short` tells likewise where the short way ends that ride_ways.py has, and
    `grain` how far options lie apart (in metres, where it `is_length`).
    """

    words: str
    rates: Rates
    bounds: tuple[float, float]
    frames: int = LEAST_FRAMES
    short: Rates | None = None
    grain: Callable[[Spans], Grain] = attrgetter("lengths")
    is_length: bool = False

    def fits(
        self,
        values: Array,
        times_s: Array,
        parts: Frames,
        wanted: float,
        bounds: tuple[float, float],
        spans: Spans,
        settled: Settled | None,
    ) -> list[tuple[int, int]]:
        """The parts (n × 2) in which it is about as wanted, and the short way as settled."""
        first, last = parts.T
        rates, (low, high) = self.rates(values, times_s, first, last), bounds
        is_fit = (np.abs(rates - wanted) <= CLOSE * (high - low)) & (low <= rates) & (rates <= high)
        if settled and self.short:
            off = np.abs(self.short(values, times_s, first, last) - rates)
            off *= times_s[last] - times_s[first] if self.is_length else 1.0
            grain = self.grain(spans)
            is_fit &= off <= CLEAR * grain.low if settled.is_sure else off >= BEYOND * grain.high
        return [(start, end) for start, end in parts[is_fit].tolist()]


def straight_mps(positions_m: Array, times_s: Array, first: Frames, last: Frames) -> Array:
    """Displacement over time."""
    moved_m = np.linalg.norm(positions_m[last] - positions_m[first], axis=1)
    return np.asarray(moved_m / (times_s[last] - times_s[first]))


def average_mps(positions_m: Array, times_s: Array, first: Frames, last: Frames) -> Array:
    """Path length over time, as `truth.average_speed`."""
    along_m = np.concatenate([[0.0], step_lengths_m(positions_m).cumsum()])
    return np.asarray((along_m[last] - along_m[first]) / (times_s[last] - times_s[first]))


def average_mps2(positions_m: Array, times_s: Array, first: Frames, last: Frames) -> Array:
    """The last step's speed less the first one's over the time between, as `truth.average_acceleration`."""
    speeds = speeds_mps(positions_m, times_s)
    return np.asarray((speeds[last - 1] - speeds[first]) / (times_s[last] - times_s[first + 1]))


def first_mps(positions_m: Array, times_s: Array, first: Frames, last: Frames) -> Array:
    """The first step's speed."""
    del last
    return speeds_mps(positions_m, times_s)[first]


def first_mps2(positions_m: Array, times_s: Array, first: Frames, last: Frames) -> Array:
    """The change of speed from the first step to the second over its time."""
    del last
    return accelerations_mps2(positions_m, times_s)[first]


def turned_deg(headings_deg: Array, times_s: Array, first: Frames, last: Frames) -> Array:
    """How much headings (n × 1) change; left is positive where it is for the headings."""
    del times_s
    return np.asarray(headings_deg[last, 0] - headings_deg[first, 0])


def half_deg(headings_deg: Array, times_s: Array, first: Frames, last: Frames) -> Array:
    """How much headings change in the first half."""
    return turned_deg(headings_deg, times_s, first, (first + last) // 2)


MEASURES: Mapping[str, tuple[Measure, ...]] = {
    LENGTH: (
        Measure("displacement", straight_mps, PACES_MPS, short=average_mps, is_length=True),
        Measure("path length", average_mps, PACES_MPS, short=straight_mps, is_length=True),
    ),
    SPEED: (
        Measure("average speed", average_mps, PACES_MPS, short=first_mps, grain=attrgetter("speeds")),
        Measure(
            "average acceleration",
            average_mps2,
            GAINS_MPS2,
            short=first_mps2,
            grain=attrgetter("accelerations"),
        ),
    ),
    # At a level only; its bounds are TURNS_DEG.
    ORIENTATION: (Measure("direction", turned_deg, (0.0, 0.0), short=half_deg, grain=attrgetter("turns")),),
    TRAJECTORY: (Measure("path best", average_mps, PACES_MPS, LEAST_PATH_FRAMES),),
}


def _measured(
    task: str, tour: Tour, lots: Random, tries: Random, settled: Settled | None
) -> FamilyQuestion | None:
    """Draw how fast it goes, evenly; then look for a part of the ride that goes so fast.

    Else what is usual in a town, times the seconds asked about, would be a good guess. At a level all is
    about the camera itself, as others hardly ever bend or brake in view.
    """
    measure = lots.choice(MEASURES[task])
    is_of_camera = task in (TRAJECTORY, ORIENTATION) or lots.random() < 0.5
    paces_mps = BENDING_MPS if settled and task != SPEED else PACES_MPS
    low, high = measure.bounds if task == SPEED else paces_mps
    spans = spans_of(task, settled)
    if settled and task == ORIENTATION:
        side = lots.choice((-1, 1))
        low, high = sorted(side * degrees for degrees in TURNS_DEG[settled.is_sure])
        spans = replace(spans, turns=replace(spans.turns, lowest=low, highest=high))
    wanted = lots.uniform(low, high)
    whole = tour.alone if settled else tour
    names: list[str | None] = [None]
    if not (is_of_camera or settled):
        names = tries.sample([traveller.name for traveller in tour.travellers], len(tour.travellers))
    for name in names:
        values = -whole.poses[:, 3:4] if task == ORIENTATION else whole.track(name)
        parts = _parts_in_view(whole, name, measure.frames)
        fits = measure.fits(values, np.array(whole.times_s), parts, wanted, (low, high), spans, settled)
        if not fits:
            continue
        recording = whole.recording
        for _ in range(PARTS if settled else 1):
            first, last = tries.choice(fits)
            words = {} if name is None else {name: recording.objects[name]}
            part = recording.part(first, last).model_copy(update={"objects": words})
            for _ in range(MOMENTS):
                lasting = _lasting(part, spans, paces_mps)
                maker = Maker(part, seed=tries.randrange(2**31), spans=lasting)
                asked = next(
                    (
                        draft
                        for draft in maker.drafts({task})
                        if draft.about == (name,) and measure.words in draft.question
                    ),
                    None,
                )
                if asked and (question := _asked(asked, part, tries, settled, tour)):
                    return question
    return None


def _lasting(part: Recording, spans: Spans, paces_mps: tuple[float, float]) -> Spans:
    """The spans for a part of that duration: bounds of lengths follow from bounds of speeds."""
    seconds = part.frames[-1].time_s - part.frames[0].time_s
    low_mps, high_mps = paces_mps
    bounded = replace(spans.lengths, lowest=low_mps * seconds, highest=high_mps * seconds)
    return replace(spans, lengths=bounded)


def _parts_in_view(tour: Tour, name: str | None, least: int) -> Frames:
    """The first and last frames (n × 2) of parts that are long enough and have it in view all the time."""
    in_view = [True] * len(tour.times_s)
    if name is not None:
        in_view = tour.in_view[:, tour.number(name)].tolist()
    parts = [
        (first, last)
        for start, end in _runs(in_view, least)
        for first in range(start, end - least + 2)
        for last in range(first + least - 1, end + 1)
    ]
    return np.array(parts, np.intp).reshape(-1, 2)


def _runs(is_in: list[bool], least: int) -> Iterator[tuple[int, int]]:
    """The first and last frames of stretches in view that are long enough."""
    start: int | None = None
    for frame, value in enumerate([*is_in, False]):
        if value and start is None:
            start = frame
        elif not value and start is not None:
            if frame - start >= least:
                yield start, frame - 1
            start = None


def _is_of_vehicle(draft: Draft, recording: Recording) -> bool:
    """Whether the question asks for no box of a person: only vehicles differ in size."""
    if draft.task == GROUNDING or (draft.task == SIZE and not draft.question.startswith("How far")):
        return not recording.objects[str(draft.about[0])].startswith("the person")
    return True


def _asked(
    draft: Draft, recording: Recording, tries: Random, settled: Settled | None, tour: Tour
) -> FamilyQuestion | None:
    """Make the question with the short ways to its answer; None where these break the lots."""
    listed, ways = [draft.right, *draft.wrong], ways_of(draft, recording)
    if settled and not settled.admits(ways, listed):
        return None
    options, right, rules = shuffled(tries, listed, 0, rules_of(ways))
    return FamilyQuestion(
        evidence=(log_of(recording, draft),),
        text=draft.question,
        window_s=(draft.start_s, draft.end_s),
        options=options,
        right=right,
        rules=rules,
        features={**features_of_ride(draft, recording, tour), **closeness(ways)},
    )
