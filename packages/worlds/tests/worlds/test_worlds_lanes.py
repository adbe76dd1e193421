"""Streets in lanes: nobody drives through another, changes into a small gap, or off the carriageway."""

import math
from functools import cache
from itertools import combinations, pairwise
from random import Random

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from gnomon_tools.geometry.route import RouteLeg
from gnomon_worlds import traffic
from gnomon_worlds.car_following import (
    CAR_M,
    HEADWAY_S,
    KEPT_STEPS,
    STEP_S,
    Drive,
    Halt,
    acceleration,
    braking_limits,
)
from gnomon_worlds.lane_changing import SAFE, driven_in_lanes
from gnomon_worlds.lanes import LANE_M, PAVEMENT_M, LaneWay, RoadLanes, course_of
from gnomon_worlds.movement import PEDESTRIAN, VEHICLE
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.osm_streets import cut_plan, extract_of
from gnomon_worlds.rendering.traffic import movers
from gnomon_worlds.sample_making import draw, world_of
from gnomon_worlds.sample_numbers import CELLS, Number
from gnomon_worlds.trajectory import trips_of

SEED = 13
IN_LANES = WorldOptions(movement="simulated", streets="lanes")
CELL_M = 60
DRIVES = 15
FROM_SEED = pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.soak) for first in range(DRIVES, 300, DRIVES))]
)


@cache
def town(round_=0):
    return world_of(SEED, "outdoor", round_, options=IN_LANES)


def random_drive(seed):
    """Vehicles on a way of ten pieces, with one to three lanes each, and two signals."""
    rng = Random(seed)
    counts = np.repeat([rng.choice((1, 2, 2, 3)) for _ in range(10)], CELL_M)
    ahead_m, lane = [0.0], [rng.randrange(int(counts[0]))]
    for _ in range(rng.randint(1, 5)):
        at_m = ahead_m[0] + rng.uniform(13, 40)
        ahead_m.insert(0, at_m)
        lane.insert(0, rng.randrange(int(counts[int(at_m) : int(at_m) + 45].min())))
    return Drive(
        limits_mps=braking_limits(np.repeat([rng.choice((8.3, 11.1, 13.9)) for _ in range(10)], CELL_M)),
        halts=tuple(Halt(along_m=m, green_s=(rng.uniform(0, 60), 25.0)) for m in (170.0, 410.0)),
        cycle_s=60.0, start_s=rng.uniform(0, 60), eagerness=tuple(rng.uniform(0.7, 1.3) for _ in ahead_m),
        ahead_m=tuple(ahead_m), lanes=counts, lane=tuple(lane),
    )  # fmt: skip


@cache
def driven_from(first):
    """So many drives, each as it was drawn and as it went; at once it takes less time than one by one."""
    drives = [random_drive(seed) for seed in range(first, first + DRIVES)]
    return list(zip(drives, driven_in_lanes(drives), strict=True))


def lanes_taken(lane):
    """The lanes that a vehicle is in: two while it changes."""
    return set(range(math.floor(lane + 1e-9), math.ceil(lane - 1e-9) + 1))


@FROM_SEED
def test_nobody_passes_through_another_in_one_lane(first):
    steps = [
        step for _, moved in driven_from(first) for step in pairwise(zip(moved.at_m, moved.lane, strict=True))
    ]
    for (at_m, lane), (then_m, then_lane) in steps:
        for here, there in combinations(range(len(at_m)), 2):
            if lanes_taken(lane[here]) & lanes_taken(lane[there]):
                assert abs(at_m[here] - at_m[there]) > CAR_M - 0.5
                if lanes_taken(then_lane[here]) & lanes_taken(then_lane[there]):
                    assert (at_m[here] > at_m[there]) == (then_m[here] > then_m[there])


@FROM_SEED
def test_lanes_are_left_before_they_end_and_lines_are_crossed_at_green(first):
    for drive, moved in driven_from(first):
        cells = len(drive.limits_mps) - 1
        times_s = drive.start_s + KEPT_STEPS * STEP_S * np.arange(len(moved.at_m))
        for car in range(moved.at_m.shape[1]):
            at_m, lane = moved.at_m[:, car], moved.lane[:, car]
            counts = drive.lanes[np.minimum(at_m, cells).astype(int)]
            is_over = lane > counts - 1 + 0.99  # a whole lane beyond those that there are
            assert not (is_over & (moved.speed_mps[:, car] > 3.0)).any()
            for halt in drive.halts:
                if at_m[0] + 60 < halt.along_m < at_m[-1]:  # who starts nearer may be unable to stop
                    crossed_s = np.interp(halt.along_m, at_m, times_s)
                    assert (crossed_s - halt.green_s[0]) % 60 <= halt.green_s[1] + 3.5


