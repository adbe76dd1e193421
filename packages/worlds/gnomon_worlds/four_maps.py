"""Asks hard questions, to which four maps of a town give four answers by the same clips.

The streets and cameras of a town are drawn first, then many maps of it, in which streets that no camera sees
are closed and streets are driven one way only. Four of the maps are looked for under which targets that were
filmed alike have four answers; these are the options. Which of the four is the town's map is drawn last. So
boxes, times, cameras and options are the same under all four: without the map nobody, whatever he has
learned, is right more often than once in four times.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise, permutations
from random import Random

import numpy as np

from gnomon_published.benchmarks.gtr_bench.case import TASKS
from gnomon_tools.scene.scene import Point
from gnomon_worlds.attainable import is_clear
from gnomon_worlds.crossings import Crossings, Flags, Floats, crossings_of
from gnomon_worlds.difficulty import OPTIONS
from gnomon_worlds.forecasting import BEYOND, next_seen
from gnomon_worlds.movement import PEDESTRIAN, VEHICLE, Body, Journey, Stretch
from gnomon_worlds.past_questions import (
    CLEAR_S,
    DETOUR,
    REORDER,
    arrival,
    arrows,
    motion,
    passage,
    reordering,
    told_way,
)
from gnomon_worlds.question import Question, when
from gnomon_worlds.trajectory import ON_FOOT, STARTS_S, TARGETS, Sighting, Trip, fit, lookout_of
from gnomon_worlds.walks import along
from gnomon_worlds.world import World

TRIED = 240  # clips, or pairs of clips, in search of a question
LEAST_M, MOST_M = 150.0, 1_000.0  # between two clips; to the next camera, the same at most
PACE = 1.25  # by which a target that is out of view may be faster under one map than under another
COMPARED = 64  # answers, in search of four
SAME_M = 1e-6

Find = Callable[[Random, Crossings, float], "list[Answer]"]
Seen = tuple[Sighting, ...]  # in the clips, and what is asked about
Tell = Callable[[Trip, Seen], str | None]
Ask = Callable[[World, Trip, Seen, Sequence[str], str], Question]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a task's questions are found: four maps and ways, what is right under one, and the question.

    `tell` gives None where a trip cannot be told; `may_tell` says so by its way between the views already,
    which takes a hundredth of the time. `is_next`: nobody sees the target before what is asked for.
    """

    find: Find
    tell: Tell
    ask: Ask
    may_tell: Callable[[Sequence[Point]], object] | None = None
    is_next: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A map, and the views that a target crosses under it: of the clips, and the one asked for."""

    map_: int
    crossed: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is the same of a target under all four maps."""

    number: int
    body: Body
    speed_mps: float  # in the clips
    left_s: float  # when it leaves the view of the first clip


def hard_question(town: World, rng: Random, task_id: str) -> tuple[World, Question] | None:
    """A question, and the town as its map has it; None where no four maps differ so.

    Clips show the streets that its map lacks too, so that pictures tell no more than boxes.
    """
    asked = under_four_maps(town, rng, task_id)
    if asked is None:
        return None
    map_, question = rng.choice(asked)
    mapped = crossings_of(town).town_of(town, map_, f"{town.scene.id}-{TASKS[task_id].short}")
    return replace(mapped, filmed=town), question


def under_four_maps(town: World, rng: Random, task_id: str) -> list[tuple[int, Question]] | None:
    """Four maps, each with the question under it: only what is right differs."""
    crossings = crossings_of(town)
    asking = _TASKS[task_id]
    for _ in range(TRIED):
        four = asking.find(rng, crossings, town.margin_m)
        if four and (questions := _asked(town, rng, crossings, four, asking)):
            return [(answer.map_, question) for answer, question in zip(four, questions, strict=True)]
    return None


