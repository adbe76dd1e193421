"""Networks against ways worked out by hand, and against what every distance obeys."""

import gc
import math
import weakref
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from shapely import LineString, box
from shapely.affinity import translate

from gnomon_published.passages.stairs import slowed_m
from gnomon_tools.geometry.network import Network
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Portal, Road, Scene, Zone


def streets(*roads: Road) -> Scene:
    return Scene(id="streets", frame=Frame(), kind="outdoor", roads={road.id: road for road in roads})


def road(name: str, *points: tuple[float, float], oneway: bool = False) -> Road:
    return Road(id=name, line=LineString(points), oneway=oneway)


BLOCK = streets(
    road("south", (0, 0), (100, 0)),
    road("east", (100, 0), (100, 60), oneway=True),
    road("north", (0, 60), (50, 70), (100, 60)),
    road("west", (0, 0), (0, 60)),
)


def way(scene: Scene, start, end, floors=(0, 0)):
    return Network.of(scene).path(start, floors[0], end, floors[1])


def test_a_way_along_one_road_is_the_stretch_between():
    path = way(BLOCK, (10, 5), (70, -3))
    assert (path.length_m, path.via, path.start_snap_m, path.end_snap_m) == (60, ("south",), 5, 3)


def test_a_way_turns_at_a_junction():
    path = way(BLOCK, (90, 0), (100, 20))
    assert (path.length_m, path.via) == (30, ("south", "east"))
    assert [leg.points_m for leg in path.legs] == [((90, 0), (100, 0)), ((100, 0), (100, 20))]


def test_a_oneway_road_is_not_driven_back():
    back = way(BLOCK, (100, 20), (90, 0))
    assert back.via == ("east", "north", "west", "south")
    assert math.isclose(back.length_m, 40 + 2 * math.hypot(50, 10) + 60 + 90)


def test_behind_oneself_on_a_oneway_road_is_once_round_the_block():
    path = way(BLOCK, (100, 40), (100, 20))
    assert path.via == ("east", "north", "west", "south", "east")
    assert math.isclose(path.length_m, 20 + 2 * math.hypot(50, 10) + 60 + 100 + 20)


def test_ends_half_a_metre_apart_are_one_junction_and_more_are_none():
    near = streets(road("a", (0, 0), (10, 0)), road("b", (10.4, 0), (20, 0)))
    far = streets(road("a", (0, 0), (10, 0)), road("b", (10.6, 0), (20, 0)))
    assert way(near, (0, 0), (20, 0)).via == ("a", "b")
    assert way(far, (0, 0), (20, 0)) is None


def test_roads_that_cross_without_ending_are_a_bridge():
    assert way(streets(road("a", (-5, 0), (5, 0)), road("b", (0, -5), (0, 5))), (-5, 0), (0, 5)) is None


def test_of_two_roads_between_the_same_junctions_the_shorter_is_taken():
    scene = streets(
        road("in", (-10, 0), (0, 0)),
        road("bow", (0, 0), (5, 9), (10, 0)),
        road("string", (0, 0), (10, 0)),
        road("out", (10, 0), (20, 0)),
    )
    assert way(scene, (-10, 0), (20, 0)).via == ("in", "string", "out")


def test_a_network_is_made_once_a_scene():
    assert Network.of(BLOCK) is Network.of(BLOCK)
    assert Network.of(BLOCK) is not Network.of(replace(BLOCK))


@pytest.mark.parametrize("kind", ["outdoor", "indoor"])
def test_a_scene_without_ways_leads_nowhere(kind):
    network = Network.of(Scene(id="s", frame=Frame(), kind=kind))
    assert network.empty
    assert network.path((0, 0), 0, (1, 1), 0) is None


spots = st.tuples(st.floats(-20, 120), st.floats(-20, 90))


@given(spots, spots, spots)
def test_a_detour_is_never_shorter(a, b, c):
    assert way(BLOCK, a, c).length_m <= way(BLOCK, a, b).length_m + way(BLOCK, b, c).length_m + 1e-6


RING = streets(
    road("ring", (0, 0), (100, 0), (100, 60.1), (0, 60), (0, 0), oneway=True),
    road("spur", (0, 0), (-20, 7)),
    road("far", (500, 0), (600, 0)),
)


