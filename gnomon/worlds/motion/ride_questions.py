"""Asks STI-Bench's eight tasks of a ride, by the code that asks them of any recording."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

from gnomon.recordings import truth
from gnomon.recordings.questions import (
    GROUNDING,
    LENGTH,
    LENGTHS,
    RELATION,
    SIZE,
    SPEED,
    TRAJECTORY,
    Draft,
    Grain,
    Maker,
    Spans,
)
from gnomon.recordings.recording import Array, Recording
from gnomon.recordings.truth import SIDES
from gnomon.worlds.families.family import FamilyQuestion, shuffled
from gnomon.worlds.motion.logs import log_of
from gnomon.worlds.motion.riding import CLOSE_DEG, WIDEST_DEG
from gnomon.worlds.motion.tour import Tour
from gnomon.worlds.motion.travellers import SIZES
from tools.geometry.kinematics import displacement_m

PACES_MPS = (2.0, 11.0)  # asked about: each in between is as likely
GAINS_MPS2 = (-0.6, 0.6)  # of speed, likewise
CLOSE = 0.05  # to the pace or the gain that is wanted, as a share of all there are


def _between(low_m: float, high_m: float) -> Grain:
    """Of sizes in such bounds, any of which is as likely."""
    return Grain(0.05, 0.6, 2, highest=high_m, lowest=low_m)


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
LEAST_FRAMES = 6  # of a track that is asked about
LEAST_PATH_FRAMES = 10  # of a path that is described
MOMENTS = 8  # at which a pair of the wanted side is looked for


def ride_question(task: str, tour: Tour, lots: Random) -> FamilyQuestion | None:
    """A question of that task about the ride; None where it holds none."""
    if task in MEASURES:
        return _measured(task, tour, lots)
    wanted = lots.choice(SIDES[:4])
    for recording in _moments(task, tour, lots):
        drafts = [
            draft
            for draft in Maker(recording, seed=lots.randrange(2**31), spans=IN_TOWN).drafts({task})
            if _is_of_vehicle(draft, recording) and (task != RELATION or draft.right == wanted)
        ]
        if drafts:
            return _asked(lots.choice(drafts), recording, lots)
    return None


def _moments(task: str, tour: Tour, lots: Random) -> Iterator[Recording]:
    """The recording from moments on that are drawn by lot, where one is asked about; then all of it."""
    recording = tour.recording
    if task in (RELATION, SIZE):
        for _ in range(MOMENTS):
            yield recording.part(lots.randrange(len(recording.frames) - 1), len(recording.frames) - 1)
    yield recording


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured on a way, as questions call it; in m/s or m/s² over the way's time, and its bounds."""

    words: str
    rate: Callable[[Array, Array], float]
    bounds: tuple[float, float]
    frames: int = LEAST_FRAMES


def _straight_mps(positions_m: Array, times_s: Array) -> float:
    return displacement_m(positions_m) / float(times_s[-1] - times_s[0])


MEASURES: Mapping[str, tuple[Measure, ...]] = {
    LENGTH: (
        Measure("displacement", _straight_mps, PACES_MPS),
        Measure("path length", truth.average_speed, PACES_MPS),
    ),
    SPEED: (
        Measure("average speed", truth.average_speed, PACES_MPS),
        Measure("average acceleration", truth.average_acceleration, GAINS_MPS2),
    ),
    TRAJECTORY: (Measure("path best", truth.average_speed, PACES_MPS, LEAST_PATH_FRAMES),),
}


def _measured(task: str, tour: Tour, lots: Random) -> FamilyQuestion | None:
    """How fast it goes is settled by lot, evenly; then a part of the ride is looked for where it does.

    Else what is usual in a town, times the seconds asked about, would be a good guess.
    """
    measure = lots.choice(MEASURES[task])
    is_of_camera = task == TRAJECTORY or lots.random() < 0.5
    low, high = measure.bounds
    wanted, close = lots.uniform(low, high), CLOSE * (high - low)
    recording = tour.recording
    names = [None] if is_of_camera else lots.sample(list(recording.objects), len(recording.objects))
    for name in names:
        fits = []
        for first, last in _spans_in_view(tour, name, measure.frames):
            times_s, positions_m = recording.part(first, last).track(name)
            rate = measure.rate(positions_m, times_s)
            if abs(rate - wanted) <= close and low <= rate <= high:
                fits.append((first, last))
        if not fits:
            continue
        first, last = lots.choice(fits)
        words = {} if name is None else {name: recording.objects[name]}
        part = recording.part(first, last).model_copy(update={"objects": words})
        for _ in range(MOMENTS):
            maker = Maker(part, seed=lots.randrange(2**31), spans=_lasting(part))
            for draft in maker.drafts({task}):
                if draft.about == (name,) and measure.words in draft.question:
                    return _asked(draft, part, lots)
    return None


def _lasting(part: Recording) -> Spans:
    """The spans of so long a part: lengths of whole ways have bounds as paces have."""
    seconds = part.frames[-1].time_s - part.frames[0].time_s
    low_mps, high_mps = PACES_MPS
    bounded = replace(IN_TOWN.lengths, lowest=low_mps * seconds, highest=high_mps * seconds)
    return replace(IN_TOWN, lengths=bounded)


def _spans_in_view(tour: Tour, name: str | None, least: int) -> Iterator[tuple[int, int]]:
    """The first and last frames of stretches, so many frames long at least, with it in view all the time."""
    in_view = [True] * len(tour.times_s)
    if name is not None:
        number = next(n for n, traveller in enumerate(tour.travellers) if traveller.name == name)
        in_view = tour.in_view[:, number].tolist()
    for start, end in _runs(in_view, least):
        for first in range(start, end - least + 2):
            for last in range(first + least - 1, end + 1):
                yield first, last


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
    """Whether no box of a person is asked for: sizes and boxes of vehicles alone differ."""
    if draft.task == GROUNDING or (draft.task == SIZE and not draft.question.startswith("How far")):
        return not recording.objects[str(draft.about[0])].startswith("the person")
    return True


def _asked(draft: Draft, recording: Recording, lots: Random) -> FamilyQuestion:
    options, right, _ = shuffled(lots, [draft.right, *draft.wrong], 0, {})
    return FamilyQuestion(
        evidence=(log_of(recording, draft),),
        text=draft.question,
        window_s=(draft.start_s, draft.end_s),
        options=options,
        right=right,
    )
