"""Towns cut out of an OpenStreetMap extract keep its streets and their rules."""

import math
from itertools import pairwise
from random import Random

import pytest
from shapely import LineString, Point

from gnomon.core.errors import DataError, NotFound, SpecError
from gnomon_tools.geometry.angles import bearing_deg
from gnomon_tools.geometry.network import Network
from gnomon_worlds.movement import VEHICLE
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.osm_streets import (
    BEND_M,
    CUT_M,
    LEAST_M,
    Streets,
    Way,
    _bans,
    _plain,
    _straightened,
    cut_plan,
    extract_of,
    read_streets,
)
from gnomon_worlds.sample_making import draw, world_of
from gnomon_worlds.sample_numbers import Number, number_of
from gnomon_worlds.trajectory import trips_of
from gnomon_worlds.world import World

NAME = "helsinki"


def options() -> WorldOptions:
    chosen = WorldOptions.of({"network": NAME, "movement": "simulated"})
    assert chosen is not None
    return chosen


def streets() -> Streets:
    return read_streets(extract_of(NAME)[0])


def town(round_: int = 0) -> World:
    return world_of(3, "outdoor", round_, options=options())


def test_an_extract_holds_one_way_streets_signals_and_bans() -> None:
    there = streets()
    assert any(way.is_oneway for way in there.ways)
    assert any(not way.is_oneway for way in there.ways)
    assert there.signals
    ids = {way.id for way in there.ways}
    assert any(come in ids and onto in ids for come, _, onto in there.bans)
    assert all(5 < way.limit_mps < 30 for way in there.ways)


def test_a_cut_is_connected_both_ways_and_no_wider_than_told() -> None:
    _, digits = extract_of(NAME)
    for seed in range(4):
        plan = cut_plan(Random(seed), NAME, digits)
        assert max(math.hypot(*at) for at in plan.junctions_m.values()) <= CUT_M / math.sqrt(2) + 0.1
        assert (
            math.fsum(math.dist(*(plan.junctions_m[n] for n in piece)) for piece in plan.streets) >= LEAST_M
        )
        assert plan.one_way
        assert plan.signals
        assert plan.limits_mps is not None
        assert plan.limits_mps.keys() == plan.streets.keys()


def test_every_place_of_a_cut_can_be_reached_from_every_other() -> None:
    world = town()
    network = Network.of(world.scene)
    start = world.ends[0]
    for end in world.ends[1:]:
        assert network.path(start.xy_m, 0, end.xy_m, 0)
        assert network.path(end.xy_m, 0, start.xy_m, 0)


def test_nobody_drives_against_a_one_way_street_or_makes_a_banned_turn() -> None:
    driven = banned = 0
    for round_ in range(3):
        world = town(round_)
        banned += len(world.bans)
        roads = world.scene.roads.values()
        one_way = {tuple(map(tuple, road.line.coords)) for road in roads if road.oneway}
        road_of = {frozenset(map(tuple, road.line.coords)): road.id for road in roads}
        ends = {end.xy_m for end in world.ends}
        for trip in trips_of(world):
            if trip.journey.body != VEHICLE:
                continue
            (stretch,) = trip.journey.stretches
            corners = [point for point in dict.fromkeys(stretch.points_m) if point in ends]
            for start, end in pairwise(corners):
                assert (end, start) not in one_way or (start, end) in one_way
            driven_on = [road_of[frozenset(corner)] for corner in pairwise(corners)]
            assert all(turn not in world.bans for turn in pairwise(driven_on))
            driven += len(corners)
    assert driven > 100
    assert banned > 0


def test_only_turns_ban_all_others() -> None:
    ways = [
        Way(id=n, nodes=(n, 0) if n == 1 else (0, n), name="", is_oneway=False, limit_mps=10.0)
        for n in (1, 2, 3, 4)
    ]
    assert _bans([("only_right_turn", 1, 0, 2)], ways) == {(1, 0, 3), (1, 0, 4)}
    assert _bans([("no_left_turn", 1, 0, 3)], ways) == {(1, 0, 3)}


def test_straight_pieces_stay_near_the_streets_course() -> None:
    rng = Random(0)
    for _ in range(50):
        line = [(n, (10.0 * n, rng.uniform(-8, 8))) for n in range(12)]
        kept = _straightened(line)
        assert (kept[0], kept[-1]) == (0, 11)
        course = LineString([dict(line)[n] for n in kept])
        assert all(course.distance(Point(at)) <= BEND_M + 1e-9 for _, at in line)


def test_names_are_told_in_letters_that_maps_have() -> None:
    assert _plain("Yrjönkatu") == "Yrjonkatu"
    assert _plain("銀座通り") == ""


def test_signals_stand_where_the_map_has_them() -> None:
    world = town()
    assert world.traffic is not None
    assert world.signalled is not None
    assert world.traffic.at.keys() == world.signalled
    headings = [bearing_deg(end.xy_m, (0.0, 0.0)) for end in world.ends if end.xy_m in world.traffic.at]
    assert headings


def test_an_id_names_extract_and_content() -> None:
    number = Number(3, 0, options=options())
    assert number_of(number.sample_id) == number
    assert draw(number).world.scene.attribution.startswith("streets: OpenStreetMap")
    with pytest.raises(NotFound):
        number_of("w3-with~osm~helsinki~xyz-00000")


def test_a_changed_or_missing_extract_is_refused() -> None:
    with pytest.raises(DataError, match="has changed"):
        cut_plan(Random(0), NAME, "00000000")
    with pytest.raises(SpecError, match="there are: helsinki"):
        WorldOptions.of({"network": "atlantis"})