def lengths(scene: Scene, start, end, floors=(0, 0)):
    """The length as it is asked for alone, and that of the path."""
    path = way(scene, start, end, floors)
    alone_m = Network.of(scene).length_m(start, floors[0], end, floors[1])
    return alone_m, math.inf if path is None else path.length_m


@given(st.sampled_from([BLOCK, RING]), spots, spots)
def test_the_length_alone_is_that_of_the_path_to_the_last_bit(scene, start, end):
    alone_m, path_m = lengths(scene, start, end)
    assert alone_m == path_m


def test_the_length_of_a_way_that_comes_back_to_its_road_is_that_of_the_path():
    assert way(RING, (0, 33.3), (33.3, 0)).via == ("ring",)
    assert lengths(RING, (0, 33.3), (33.3, 0)) == (pytest.approx(66.6), pytest.approx(66.6))


def test_where_no_way_leads_the_length_is_infinite():
    assert lengths(RING, (0, 0), (550, 0)) == (math.inf, math.inf)
    assert lengths(RING, (0, 0), (10, 0), floors=(0, 3)) == (math.inf, math.inf)


@given(spots, spots, st.tuples(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4)))
def test_ways_do_not_depend_on_where_the_origin_is(a, b, shift):
    dx, dy = shift
    moved = streets(*(replace(each, line=translate(each.line, dx, dy)) for each in BLOCK.roads.values()))
    here, there = way(BLOCK, a, b), way(moved, (a[0] + dx, a[1] + dy), (b[0] + dx, b[1] + dy))
    # Where two roads are equally near, or two ways equally long, rounding may pick the other one.
    assume(here.via == there.via)
    assert math.isclose(here.length_m, there.length_m, abs_tol=1e-6)


@given(spots, spots)
def test_a_way_is_continuous_and_as_long_as_its_points_are_apart(a, b):
    path = way(BLOCK, a, b)
    points = [point for leg in path.legs for point in leg.points_m]
    assert all(math.dist(one.points_m[-1], other.points_m[0]) < 1e-9 for one, other in pairwise(path.legs))
    assert math.isclose(LineString(points).length, path.length_m, abs_tol=1e-6)
    assert path.length_m >= math.dist(points[0], points[-1]) - 1e-6


ZONES = {
    "hall": Zone(id="hall", floor=0, area=box(0, 0, 20, 4)),
    "office": Zone(id="office", floor=0, area=box(2, 4, 8, 9)),
    "gallery": Zone(id="gallery", floor=1, area=box(0, 0, 20, 4)),
    "attic": Zone(id="attic", floor=2, area=box(0, 0, 20, 4)),
}
DOOR = Portal(id="door", kind="door", zones=("hall", "office"), ends_m=((5, 4), (5, 4)))
STAIRS = Portal(
    id="stairs", kind="stairs", zones=("hall", "gallery"), ends_m=((20, 2), (17, 2)), length_m=7.5
)


def house(*portals: Portal) -> Scene:
    return Scene(
        id="house",
        frame=Frame(),
        kind="indoor",
        zones=ZONES,
        portals={portal.id: portal for portal in portals},
    )


HOUSE = house(DOOR, STAIRS)


def test_through_a_door_and_up_the_stairs_is_exact():
    path = way(HOUSE, (5, 7), (13, 2), (0, 1))
    assert path.via == ("office", "door", "hall", "stairs", "gallery")
    assert path.length_m == 3 + math.hypot(15, 2) + 7.5 + 4
    assert path.floors == (0, 1)


def test_a_second_staircase_is_taken_when_it_is_shorter():
    near = Portal(id="near", kind="lift", zones=("gallery", "hall"), ends_m=((6, 2), (6, 2)))
    path = way(house(DOOR, STAIRS, near), (5, 7), (13, 2), (0, 1))
    assert path.via == ("office", "door", "hall", "near", "gallery")
    assert math.isclose(path.length_m, 3 + math.hypot(1, 2) + 0 + 7)


def test_up_and_down_are_equally_long():
    up, down = way(HOUSE, (5, 7), (13, 2), (0, 1)), way(HOUSE, (13, 2), (5, 7), (1, 0))
    assert math.isclose(up.length_m, down.length_m)
    assert down.via == up.via[::-1]
    assert down.floors == (1, 0)


