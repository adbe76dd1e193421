"""Targets in traffic: they heed signals and one another, and a question's truth is what the movement was."""

import math
from functools import cache
from itertools import pairwise
from random import Random
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import NotFound, SpecError
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon_tools.geometry.angles import bearing_deg
from gnomon_worlds.attainable import gone_m, is_attainable
from gnomon_worlds.benchmarks.worlds import worlds
from gnomon_worlds.car_following import CAR_M, STEP_S, Drive, Halt, braking_limits, driven_m
from gnomon_worlds.movement import VEHICLE, interpolated
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.sample_making import Drawn, draw, world_of
from gnomon_worlds.sample_numbers import Number, number_of
from gnomon_worlds.traffic import STOP_LINE_M
from gnomon_worlds.trajectory import Trip, trips_of
from gnomon_worlds.world import World

SEED, ROUNDS = 11, 2
SIMULATED = WorldOptions(movement="simulated")


@cache
def questions() -> tuple[Drawn, ...]:
    return tuple(draw(Number(SEED, k, options=SIMULATED)) for k in range(14 * ROUNDS))


def place(scene: str, round_: int = 0) -> World:
    return world_of(SEED, scene, round_, options=SIMULATED)


def drives(world: World) -> list[Trip]:
    return [trip for trip in trips_of(world) if trip.journey.body == VEHICLE]


def stops_s(trip: Trip) -> list[float]:
    """How long each halt of a second or more was."""
    return [
        end_s - start_s
        for stretch in trip.journey.stretches
        for (a, b), (start_s, end_s) in zip(
            pairwise(stretch.points_m), pairwise(stretch.times_s), strict=True
        )
        if a == b
    ]


def test_no_vehicle_crosses_a_stop_line_at_red() -> None:
    passed = 0
    for round_ in range(ROUNDS):
        world = place("outdoor", round_)
        assert world.traffic is not None
        for trip in drives(world):
            (stretch,) = trip.journey.stretches
            along_m, points_m = stretch.along_m, stretch.points_m
            for index in range(1, len(points_m) - 1):
                if points_m[index] not in world.traffic.at or along_m[index] <= STOP_LINE_M:
                    continue
                before = next(p for p in reversed(points_m[:index]) if p != points_m[index])
                green = world.traffic.green_s(points_m[index], bearing_deg(before, points_m[index]))
                assert green is not None
                crossed_s = interpolated(along_m[index] - STOP_LINE_M, along_m, stretch.times_s)
                assert (crossed_s - green[0]) % world.traffic.cycle_s <= green[1] + 3.5
                passed += 1
    assert passed > 100


def test_vehicles_wait_and_walkers_linger() -> None:
    waits = [trip for round_ in range(ROUNDS) for trip in drives(place("outdoor", round_)) if stops_s(trip)]
    assert len(waits) > 30
    assert any(stops_s(trip) for trip in trips_of(place("indoor")))


def test_nobody_drives_into_who_is_ahead() -> None:
    followed = 0
    for trip in drives(place("outdoor")):
        order = [*(companion.journey for companion in trip.journey.company), trip.journey]
        for ahead, behind in pairwise(order):
            last_s = min(ahead.end_s, behind.end_s)
            for time_s in np.arange(behind.start_s, last_s, 1.0):
                assert math.dist(ahead.at(time_s).xy_m, behind.at(time_s).xy_m) > CAR_M - 1.5
                followed += 1
    assert followed > 1_000


def test_walkers_are_as_fast_as_the_published_ones_and_groups_are_slower() -> None:
    alone, grouped = [], []
    for round_ in range(6):
        for trip in trips_of(place("indoor", round_)):
            moving = [
                math.dist(a, b) / (end_s - start_s)
                for stretch in trip.journey.stretches
                for (a, b), (start_s, end_s) in zip(
                    pairwise(stretch.points_m), pairwise(stretch.times_s), strict=True
                )
                if a != b
            ]
            (grouped if trip.journey.company else alone).append(fmean(moving))
    assert fmean(alone) == pytest.approx(1.34, abs=4 * 0.26 / math.sqrt(len(alone)))
    assert fmean(grouped) < fmean(alone)


