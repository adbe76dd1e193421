"""Escalators run one way: in routes, in journeys, in the scene's file and on the plan."""

from functools import cache
from itertools import pairwise

import pytest

from gnomon.trials.scene_facts import facts_of
from gnomon_published.drawn_maps.map_lettering import _portals
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.geometry.network import Network
from gnomon_tools.scene.format import scene_from_json, scene_to_json
from gnomon_tools.travel_time import TravelTimeArgs, travel_time
from gnomon_worlds.indoor import ESCALATOR_M
from gnomon_worlds.movement import climb_s
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.sample_making import world_of
from gnomon_worlds.trajectory import trips_of

SEED = 19
WITH = WorldOptions(buildings="escalators", movement="simulated")


@cache
def building(round_=0):
    return world_of(SEED, "indoor", round_, options=WITH)


def escalators(scene):
    return [portal for portal in scene.portals.values() if portal.kind == "escalator"]


def legs_between(scene, start, end):
    path = Network.of(scene).path(start.xy_m, start.floor, end.xy_m, end.floor)
    return [] if path is None else path.legs


def test_every_pair_of_floors_has_one_up_and_one_down():
    for round_ in range(4):
        scene = building(round_).scene
        floors = {zone.floor for zone in scene.zones.values()}
        assert len(floors) > 1
        runs = [tuple(scene.zones[zone].floor for zone in portal.zones) for portal in escalators(scene)]
        ups = list(pairwise(sorted(floors)))
        assert sorted(runs) == sorted([*ups, *((high, low) for low, high in ups)])


def test_no_route_and_no_journey_goes_against_an_escalator():
    ridden = 0
    for round_ in range(3):
        world = building(round_)
        floors = {p.id: tuple(world.scene.zones[z].floor for z in p.zones) for p in escalators(world.scene)}
        for start in world.ends:
            for end in world.ends:
                for leg in legs_between(world.scene, start, end):
                    if leg.kind == "escalator":
                        assert (leg.floor, leg.to_floor) == floors[leg.id]
                        ridden += 1
        assert trips_of(world)
    assert ridden > 100


def test_travel_time_is_longer_where_the_escalator_runs_the_other_way():
    scene = building().scene
    up = next(portal for portal in escalators(scene) if portal.id.endswith("U"))
    x_m, y_m = up.ends_m[0]
    low, high = ({"x_m": x_m, "y_m": y_m, "floor": scene.zones[zone].floor} for zone in up.zones)
    there, back = (
        travel_time.run(
            ToolContext(inputs=held(scene)), TravelTimeArgs(start=start, end=end, speed_mps=1.0)
        ).path_m
        for start, end in ((low, high), (high, low))
    )
    assert there == pytest.approx(ESCALATOR_M)
    assert back > ESCALATOR_M + 5


def test_the_ride_takes_as_long_for_everyone():
    scene = building().scene
    portal = escalators(scene)[0]
    start, end = portal.zones
    path = Network.of(scene).path(
        portal.ends_m[0], scene.zones[start].floor, portal.ends_m[1], scene.zones[end].floor
    )
    (leg,) = [leg for leg in path.legs if leg.kind == "escalator"]
    assert climb_s(leg, 0.8) == climb_s(leg, 2.0) == pytest.approx(ESCALATOR_M / 0.5)


def test_the_scene_file_and_the_facts_tell_which_way():
    scene = building().scene
    again = scene_from_json(scene_to_json(scene))
    assert [portal.zones for portal in escalators(again)] == [portal.zones for portal in escalators(scene)]
    facts = facts_of(scene)
    assert facts.count("this way only") == len(escalators(scene))


def test_the_plan_names_the_direction():
    names = [name for name, _, _ in _portals(building().scene) if name.startswith("Escalator")]
    assert names
    assert {name.split()[-1] for name in names} == {"up", "down"}