@FROM_SEED
def test_no_vehicle_changes_into_a_gap_in_which_the_next_would_brake_harder_than_the_rule(first):
    for drive, moved in driven_from(first):
        cells = len(drive.limits_mps) - 1
        for row in range(len(moved.at_m) - 1):
            at_m, speed = moved.at_m[row], moved.speed_mps[row]
            for car in range(len(at_m)):
                was, then = moved.lane[row, car], moved.lane[row + 1, car]
                if was != round(was) or was == then:
                    continue  # it goes on in its lane, or began before
                into = round(was) + (1 if then > was else -1)
                behind = [
                    other
                    for other in range(len(at_m))
                    if other != car
                    and into in lanes_taken(moved.lane[row, other])
                    and at_m[other] < at_m[car]
                ]
                if behind:
                    follower = max(behind, key=lambda other: at_m[other])
                    gap_m = at_m[car] - at_m[follower] - CAR_M
                    wanted = (
                        drive.eagerness[follower] * drive.limits_mps[min(int(max(0, at_m[follower])), cells)]
                    )
                    pull = acceleration(
                        speed[[follower]],
                        np.array([wanted]),
                        np.array([gap_m]),
                        speed[[follower]] - speed[car],
                    )
                    assert gap_m > 0
                    assert pull[0] >= -SAFE - 1e-9


def test_vehicles_start_apart_in_lanes_that_go_on():
    checked = 0
    for seed in range(400):
        rng = Random(seed)
        counts = np.repeat([rng.choice((1, 2, 3)) for _ in range(10)], CELL_M)
        lanes = LaneWay(
            course=course_of(((0.0, 0.0), (0.0, 10.0 * CELL_M)), 6.0), corners=np.array([0, 1]),
            counts=counts, halves_m=np.full(len(counts), 6.0),
        )  # fmt: skip
        ahead_m, lane, _ = traffic._others(rng, traffic._Way(legs=()), lanes)
        assert list(ahead_m) == sorted(ahead_m, reverse=True)
        for (here_m, its_lane), (there_m, other_lane) in combinations(zip(ahead_m, lane, strict=True), 2):
            if its_lane == other_lane:
                assert here_m - there_m >= traffic.GAP_M[0]
                checked += 1
        for here_m, its_lane in list(zip(ahead_m, lane, strict=True))[:-1]:  # the asked one starts at 0
            assert its_lane < counts[math.floor(here_m) :][: round(traffic.GAP_M[1])].min()
    assert checked > 400


def test_a_leg_of_no_length_leaves_a_walker_on_the_pavement():
    world = town()
    road = next(road for road in world.scene.roads.values() if road.line.length > 60)
    ends_m = tuple((x, y) for x, y in road.line.coords)
    leg, here, there = (
        RouteLeg(kind="road", id=road.id, floor=0, to_floor=0, points_m=points_m,
                 length_m=shapely.LineString(points_m).length)
        for points_m in (ends_m, ends_m[:1] * 2, ends_m[-1:] * 2)
    )  # fmt: skip
    way = traffic._on_pavement(world, traffic._Way(legs=(here, leg, there), via=1))
    least_m = world.lanes[road.id].half_m + PAVEMENT_M - 0.01
    assert len(way.legs) == 3
    for moved in way.legs:
        assert all(road.line.distance(shapely.Point(point)) >= least_m for point in moved.points_m)
    assert way.legs[0].points_m[-1] == way.legs[1].points_m[0]
    assert way.legs[1].points_m[-1] == way.legs[2].points_m[0]


def test_a_fast_car_overtakes_a_slow_one_where_there_are_two_lanes_and_not_where_there_is_one():
    def passed(count):
        drive = Drive(
            limits_mps=np.full(900, 13.9), halts=(), cycle_s=60.0, start_s=0.0, eagerness=(0.6, 1.2),
            ahead_m=(40.0, 0.0), lanes=np.full(900, count), lane=(0, 0),
        )  # fmt: skip
        [moved] = driven_in_lanes([drive])
        return moved.at_m[-1, 1] > moved.at_m[-1, 0]

    assert passed(2)
    assert not passed(1)