@given(st.integers(0, 10**6))
def test_car_following_keeps_distance_and_stops_before_red(seed: int) -> None:
    rng = Random(seed)
    others = rng.randint(0, 3)
    ahead_m = [0.0]
    for _ in range(others):
        ahead_m.insert(0, ahead_m[0] + rng.uniform(12, 45))
    limits = braking_limits(np.array([rng.choice((5.5, 8.3, 13.9)) for _ in range(8) for _ in range(60)]))
    halts = tuple(Halt(along_m=m, green_s=(rng.uniform(0, 60), 20.0)) for m in (150.0, 330.0))
    drive = Drive(
        limits_mps=limits, halts=halts, cycle_s=60.0, start_s=rng.uniform(0, 60),
        eagerness=tuple(rng.uniform(0.7, 1.3) for _ in ahead_m), ahead_m=tuple(ahead_m),
    )  # fmt: skip
    [at_m] = driven_m([drive])
    assert at_m[-1, -1] >= drive.length_m
    assert (np.diff(at_m, axis=0) >= 0).all()
    assert (np.diff(at_m, axis=1) < -CAR_M + 0.5).all()
    for column in range(at_m.shape[1]):
        times_s = drive.start_s + 4 * STEP_S * np.arange(len(at_m))
        for halt in halts:
            if at_m[0, column] < halt.along_m < at_m[-1, column]:
                crossed_s = np.interp(halt.along_m, at_m[:, column], times_s)
                assert (crossed_s - halt.green_s[0]) % 60 <= halt.green_s[1] + 3.5


def test_an_endless_straight_is_driven_at_the_wanted_speed() -> None:
    drive = Drive(
        limits_mps=np.full(2_000, 13.9), halts=(), cycle_s=60.0, start_s=0.0, eagerness=(0.9,), ahead_m=(0.0,)
    )
    [at_m] = driven_m([drive])
    assert np.diff(at_m[:, 0]) == pytest.approx(0.9 * 13.9, rel=1e-6)


def test_a_journey_is_the_same_alone_and_among_others() -> None:
    fast, slow = (
        Drive(
            limits_mps=np.full(300, 10.0), halts=(Halt(along_m=120.0, green_s=(30.0, 20.0)),), cycle_s=70.0,
            start_s=5.0, eagerness=(share,) * len(ahead_m), ahead_m=ahead_m,
        )
        for share, ahead_m in ((1.2, (0.0,)), (0.8, (60.0, 30.0, 0.0)))
    )  # fmt: skip
    [alone] = driven_m([fast])
    among, _ = driven_m([fast, slow])
    assert np.array_equal(alone, among)


def test_a_journey_moved_in_step_meets_the_same_signals() -> None:
    world = place("outdoor")
    assert world.traffic is not None
    for trip in drives(world):
        by_s = trip.journey.in_step_s(123.4)
        assert by_s % world.traffic.cycle_s == 0
        assert abs(by_s - 123.4) <= world.traffic.cycle_s / 2


def test_questions_can_be_answered_without_knowing_the_stops() -> None:
    for drawn in questions():
        assert is_attainable(drawn.world, drawn.question)


def test_a_way_is_as_long_as_what_was_gone() -> None:
    for trip in drives(place("outdoor")):
        (stretch,) = trip.journey.stretches
        whole_m = gone_m(trip.journey, trip.journey.start_s, trip.journey.end_s)
        assert whole_m == pytest.approx(stretch.along_m[-1])


def test_an_id_names_the_options() -> None:
    number = Number(7, 12, options=WorldOptions(movement="simulated", clocks="apart"))
    assert number.sample_id == "w7-with~simulated~apart-00012"
    assert number_of(number.sample_id) == number
    for wrong in (
        "w7-with-00012",
        "w7-with~steady-00012",
        "w7-with~apart~simulated-00012",
        "w7-with~fast-00012",
    ):
        with pytest.raises(NotFound):
            number_of(wrong)


def test_options_that_are_not_there_are_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for wrong in ({"movment": "simulated"}, {"movement": "wild"}):
        with pytest.raises(SpecError, match="allowed"):
            worlds.open(data=None, select=Select(world=wrong), protocol="guarded", media=MediaStore(tmp_path))


def test_a_job_chooses_a_world_and_plain_words_choose_the_plain_one(tmp_path) -> None:  # type: ignore[no-untyped-def]
    def first(world: dict[str, str] | None) -> str:
        select = Select(limit=1, world=world)
        opened = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
        return opened.refs[0].sample_id

    assert first({"movement": "simulated"}) == "w0-with~simulated-00000"
    assert first({"movement": "steady"}) == first(None) == "w0-00000"
    assert "world" not in Select().model_dump()
    assert JobSpec.model_json_schema()
