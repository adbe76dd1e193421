"""Calibrates a camera over a flat floor: its homography from point pairs, and where it hangs.

Normalised direct linear transform, then least squares of the distances on the floor (Hartley & Zisserman
2004, sections 4.1 to 4.4). Bad points are found with the least median of squares (Rousseeuw 1984).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MIN_PAIRS = 8
SPREAD = 1e-3  # below this ratio of the smallest to the largest extent points are taken to be on a line
DETERMINED, FOUR_DETERMINED = 1e-4, 1e-3
"""Up to this ratio of singular values more than one homography fits: all pairs, and four of them."""
UNDETERMINED = "all but a few of the pairs are on a line: more than one homography fits"
OUTLIER_SIGMAS = 4.0
OUTLIER_FLOOR_M = 0.05  # no point nearer than this is an outlier, however well the others fit
MAX_SUBSETS = 400


class BadPairs(ValueError):
    """The point pairs determine no homography."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HomographyFit:
    """A homography from pixels to metres (3 × 3), and how far each pair is off on the floor (n, metres).

    `outliers` are the indices of pairs that were left out of the fit; `rms_m` is over the others.
    """

    homography: Array
    residuals_m: Array
    rms_m: float
    outliers: tuple[int, ...]


def fit_homography(pixels: Array, points_m: Array) -> HomographyFit:
    """Fit the homography that maps pixels (n × 2) to points of the floor (n × 2, metres), n ≥ 8.

    Raises:
        BadPairs: too few pairs, pairs on a line, or pairs on both sides of the fitted horizon.
    """
    if pixels.shape != points_m.shape or pixels.ndim != 2 or pixels.shape[1] != 2:
        raise BadPairs(f"pixels and points must be n × 2 alike, got {pixels.shape} and {points_m.shape}")
    if len(pixels) < MIN_PAIRS:
        raise BadPairs(f"at least {MIN_PAIRS} point pairs are needed, got {len(pixels)}")
    if not (np.isfinite(pixels).all() and np.isfinite(points_m).all()):
        raise BadPairs("coordinates must be finite numbers")
    for name, points in (("pixels", pixels), ("points on the floor", points_m)):
        extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        if extents[1] <= SPREAD * extents[0]:
            raise BadPairs(f"the {name} are on a line")
    kept = _without_outliers(pixels, points_m)
    if kept.sum() < MIN_PAIRS:
        raise BadPairs(
            f"only {kept.sum()} of {len(kept)} pairs agree with one another; {MIN_PAIRS} are needed"
        )
    homography = _refined(pixels[kept], points_m[kept])
    depth = np.column_stack([pixels, np.ones(len(pixels))]) @ homography[2]
    beyond = np.flatnonzero(kept & (np.sign(depth) != np.sign(depth[kept].sum())))
    if beyond.size:
        raise BadPairs(f"pair {beyond[0] + 1} is beyond the horizon of the fit")
    residuals_m = np.linalg.norm(_mapped(homography, pixels) - points_m, axis=1)
    return HomographyFit(
        homography=homography,
        residuals_m=residuals_m,
        rms_m=float(np.sqrt((residuals_m[kept] ** 2).mean())),
        outliers=tuple(np.flatnonzero(~kept).tolist()),
    )


def _mapped(homography: Array, pixels: Array) -> Array:
    """Pixels (n × 2) by a homography (… × 3 × 3), in metres (… × n × 2)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mapped = np.column_stack([pixels, np.ones(len(pixels))]) @ np.swapaxes(homography, -1, -2)
        return np.nan_to_num(mapped[..., :2] / mapped[..., 2:], nan=1e9, posinf=1e9, neginf=-1e9)


def _normaliser(points: Array) -> Array:
    """Moves the centroid of points (… × n × 2) to the origin and the mean distance from it to √2."""
    centre = points.mean(axis=-2)
    away = np.linalg.norm(points - centre[..., None, :], axis=-1).mean(axis=-1)
    scale = math.sqrt(2) / np.maximum(away, 1e-12)[..., None]
    normaliser = np.zeros((*centre.shape[:-1], 3, 3))
    normaliser[..., (0, 1), (0, 1)], normaliser[..., 2, 2] = scale, 1
    normaliser[..., :2, 2] = -scale * centre
    return normaliser


def _normalised(normaliser: Array, points: Array) -> Array:
    return points * normaliser[..., :1, :1] + normaliser[..., None, :2, 2]


def _direct(pixels: Array, points_m: Array) -> tuple[Array, Array]:
    """The homographies of sets of pairs (… × n × 2), and each one's ratio of singular values."""
    first, second = _normaliser(pixels), _normaliser(points_m)
    u, v = np.moveaxis(_normalised(first, pixels), -1, 0)
    x, y = np.moveaxis(_normalised(second, points_m), -1, 0)
    zero, one = np.zeros_like(u), np.ones_like(u)
    first_rows = np.stack([u, v, one, zero, zero, zero, -x * u, -x * v, -x], axis=-1)
    second_rows = np.stack([zero, zero, zero, u, v, one, -y * u, -y * v, -y], axis=-1)
    rows = np.concatenate([first_rows, second_rows], axis=-2)
    _, sizes, right = np.linalg.svd(rows)
    homography = np.linalg.inv(second) @ right[..., -1, :].reshape(*u.shape[:-1], 3, 3) @ first
    return homography, sizes[..., 7] / sizes[..., 0]


