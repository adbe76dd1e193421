"""Targets that go back: what is next is not always onward, and a question still has one right answer."""

from dataclasses import replace
from functools import cache

import pytest

from gnomon.core.errors import SpecError
from gnomon_worlds.attainable import is_attainable
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.sample_making import draw, world_of
from gnomon_worlds.sample_numbers import CELLS, Number
from gnomon_worlds.traffic import RETURNING
from gnomon_worlds.trajectory import lookout_of_views, trips_of

SEED = 17
RETURNS = WorldOptions(movement="simulated", journeys="returning")
CROWDED = replace(RETURNS, sight="crowded")


@cache
def trips(scene, options=RETURNS):
    return trips_of(world_of(SEED, scene, 0, options=options))


@pytest.mark.parametrize("scene", ["outdoor", "indoor"])
def test_about_the_told_share_of_targets_go_back_to_where_they_were(scene):
    back = [trip for trip in trips(scene) if trip.journey.turned_s is not None]
    assert RETURNING / 3 < len(back) / len(trips(scene)) < 1.2 * RETURNING
    for trip in back:
        assert trip.journey.start_s < trip.journey.turned_s < trip.journey.end_s
        assert trip.journey.at(trip.journey.end_s).floor == trip.journey.at(trip.journey.start_s).floor
    twice = [trip for trip in back if len({seen.camera for seen in trip.sightings}) < len(trip.sightings)]
    assert len(twice) > 10


@pytest.mark.parametrize("scene", ["outdoor", "indoor"])
def test_who_turns_back_in_view_is_next_seen_where_it_came_from(scene):
    seen_again = 0
    for trip in trips(scene):
        for place, sighting in enumerate(trip.sightings):
            if sighting.turned is None:
                continue
            assert sighting.start_s < sighting.turned_s < sighting.end_s
            assert sighting.crossed_m > 0
            if 0 < place < len(trip.sightings) - 1:
                seen_again += trip.sightings[place - 1].camera == trip.sightings[place + 1].camera
    assert seen_again > 5


@pytest.mark.parametrize("scene", ["outdoor", "indoor"])
@pytest.mark.parametrize("options", [RETURNS, CROWDED], ids=["free", "crowded"])
def test_a_camera_sees_a_target_once_on_its_way_there_and_once_on_its_way_back(scene, options):
    for trip in trips(scene, options):
        turned_s = trip.journey.turned_s
        there = [s.camera for s in trip.sightings if turned_s is None or s.start_s < turned_s]
        back = [s.camera for s in trip.sightings if turned_s is not None and s.end_s > turned_s]
        assert len(set(there)) == len(there)
        assert len(set(back)) == len(back)
    assert any(trip.journey.turned_s is not None for trip in trips(scene, options))


@pytest.mark.parametrize("scene", ["outdoor", "indoor"])
def test_nobody_who_hides_a_target_makes_two_stays_of_one(scene):
    world = world_of(SEED, scene, 0, options=CROWDED)
    for trip in trips_of(world):
        for whole in lookout_of_views(world).sightings(trip.journey):
            here = [seen for seen in trip.sightings if seen.camera == whole.camera]
            assert sum(whole.start_s <= seen.start_s and seen.end_s <= whole.end_s for seen in here) <= 1


@pytest.mark.parametrize("cell", [("indoor", "ArrivalTimeInterval"), ("indoor", "MotionState")])
def test_cameras_between_two_clips_in_a_crowd_are_different_ones(cell):
    question = draw(Number(SEED, CELLS.index(cell), options=CROWDED)).question
    (trip, start), (_, end) = question.clip_sightings
    between = [seen.camera for seen in trip.sightings if start.end_s < seen.start_s < end.start_s]
    assert len(set(between)) == len(between)


def test_a_trip_moved_in_time_turns_so_much_later():
    trip = next(trip for trip in trips("indoor") if any(seen.turned for seen in trip.sightings))
    moved = trip.later(120.0)
    assert moved.journey.turned_s == trip.journey.turned_s + 120.0
    for before, after in zip(trip.sightings, moved.sightings, strict=True):
        assert after.turned == before.turned
        assert after.turned_s == (None if before.turned_s is None else before.turned_s + 120.0)


def test_answers_stay_unique():
    twice = 0
    for k in range(3 * len(CELLS)):
        drawn = draw(Number(SEED, k, options=RETURNS), place=0)
        question = drawn.question
        assert is_attainable(drawn.world, question)
        assert len(set(question.options)) == 4
        shown = [(seen.camera, seen.start_s) for _, seen in question.clip_sightings]
        for trip, seen in question.clip_sightings:
            twice += sum(other.camera == seen.camera for other in trip.sightings) > 1
        if question.task_id in ("NextSpotForecasting", "TrajectoryForecasting"):
            assert not {camera for camera, _ in shown} & set(question.options)
        if question.task_id == "GeoLocation":
            (trip, _), _ = question.clip_sightings
            passed = {seen.camera for seen in trip.sightings}
            assert [option for option in question.options if option in passed] == list(question.right)
        if question.task_id == "ArrivalTimeInterval":
            (trip, start), (_, end) = question.clip_sightings
            there = [s for s in trip.sightings if start.end_s < s.start_s < end.start_s]
            assert sum(seen.camera == question.middle.camera for seen in there) == 1
    assert twice > 5


def test_returning_takes_simulated_movement():
    for name, value in (("journeys", "returning"), ("streets", "lanes")):
        with pytest.raises(SpecError) as caught:
            WorldOptions.of({name: value})
        assert caught.value.field == f"select.world.{name}"
