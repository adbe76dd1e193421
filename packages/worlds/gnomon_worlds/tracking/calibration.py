"""Gives every camera its homography, and takes the foot points of boxes to the floor with it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.core.errors import DataError
from gnomon_published.homography import sensitivity
from gnomon_worlds.tracking.homography_fit import BadPairs, HomographyFit, eye_of, fit_homography
from gnomon_worlds.tracking.neutral_form import Array, Lens, TrackedCamera, Tracking

FIT_BOXES = (
    400  # of a camera with a distorting lens, at equal steps: its pixels' homography is fitted to them
)
UNDISTORTING = 20  # fixed-point steps; each shrinks the error by about the distortion itself
HORIZON = 1e-9
LOWEST_DEG = 1.0  # nearer to the horizon a foot point tells next to nothing of where its target stands


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A camera on its floor: pixels (as recorded) to metres, and how well that is known.

    `source` says where it comes from; `residuals_m` are those of point pairs, `outliers` the numbers (from 1)
    of pairs that were left out. `held_out_m` is the root mean square distance of the other pairs from where a
    fit without them puts them: what `rms_m`, of the pairs that were fitted, cannot tell. `eye_m` is where the
    camera hangs, if that follows.
    """

    camera: str
    homography: Array
    source: str
    rms_m: float | None = None
    residuals_m: tuple[float, ...] = ()
    outliers: tuple[int, ...] = ()
    held_out_m: float | None = None
    eye_m: tuple[float, float] | None = None

    def document(self) -> dict[str, Any]:
        """The calibration as a report tells it."""
        fields = asdict(self)
        fields["homography"] = self.homography.tolist()
        return fields


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundPoints:
    """Of each box: whether its foot point shows the floor, where that is (n × 2, metres), and how far the
    point moves for a pixel of error (n, metres a pixel).
    """

    on_floor: NDArray[np.bool_]
    xy_m: Array
    m_per_px: Array


def with_pairs(tracking: Tracking, pairs: Mapping[str, Array]) -> Tracking:
    """The recording with point pairs (n × 4: u, v, x, y; x and y as in its files) in place of a camera's own.

    Raises:
        DataError: they are of a camera that does not exist.
    """
    ids = [camera.id for camera in tracking.cameras]
    for name in pairs:
        if name not in ids:
            raise DataError(f"no camera {name!r}; there are: {', '.join(ids)}", field="points")
    return replace(
        tracking,
        cameras=tuple(
            replace(camera, points=pairs[camera.id] * [1, 1, *tracking.signs])
            if camera.id in pairs
            else camera
            for camera in tracking.cameras
        ),
    )


def calibrate(tracking: Tracking) -> tuple[dict[str, Calibration], list[str]]:
    """The calibration of each camera that has one, and the names of those that have none.

    Point pairs come before a homography; the scene's homographies come last.

    Raises:
        DataError: point pairs determine no homography.
    """
    calibrated, without = {}, []
    for index, camera in enumerate(tracking.cameras):
        calibration = _calibrated(tracking, index, camera)
        if calibration is None:
            without.append(camera.id)
        else:
            calibrated[camera.id] = calibration
    if not calibrated:
        raise DataError("no camera has a homography or point pairs", field="cameras")
    return calibrated, without


def _calibrated(tracking: Tracking, index: int, camera: TrackedCamera) -> Calibration | None:
    own = tracking.scene.cameras.get(camera.id) if tracking.scene else None
    eye_m = camera.xy_m or (own.xy_m if own else None)
    points = camera.points
    if points is not None:
        try:
            fit = fit_homography(points[:, :2], points[:, 2:])
        except BadPairs as error:
            raise DataError(f"camera {camera.id}: {error}", field="points") from None
        return Calibration(
            camera=camera.id,
            homography=fit.homography,
            source="point pairs",
            rms_m=fit.rms_m,
            residuals_m=tuple(np.round(fit.residuals_m, 4).tolist()),
            outliers=tuple(number + 1 for number in fit.outliers),
            held_out_m=held_out_m(fit, points),
            eye_m=eye_m or _eye_m(fit.homography, camera),
        )
    if camera.homography is not None and camera.lens is not None:
        return _of_lens(tracking, index, camera, camera.lens, camera.homography, eye_m)
    homography = camera.homography if camera.homography is not None else own.homography if own else None
    if homography is None:
        return None
    return Calibration(
        camera=camera.id,
        homography=homography,
        source="given",
        eye_m=eye_m or _eye_m(homography, camera),
    )


