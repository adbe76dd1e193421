"""The truth of generated questions, checked from the movement itself."""

import math
from itertools import pairwise
from random import Random

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.clock import NOON_S, day_span
from gnomon_published.benchmarks.gtr_bench.case import SCENES, case_from_json
from gnomon_worlds.sample_making import Drawn, draw, world_of
from gnomon_worlds.sample_numbers import Number
from gnomon_worlds.trajectory import Trip, sightings, trip
from gnomon_worlds.world import World

ROUNDS = 3
SEED = 11


def drawn_of(task_id: str, scene: str | None = None) -> list[Drawn]:
    numbers = (Number(SEED, k) for k in range(14 * ROUNDS))
    return [draw(number) for number in numbers if number.task_id == task_id and scene in (None, number.scene)]


def trips(world: World, seed: int, count: int = 12) -> list[Trip]:
    rng = Random(seed)
    drawn = (trip(world, rng) for _ in range(400))
    return [one for one in drawn if one is not None and one.sightings][:count]


def in_view(world: World, one: Trip, camera_id: str, time_s: float) -> bool:
    camera, spot = world.scene.cameras[camera_id], one.journey.at(time_s)
    return spot.floor == camera.floor and shapely.intersects_xy(camera.field_of_view, *spot.xy_m)


def on_stairs(one: Trip, time_s: float) -> bool:
    return any(a.times_s[-1] < time_s < b.times_s[0] for a, b in pairwise(one.journey.stretches))


def together(world: World, pair: tuple[Trip, Trip], camera_id: str, time_s: float) -> bool:
    return all(in_view(world, one, camera_id, time_s) and not on_stairs(one, time_s) for one in pair)


@pytest.mark.parametrize("scene", SCENES)
def test_a_sighting_begins_and_ends_to_the_millisecond(scene: str) -> None:
    world = world_of(SEED, scene, 0)
    for one in trips(world, 1):
        for seen in one.sightings:
            assert in_view(world, one, seen.camera, seen.start_s + 0.001)
            assert in_view(world, one, seen.camera, seen.end_s - 0.001)
            for time_s in (seen.start_s - 0.001, seen.end_s + 0.001):
                assert on_stairs(one, time_s) or not in_view(world, one, seen.camera, time_s)


@pytest.mark.parametrize("scene", SCENES)
def test_dense_sampling_finds_the_sightings_and_no_others(scene: str) -> None:
    world = world_of(SEED, scene, 1)
    for one in trips(world, 2, count=3):
        for time_s in np.arange(one.journey.start_s, one.journey.end_s, 0.2):
            if on_stairs(one, time_s):
                continue
            seen = {camera for camera in world.scene.cameras if in_view(world, one, camera, time_s)}
            told = {s.camera for s in one.sightings if s.start_s <= time_s <= s.end_s}
            edge = any(min(abs(time_s - s.start_s), abs(time_s - s.end_s)) < 1e-3 for s in one.sightings)
            assert edge or seen == told


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SCENES))
def test_targets_keep_to_their_speeds_and_never_jump(seed: int, scene: str) -> None:
    world = world_of(seed, scene, 0)
    for one in trips(world, seed, count=3):
        slowest, fastest = one.journey.body.speed_mps
        for stretch in one.journey.stretches:
            steps = zip(pairwise(stretch.points_m), pairwise(stretch.times_s), strict=True)
            for (a, b), (start_s, end_s) in steps:
                assert slowest * 0.47 <= math.dist(a, b) / (end_s - start_s) <= fastest * 1.061
        for before, after in pairwise(one.journey.stretches):
            assert after.times_s[0] > before.times_s[-1]
            assert after.floor != before.floor


@pytest.mark.parametrize("scene", SCENES)
def test_a_boxs_foot_projects_onto_the_path_within_centimetres(scene: str) -> None:
    off_m = []
    for drawn in drawn_of("CausalReordering", scene):
        case = case_from_json(drawn.record, scene)
        for clip, (one, _) in zip(case.clips, drawn.question.clip_sightings, strict=True):
            camera = drawn.world.scene.cameras[clip.camera_id]
            assert camera.homography is not None
            assert camera.image_size is not None
            for time_s, (x, y, width, height) in zip(clip.box_times_s(), clip.bboxes, strict=True):
                foot = (x + width / 2, y + height)
                assert -0.1 <= foot[0] <= camera.image_size[0] + 0.1
                assert 0 < foot[1] <= camera.image_size[1] + 0.1
                assert y >= 0
                assert min(width, height) > 0
                u, v, w = camera.homography @ (*foot, 1.0)
                off_m.append(math.dist((u / w, v / w), one.journey.at(time_s).xy_m))
    assert max(off_m) < 0.10
    assert np.median(off_m) < 0.02


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SCENES))
def test_fields_of_view_lie_in_the_picture_and_keep_apart(seed: int, scene: str) -> None:
    world = world_of(seed, scene, 0)
    for camera_id, mount in world.installation.mounts.items():
        view = world.scene.cameras[camera_id].field_of_view
        assert view is not None
        assert view.is_valid
        width, height = mount.image_size
        for point in view.exterior.coords:
            u, v, depth_m = mount.pixel((point[0], point[1]))
            assert 0 <= u <= width
            assert 0 <= v <= height
            assert depth_m > 0
    cameras = [*world.scene.cameras.values(), *world.installation.unbuilt]
    for floor in {camera.floor for camera in cameras}:
        views = [camera.field_of_view for camera in cameras if camera.floor == floor]
        assert not any(a.intersects(b) for i, a in enumerate(views) for b in views[:i])


