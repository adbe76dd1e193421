"""Asks what comes next: the next camera, the next two, where two targets meet (NSF, TF, MTTF)."""

import math
from collections.abc import Sequence
from random import Random

from gnomon_worlds.difficulty import Lots
from gnomon_worlds.question import Question, evidence_of, nearest
from gnomon_worlds.trajectory import SLOWEST_MPS, Sighting, Trip, beside_one_another, pooled_trip, trip
from gnomon_worlds.world import World

BEYOND = 1.5  # a wrong camera ahead is at least this many times as far as the right one
COMPANIONS = 40  # other trips drawn in search of one that meets the first
MIN_OVERLAP_S = 1.0
MISS_S = 20.0  # at a wrong camera one target is at least this long before the other


def next_spot(world: World, rng: Random, trip: Trip, lots: Lots | None = None) -> Question | None:
    """Which camera sees the target next, and when."""
    if len(trip.sightings) < 2:
        return None
    index = rng.randrange(len(trip.sightings) - 1)
    last, coming = trip.sightings[index : index + 2]
    if coming.camera == last.camera:
        return None  # it turned back where nobody saw it
    clips = ((trip, last),)
    question = evidence_of(world, "NSF", clips) if lots else None
    others = world.scene.cameras.keys() - {last.camera, coming.camera}
    if lots and question and lots.is_hopeless(rng, question, right=coming.camera, candidates=others):
        return None  # before all ways are measured
    distance_m = world.ways_to_cameras_m(last.exit)
    beyond = unlikely(world, last, coming, distance_m)
    wrong = (
        lots.wrong(rng, question, right=coming.camera, candidates=beyond, count=3)
        if lots and question
        else nearest(rng, beyond, distance_m, 3)
    )
    if wrong is None:
        return None
    return next_seen(world, trip, (last, coming), (coming.camera, *wrong), coming.camera)


def next_seen(
    world: World,  # noqa: ARG001 (as other questions have it)
    trip: Trip,
    seen: Sequence[Sighting],
    options: Sequence[str],
    right: str,
) -> Question:
    """The question which camera comes next; `seen` are the clip and what comes."""
    last, coming = seen
    return Question(
        task_id="NextSpotForecasting",
        clip_sightings=((trip, last),),
        text="Predict which camera from the list will most likely capture the target next, and when.",
        options=tuple(options),
        right=(right,),
        times_s=((coming.start_s, coming.end_s),),
        gaps=((trip, last, coming),),
    )


def trajectory(world: World, rng: Random, trip: Trip, lots: Lots | None = None) -> Question | None:
    """Which two cameras see the target next, in order, and when."""
    if len(trip.sightings) < 4:
        return None
    index = rng.randrange(len(trip.sightings) - 3)
    before, last, coming, later = trip.sightings[index : index + 4]
    if len({seen.camera for seen in (before, last, coming, later)}) < 4:
        return None  # the first clip's camera among the options would be right always
    clips, beside = ((trip, before), (trip, last)), (later.camera,)
    question = evidence_of(world, "TF", clips) if lots else None
    others = world.scene.cameras.keys() - {before.camera, last.camera, coming.camera, later.camera}
    if (
        lots
        and question
        and lots.is_hopeless(rng, question, right=coming.camera, candidates=others, beside=beside)
    ):
        return None  # before all ways are measured
    distance_m = world.ways_to_cameras_m(last.exit)
    first = unlikely(world, last, coming, distance_m)
    second = unlikely(world, coming, later, world.ways_to_cameras_m(coming.exit))
    neither = [camera for camera in first if camera in second and camera not in (before.camera, later.camera)]
    wrong = (
        lots.wrong(rng, question, right=coming.camera, candidates=neither, count=2, beside=beside)
        if lots and question
        else nearest(rng, neither, distance_m, 2)
    )
    if wrong is None:
        return None
    return Question(
        task_id="TrajectoryForecasting",
        clip_sightings=clips,
        text="Predict the next two cameras that the target will likely pass through, in order, and when.",
        options=(coming.camera, later.camera, *wrong),
        right=(coming.camera, later.camera),
        times_s=((coming.start_s, coming.end_s), (later.start_s, later.end_s)),
        gaps=((trip, last, coming), (trip, coming, later)),
    )