def held_out_m(fit: HomographyFit, points: Array) -> float:
    """Root mean square distance (metres) of each pair from where the fit of the others puts it.

    The predicted residuals of least squares, (I − J (JᵀJ)⁺ Jᵀ)⁻¹ e by blocks of a pair (Cook & Weisberg 1982,
    section 2.2.3, to first order in the homography): no fit is made anew, so eight pairs suffice.
    """
    kept = np.delete(points, fit.outliers, axis=0)
    centred = np.column_stack(
        [(kept[:, :2] - kept[:, :2].mean(axis=0)) / np.ptp(kept[:, :2]), np.ones(len(kept))]
    )
    mapped = np.column_stack([kept[:, :2], np.ones(len(kept))]) @ fit.homography.T
    at_m, depth = mapped[:, :2] / mapped[:, 2:], mapped[:, 2:]
    slope, zero = centred / depth, np.zeros_like(centred)
    jacobian = np.stack(
        [
            np.concatenate([slope, zero, -at_m[:, :1] * slope], axis=1),
            np.concatenate([zero, slope, -at_m[:, 1:] * slope], axis=1),
        ],
        axis=1,
    )
    flat = jacobian.reshape(-1, 9)
    leverage = np.einsum("nij,jk,nlk->nil", jacobian, np.linalg.pinv(flat.T @ flat, rcond=1e-12), jacobian)
    errors_m = np.linalg.solve(np.eye(2) * (1 + 1e-9) - leverage, (kept[:, 2:] - at_m)[:, :, None])[:, :, 0]
    return float(np.sqrt((errors_m**2).sum(axis=1).mean()))


def is_mirrored(homography: Array, feet: Array) -> bool:
    """Whether what is on the right in the picture lies on the left on the floor: x or y leads the wrong way.

    The sign of the Jacobian of pixels (right, down) to metres (east, north), which is det H / w³ and below
    zero for every camera above its floor (Hartley & Zisserman 2004, section 8.1.1), at most foot points.
    """
    depth = np.column_stack([feet, np.ones(len(feet))]) @ homography[2]
    return bool(len(feet) and np.median(np.sign(np.linalg.det(homography)) * np.sign(depth)) > 0)


def _eye_m(homography: Array, camera: TrackedCamera) -> tuple[float, float] | None:
    eye = eye_of(homography, camera.image_size) if camera.image_size else None
    return eye.xy_m if eye else None


def _of_lens(
    tracking: Tracking,
    index: int,
    camera: TrackedCamera,
    lens: Lens,
    homography: Array,
    eye_m: tuple[float, float] | None,
) -> Calibration | None:
    """The homography of recorded pixels that comes nearest to the lens with its own homography."""
    feet = foot_points(tracking.boxes.ltwh[tracking.boxes.camera == index])
    chosen = feet[np.linspace(0, len(feet) - 1, min(len(feet), FIT_BOXES)).astype(int)] if len(feet) else feet
    straight = undistorted(lens, chosen)
    ground = on_ground(homography, straight, camera.image_size)
    try:
        fit = fit_homography(chosen[ground.on_floor], ground.xy_m[ground.on_floor])
    except BadPairs:
        return None
    return Calibration(
        camera=camera.id,
        homography=fit.homography,
        source="given, with a distorting lens: fitted to its own boxes",
        rms_m=fit.rms_m,
        eye_m=eye_m or _eye_m(homography, camera),
    )


def foot_points(ltwh: Array) -> Array:
    """The middle of each box's lower edge (n × 2, pixels)."""
    return np.column_stack([ltwh[:, 0] + ltwh[:, 2] / 2, ltwh[:, 1] + ltwh[:, 3]])


