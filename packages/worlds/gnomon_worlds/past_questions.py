"""Asks what happened: which camera, when, how, in which order (GL, ATI, MS, CR)."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise, permutations
from random import Random

from gnomon_worlds.difficulty import Lots
from gnomon_worlds.question import Question, evidence_of, nearest, shown_when, when
from gnomon_worlds.trajectory import MIN_STAY_S, Sighting, Trip, lookout_of_unbuilt
from gnomon_worlds.walks import MAX_REORDERED_RUNS, MAX_RUNS, Runs, between, detours, phrase, variants
from gnomon_worlds.world import World

DETOUR = 1.3  # a wrong camera is off every way that is up to this much longer than the shortest
CLEAR_S = 2.0  # between two of the intervals to choose from
INTERVALS_TRIED = 12
REORDER = 1.15  # a wrong order of cameras makes the way longer by at least this much


def geo_location(world: World, rng: Random, trip: Trip, lots: Lots | None = None) -> Question | None:
    """Which camera the target passed between two clips."""
    if len(trip.sightings) < 3:
        return None
    first, last = _ends(rng, len(trip.sightings))
    start, end = trip.sightings[first], trip.sightings[last]
    middle = rng.choice(trip.sightings[first + 1 : last])
    if middle.camera in (start.camera, end.camera):
        return None
    clips = ((trip, start), (trip, end))
    unseen = world.scene.cameras.keys() - {sighting.camera for sighting in trip.sightings}
    question = evidence_of(world, "GL", clips) if lots else None
    misleading: list[set[str]] | None = []
    if lots and question:
        misleading = lots.misleading(question, right=middle.camera, candidates=unseen)
    if misleading is None:
        return None  # before all ways are measured
    direct_m = world.way_m(start.exit, end.entry)
    to_m, from_m = world.ways_to_cameras_m(start.exit), world.ways_from_cameras_m(end.entry)
    off = [c for c in sorted(unseen) if to_m[c] + from_m[c] > DETOUR * direct_m + world.margin_m]
    if not all(map(set(off).intersection, misleading)):
        return None
    crow_m = {
        camera: min(
            world.crow_m(start.exit, spot) + world.crow_m(end.entry, spot) for spot in world.spots[camera]
        )
        for camera in off
    }
    wrong = (
        lots.wrong(rng, question, right=middle.camera, candidates=off, count=3)
        if lots and question
        else nearest(rng, off, crow_m, 3)
    )
    if wrong is None:
        return None
    return passage(world, trip, (start, middle, end), (middle.camera, *wrong), middle.camera)


def passage(
    world: World, trip: Trip, seen: Sequence[Sighting], options: Sequence[str], right: str
) -> Question:
    """The question which camera was passed; `seen` are the first clip, the passage and the last clip."""
    start, middle, end = seen
    return Question(
        task_id="GeoLocation",
        clip_sightings=((trip, start), (trip, end)),
        text=f"{_framed(world, start, end)} Infer which camera the target passed through in between.",
        options=tuple(options),
        right=(right,),
        middle=middle,
        gaps=((trip, start, middle), (trip, middle, end)),
    )


def arrival_time_interval(world: World, rng: Random, trip: Trip, lots: Lots | None = None) -> Question | None:
    """When the target was in view of a camera between two clips.

    The four intervals are those in which it crossed four views on its way. Which of these views belong
    to cameras was settled by lot, so neither place nor length of an interval tells the right one.
    """
    if len(trip.sightings) < 3:
        return None
    first, last = _ends(rng, len(trip.sightings))
    start, end = trip.sightings[first], trip.sightings[last]
    unbuilt = [
        sighting
        for sighting in lookout_of_unbuilt(world).sightings(trip.journey)
        if start.end_s < sighting.start_s and sighting.end_s < end.start_s and sighting.stay_s >= MIN_STAY_S
    ]
    turned_s = trip.journey.turned_s
    if turned_s is not None and start.end_s < turned_s < end.start_s:
        return None  # it turns in view of a camera or at the end of its way, never where one could hang
    real = trip.sightings[first + 1 : last]
    times = Counter(sighting.camera for sighting in (*real, *unbuilt))
    once = [sighting for sighting in (*real, *unbuilt) if times[sighting.camera] == 1]
    crossed = sorted(once, key=lambda sighting: sighting.start_s)
    fours = [
        four
        for four in combinations(crossed, 4)
        if any(sighting in real for sighting in four)
        and all(after.start_s - before.end_s >= CLEAR_S for before, after in pairwise(four))
    ]
    if not fours:
        return None
    if lots is None:
        four: tuple[Sighting, ...] = rng.choice(fours)
        middle = rng.choice([sighting for sighting in four if sighting in real])
    else:
        clips = ((trip, start), (trip, end))
        obeying = _intervals(world, rng, clips, rng.sample(fours, len(fours)), real, lots)
        if obeying is None:
            return None
        four, middle = obeying
    return arrival(world, trip, (start, middle, end), [when(sighting) for sighting in four], when(middle))


def arrival(
    world: World, trip: Trip, seen: Sequence[Sighting], options: Sequence[str], right: str
) -> Question:
    """The question when a camera was passed; `seen` are the first clip, the passage and the last clip."""
    start, middle, end = seen
    return Question(
        task_id="ArrivalTimeInterval",
        clip_sightings=((trip, start), (trip, end)),
        text=(
            f"{_framed(world, start, end)} In between it passed through camera {middle.camera}. "
            "Infer the time period when the target appears at this middle camera."
        ),
        options=tuple(options),
        right=(right,),
        middle=middle,
        gaps=((trip, start, middle), (trip, middle, end)),
    )


def _intervals(
    world: World,
    rng: Random,
    clips: tuple[tuple[Trip, Sighting], tuple[Trip, Sighting]],
    fours: Sequence[tuple[Sighting, ...]],
    real: Sequence[Sighting],
    lots: Lots,
) -> tuple[tuple[Sighting, ...], Sighting] | None:
    """Four sightings, and which of them is right, that obey the lots."""
    questions = {
        sighting.camera: evidence_of(world, "ATI", clips, asked=sighting.camera) for sighting in real
    }
    tried = 0
    for four in fours:
        for middle in rng.sample(four, len(four)):
            others = [when(sighting) for sighting in four if sighting != middle]
            if middle not in real or not lots.is_placed(questions[middle.camera], (when(middle), *others)):
                continue
            tried += 1
            if lots.wrong(rng, questions[middle.camera], right=when(middle), candidates=others, count=3):
                return four, middle
            if tried >= INTERVALS_TRIED:
                return None
    return None


def motion_state(world: World, rng: Random, trip: Trip, lots: Lots | None = None) -> Question | None:
    """How the target moved between two clips.

    Wrong options are the truth turned, mirrored or walked backwards. Worlds have no preferred direction, so
    all are equally likely to one who doesn't see the map; and all take the same time. With lots they are
    other walks of as many runs, equally far in each direction.
    """
    if len(trip.sightings) < 3:
        return None
    first, last = _ends(rng, len(trip.sightings))
    start, end = trip.sightings[first], trip.sightings[last]
    most = MAX_REORDERED_RUNS if lots else MAX_RUNS
    runs = between(trip.journey, start.end_s, end.start_s, most=most)
    if runs is None:
        return None
    speed_mps = _mean_mps(runs, start, end)
    wrong: list[str] | None
    if lots is None:
        images = variants(rng, runs, 3)
        wrong = None if images is None else [phrase(image, speed_mps) for image in images]
    else:
        walks = [phrase(walk, speed_mps) for walk in detours(world, rng, start.exit, runs)]
        question = evidence_of(world, "MS", ((trip, start), (trip, end)))
        wrong = lots.wrong(rng, question, right=phrase(runs, speed_mps), candidates=walks, count=3)
    if wrong is None:
        return None
    middle, right = rng.choice(trip.sightings[first + 1 : last]), phrase(runs, speed_mps)
    return motion(world, trip, (start, middle, end), (right, *wrong), right)


def told_way(trip: Trip, start: Sighting, end: Sighting) -> str | None:
    """How the target moved between two sightings, as an option's text; None where that is not to be told."""
    runs = between(trip.journey, start.end_s, end.start_s, most=MAX_REORDERED_RUNS)
    return None if runs is None else phrase(runs, _mean_mps(runs, start, end))