def _passed(rng: Random, its: Crossings, margin_m: float) -> list[Answer]:
    """Shortest ways from clip to clip, each past a camera that lies off the other three."""
    first, last = _two(rng, its)
    way_m = its.onward_m[:, first, last]
    is_fit = _is_fit(way_m) & (way_m <= its.shortest_m[:, first, last] + SAME_M)
    past_m = its.onward_m[:, first] + its.seen_m + its.onward_m[:, :, last]
    is_off = _by_cameras_m(its, first, last) > DETOUR * way_m[:, None] + margin_m
    maps, middles = np.nonzero((past_m <= way_m[:, None] + SAME_M) & is_fit[:, None])
    four = _together(rng, is_off[maps][:, middles // 2] & _is_alike(way_m[maps]))
    return [Answer(map_=int(maps[at]), crossed=(first, int(middles[at]), last)) for at in four]


def _arrived(rng: Random, its: Crossings, margin_m: float) -> list[Answer]:  # noqa: ARG001
    """Shortest ways to one camera and on, which reach it at four times that are well apart."""
    first, last = _two(rng, its)
    to_m, from_m = its.onward_m[:, first], its.onward_m[:, :, last]
    way_m = to_m + its.seen_m + from_m
    is_fit = _is_fit(way_m) & (way_m <= _by_cameras_m(its, first, last).repeat(2, axis=1) + SAME_M)
    is_enough = its.is_alone & ((is_fit[:, ::2] | is_fit[:, 1::2]).sum(axis=0) >= OPTIONS)
    cameras = is_enough.nonzero()[0].tolist()
    for camera in rng.sample(cameras, len(cameras)):
        maps, sides = np.nonzero(is_fit[:, 2 * camera : 2 * camera + 2])
        middles = sides + 2 * camera
        whole_m, seen_m = way_m[maps, middles], its.seen_m[2 * camera]
        share = (to_m[maps, middles] + seen_m / 2) / whole_m
        apart_m = abs(share[:, None] - share) * np.minimum(whole_m[:, None], whole_m)
        is_apart = apart_m > PACE * seen_m + CLEAR_S * VEHICLE.speed_mps[1]
        if four := _together(rng, is_apart & _is_alike(whole_m)):
            return [Answer(map_=int(maps[at]), crossed=(first, int(middles[at]), last)) for at in four]
    return []


def _ahead(rng: Random, its: Crossings, margin_m: float) -> list[Answer]:
    """Ways to the next camera, the other three being much farther."""
    first = rng.randrange(len(its.tail))
    onward_m = its.onward_m[:, first]
    way_m, nearest = onward_m.min(axis=1), onward_m.argmin(axis=1)
    is_off = its.by_camera(its.shortest_m[:, first]) > BEYOND * way_m[:, None] + margin_m
    is_fit = (way_m <= MOST_M) & (way_m <= its.shortest_m[np.arange(len(way_m)), first, nearest] + SAME_M)
    maps = is_fit.nonzero()[0]
    four = _together(rng, is_off[maps][:, nearest[maps] // 2])
    return [Answer(map_=int(maps[at]), crossed=(first, int(nearest[maps[at]]))) for at in four]


def _driven(rng: Random, its: Crossings, margin_m: float) -> list[Answer]:
    """Shortest ways from clip to clip, no two of which are nearly as long."""
    first, last = _two(rng, its)
    way_m = its.onward_m[:, first, last]
    maps = (_is_fit(way_m) & (way_m <= its.shortest_m[:, first, last] + SAME_M)).nonzero()[0]
    whole_m = way_m[maps]
    four = _together(rng, (abs(whole_m[:, None] - whole_m) > margin_m / 2) & _is_alike(whole_m))
    return [Answer(map_=int(maps[at]), crossed=(first, last)) for at in four]


def _ordered(rng: Random, its: Crossings, margin_m: float) -> list[Answer]:
    """Shortest ways from clip to clip past three cameras; in any other order they are much longer."""
    three = [2 * camera + rng.randrange(2) for camera in rng.sample(range(len(its.cameras)), 3)]
    orders = list(permutations(three))
    a, b, c = np.array(orders).T
    least_m = its.shortest_m[:, a, b] + its.seen_m[b] + its.shortest_m[:, b, c]
    best, maps = least_m.argmin(axis=1), np.arange(len(least_m))
    shortest_m, next_m = np.sort(least_m, axis=1)[:, :2].T
    way_m = (its.onward_m[:, a, b] + its.seen_m[b] + its.onward_m[:, b, c])[maps, best]
    is_fit = _is_fit(way_m / 2) & (way_m <= shortest_m + SAME_M) & (next_m > REORDER * way_m + margin_m / 2)
    fits = is_fit.nonzero()[0].tolist()
    by_best = {int(best[map_]): int(map_) for map_ in rng.sample(fits, len(fits))}
    if len(by_best) < OPTIONS:
        return []
    return [Answer(map_=by_best[at], crossed=orders[at]) for at in rng.sample(sorted(by_best), OPTIONS)]


def _two(rng: Random, its: Crossings) -> tuple[int, int]:
    """The crossings of two clips' views."""
    first, last = rng.sample(range(len(its.cameras)), 2)
    return 2 * first + rng.randrange(2), 2 * last + rng.randrange(2)


def _by_cameras_m(its: Crossings, first: int, last: int) -> Floats:
    """The shortest ways from clip to clip that come into each camera's view: maps × cameras."""
    from_m = its.shortest_m[:, :, last]
    by_side_m = from_m.reshape(len(from_m), -1, 2)
    back_m = by_side_m[:, :, ::-1].reshape(from_m.shape)  # of one who turns round at the view's edge
    return its.by_camera(its.shortest_m[:, first] + np.minimum(its.seen_m + from_m, back_m))


def _is_fit(way_m: Floats) -> Flags:
    return (way_m >= LEAST_M) & (way_m <= MOST_M)


def _is_alike(way_m: Floats) -> Flags:
    """Which of the ways are so much alike that a target may take the same time over them."""
    return (way_m[:, None] <= PACE * way_m) & (way_m <= PACE * way_m[:, None])


def _together(rng: Random, fits: Flags) -> list[int]:
    """Four places, each two of which fit, as `fits` must say both ways; none where there are no such four."""
    both = fits & fits.T
    places = (both.sum(axis=1) >= OPTIONS - 1).nonzero()[0].tolist()
    if len(places) < OPTIONS:
        return []
    places = rng.sample(places, min(len(places), COMPARED))
    own = both[places][:, places].astype(np.float32)
    for first in range(len(places)):
        near = own[first].nonzero()[0]
        among = own[near][:, near]
        thirds = among * (among @ among)
        if thirds.any():
            second, third = divmod(int(thirds.argmax()), len(near))
            fourth = int((among[second] * among[third]).argmax())
            return [places[at] for at in (first, near[second], near[third], near[fourth])]
    return []


def _asked(
    town: World, rng: Random, its: Crossings, four: Sequence[Answer], asking: Asking
) -> list[Question] | None:
    """The question under each map; None where one of them is not to be asked."""
    body = PEDESTRIAN if rng.random() < ON_FOOT else VEHICLE
    limits_mps = [road.speed_mps for road in town.scene.roads.values() if road.speed_mps]
    target = Target(
        number=rng.choice(TARGETS),
        body=body,
        speed_mps=min(rng.uniform(*body.speed_mps), *limits_mps),
        left_s=rng.uniform(*STARTS_S),
    )
    ways_m = (its.unseen_m(answer.map_, answer.crossed) for answer in four)
    if asking.may_tell and not all(map(asking.may_tell, ways_m)):
        return None
    trips: list[tuple[Trip, Seen]] = []
    options: list[str] = []
    for answer, trip in zip(four, _trips(town, its, four, target), strict=True):
        sightings = _seen(its, answer, trip, is_next=asking.is_next)
        right = asking.tell(trip, sightings) if sightings else None
        if right is None or right in options:
            return None
        trips.append((trip, sightings))
        options.append(right)
    questions = [
        asking.ask(town, trip, sightings, options, right)
        for (trip, sightings), right in zip(trips, options, strict=True)
    ]
    return questions if all(is_clear(town, question) for question in questions) else None


def _trips(town: World, its: Crossings, four: Sequence[Answer], target: Target) -> Iterator[Trip]:
    """The target's trip under each map; from clip to clip, where there are two, it takes equally long."""
    lines_m = [np.array(its.route_m(answer.map_, answer.crossed)) for answer in four]
    alongs_m = [np.insert(np.hypot(*np.diff(line_m, axis=0).T).cumsum(), 0, 0.0) for line_m in lines_m]
    firsts, lasts = ({answer.crossed[at] for answer in four} for at in (0, -1))
    enters_m = [
        along_m[-1] - its.after_m[answer.crossed[-1]] - its.seen_m[answer.crossed[-1]]
        for along_m, answer in zip(alongs_m, four, strict=True)
    ]
    mean_m = np.mean(enters_m) if len(lasts) == 1 else None
    for line_m, along_m, enter_m, answer in zip(lines_m, alongs_m, enters_m, four, strict=True):
        if len(firsts) == 1:
            leaves_m = its.before_m[answer.crossed[0]] + its.seen_m[answer.crossed[0]]
            unseen_m = (enter_m if mean_m is None else mean_m) - leaves_m
            marks_m = np.array([0.0, leaves_m, enter_m, along_m[-1]])
            paced_m = np.array([-leaves_m, 0.0, unseen_m, unseen_m + along_m[-1] - enter_m])
            marks_s = target.left_s + paced_m / target.speed_mps
        else:
            marks_m, marks_s = _in_step(its, answer, target)
        at_m = np.union1d(along_m, marks_m)
        times_s = np.interp(at_m, marks_m, marks_s).tolist()
        points_m = zip(*(np.interp(at_m, along_m, axis).tolist() for axis in line_m.T), strict=True)
        stretch = Stretch(floor=0, points_m=tuple(points_m), times_s=tuple(times_s))
        journey = Journey(body=target.body, stretches=(stretch,))
        yield Trip(target=target.number, journey=journey, sightings=lookout_of(town).sightings(journey))


def _in_step(its: Crossings, answer: Answer, target: Target) -> tuple[Floats, Floats]:
    """Where on the way the target comes into the views and leaves them, and when.

    From view to view it takes whole milliseconds, by which clips count: so boxes are the same in any order.
    """
    crossed = list(answer.crossed)
    seen_m, after_m = its.seen_m[crossed], its.after_m[crossed[-1]]
    hops_m = [its.seen_m[a] + its.onward_m[answer.map_, a, b] for a, b in pairwise(crossed)]
    enters_m = its.before_m[crossed[0]] + np.array([0.0, *accumulate(hops_m)])
    enters_s = target.left_s + np.round((enters_m - enters_m[0]) / target.speed_mps, 3)
    marks_m = np.stack([enters_m, enters_m + seen_m], axis=1).reshape(-1)
    marks_s = np.stack([enters_s, enters_s + seen_m / target.speed_mps], axis=1).reshape(-1)
    began_s, ended_s = marks_s[0] - marks_m[0] / target.speed_mps, marks_s[-1] + after_m / target.speed_mps
    return np.array([0.0, *marks_m, marks_m[-1] + after_m]), np.array([began_s, *marks_s, ended_s])


def _seen(its: Crossings, answer: Answer, trip: Trip, *, is_next: bool) -> Seen:
    """The sightings that a question is about; none where others come before its clips, or before the next."""
    names = [its.cameras[crossing // 2] for crossing in answer.crossed]
    by_camera = {sighting.camera: sighting for sighting in trip.sightings}
    cameras = list(by_camera)
    is_seen = cameras[:2] == names if is_next else [*cameras[:1], *cameras[-1:]] == [names[0], names[-1]]
    if not is_seen or not by_camera.keys() >= set(names) or not fit(trip.journey, trip.sightings):
        return ()
    return tuple(by_camera[name] for name in names)


_TASKS: Mapping[str, Asking] = {
    "GeoLocation": Asking(find=_passed, tell=lambda _, seen: seen[1].camera, ask=passage),
    "ArrivalTimeInterval": Asking(find=_arrived, tell=lambda _, seen: when(seen[1]), ask=arrival),
    "MotionState": Asking(
        find=_driven, tell=lambda trip, seen: told_way(trip, *seen), ask=motion, may_tell=along
    ),
    "CausalReordering": Asking(find=_ordered, tell=lambda _, seen: arrows(seen), ask=reordering),
    "NextSpotForecasting": Asking(
        find=_ahead, tell=lambda _, seen: seen[1].camera, ask=next_seen, is_next=True
    ),
}