def undistorted(lens: Lens, pixels: Array) -> Array:
    """Where pixels would be without the lens's distortion, in pixels of the same intrinsic matrix.

    Brown's model (1971) with two radial and two tangential terms, inverted by fixed-point iteration.
    """
    k1, k2, p1, p2 = lens.distortion
    inverse = np.linalg.inv(lens.intrinsic)
    distorted = (np.column_stack([pixels, np.ones(len(pixels))]) @ inverse.T)[:, :2]
    x, y = distorted.T
    for _ in range(UNDISTORTING):
        square = x**2 + y**2
        radial = 1 + k1 * square + k2 * square**2
        shift_x = 2 * p1 * x * y + p2 * (square + 2 * x**2)
        shift_y = p1 * (square + 2 * y**2) + 2 * p2 * x * y
        x, y = (distorted[:, 0] - shift_x) / radial, (distorted[:, 1] - shift_y) / radial
    return np.asarray((np.column_stack([x, y, np.ones(len(x))]) @ lens.intrinsic.T)[:, :2])


def on_ground(homography: Array, pixels: Array, image_size: tuple[int, int] | None) -> GroundPoints:
    """Take pixels to the floor; those beyond the horizon or within LOWEST_DEG of it lie nowhere (NaN)."""
    homogeneous = np.column_stack([pixels, np.ones(len(pixels))])
    depth = homogeneous @ homography[2]
    scale = np.abs(homogeneous) @ np.abs(homography[2])
    if image_size is not None:
        below = float(homography[2] @ (image_size[0] / 2, image_size[1], 1.0))
    else:
        below = float(np.sign(depth).sum())
    slope = float(np.hypot(*homography[2, :2]))  # of the depth, a pixel
    lowest_px = _focal_px(homography, image_size) * np.tan(np.radians(LOWEST_DEG))
    is_clear = np.abs(depth) > np.maximum(HORIZON * scale, lowest_px * slope)
    side = np.where(is_clear, np.sign(depth), 0.0)
    on_floor = side == (1.0 if below >= 0 else -1.0)
    xy_m, m_per_px = np.full((len(pixels), 2), np.nan), np.full(len(pixels), np.nan)
    if on_floor.any():
        xy_m[on_floor] = (homogeneous[on_floor] @ homography[:2].T) / depth[on_floor, None]
        m_per_px[on_floor] = sensitivity(homography, pixels[on_floor])
    return GroundPoints(on_floor=on_floor, xy_m=xy_m, m_per_px=m_per_px)


def _focal_px(homography: Array, image_size: tuple[int, int] | None) -> float:
    """The focal length where it follows from the homography; else the picture's width; 0 without either."""
    if image_size is None:
        return 0.0
    eye = eye_of(homography, image_size)
    return float(
        np.clip(eye.focal_px if eye else max(image_size), 0.3 * max(image_size), 3.0 * max(image_size))
    )


def project(tracking: Tracking, calibrated: Mapping[str, Calibration]) -> GroundPoints:
    """The foot points of all boxes on the floors of their cameras; a camera without calibration has none."""
    feet = foot_points(tracking.boxes.ltwh)
    count = len(feet)
    on_floor, xy_m, m_per_px = np.zeros(count, bool), np.full((count, 2), np.nan), np.full(count, np.nan)
    for index, camera in enumerate(tracking.cameras):
        rows = np.flatnonzero(tracking.boxes.camera == index)
        if camera.id not in calibrated or not len(rows):
            continue
        if camera.lens is not None and camera.homography is not None and camera.points is None:
            pixels, homography = undistorted(camera.lens, feet[rows]), camera.homography
        else:
            pixels, homography = feet[rows], calibrated[camera.id].homography
        ground = on_ground(homography, pixels, camera.image_size)
        on_floor[rows], xy_m[rows], m_per_px[rows] = ground.on_floor, ground.xy_m, ground.m_per_px
    return GroundPoints(on_floor=on_floor, xy_m=xy_m, m_per_px=m_per_px)