def test_geo_location_names_a_camera_passed_between_and_three_never_seen() -> None:
    for drawn in drawn_of("GeoLocation"):
        ((one, start), (_, end)) = drawn.question.clip_sightings
        (right,) = drawn.question.right
        visits = {seen.camera: seen for seen in sightings(one.journey, drawn.world.scene.cameras.values())}
        assert start.end_s < visits[right].start_s < visits[right].end_s < end.start_s
        assert not set(drawn.question.options) - {right} & visits.keys()


def test_arrival_intervals_lie_between_the_clips_without_touching() -> None:
    for drawn in drawn_of("ArrivalTimeInterval"):
        ((one, start), (_, end)) = drawn.question.clip_sightings
        spans = sorted(day_span(option) or (0, 0) for option in drawn.question.options)
        assert start.end_s + NOON_S < spans[0][0]
        assert spans[-1][1] < end.start_s + NOON_S
        assert all(before[1] < after[0] for before, after in pairwise(spans))
        middle = drawn.question.middle
        assert middle is not None
        right_s = day_span(drawn.question.right[0])
        assert right_s == pytest.approx((middle.start_s + NOON_S, middle.end_s + NOON_S), abs=0.0011)
        assert one.sightings.count(middle) == 1


def test_motion_adds_up_to_the_way_between_the_clips() -> None:
    for drawn in drawn_of("MotionState"):
        ((_, start), (_, end)) = drawn.question.clip_sightings
        words = drawn.question.right[0].split()
        length_m = sum(float(word) for word, unit in pairwise(words) if unit == "meters")
        assert length_m == pytest.approx(drawn.world.way_m(start.exit, end.entry), rel=0.02)
        speed_mps = float(words[words.index("m/s") - 1])
        assert length_m / (end.start_s - start.end_s) == pytest.approx(speed_mps, abs=0.06)


def test_the_true_order_follows_the_clock() -> None:
    for drawn in drawn_of("CausalReordering"):
        by_time = sorted((seen for _, seen in drawn.question.clip_sightings), key=lambda seen: seen.start_s)
        assert drawn.question.right == (" → ".join(seen.camera for seen in by_time),)
        assert len(set(drawn.question.options)) == 4


@pytest.mark.parametrize(("task_id", "steps"), [("NextSpotForecasting", 1), ("TrajectoryForecasting", 2)])
def test_forecasts_are_the_very_next_sightings(task_id: str, steps: int) -> None:
    for drawn in drawn_of(task_id):
        one, last = drawn.question.clip_sightings[-1]
        visits = sightings(one.journey, drawn.world.scene.cameras.values())
        coming = [seen for seen in visits if seen.start_s > last.end_s][:steps]
        assert drawn.question.right == tuple(seen.camera for seen in coming)
        for told_s, seen in zip(drawn.question.times_s, coming, strict=True):
            assert told_s == pytest.approx((seen.start_s, seen.end_s), abs=1e-6)


def test_two_targets_meet_in_the_right_camera_and_in_no_other_option() -> None:
    for drawn in drawn_of("MultiTargetTrajectoryForecasting"):
        ((one, seen), (other, also)) = drawn.question.clip_sightings
        (right,), ((start_s, end_s),) = drawn.question.right, drawn.question.times_s
        assert max(seen.end_s, also.end_s) < start_s
        pair, world = (one, other), drawn.world
        assert together(world, pair, right, start_s + 0.001)
        assert together(world, pair, right, end_s - 0.001)
        assert not together(world, pair, right, start_s - 0.001)
        assert not together(world, pair, right, end_s + 0.001)
        for camera in set(drawn.question.options) - {right}:
            times_s = np.arange(one.journey.start_s, one.journey.end_s, 0.5)
            assert not any(together(world, pair, camera, time_s) for time_s in times_s)
