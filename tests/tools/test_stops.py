"""Ways between a point and stops are as long as the network's paths, in towns and in buildings."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon_published.benchmarks.gtr_bench.case import SCENES
from gnomon_tools.geometry.network import Network
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.sample_making import world_of
from gnomon_worlds.way_lengths import Stops

HARD = Difficulty(level="hard")  # whose towns have one-way streets
ESCALATORS = WorldOptions(buildings="escalators")  # which run one way


@pytest.mark.parametrize("scene", SCENES)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 40), at=st.floats(0.0, 1.0), across=st.floats(0.0, 1.0))
def test_ways_to_and_from_stops_are_as_long_as_paths(scene: str, seed: int, at: float, across: float) -> None:
    world = world_of(seed, scene, 0, 0, HARD, ESCALATORS)
    network = Network.of(world.scene)
    points = [(spot.xy_m, spot.floor) for spots in world.spots.values() for spot in spots]
    stops = Stops(network, points)
    xs, ys = ([xy_m[axis] for xy_m, _ in points] for axis in (0, 1))
    here = (min(xs) + at * (max(xs) - min(xs)), min(ys) + across * (max(ys) - min(ys)))
    for point, floor in (points[seed % len(points)], (here, points[0][1])):
        expected = [network.length_m(point, floor, *stop) for stop in points]
        assert stops.lengths_from_m(point, floor) == pytest.approx(expected, abs=1e-9)
        expected = [network.length_m(*stop, point, floor) for stop in points]
        assert stops.lengths_to_m(point, floor) == pytest.approx(expected, abs=1e-9)


def test_from_a_floor_without_ways_no_stop_is_reached() -> None:
    world = world_of(31, "indoor", 0)
    points = [(spots[0].xy_m, spots[0].floor) for spots in world.spots.values()]
    stops = Stops(Network.of(world.scene), points)
    assert stops.lengths_from_m(points[0][0], 99) == [math.inf] * len(points)
    assert stops.lengths_to_m(points[0][0], 99) == [math.inf] * len(points)
