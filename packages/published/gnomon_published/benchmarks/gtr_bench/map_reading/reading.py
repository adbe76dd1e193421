"""Reads what one map picture says about the cameras a question names."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from gnomon_published.benchmarks.gtr_bench.map_reading.arrows import Arrow, find_arrows, ink_of
from gnomon_published.benchmarks.gtr_bench.map_reading.labels import LabelScores, label_scores
from gnomon_published.benchmarks.gtr_bench.map_reading.scale_bar import Scale, read_scale

READER_VERSION = 1  # a change that can change a reading changes this
LABEL_FOUND = 0.5  # worst label score that counts as read
CLEAR_LABEL, CLEAR_SLACK = 0.8, 0.02  # a clear label is what it reads best as; one digit off costs 0.024
HIDDEN_SLACK = 0.12  # under other ink the best reading need not be the true one
ARROW_WEIGHT = 0.3
CLEAR_FIT = 0.7  # arrows that fit less are partly hidden
CLEAR_ERROR_PX, HIDDEN_ERROR_PX = 0.5, 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraReading:
    """One camera: its mast in pixels (right, down), where its arrow points, how well label and arrow fit.

    `label_score` is 1 where the label's ink is all there and no other, and falls towards 0 under other ink.
    """

    camera_id: str
    mast_px: tuple[float, float]
    heading_deg: float
    label_score: float
    arrow_fit: float

    @property
    def error_px(self) -> float:
        """How far the mast may be off on the picture."""
        return CLEAR_ERROR_PX if self.arrow_fit >= CLEAR_FIT else HIDDEN_ERROR_PX


@dataclass(frozen=True, slots=True, kw_only=True)
class MapReading:
    """A picture's cameras, the ids that are not legible on it, and its scale; None if its bar cannot be read.

    Metres count from the picture's centre, x east and y north: north is up on every map.
    """

    size_px: tuple[int, int]
    scale: Scale | None
    cameras: tuple[CameraReading, ...]
    unread: tuple[str, ...] = ()

    @property
    def centre_px(self) -> tuple[float, float]:
        """The pixel of (0, 0) m."""
        return self.size_px[0] / 2, self.size_px[1] / 2

    def xy_m(self, camera: CameraReading) -> tuple[float, float] | None:
        if self.scale is None:
            return None
        right_px, down_px = camera.mast_px[0] - self.centre_px[0], camera.mast_px[1] - self.centre_px[1]
        return right_px * self.scale.metres_per_pixel, -down_px * self.scale.metres_per_pixel

    def error_m(self, camera: CameraReading) -> float:
        """How far `xy_m` may be off: by the mast's pixels, and by the scale, more so out from the centre."""
        xy_m = self.xy_m(camera)
        if self.scale is None or xy_m is None:
            return 0.0
        return camera.error_px * self.scale.metres_per_pixel + self.scale.error * math.hypot(*xy_m)


def read_map(picture: Image.Image, camera_ids: Collection[str]) -> MapReading:
    """Find the named cameras on a picture: the pairing of ids with arrows whose labels fit best together."""
    arrows, scores = _drawn(picture)
    names = sorted(set(camera_ids))
    readings = {}
    if names and arrows:
        from scipy.optimize import linear_sum_assignment  # late: a map is read once, then its reading

        labels = np.array([[score.of(name) for score in scores] for name in names])
        best = np.array([score.best() for score in scores])
        slack = np.where(best >= CLEAR_LABEL, CLEAR_SLACK, HIDDEN_SLACK)
        legible = (labels >= LABEL_FOUND) & (labels >= best - slack)
        fits = np.array([arrow.fit for arrow in arrows])
        worth = np.where(legible, labels + ARROW_WEIGHT * fits, 0)
        for row, column in zip(*linear_sum_assignment(worth, maximize=True), strict=True):
            if legible[row, column]:
                readings[names[row]] = _camera(names[row], arrows[int(column)], labels[row, column])
    return MapReading(
        size_px=picture.size,
        scale=read_scale(picture),
        cameras=tuple(readings.values()),
        unread=tuple(name for name in names if name not in readings),
    )


def _drawn(picture: Image.Image) -> tuple[Sequence[Arrow], Sequence[LabelScores]]:
    ink = ink_of(picture)
    arrows = find_arrows(ink)
    return arrows, label_scores(ink.red, arrows)


def _camera(name: str, arrow: Arrow, label_score: float) -> CameraReading:
    return CameraReading(
        camera_id=name,
        mast_px=arrow.mast_px,
        heading_deg=arrow.heading_deg,
        label_score=float(label_score),
        arrow_fit=arrow.fit,
    )
