"""Makes tracking in the form of WILDTRACK, with the errors that real trackers make.

Everybody walks about a plaza; cameras are pinholes. Nothing of Gnomon's is used.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
WIDE, HIGH = 1920, 1080  # pixels of every picture


@dataclass(frozen=True, kw_only=True)
class Pinhole:
    """A camera above the plane z = 0: rotation world to camera, centre, focal length, how far it sees."""

    name: str
    centre: Array
    rotation: Array
    focal: float
    far_m: float

    @classmethod
    def looking(
        cls, name: str, at: Sequence[float], to: Sequence[float], *, high: float, focal: float, far_m: float
    ) -> "Pinhole":  # fmt: skip
        centre, aim = np.array([*at, high]), np.array([*to, 0.0])
        ahead = (aim - centre) / np.linalg.norm(aim - centre)
        right = np.cross(ahead, [0, 0, 1.0])
        right /= np.linalg.norm(right)
        rotation = np.stack([right, np.cross(ahead, right), ahead])
        return cls(name=name, centre=centre, rotation=rotation, focal=focal, far_m=far_m)

    @cached_property
    def intrinsic(self) -> Array:
        return np.array([[self.focal, 0, WIDE / 2], [0, self.focal, HIGH / 2], [0, 0, 1.0]])

    def to_pixels(self) -> Array:
        """The homography of the plane, metres to pixels."""
        shift = -self.rotation @ self.centre
        return self.intrinsic @ np.column_stack([self.rotation[:, :2], shift])

    def box(self, xy: Array, wide: float, high: float) -> Array | None:
        """Left, top, right, bottom of an upright body, unclipped; None where its foot is behind."""
        turned = self.intrinsic @ self.rotation
        foot = turned @ (np.array([*xy, 0.0]) - self.centre)
        if foot[2] < 0.5 or foot[2] > self.far_m:
            return None
        head = turned @ (np.array([*xy, high]) - self.centre)
        half = wide * self.focal / foot[2] / 2
        u, v, top = foot[0] / foot[2], foot[1] / foot[2], head[1] / max(head[2], 0.1)
        return np.array([u - half, top, u + half, v])


@dataclass(frozen=True, kw_only=True)
class Errors:
    """Shares of sightings (of boxes: `dropped`) and pixels that are wrong."""

    jitter_px: float = 1.0
    dropped: float = 0.03
    bursts: float = 0.08
    switched: float = 0.02
    broken: float = 0.02


Row = tuple[int, str, float, float, float, float]  # frame, identity, left, top, width, height


def rows_of(
    cameras: Sequence[Pinhole], ways: Sequence[tuple[Array, Array]], *, fps: float, body: tuple[float, float],
    errors: Errors, rng: np.random.Generator,
) -> dict[str, list[Row]]:  # fmt: skip
    """The boxes of every camera. A way is times and positions; between two of them bodies go straight."""
    by_camera: dict[str, list[Row]] = {camera.name: [] for camera in cameras}
    fresh = len(ways) + 1000
    for number, (times, places) in enumerate(ways, start=1):
        frames = np.arange(math.ceil(times[0] * fps), math.floor(times[-1] * fps) + 1)
        path = np.column_stack([np.interp(frames / fps, times, axis) for axis in places.T])
        for camera in cameras:
            near = np.linalg.norm(path - camera.centre[:2], axis=1) < camera.far_m + 2
            runs: list[list[tuple[int, Array]]] = []
            for index in np.flatnonzero(near).tolist():
                clipped = _clipped(camera, path[index], body, errors, rng)
                if clipped is None:
                    continue
                if not runs or frames[index] - runs[-1][-1][0] > 2 * fps:
                    runs.append([])
                runs[-1].append((int(frames[index]), clipped))
            for run in runs:
                shown, later = str(number), str(number)
                if rng.random() < errors.switched:
                    shown = later = str(rng.integers(1, len(ways) + 1))
                elif rng.random() < errors.broken:
                    fresh += 1
                    later = str(fresh)
                start = int(rng.integers(len(run)))
                hidden = range(start, start + int(fps)) if rng.random() < errors.bursts else range(0)
                for place, (frame, ltwh) in enumerate(run):
                    if rng.random() < errors.dropped or place in hidden:
                        continue
                    identity = shown if place < len(run) / 2 else later
                    left, top, wide, high = ltwh.round(1).tolist()
                    by_camera[camera.name].append((frame, identity, left, top, wide, high))
    return {name: sorted(rows) for name, rows in by_camera.items()}


def _clipped(
    camera: Pinhole, xy: Array, body: tuple[float, float], errors: Errors, rng: np.random.Generator
) -> Array | None:
    """The box as a detector gives it (left, top, width, height): with jitter, cut by the picture's edges."""
    whole = camera.box(xy, *body)
    if whole is None:
        return None
    whole = whole + rng.normal(scale=errors.jitter_px, size=4)
    left, right = max(whole[0], 0.0), min(whole[2], WIDE)
    top, bottom = max(whole[1], 0.0), min(whole[3], HIGH)
    if right - left < 0.4 * (whole[2] - whole[0]) or bottom - top < 0.4 * (whole[3] - whole[1]):
        return None
    return np.array([left, top, right - left, bottom - top])


