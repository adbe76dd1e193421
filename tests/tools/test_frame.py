"""The plane of a scene against the ellipsoid."""

import math

import pytest
from geographiclib.geodesic import Geodesic
from hypothesis import given
from hypothesis import strategies as st

from gnomon_tools.scene.decode import to_local_many
from gnomon_tools.scene.frame import Frame

frames = st.builds(Frame, lon_deg=st.floats(-180, 180), lat_deg=st.floats(-90, 90), anchored=st.just(True))
points = st.tuples(st.floats(-2000, 2000), st.floats(-2000, 2000))


@given(frames, points)
def test_to_the_earth_and_back_is_where_it_was(frame, point):
    assert math.dist(frame.to_local(frame.to_wgs84(point)), point) < 1e-6


@given(frames, points)
def test_distance_and_direction_from_the_origin_are_the_geodesics(frame, point):
    lon, lat = frame.to_wgs84(point)
    line = Geodesic.WGS84.Inverse(frame.lat_deg, frame.lon_deg, lat, lon)
    assert math.isclose(line["s12"], math.hypot(*point), abs_tol=1e-6)


@given(frames, points, points)
def test_distance_is_the_geodesic_where_the_place_is_known(frame, a, b):
    (lon_a, lat_a), (lon_b, lat_b) = frame.to_wgs84(a), frame.to_wgs84(b)
    geodesic = Geodesic.WGS84.Inverse(lat_a, lon_a, lat_b, lon_b)["s12"]
    assert math.isclose(frame.distance_m(a, b), geodesic, abs_tol=1e-6)
    # Within two kilometres of the origin the plane itself is right to a part in a million.
    assert math.isclose(frame.distance_m(a, b), math.dist(a, b), rel_tol=1e-6, abs_tol=1e-6)


@given(points, points)
def test_distance_is_the_planes_where_the_place_is_unknown(a, b):
    assert Frame().distance_m(a, b) == math.dist(a, b)


def test_a_known_distance_on_the_earth():
    # A minute of latitude at 45° north on WGS 84.
    frame = Frame(lon_deg=0, lat_deg=45, anchored=True)
    length_m, azimuth_deg = frame.geodesic((0.0, 0.0), frame.to_local((0.0, 45 + 1 / 60)))
    assert math.isclose(length_m, 1852.2, abs_tol=0.1)
    assert math.isclose(azimuth_deg, 0, abs_tol=1e-9)


@given(st.floats(-180, 180), st.floats(-89.9, 89.9), st.floats(-1e5, 1e5), st.floats(-1e5, 1e5))
def test_many_positions_lie_where_each_of_them_does(lon, lat, x_m, y_m):
    frame = Frame(lon_deg=lon, lat_deg=lat)
    position = frame.to_wgs84((x_m, y_m))
    (found,) = to_local_many(frame, [position])
    assert found == pytest.approx(frame.to_local(position), abs=1e-6)
