"""Shows a person a generated question: as GTR-Bench's, with the true paths of its targets."""

from collections.abc import Iterator
from dataclasses import replace

from gnomon.core.clock import NOON_S
from gnomon.core.question_view import QuestionView
from gnomon.core.sample import Sample
from gnomon_published.benchmarks.gtr_bench import question_view as gtr
from gnomon_published.benchmarks.gtr_bench.transforms import Applied
from gnomon_tools.core.sketch import Line
from gnomon_worlds.movement import Journey
from gnomon_worlds.question import Question
from gnomon_worlds.sample_making import draw
from gnomon_worlds.sample_numbers import number_of
from gnomon_worlds.trajectory import Trip


def question_view(sample: Sample) -> QuestionView:
    """The question; its truth has each target's path, from its first sighting to the last that matters."""
    view = gtr.question_view(sample)
    question = draw(number_of(sample.ref.sample_id)).question
    trips = {trip.target: trip for trip, _ in question.clip_sightings}
    paths = tuple(
        line
        for number, trip in enumerate(trips.values(), start=1)
        for line in true_path(
            trip.journey,
            *_shown_s(question, trip),
            label=f"true path of target {number}" if len(trips) > 1 else "true path",
        )
    )
    if applied := sample.target.get("applied"):
        paths = tuple(_moved(line, applied) for line in paths)
    bodies = ", ".join(trip.journey.body.kind for trip in trips.values())
    return replace(
        view,
        truth=replace(view.truth, marks=paths),
        facts={**view.facts, "Targets" if len(trips) > 1 else "Target": bodies},
    )


def _moved(line: Line, applied: Applied) -> Line:
    """A path in the transformed question's scene, by its clock."""
    return replace(
        line,
        points=tuple(applied.move.point(point) for point in line.points),
        times_s=tuple(time_s + applied.later_s for time_s in line.times_s),
    )


def _shown_s(question: Question, trip: Trip) -> tuple[float, float]:
    """From a target's first sighting that is shown to the end of the last, or of what is asked about."""
    sightings = [sighting for owner, sighting in question.clip_sightings if owner is trip]
    ends_s = [sighting.end_s for sighting in sightings] + [end_s for _, end_s in question.times_s]
    return min(sighting.start_s for sighting in sightings), max(ends_s)


def true_path(journey: Journey, start_s: float, end_s: float, *, label: str = "") -> Iterator[Line]:
    """Where a target went between two moments: a line for each floor it walked on without a break.

    `start_s` and `end_s` are seconds after noon, as the journey's; the lines' times are those of the clock.
    """
    for stretch in journey.stretches:
        first_s, last_s = max(start_s, stretch.times_s[0]), min(end_s, stretch.times_s[-1])
        if first_s >= last_s:
            continue
        inner = [
            (point, time_s)
            for point, time_s in zip(stretch.points_m, stretch.times_s, strict=True)
            if first_s < time_s < last_s
        ]
        timed = [(stretch.at(first_s), first_s), *inner, (stretch.at(last_s), last_s)]
        yield Line(
            points=tuple(point for point, _ in timed),
            times_s=tuple(time_s + NOON_S for _, time_s in timed),
            label=label,
            floor=stretch.floor,
        )