def test_cars_queue_side_by_side_at_red():
    drive = Drive(
        limits_mps=np.full(400, 11.1), halts=(Halt(along_m=250.0, green_s=(80.0, 20.0)),), cycle_s=100.0,
        start_s=0.0, eagerness=(1.0, 1.0, 1.0), ahead_m=(60.0, 60.0, 0.0), lanes=np.full(400, 2),
        lane=(0, 1, 0),
    )  # fmt: skip
    [moved] = driven_in_lanes([drive])
    standing = moved.at_m[55]
    assert standing[0] == pytest.approx(standing[1], abs=0.5)
    assert 245 < standing[0] < 250
    assert standing[2] < standing[0] - CAR_M


@given(st.integers(0, 10**6))
def test_a_body_beside_a_straight_way_keeps_its_distance_from_the_middle(seed):
    rng = Random(seed)
    points_m = [(0.0, 0.0)]
    for _ in range(4):
        turn = rng.uniform(-1.4, 1.4)
        points_m.append((points_m[-1][0] + 60 * math.sin(turn), points_m[-1][1] + 60 * math.cos(turn)))
    course, right_m = course_of(points_m, 6.0), rng.uniform(0, 6)
    along_m = np.linspace(20, 40, 9)
    places = course.at(along_m, np.full(9, right_m))
    line = shapely.LineString(points_m[:2])
    assert line.distance(shapely.points(places)) == pytest.approx(np.full(9, right_m))


def test_vehicles_keep_to_the_carriageway_and_walkers_to_the_pavement():
    world, driven, changed = town(), 0, 0
    areas = shapely.union_all(
        [road.line.buffer(world.lanes[road.id].half_m + 0.01) for road in world.scene.roads.values()]
    )
    middles = shapely.union_all([road.line for road in world.scene.roads.values()])
    for trip in trips_of(world):
        for stretch in trip.journey.stretches:
            points = shapely.points(stretch.points_m)
            if trip.journey.body == VEHICLE:
                assert shapely.covers(areas, points).mean() > 0.97  # but at sharp turns
                driven += 1
                changed += len({round(float(m), 1) for m in shapely.distance(middles, points)}) > 2
            if trip.journey.body == PEDESTRIAN:
                pieces = [shapely.LineString(piece) for piece in pairwise(stretch.points_m)]
                halfway = [piece.interpolate(0.5, normalized=True) for piece in pieces if piece.length > 40]
                assert (shapely.distance(middles, halfway) >= LANE_M / 2 + PAVEMENT_M - 0.01).all()
    assert driven > 30
    assert changed > 10


def test_those_who_go_with_a_target_keep_apart_from_it():
    checked = 0
    for trip in trips_of(town()):
        if trip.journey.body != VEHICLE:
            continue
        for companion in trip.journey.company:
            last_s = min(trip.journey.end_s, companion.journey.end_s)
            for time_s in np.arange(trip.journey.start_s, last_s, 1.0):
                away_m = math.dist(trip.journey.at(time_s).xy_m, companion.journey.at(time_s).xy_m)
                assert away_m > VEHICLE.width_m
                checked += 1
    assert checked > 1_000


def test_a_box_is_where_the_lane_is():
    cell = CELLS.index(("outdoor", "NextSpotForecasting"))
    drawn = draw(Number(SEED, cell, options=IN_LANES))
    for trip, sighting in drawn.question.clip_sightings:
        for mover in movers(drawn.world, [trip], sighting, seed=1):
            if mover.trip is trip:
                time_s = (sighting.start_s + sighting.end_s) / 2
                assert mover.at(time_s, 0)[0] == trip.journey.at(time_s).xy_m


def test_lanes_of_real_streets_are_those_that_are_tagged():
    lanes = WorldOptions.of({"movement": "simulated", "streets": "lanes", "network": "helsinki"})
    assert lanes is not None
    plan = cut_plan(Random(4), "helsinki", extract_of("helsinki")[1])
    assert plan.lanes is not None
    assert plan.lanes.keys() == plan.streets.keys()
    assert all(backward == 0 for piece, (_, backward) in plan.lanes.items() if piece in plan.one_way)
    world = world_of(SEED, "outdoor", 0, options=lanes)
    assert max(max(its.forward, its.backward) for its in world.lanes.values()) > 1
    assert trips_of(world)


def test_a_street_of_four_lanes_is_broader_than_one_of_two():
    assert RoadLanes(forward=1, backward=1).widening_m == 0
    assert RoadLanes(forward=2, backward=2).widening_m == LANE_M
    assert RoadLanes(forward=2, backward=2).borders_m == [-LANE_M, 0.0, LANE_M]
    assert HEADWAY_S > KEPT_STEPS * STEP_S  # a change is decided before the next could come near