def _mean_mps(runs: Runs, start: Sighting, end: Sighting) -> float:
    return sum(run.length_m for run in runs) / (end.start_s - start.end_s)


def motion(
    world: World, trip: Trip, seen: Sequence[Sighting], options: Sequence[str], right: str
) -> Question:
    """The question how the target moved between two clips; `seen` are these, and a camera in between."""
    start, *middle, end = seen
    passed = "".join(f" In between it passed the intermediate camera {each.camera}." for each in middle)
    return Question(
        task_id="MotionState",
        clip_sightings=((trip, start), (trip, end)),
        text=(f"{_framed(world, start, end)}{passed} Infer the target's motion state between the two clips."),
        options=tuple(options),
        right=(right,),
        middle=middle[0] if middle else None,
        gaps=tuple((trip, before, after) for before, after in pairwise(seen)),
    )


def causal_reordering(world: World, rng: Random, trip: Trip, lots: Lots | None = None) -> Question | None:
    """In which order the target passed three cameras.

    The wrong orders are drawn from the five there are, so no order stands out among the options. With lots
    the right one's reverse is among them as often: straight lines do not tell the two apart.
    """
    if len(trip.sightings) < 3:
        return None
    threes = [three for three in combinations(trip.sightings, 3) if _are_passed_once(trip, three)]
    if not threes:
        return None
    true = rng.choice(threes)
    clips = tuple((trip, sighting) for sighting in true)
    wrong = None
    if lots:
        question = evidence_of(world, "CR", clips)
        reverse = arrows(true[::-1])
        orders = [text for text in map(arrows, permutations(true)) if text != reverse][1:]
        count = 2 if lots.has_reverse else 3
        wrong = lots.wrong(rng, question, right=arrows(true), candidates=orders, count=count)
        if wrong is None:
            return None  # before all ways are measured
        wrong += [reverse] * (3 - count)
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
    if wrong is None:
        wrong = [arrows(order) for order in rng.sample(list(total_m), 3)]
    asked = reordering(world, trip, true, (arrows(true), *wrong), arrows(true))
    return replace(asked, clip_sightings=tuple(rng.sample(clips, 3)))


