"""The truth of forecasts, computed a second time: the mover is stepped, each step is held against the views.

Nothing of the first way is used but the corners of the movement and of the views: no distances along lines,
no intersections. Whether a point is in a view is counted by crossings of a ray.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray

from gnomon_worlds.movement import Journey
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.sample_making import Drawn, draw
from gnomon_worlds.sample_numbers import CELLS, Number
from gnomon_worlds.world import World

STEP_S = 0.01
EDGE_M = 0.001
FIRST_S = 60.0  # as far as it is looked ahead at first
EACH, MANY, PLACES = 2, 100, 3  # questions of a task and of a scene, here and in the soak; their places
EVERYTHING = {"movement": "simulated", "sight": "occluded", "clocks": "apart"}
ON_WIDE_WAYS = {
    "movement": "simulated",
    "streets": "lanes",
    "journeys": "returning",
    "buildings": "escalators",
}
OPTIONS = {
    "plain": {},
    "with all options": EVERYTHING,
    "on real streets": {**EVERYTHING, "network": "helsinki"},
    "in lanes and back": ON_WIDE_WAYS,
}
PLAIN_AND_NOT = pytest.mark.parametrize(
    ("wanted", "each"),
    [
        *(pytest.param(wanted, EACH, id=name) for name, wanted in OPTIONS.items()),
        *(
            pytest.param(wanted, MANY, id=f"{name}, more", marks=pytest.mark.soak)
            for name, wanted in OPTIONS.items()
        ),
    ],
)

Floats = NDArray[np.float64]


def questions(task: str, options: WorldOptions | None, each: int) -> Iterator[Drawn]:
    for scene in ("outdoor", "indoor"):
        cell = CELLS.index((scene, task))
        for round_ in range(each):
            yield draw(Number(23, round_ * len(CELLS) + cell, options=options), place=round_ % PLACES)


def stepped(journey: Journey, floor: int, start_s: float, until_s: float) -> tuple[Floats, Floats, Floats]:
    """Moments and places of the target on a floor, every STEP_S."""
    times, xs, ys = [], [], []
    for stretch in journey.stretches:
        if stretch.floor == floor:
            first_s, last_s = max(start_s, stretch.times_s[0]), min(until_s, stretch.times_s[-1])
            moments = np.arange(first_s, last_s, STEP_S)
            times.append(moments)
            for values, axis in ((xs, 0), (ys, 1)):
                values.append(np.interp(moments, stretch.times_s, [p[axis] for p in stretch.points_m]))
    return tuple(np.concatenate(values) if values else np.empty(0) for values in (times, xs, ys))  # type: ignore[return-value]


def in_polygon(xs: Floats, ys: Floats, corners: Floats) -> NDArray[np.bool_]:
    """Even-odd rule: how many sides a ray to the east crosses. Who walks along a side is in view."""
    inside = np.zeros(len(xs), dtype=bool)
    beside = np.zeros(len(xs), dtype=bool)
    for (ax, ay), (bx, by) in pairwise(corners.tolist()):
        along = np.clip(
            ((xs - ax) * (bx - ax) + (ys - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2), 0, 1
        )
        beside |= np.hypot(ax + along * (bx - ax) - xs, ay + along * (by - ay) - ys) < EDGE_M
        if ay == by:
            continue
        spans = (ay > ys) != (by > ys)
        inside ^= spans & (xs < ax + (ys - ay) / (by - ay) * (bx - ax))
    return inside | beside


def coming(
    world: World, journey: Journey, last_camera: str, after_s: float, until_s: float
) -> list[tuple[str, float, float]]:
    """Who sees the target after that moment, from when to when; the camera that sees it then is left out."""
    stays = []
    floors = {camera.floor for camera in world.scene.cameras.values()}
    moments = {floor: stepped(journey, floor, after_s, until_s) for floor in floors}
    for camera in world.scene.cameras.values():
        if camera.id == last_camera:
            continue
        times, xs, ys = moments[camera.floor]
        west, south, east, north = camera.field_of_view.bounds  # type: ignore[union-attr]
        near = (xs >= west - 1) & (xs <= east + 1) & (ys >= south - 1) & (ys <= north + 1)
        seen = np.zeros(len(times), dtype=bool)
        seen[near] = in_polygon(xs[near], ys[near], shapely.get_coordinates(camera.field_of_view))
        if seen.any():  # a stay ends where the target is out of view for longer than a step
            seen_s = times[seen]
            breaks = np.flatnonzero(np.diff(seen_s) > 1.5 * STEP_S) + 1
            stays += [(camera.id, float(stay[0]), float(stay[-1])) for stay in np.split(seen_s, breaks)]
    return sorted(stays, key=lambda stay: stay[1])


def next_stays(drawn: Drawn, count: int) -> list[tuple[str, float, float]]:
    """The next stays, looked for farther ahead until so many are over."""
    trip, last = drawn.question.clip_sightings[-1]
    ahead_s = FIRST_S
    while True:
        until_s = last.end_s + ahead_s
        stays = coming(drawn.world, trip.journey, last.camera, last.end_s, until_s)[:count]
        is_over = len(stays) == count and all(end_s < until_s - 1 for _, _, end_s in stays)
        if is_over or until_s > trip.journey.end_s:
            return stays
        ahead_s *= 2


@pytest.mark.timeout(600)  # up to 200 questions, stepped every 10 ms
@pytest.mark.parametrize(("task", "steps"), [("NextSpotForecasting", 1), ("TrajectoryForecasting", 2)])
@PLAIN_AND_NOT  # the tasks of one set of options after each other: they ask about the same places
def test_stepping_finds_the_same_cameras_at_the_same_times(
    task: str, steps: int, wanted: dict[str, str], each: int
) -> None:
    checked = 0
    for drawn in questions(task, WorldOptions.of(wanted), each):
        stays = next_stays(drawn, steps)
        assert tuple(camera for camera, _, _ in stays) == drawn.question.right
        for (_, first_s, last_s), (start_s, end_s) in zip(stays, drawn.question.times_s, strict=True):
            assert abs(first_s - start_s) <= 1.5 * STEP_S
            assert abs(last_s - end_s) <= 1.5 * STEP_S
        checked += 1
    assert checked >= 2 * each
