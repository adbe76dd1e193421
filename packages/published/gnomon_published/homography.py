"""Maps between a camera's pixels (right, down) and metres on its floor, by a homography."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

Pixel = tuple[float, float]

HORIZON = 1e-9  # |w| below this share of its terms is on the horizon


class HorizonError(ValueError):
    """Pixels on or beyond the horizon: no point of the floor is seen there. `indices` names them."""

    def __init__(self, indices: list[int]) -> None:
        super().__init__(f"pixels on or beyond the horizon: {indices}")
        self.indices = indices


def to_ground(homography: Array, pixels: Array, *, ground_pixel: Pixel | None = None) -> Array:
    """Map pixels (n × 2) to the floor (n × 2, metres): (x, y, w) = H (u, v, 1), then divide by w.

    The sign of w means nothing by itself (H and −H are the same map), but it changes at the horizon:
    all pixels of one call must lie on the same side of it, that of `ground_pixel` (known to show the
    floor, such as the middle of the image's lower edge) or else that of the majority.

    >>> to_ground(np.diag([0.1, 0.1, 1.0]), np.array([[10.0, 20.0]])).tolist()
    [[1.0, 2.0]]

    Raises:
        HorizonError: some pixels are on the horizon, or on the other side of it.
    """
    mapped = _homogeneous(pixels) @ homography.T
    depth = mapped[:, 2]
    scale = _homogeneous(np.abs(pixels)) @ np.abs(homography[2])
    side = np.where(np.abs(depth) > HORIZON * scale, np.sign(depth), 0.0)
    reference = side.sum() if ground_pixel is None else homography[2] @ (*ground_pixel, 1.0)
    ground = 1.0 if reference >= 0 else -1.0
    if not (side == ground).all():
        raise HorizonError(np.flatnonzero(side != ground).tolist())
    return np.asarray(mapped[:, :2] / depth[:, None], dtype=float)


def to_image(homography: Array, points_m: Array) -> Array:
    """Map points of the floor (n × 2, metres) to pixels (n × 2), by the inverse of the homography.

    Raises:
        HorizonError: some points are on the plane through the camera that no pixel shows, or behind it.
    """
    return to_ground(np.asarray(np.linalg.inv(homography), dtype=float), points_m)


def sensitivity(homography: Array, pixels: Array) -> Array:
    """How far a point of the floor moves for one pixel of error in any direction (n, metres a pixel).

    The Frobenius norm of the Jacobian of `to_ground`: with independent errors of σ pixels in u and v the
    point's root-mean-square error is σ times this (first-order propagation).
    Row i of the Jacobian is (H_i − p_i H_3) / w, p being the mapped point (Hartley & Zisserman 2004, ch. 5).

    >>> sensitivity(np.diag([3.0, 4.0, 1.0]), np.array([[7.0, 7.0]])).tolist()
    [5.0]
    """
    return sensitivity_at(homography, pixels, to_ground(homography, pixels))


def sensitivity_at(homography: Array, pixels: Array, points_m: Array) -> Array:
    """The `sensitivity` of pixels (n × 2) whose points of the floor (n × 2) are known."""
    depth = _homogeneous(pixels) @ homography[2]
    rows = homography[:2, :2] - points_m[:, :, None] * homography[2, :2]
    return np.asarray(np.linalg.norm(rows, axis=(1, 2)) / np.abs(depth), dtype=float)


def _homogeneous(points: Array) -> Array:
    return np.column_stack([points, np.ones(len(points))])