def way(points: Sequence[Array], start_s: float, speed_mps: float) -> tuple[Array, Array]:
    """The times and positions of somebody who goes past points at a constant speed."""
    lengths = [float(np.linalg.norm(b - a)) for a, b in pairwise(points)]
    return start_s + np.concatenate([[0.0], np.cumsum(lengths)]) / speed_mps, np.array(points)


def write_wildtrack(folder: Path, *, seed: int = 3, people: int = 70, frames: int = 400) -> Path:
    """Seven overlapping cameras about a plaza of 12 m by 36 m, 400 frames at two a second."""
    rng = np.random.default_rng(seed)
    around = [(-6, -3), (6, -8), (16, 2), (15, 18), (5, 33), (-7, 22), (-7, 10)]
    names = ["CVLab1", "CVLab2", "CVLab3", "CVLab4", "IDIAP1", "IDIAP2", "IDIAP3"]
    cameras = [
        Pinhole.looking(
            name, at, (3 + (at[0] - 3) * 0.1, 13 + (at[1] - 13) * 0.45), high=2.8, focal=1200.0,
            far_m=40.0,
        )
        for name, at in zip(names, around, strict=True)
    ]  # fmt: skip
    ways = []
    for _ in range(people):
        side = rng.choice((-1, 1))
        ends = [np.array([rng.uniform(-3, 9), y]) for y in (-9.0, rng.uniform(5, 20), 27.0)][::side]
        ways.append(way(ends, rng.uniform(-10, frames / 2 - 15), rng.uniform(1.0, 1.6)))
    errors = Errors(switched=0.0, broken=0.0, bursts=0.02)
    rows = rows_of(cameras, ways, fps=2.0, body=(0.6, 1.7), errors=errors, rng=rng)
    by_frame: dict[int, dict[str, dict[int, Row]]] = {}
    for view, camera in enumerate(cameras):
        for row in rows[camera.name]:
            if 0 <= row[0] < frames:
                by_frame.setdefault(row[0], {}).setdefault(row[1], {})[view] = row
    (folder / "annotations_positions").mkdir(parents=True)
    for frame in range(frames):
        people_there = []
        for name, views in by_frame.get(frame, {}).items():
            boxes = []
            for view in range(len(cameras)):
                _, _, left, top, w, h = views.get(view, (0, "", -1, -1, 0, 0))
                boxes.append({"viewNum": view, "xmin": left, "xmax": left + w, "ymin": top, "ymax": top + h})
            people_there.append({"personID": int(name), "positionID": 0, "views": boxes})
        (folder / "annotations_positions" / f"{frame * 5:08d}.json").write_text(json.dumps(people_there))
    for kind in ("intrinsic_zero", "extrinsic"):
        (folder / "calibrations" / kind).mkdir(parents=True)
    for camera in cameras:
        numbers = " ".join(f"{value:.10g}" for value in camera.intrinsic.ravel())
        (folder / "calibrations" / "intrinsic_zero" / f"intr_{camera.name}.xml").write_text(
            '<?xml version="1.0"?><opencv_storage><camera_matrix type_id="opencv-matrix"><rows>3</rows>'
            f"<cols>3</cols><dt>d</dt><data>{numbers}</data></camera_matrix>"
            '<distortion_coefficients type_id="opencv-matrix"><rows>5</rows><cols>1</cols><dt>d</dt>'
            "<data>0. 0. 0. 0. 0.</data></distortion_coefficients></opencv_storage>"
        )
        angle = math.acos(min(1.0, max(-1.0, (np.trace(camera.rotation) - 1) / 2)))
        r = camera.rotation
        axis = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]]) / (2 * math.sin(angle))
        rotation, shift_cm = (
            " ".join(f"{v:.12g}" for v in vector) for vector in (axis * angle, -r @ camera.centre * 100)
        )
        (folder / "calibrations" / "extrinsic" / f"extr_{camera.name}.xml").write_text(
            f"<opencv_storage><rvec>{rotation}</rvec><tvec>{shift_cm}</tvec></opencv_storage>"
        )
    return folder