def reordering(
    world: World,  # noqa: ARG001 (as other questions have it)
    trip: Trip,
    seen: Sequence[Sighting],
    options: Sequence[str],
    right: str,
) -> Question:
    """The question in which order the target passed cameras; its clips are in the order of their names."""
    return Question(
        task_id="CausalReordering",
        clip_sightings=tuple((trip, each) for each in sorted(seen, key=lambda each: each.camera)),
        text=(
            "The clips show one target at three cameras, in no particular order. "
            "Infer the correct order in which the target passed through these cameras."
        ),
        options=tuple(options),
        right=(right,),
        gaps=tuple((trip, before, after) for before, after in pairwise(seen)),
    )


def _are_passed_once(trip: Trip, three: Sequence[Sighting]) -> bool:
    """Whether the target passed each camera once from the first of the three sightings to the last.

    One in whose view it turned is none of them: that could not be the middle one.
    """
    if any(sighting.turned for sighting in three):
        return False
    first_s, last_s = three[0].start_s, three[-1].start_s
    passed = Counter(seen.camera for seen in trip.sightings if first_s <= seen.start_s <= last_s)
    return all(passed[sighting.camera] == 1 for sighting in three)


def arrows(order: Sequence[Sighting]) -> str:
    """An order of cameras as an option's text."""
    return " → ".join(sighting.camera for sighting in order)


def _ends(rng: Random, count: int) -> tuple[int, int]:
    """Two of `count` sightings, in order, with at least one between them."""
    return rng.choice([(first, last) for first, last in combinations(range(count), 2) if last - first > 1])


def _framed(world: World, start: Sighting, end: Sighting) -> str:
    start_when, end_when = shown_when(world, start), shown_when(world, end)
    return (
        f"The [start video] shows the target at the start point ({start.camera}, {start_when}), "
        f"the [end video] at the end point ({end.camera}, {end_when})."
    )