def meeting(world: World, rng: Random, first: Trip, lots: Lots | None = None) -> Question | None:
    """Where and when two targets are in view of the same camera at the same time."""
    if len(first.sightings) < 2:
        return None
    index = rng.randrange(1, len(first.sightings))
    last, place = first.sightings[index - 1 : index + 1]
    if last.camera == place.camera:
        return None
    for _ in range(COMPANIONS):
        companion = (pooled_trip if lots else trip)(world, rng, least=2, past=place.camera)
        where = [sighting.camera for sighting in companion.sightings] if companion else []
        if companion is None or place.camera not in where[1:] or companion.target == first.target:
            continue
        theirs = where.index(place.camera, 1)
        if where[theirs - 1] in (last.camera, place.camera):
            continue
        companion_there = companion.sightings[theirs]
        # so that it comes at some time during the first one's stay
        apart_s = rng.uniform(-0.6 * companion_there.stay_s, 0.6 * place.stay_s)
        delay_s = place.start_s + apart_s - companion_there.start_s
        companion = companion.later(companion.journey.in_step_s(delay_s))
        if world.is_crowded:
            both_hiding = beside_one_another(world, first, companion)
            if both_hiding is None:
                continue
            first, companion = both_hiding
        return met(world, rng, (first, index), (companion, theirs), lots)
    return None


def met(
    world: World,
    rng: Random,
    target: tuple[Trip, int],
    partner: tuple[Trip, int],
    lots: Lots | None = None,
) -> Question | None:
    """Make the question where two targets meet, from each one's trip and the number of its sighting there."""
    (trip, index), (companion, theirs) = target, partner
    last, place = trip.sightings[index - 1 : index + 1]
    their_last, their_place = companion.sightings[theirs - 1 : theirs + 1]
    met_s = (max(place.start_s, their_place.start_s), min(place.end_s, their_place.end_s))
    if met_s[1] - met_s[0] < MIN_OVERLAP_S or max(last.end_s, their_last.end_s) >= met_s[0]:
        return None
    clips = ((trip, last), (companion, their_last))
    question = evidence_of(world, "MTTF", clips) if lots else None
    others = world.scene.cameras.keys() - {place.camera, last.camera, their_last.camera}
    if lots and question and lots.is_hopeless(rng, question, right=place.camera, candidates=others):
        return None  # before all ways are measured
    ways_m, their_ways_m = (world.ways_to_cameras_m(sighting.exit) for sighting in (last, their_last))
    missed = [
        camera
        for camera in world.scene.cameras
        if camera not in (place.camera, last.camera, their_last.camera)
        and abs(_arrival_s(last, ways_m[camera]) - _arrival_s(their_last, their_ways_m[camera])) >= MISS_S
        and not _together(trip, companion, camera)
    ]
    wrong = (
        lots.wrong(rng, question, right=place.camera, candidates=missed, count=3)
        if lots and question
        else nearest(rng, missed, ways_m, 3)
    )
    if wrong is None:
        return None
    return Question(
        task_id="MultiTargetTrajectoryForecasting",
        clip_sightings=tuple(rng.sample(clips, 2)),
        text=(
            "The clips show two targets. Predict where and when the two targets will most likely meet, "
            "that is, be in view of the same camera at the same time."
        ),
        options=(place.camera, *wrong),
        right=(place.camera,),
        times_s=(met_s,),
        gaps=((trip, last, place), (companion, their_last, their_place)),
    )


def _arrival_s(last: Sighting, way_m: float) -> float:
    """When the target will have gone `way_m` at the speed it left its clip with, as the crow flies."""
    if last.turned is not None:
        return last.end_s + way_m / max(last.speed_mps, SLOWEST_MPS)
    return last.end_s + way_m * last.stay_s / math.dist(last.entry.xy_m, last.exit.xy_m)


def _together(first: Trip, second: Trip, camera: str) -> bool:
    return any(
        here.camera == there.camera == camera and here.start_s < there.end_s and there.start_s < here.end_s
        for here in first.sightings
        for there in second.sightings
    )


def unlikely(world: World, last: Sighting, coming: Sighting, distance_m: dict[str, float]) -> list[str]:
    """Cameras that cannot be next: the target came from there, or they lie well beyond the right one.

    A camera is behind if crossing the last view led away from it, or going back there did.
    """
    before_m = world.ways_to_cameras_m(last.came_from)
    crossed_m = world.way_m(last.came_from, last.exit)
    right_m = distance_m[coming.camera]
    return [
        camera
        for camera in distance_m
        if camera not in (last.camera, coming.camera)
        and (
            distance_m[camera] > before_m[camera] + crossed_m / 2
            or distance_m[camera] > BEYOND * right_m + world.margin_m
        )
    ]
