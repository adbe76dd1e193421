"""Calibration from point pairs: exact pairs, noisy ones, bad ones, and sets that determine nothing."""

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from gnomon_published.homography import to_ground
from gnomon_worlds.camera_model import Mount
from gnomon_worlds.tracking.homography_fit import BadPairs, eye_of, fit_homography

mounts = st.builds(
    Mount,
    xy_m=st.tuples(st.floats(-300, 300), st.floats(-300, 300)),
    height_m=st.floats(2.5, 9),
    heading_deg=st.floats(0, 359),
    fov_deg=st.floats(40, 90),
    range_m=st.floats(8, 60),
)


def pairs(mount: Mount, seed: int, count: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Pixels in the lower part of the picture, and the floor's points there."""
    rng = np.random.default_rng(seed)
    columns, rows = np.linspace(150, 1770, 4), np.linspace(520, 1050, 3)
    grid = np.array([(u, v) for u in columns for v in rows])[:count]
    pixels = grid + rng.uniform(-40, 40, size=grid.shape) * (1.0, 0.5)
    return pixels, to_ground(mount.homography(), pixels)


@given(mounts, st.integers(0, 10**6))
def test_exact_pairs_give_the_homography_back(mount: Mount, seed: int) -> None:
    pixels, points_m = pairs(mount, seed)
    fit = fit_homography(pixels, points_m)
    elsewhere = np.array([[960.0, 700.0], [400.0, 900.0]])
    assert fit.outliers == ()
    assert fit.rms_m < 1e-5
    assert (
        np.abs(to_ground(fit.homography, elsewhere) - to_ground(mount.homography(), elsewhere)).max() < 1e-3
    )


@given(mounts, st.integers(0, 10**6))
def test_residuals_are_the_distances_on_the_floor(mount: Mount, seed: int) -> None:
    pixels, points_m = pairs(mount, seed)
    noisy_m = points_m + np.random.default_rng(seed).normal(scale=0.2, size=points_m.shape)
    try:
        fit = fit_homography(pixels, noisy_m)
    except BadPairs:  # of twelve points that are this far off fewer than eight may agree
        reject()
    kept = np.setdiff1d(np.arange(len(pixels)), fit.outliers)
    assert np.allclose(
        fit.residuals_m, np.linalg.norm(to_ground(fit.homography, pixels) - noisy_m, axis=1), atol=1e-9
    )
    assert fit.rms_m == pytest.approx(np.sqrt((fit.residuals_m[kept] ** 2).mean()))
    assert fit.rms_m < 0.5


@given(mounts, st.integers(0, 10**6), st.integers(0, 11))
def test_a_point_on_the_wrong_spot_is_named_and_does_no_harm(mount: Mount, seed: int, wrong: int) -> None:
    pixels, points_m = pairs(mount, seed)
    points_m[wrong] += (7.0, -5.0)
    fit = fit_homography(pixels, points_m)
    assert fit.outliers == (wrong,)
    assert fit.rms_m < 1e-4
    assert fit.residuals_m[wrong] == pytest.approx(np.hypot(7, 5), rel=1e-3)


@given(mounts, st.integers(0, 10**6), st.floats(0, 360))
def test_the_fit_does_not_depend_on_where_the_origin_is(mount: Mount, seed: int, turn_deg: float) -> None:
    pixels, points_m = pairs(mount, seed)
    cos, sin = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    moved_m = points_m @ np.array([[cos, sin], [-sin, cos]]) + (5000.0, -300.0)
    assert np.abs(fit_homography(pixels, moved_m).residuals_m).max() < 1e-3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda u, x: (u[:7], x[:7]), "at least 8"),
        (lambda u, x: (u, x[:-1]), "alike"),
        (lambda u, x: (u * (1, 0) + (0, 700), x), "on a line"),
        (lambda u, x: (u, x * (0, 1)), "on a line"),
        (lambda u, x: (np.repeat(u[:1], len(u), axis=0), x), "on a line"),
        (lambda u, x: (np.where(u > 1700, np.nan, u), x), "finite"),
    ],
)
def test_pairs_that_determine_nothing_are_refused(change: object, message: str) -> None:
    pixels, points_m = pairs(Mount(xy_m=(0, 0), height_m=5, heading_deg=30, fov_deg=60, range_m=40), 1)
    pixels[-1] = (1750.0, 1000.0)
    with pytest.raises(BadPairs, match=message):
        fit_homography(*change(pixels, points_m))  # type: ignore[operator]


def test_all_but_one_on_a_line_are_refused() -> None:
    along = np.linspace(0, 1, 11)
    pixels = np.column_stack([200 + 1400 * along, 600 + 300 * along])
    pixels = np.vstack([pixels, [1500.0, 620.0]])
    points_m = to_ground(
        Mount(xy_m=(0, 0), height_m=5, heading_deg=0, fov_deg=60, range_m=40).homography(), pixels
    )
    with pytest.raises(BadPairs, match="more than one homography"):
        fit_homography(pixels, points_m)


@given(mounts)
def test_a_cameras_place_and_lens_follow_from_its_homography(mount: Mount) -> None:
    eye = eye_of(mount.homography(), mount.image_size)
    assert eye is not None
    assert eye.xy_m == pytest.approx(mount.xy_m, abs=1e-3)
    assert (eye.height_m, eye.focal_px) == pytest.approx((mount.height_m, mount.focal_px), rel=1e-3)


def test_a_map_that_no_camera_makes_has_no_place() -> None:
    assert eye_of(np.diag([0.1, -0.1, 1.0]), (1920, 1080)) is None
