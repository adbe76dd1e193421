"""Questions about what happened: which camera, when, how, in which order (GL, ATI, MS, CR)."""

import math
from itertools import combinations, pairwise, permutations
from random import Random

from gnomon.worlds.motion import between, phrase, variants
from gnomon.worlds.question import Question, nearest, when
from gnomon.worlds.sighting import Sighting, sightings
from gnomon.worlds.trajectory import MIN_STAY_S, Trip
from gnomon.worlds.world import World

DETOUR = 1.3  # a wrong camera lies off every way that is up to this much longer than the shortest
CLEAR_S = 2.0  # between two of the intervals to choose from
REORDER = 1.15  # a wrong order of cameras makes the way longer by at least this much


def geo_location(world: World, rng: Random, trip: Trip) -> Question | None:
    """Which camera the target passed between two clips."""
    if len(trip.sightings) < 3:
        return None
    first, last = _ends(rng, len(trip.sightings))
    start, end = trip.sightings[first], trip.sightings[last]
    middle = rng.choice(trip.sightings[first + 1 : last])
    direct_m = world.way_m(start.exit, end.entry)
    detour_m, crow_m = {}, {}
    for camera in world.scene.cameras.keys() - {one.camera for one in trip.sightings}:
        detour_m[camera] = world.way_to_camera_m(start.exit, camera) + world.way_to_camera_m(
            end.entry, camera
        )
        crow_m[camera] = min(
            world.crow_m(start.exit, spot) + world.crow_m(end.entry, spot) for spot in world.spots[camera]
        )
    off = [camera for camera in sorted(detour_m) if detour_m[camera] > DETOUR * direct_m + world.margin_m]
    wrong = nearest(rng, off, crow_m, 3)
    if wrong is None:
        return None
    return Question(
        task_id="GeoLocation",
        seen=((trip, start), (trip, end)),
        text=f"{_framed(start, end)} Infer which camera the target passed through in between.",
        options=(middle.camera, *wrong),
        right=(middle.camera,),
        middle=middle,
    )


def arrival_time_interval(world: World, rng: Random, trip: Trip) -> Question | None:
    """When the target was in view of a camera between two clips.

    The four intervals are those in which it crossed four views on its way. Which of these views belong
    to cameras was settled by lot, so neither place nor length of an interval tells the right one.
    """
    if len(trip.sightings) < 3:
        return None
    first, last = _ends(rng, len(trip.sightings))
    start, end = trip.sightings[first], trip.sightings[last]
    unbuilt = [
        one
        for one in sightings(trip.journey, world.installation.unbuilt)
        if start.end_s < one.start_s and one.end_s < end.start_s and one.stay_s >= MIN_STAY_S
    ]
    once = [one for one in unbuilt if sum(other.camera == one.camera for other in unbuilt) == 1]
    real = trip.sightings[first + 1 : last]
    crossed = sorted((*real, *once), key=lambda one: one.start_s)
    fours = [
        four
        for four in combinations(crossed, 4)
        if any(one in real for one in four)
        and all(after.start_s - before.end_s >= CLEAR_S for before, after in pairwise(four))
    ]
    if not fours:
        return None
    four = rng.choice(fours)
    middle = rng.choice([one for one in four if one in real])
    return Question(
        task_id="ArrivalTimeInterval",
        seen=((trip, start), (trip, end)),
        text=(
            f"{_framed(start, end)} In between it passed through camera {middle.camera}. "
            "Infer the time period when the target appears at this middle camera."
        ),
        options=tuple(when(one) for one in four),
        right=(when(middle),),
        middle=middle,
    )


def motion_state(_world: World, rng: Random, trip: Trip) -> Question | None:
    """How the target moved between two clips.

    Wrong options are the truth turned, mirrored or walked backwards. Worlds have no preferred direction, so
    all are equally likely to one who doesn't see the map; and all take the same time.
    """
    if len(trip.sightings) < 3:
        return None
    first, last = _ends(rng, len(trip.sightings))
    start, end = trip.sightings[first], trip.sightings[last]
    runs = between(trip.journey, start.end_s, end.start_s)
    wrong = variants(rng, runs, 3) if runs else None
    if runs is None or wrong is None:
        return None
    middle = rng.choice(trip.sightings[first + 1 : last])
    speed_mps = sum(run.length_m for run in runs) / (end.start_s - start.end_s)
    return Question(
        task_id="MotionState",
        seen=((trip, start), (trip, end)),
        text=(
            f"{_framed(start, end)} In between it passed the intermediate camera {middle.camera}. "
            "Infer the target's motion state between the two clips."
        ),
        options=tuple(phrase(option, speed_mps) for option in (runs, *wrong)),
        right=(phrase(runs, speed_mps),),
        middle=middle,
    )


def causal_reordering(world: World, rng: Random, trip: Trip) -> Question | None:
    """In which order the target passed three cameras.

    The wrong orders are drawn from the five there are, so no order stands out among the options.
    """
    if len(trip.sightings) < 3:
        return None
    true = rng.choice(list(combinations(trip.sightings, 3)))
    way_m = {
        (before.camera, after.camera): world.way_m(before.exit, after.entry)
        for before, after in permutations(true, 2)
    }
    total_m = {
        order: math.fsum(way_m[before.camera, after.camera] for before, after in pairwise(order))
        for order in permutations(true)
    }
    shortest_m = total_m.pop(true)
    if min(total_m.values()) < REORDER * shortest_m + world.margin_m / 2:
        return None
    arrows = [" → ".join(one.camera for one in order) for order in (true, *rng.sample(list(total_m), 3))]
    return Question(
        task_id="CausalReordering",
        seen=tuple((trip, one) for one in rng.sample(true, 3)),
        text=(
            "The clips show one target at three cameras, in no particular order. "
            "Infer the correct order in which the target passed through these cameras."
        ),
        options=tuple(arrows),
        right=(arrows[0],),
    )


def _ends(rng: Random, count: int) -> tuple[int, int]:
    """Two of `count` sightings, in order, with at least one between them."""
    return rng.choice([(first, last) for first, last in combinations(range(count), 2) if last - first > 1])


def _framed(start: Sighting, end: Sighting) -> str:
    return (
        f"The [start video] shows the target at the start point ({start.camera}, {when(start)}), "
        f"the [end video] at the end point ({end.camera}, {when(end)})."
    )