def _refined(pixels: Array, points_m: Array) -> Array:
    """The homography with the least sum of squared distances on the floor."""
    from scipy.optimize import least_squares  # late: few processes calibrate

    homography, ratio = _direct(pixels, points_m)
    if ratio <= DETERMINED:
        raise BadPairs(UNDETERMINED)
    first, second = _normaliser(pixels), _normaliser(points_m)
    start = second @ homography @ np.linalg.inv(first)
    largest = int(np.abs(start).argmax())  # kept at 1: a homography has eight degrees of freedom
    start = (start / start.flat[largest]).ravel()
    free = np.arange(9) != largest
    scaled = _normalised(first, pixels)

    def errors(values: Array) -> Array:
        trial = np.ones(9)
        trial[free] = values
        mapped = _mapped(trial.reshape(3, 3), scaled)
        return np.asarray(((mapped - second[:2, 2]) / second[0, 0] - points_m).ravel())

    solved = np.ones(9)
    solved[free] = least_squares(errors, start[free], method="lm", x_scale="jac").x
    refined = np.linalg.inv(second) @ solved.reshape(3, 3) @ first
    return np.asarray(refined / np.linalg.norm(refined))


def _without_outliers(pixels: Array, points_m: Array) -> NDArray[np.bool_]:
    """Which pairs agree with the homography of four of them whose median error is least."""
    count, fours = len(pixels), np.array(_subsets(len(pixels)))
    trials, ratios = _direct(pixels[fours], points_m[fours])
    if not (ratios > FOUR_DETERMINED).any():
        raise BadPairs(UNDETERMINED)
    errors = np.linalg.norm(_mapped(trials[ratios > FOUR_DETERMINED], pixels) - points_m, axis=-1)
    middles = np.median(errors, axis=1)
    best, least = errors[middles.argmin()], float(middles.min())
    sigma_m = 1.4826 * (1 + 5 / (count - 4)) * least
    kept = best <= max(OUTLIER_SIGMAS * sigma_m, OUTLIER_FLOOR_M)
    if kept.sum() < MIN_PAIRS:
        return np.asarray(kept, dtype=bool)
    # The four points' own error grows away from them: a pair is judged again by the fit of all that agree.
    errors = np.linalg.norm(_mapped(_refined(pixels[kept], points_m[kept]), pixels) - points_m, axis=1)
    sigma_m = float(np.sqrt((errors[kept] ** 2).sum() / max(2 * kept.sum() - 8, 1)))
    return np.asarray(errors <= max(OUTLIER_SIGMAS * sigma_m, OUTLIER_FLOOR_M))


def _subsets(count: int) -> Sequence[Sequence[int]]:
    if math.comb(count, 4) <= MAX_SUBSETS:
        return list(combinations(range(count), 4))
    rng = np.random.default_rng(0)
    return [rng.choice(count, size=4, replace=False).tolist() for _ in range(MAX_SUBSETS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Eye:
    """Where a camera hangs above its floor, and its focal length in pixels."""

    xy_m: tuple[float, float]
    height_m: float
    focal_px: float


def eye_of(homography: Array, image_size: tuple[int, int]) -> Eye | None:
    """The pinhole camera with square pixels and its axis in the picture's middle that has this homography.

    Focal length from the two conditions on the columns of a plane's projection (Zhang 2000, section 3.1).
    None where no such camera above the floor exists, as when the picture was cropped.
    """
    width, height = image_size
    middle = np.array([[1, 0, -width / 2], [0, 1, -height / 2], [0, 0, 1.0]])
    try:
        first, second, third = (middle @ np.linalg.inv(homography)).T
    except np.linalg.LinAlgError:
        return None
    flat = np.array([first[:2] @ second[:2], first[:2] @ first[:2] - second[:2] @ second[:2]])
    deep = np.array([first[2] * second[2], first[2] ** 2 - second[2] ** 2])
    inverse_square = -float(flat @ deep) / float(flat @ flat) if flat.any() else 0.0
    if inverse_square <= 0:
        return None
    focal_px = 1 / math.sqrt(inverse_square)
    lens = np.array([1 / focal_px, 1 / focal_px, 1.0])
    first, second, third = first * lens, second * lens, third * lens
    scale = 2 / float(np.linalg.norm(first) + np.linalg.norm(second))
    low = homography @ np.array([width / 2, height, 1.0])
    if low[2] == 0 or not np.isfinite(scale):
        return None
    x_m, y_m = low[:2] / low[2]
    if (first * x_m + second * y_m + third)[2] < 0:  # the floor is seen, so it is before the camera
        scale = -scale
    first, second, third = first * scale, second * scale, third * scale
    rotation = np.stack([first, second, np.cross(first, second)], axis=1)
    centre = -rotation.T @ third
    if not np.isfinite(centre).all() or centre[2] <= 0:
        return None
    return Eye(xy_m=(float(centre[0]), float(centre[1])), height_m=float(centre[2]), focal_px=focal_px)
