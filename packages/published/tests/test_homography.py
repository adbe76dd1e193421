"""Homographies and their horizon."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gnomon_published.homography import HorizonError, sensitivity, to_ground, to_image


def mounted(height_m: float, tilt_deg: float, heading_deg: float, focal_px: float = 1000.0) -> np.ndarray:
    """The ground homography of a pinhole camera over (0, 0), 1920 × 1080 pixels."""
    tilt, heading = math.radians(tilt_deg), math.radians(heading_deg)
    right = np.array([math.cos(heading), -math.sin(heading), 0])
    ahead = np.array(
        [math.sin(heading) * math.cos(tilt), math.cos(heading) * math.cos(tilt), -math.sin(tilt)]
    )
    turned = np.stack([right, np.cross(ahead, right), ahead])
    lens = np.array([[focal_px, 0, 960], [0, focal_px, 540], [0, 0, 1]])
    seen = lens @ np.column_stack([turned[:, 0], turned[:, 1], -turned @ [0, 0, height_m]])
    return np.linalg.inv(seen)


cameras = st.builds(mounted, st.floats(2, 12), st.floats(8, 60), st.floats(0, 360))
pixels = st.lists(st.tuples(st.floats(0, 1920), st.floats(700, 1080)), min_size=1, max_size=10).map(np.array)


@given(cameras, pixels)
def test_there_and_back_is_where_it_was(homography, feet):
    there = to_ground(homography, feet)
    assert np.allclose(to_image(homography, there), feet, atol=1e-5)


@given(cameras, pixels)
def test_a_matrix_and_its_negative_are_the_same_map(homography, feet):
    assert np.allclose(to_ground(-homography, feet), to_ground(homography, feet))


@given(st.floats(2, 12), st.floats(8, 60), st.floats(0, 350))
def test_the_middle_of_the_image_lies_ahead_where_the_axis_meets_the_floor(height, tilt, heading):
    (x, y), far = (
        to_ground(mounted(height, tilt, heading), np.array([[960.0, 540.0]]))[0],
        height / math.tan(math.radians(tilt)),
    )
    assert math.isclose(x, far * math.sin(math.radians(heading)), abs_tol=1e-6 * far)
    assert math.isclose(y, far * math.cos(math.radians(heading)), abs_tol=1e-6 * far)


@given(cameras, pixels)
def test_sensitivity_is_how_far_the_floor_point_moves_a_pixel(homography, feet):
    step = 1e-4
    ground = to_ground(homography, feet)
    by_u = (to_ground(homography, feet + np.array([step, 0])) - ground) / step
    by_v = (to_ground(homography, feet + np.array([0, step])) - ground) / step
    measured = np.sqrt((by_u**2).sum(axis=1) + (by_v**2).sum(axis=1))
    assert np.allclose(sensitivity(homography, feet), measured, rtol=1e-3)


def test_a_scatter_of_pixels_scatters_the_floor_point_as_sensitivity_says():
    homography, foot = mounted(5, 20, 30), np.array([[1000.0, 800.0]])
    noise = np.random.default_rng(0).normal(0, 2, (20_000, 2))
    scattered = to_ground(homography, foot + noise) - to_ground(homography, foot)
    rms_m = math.sqrt((scattered**2).sum(axis=1).mean())
    assert math.isclose(rms_m, 2 * sensitivity(homography, foot)[0], rel_tol=0.03)


@given(cameras)
def test_above_the_horizon_there_is_no_floor(homography):
    a, b, c = homography[2]
    horizon_v = -(a * 960 + c) / b
    assume(-1e5 < horizon_v < 700)
    with pytest.raises(HorizonError) as caught:
        to_ground(homography, np.array([[960, 900], [960, horizon_v - 50]]), ground_pixel=(960, 1080))
    assert caught.value.indices == [1]
    with pytest.raises(HorizonError):
        to_ground(homography, np.array([[960, horizon_v]]))


def test_without_a_known_floor_pixel_the_majority_tells():
    homography = mounted(5, 10, 0)
    with pytest.raises(HorizonError) as caught:
        to_ground(homography, np.array([[960.0, 900.0], [960.0, 10.0], [960.0, 950.0]]))
    assert caught.value.indices == [1]