ESCALATOR = Portal(
    id="up", kind="escalator", zones=("hall", "gallery"), ends_m=((10, 2), (10, 2)), length_m=6.4
)


def test_an_escalator_is_gone_one_way_only():
    both = house(DOOR, STAIRS, ESCALATOR)
    up, down = way(both, (9, 2), (11, 2), (0, 1)), way(both, (11, 2), (9, 2), (1, 0))
    assert up.via == ("hall", "up", "gallery")
    assert down.via == ("gallery", "stairs", "hall")
    assert math.isclose(slowed_m(up.legs[1]), 6.4 * 1.34 / 0.5)
    network = Network.of(both)
    assert network.length_m((9, 2), 0, (11, 2), 1) == up.length_m
    assert network.length_m((11, 2), 1, (9, 2), 0) == down.length_m
    alone = house(DOOR, ESCALATOR)
    assert Network.of(alone).path((11, 2), 1, (9, 2), 0) is None
    assert math.isinf(Network.of(alone).length_m((11, 2), 1, (9, 2), 0))


def test_within_one_room_a_way_is_a_straight_line():
    path = way(HOUSE, (1, 1), (4, 3.5))
    assert (path.via, path.length_m) == (("hall",), math.hypot(3, 2.5))


def test_outside_all_rooms_a_way_starts_at_the_nearest():
    path = way(HOUSE, (-2, 2), (4, 2))
    assert (path.start_snap_m, path.length_m) == (2, 4)


def test_a_portal_is_never_shorter_than_its_ends_are_apart():
    thick = replace(DOOR, ends_m=((5, 3.7), (5, 4.3)))
    assert math.isclose(way(house(thick), (5, 2), (5, 7)).length_m, 5)


@pytest.mark.parametrize("floor", [2, 5])
def test_a_floor_that_nothing_leads_to_is_out_of_reach(floor):
    assert way(HOUSE, (1, 1), (1, 1), (0, floor)) is None


def test_standing_still_has_a_place_and_no_length():
    for scene, spot in ((BLOCK, (30, 0)), (HOUSE, (3, 6))):
        path = way(scene, spot, spot)
        assert path.length_m == 0
        assert len(path.via) == 1


def test_doors_of_no_length_in_a_row_end():
    rooms = {f"r{i}": Zone(id=f"r{i}", floor=0, area=box(i, 0, i + 1, 1)) for i in range(6)}
    doors = [
        Portal(id=f"d{i}", kind="door", zones=(f"r{i}", f"r{i + 1}"), ends_m=((i + 1, 0.5), (i + 1, 0.5)))
        for i in range(5)
    ]
    twins = [replace(door, id=f"{door.id}-twin") for door in doors]
    scene = Scene(
        id="s",
        frame=Frame(),
        kind="indoor",
        zones=rooms,
        portals={portal.id: portal for portal in (*doors, *twins)},
    )
    assert way(scene, (0, 0.5), (6, 0.5)).length_m == 6


inside = st.tuples(st.floats(2.5, 7.5), st.floats(0.5, 8.5), st.integers(0, 1))


@given(inside, inside, inside)
def test_indoors_too_a_detour_is_never_shorter_and_ways_are_symmetric(a, b, c):
    def length(start, end):
        return way(HOUSE, start[:2], end[:2], (start[2], end[2])).length_m

    alone_m, path_m = lengths(HOUSE, a[:2], b[:2], (a[2], b[2]))
    assert alone_m == path_m
    assert math.isclose(length(a, b), length(b, a), abs_tol=1e-9)
    assert length(a, c) <= length(a, b) + length(b, c) + 1e-9


@pytest.mark.parametrize("kind", ["indoor", "outdoor"])
def test_a_network_goes_without_the_garbage_collector(kind):
    scene = replace(HOUSE if kind == "indoor" else BLOCK)  # of its own: its network goes with it
    network = Network.of(scene)
    start, end = ((5, 7), (13, 2)) if kind == "indoor" else ((5, 0), (60, 60))
    assert network.path(start, 0, end, 0).length_m == network.length_m(start, 0, end, 0)
    watched = weakref.ref(network)
    gc.disable()
    try:
        del network, scene
        assert watched() is None
    finally:
        gc.enable()
