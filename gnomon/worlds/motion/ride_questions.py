"""Asks STI-Bench's eight tasks of a ride, by the code that asks them of any recording."""

from collections.abc import Iterator
from random import Random

from gnomon.recordings.questions import (
    GROUNDING,
    LENGTH,
    LENGTHS,
    RELATION,
    SIZE,
    SPEED,
    Draft,
    Grain,
    Maker,
    Spans,
)
from gnomon.recordings.recording import Recording
from gnomon.recordings.truth import SIDES
from gnomon.worlds.families.family import FamilyQuestion, shuffled
from gnomon.worlds.motion.logs import log_of
from gnomon.worlds.motion.riding import CLOSE_DEG, WIDEST_DEG
from gnomon.worlds.motion.tour import Tour

IN_TOWN = Spans(
    lengths=LENGTHS["outdoor"],
    sizes=Grain(0.1, 0.6, 2),
    speeds=Grain(0.5, 4.0, 2, highest=14.0),
    accelerations=Grain(0.04, 0.25, 2),
    turns=Grain(5.0, 60.0, 0, highest=WIDEST_DEG + CLOSE_DEG),
    sides=SIDES[:4],
    is_level=True,
)
LEAST_FRAMES = 6  # of a track that is asked about
MOMENTS = 8  # at which a pair of the wanted side is looked for


def ride_question(task: str, tour: Tour, lots: Random) -> FamilyQuestion | None:
    """A question of that task about the ride; None where it holds none."""
    wanted = lots.choice(SIDES[:4])
    for recording in _windows(task, tour, lots):
        maker = Maker(recording, seed=lots.randrange(2**31), spans=IN_TOWN)
        drafts = [
            draft
            for draft in maker.drafts({task})
            if _is_fit(draft, recording) and (task != RELATION or draft.right == wanted)
        ]
        if drafts:
            return _asked(lots.choice(drafts), recording, lots)
    return None


def _windows(task: str, tour: Tour, lots: Random) -> Iterator[Recording]:
    """The recording, or such parts of it as suit the task, in an order drawn by lot."""
    recording = tour.recording
    if task in (LENGTH, SPEED) and lots.random() < 0.5:
        runs = [
            run for number in range(len(tour.travellers)) for run in _runs(tour.in_view[:, number].tolist())
        ]
        for first, last in lots.sample(runs, len(runs)):
            part = recording.part(first, last)
            objects = {
                name: words
                for name, words in part.objects.items()
                if all(name in frame.boxes for frame in part.frames)
            }
            yield part.model_copy(update={"objects": objects})
    elif task in (RELATION, SIZE):
        for _ in range(MOMENTS):
            yield recording.part(lots.randrange(len(recording.frames) - 1), len(recording.frames) - 1)
    yield recording


def _runs(is_in: list[bool]) -> Iterator[tuple[int, int]]:
    """The first and last frames of stretches in view that are long enough."""
    start: int | None = None
    for frame, value in enumerate([*is_in, False]):
        if value and start is None:
            start = frame
        elif not value and start is not None:
            if frame - start >= LEAST_FRAMES:
                yield start, frame - 1
            start = None


def _is_fit(draft: Draft, recording: Recording) -> bool:
    """Whether the ride shows what it asks about: an object's way all the time, sizes of vehicles alone."""
    if draft.task in (LENGTH, SPEED):
        name = draft.about[0]
        return name is None or all(name in frame.boxes for frame in recording.frames)
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
