"""Angles are compass bearings."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_tools.geometry.angles import COMPASS, bearing_deg, compass, turn_deg, wrapped_deg

metres = st.floats(-1e5, 1e5)
points = st.tuples(metres, metres)
degrees = st.floats(-1e4, 1e4)


@given(points, points)
def test_looking_back_is_half_a_turn(start, end):
    if math.dist(start, end) < 1e-3:
        return
    assert abs(turn_deg(bearing_deg(start, end) + 180, bearing_deg(end, start))) < 1e-6


@given(points, points, points)
def test_a_bearing_does_not_depend_on_where_the_origin_is(start, end, shift):
    if math.dist(start, end) < 1:
        return
    moved = [(x + shift[0], y + shift[1]) for x, y in (start, end)]
    assert abs(turn_deg(bearing_deg(start, end), bearing_deg(*moved))) < 1e-6


@given(st.floats(0, 359.999), st.floats(1, 1e4))
def test_going_along_a_bearing_has_that_bearing(angle, far):
    end = (far * math.sin(math.radians(angle)), far * math.cos(math.radians(angle)))
    assert abs(turn_deg(angle, bearing_deg((0, 0), end))) < 1e-6


def test_a_point_has_no_bearing_to_itself():
    with pytest.raises(ValueError, match="no direction"):
        bearing_deg((1, 2), (1, 2))


@given(degrees)
def test_wrapping_stays_below_a_full_turn(angle):
    assert 0 <= wrapped_deg(angle) < 360


@given(degrees, degrees)
def test_a_turn_is_at_most_half_a_turn_and_leads_there(start, end):
    turn = turn_deg(start, end)
    assert -180 < turn <= 180
    assert math.isclose(math.cos(math.radians(start + turn)), math.cos(math.radians(end)), abs_tol=1e-9)


@pytest.mark.parametrize("index", range(16))
def test_compass_points_stand_at_their_angles(index):
    assert compass(index * 22.5, 16) == COMPASS[index]
    assert index % 2 or compass(index * 22.5) == COMPASS[index]


@given(st.floats(0, 360), st.sampled_from([8, 16]))
def test_the_compass_point_is_the_nearest(angle, count):
    stands_at = COMPASS.index(compass(angle, count)) * 22.5
    assert abs(turn_deg(stands_at, angle)) <= 180 / count + 1e-9
