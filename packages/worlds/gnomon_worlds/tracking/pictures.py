"""Finds how large each camera's picture is, and which boxes its edges cut.

A size is told, read from a picture or clip, or bounded by the boxes; none is assumed.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gnomon.core.errors import DataError
from gnomon_worlds.tracking.neutral_form import Array, TrackedCamera, Tracking

if TYPE_CHECKING:
    from gnomon.media.video import Video

BOUNDED = "bounded by the boxes"
OUTSIDE = 0.01  # of boxes may have their middle outside the picture: trackers guess where they lose a target
FEW = 5  # boxes fewer than so many prove nothing
EDGE_PX = 1.0
CHANGE_PX = 3.0  # by which a box that an edge cuts shrinks or grows from one moment to the next


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """Where a camera's boxes are cut (pixels; infinite where they are not), and how far they reach."""

    left: float
    right: float
    bottom: float
    reach: tuple[float, float]


def sized(tracking: Tracking) -> Tracking:
    """The same with a picture size for every camera that has boxes: its own, its clip's, or their bound."""
    return replace(
        tracking,
        cameras=tuple(
            camera
            if camera.image_size
            else _sized(camera, tracking.boxes.ltwh[tracking.boxes.camera == index])
            for index, camera in enumerate(tracking.cameras)
        ),
    )


def _sized(camera: TrackedCamera, ltwh: Array) -> TrackedCamera:
    size = size_of_clip(camera.clip) if camera.clip else None
    if size is not None:
        return replace(
            camera, image_size=size, size_from=f"read from {camera.clip.name if camera.clip else ''}"
        )
    if not len(ltwh):
        return camera
    width, height = np.ceil(_reach(ltwh)).astype(int).tolist()
    return replace(camera, image_size=(max(width, 1), max(height, 1)), size_from=BOUNDED)


def size_of_clip(clip: Path) -> tuple[int, int] | None:
    """Width and height of a video, or of the first picture in a folder; None where there is none."""
    if clip.is_dir():
        picture = next((path for path in sorted(clip.iterdir()) if path.suffix in (".jpg", ".png")), None)
        return size_of_picture(picture) if picture else None
    video = _probed(clip)
    return (video.width, video.height) if video else None


def fps_of_clip(clip: Path) -> float | None:
    """Frames a second of a video; None where it cannot be read."""
    video = _probed(clip)
    return video.fps if video and video.fps > 0 else None


def _probed(clip: Path) -> "Video | None":
    from gnomon.media.video import probe  # late: it loads a library for video

    try:
        return probe(clip)
    except (DataError, OSError):
        return None


def size_of_picture(path: Path) -> tuple[int, int]:
    """Width and height of a picture.

    Raises:
        DataError: it is none.
    """
    try:
        with Image.open(path) as image:
            return image.size
    except OSError as error:
        raise DataError(f"{'/'.join(path.parts[-3:])} is no picture: {error}") from None


def _reach(ltwh: Array) -> Array:
    """How far right and down boxes reach, but for the few whose middle lies far beyond the others."""
    ltwh = ltwh[np.isfinite(ltwh).all(axis=1)]
    if not len(ltwh):
        return np.zeros(2)
    middle = ltwh[:, :2] + ltwh[:, 2:] / 2
    far = np.quantile(middle, 1 - OUTSIDE / 2, axis=0, method="higher")
    usual = (middle <= far + 0.1 * np.abs(far)).all(axis=1)
    return np.asarray((ltwh[usual, :2] + ltwh[usual, 2:]).max(axis=0))


def edges_of(tracking: Tracking, index: int) -> Edges:
    """The edges of a camera's picture as its boxes know them.

    Where boxes are pinned to a column or row before the picture's edge, that cuts them.
    """
    camera, boxes = tracking.cameras[index], tracking.boxes
    rows = np.flatnonzero(boxes.camera == index)
    rows = rows[np.lexsort((boxes.time_s[rows], boxes.target[rows]))]
    if not len(rows):
        return Edges(left=-np.inf, right=np.inf, bottom=np.inf, reach=(0.0, 0.0))
    ltwh, same = boxes.ltwh[rows], np.diff(boxes.target[rows]) == 0
    reach = _reach(ltwh)
    is_known = camera.image_size is not None and camera.size_from != BOUNDED
    width, height = camera.image_size if camera.image_size and is_known else (np.inf, np.inf)
    pinned = [
        _are_pinned(ltwh[:, side] + ltwh[:, side + 2], reach[side], ltwh[:, side + 2], same)
        for side in (0, 1)
    ]
    left = 0.0 if is_known or _are_pinned(ltwh[:, 0], 0.0, ltwh[:, 2], same) else -np.inf
    return Edges(
        left=left,
        right=float(reach[0]) if pinned[0] else width,
        bottom=float(reach[1]) if pinned[1] else height,
        reach=(float(reach[0]), float(reach[1])),
    )


def _are_pinned(ends: Array, at: float, sizes: Array, same: NDArray[np.bool_]) -> bool:
    """Whether boxes end at one column or row from one moment to the next while they shrink or grow."""
    there = np.abs(ends - at) <= EDGE_PX
    return int((there[1:] & there[:-1] & same & (np.abs(np.diff(sizes)) > CHANGE_PX)).sum()) >= FEW


def cut(edges: Edges, ltwh: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which boxes have their foot point at or below the picture's lower edge, and which a side cuts.

    A box that reaches beyond a side was guessed whole by its tracker: its middle is where it should be.
    """
    below = ltwh[:, 1] + ltwh[:, 3] >= edges.bottom - EDGE_PX
    left, right = ltwh[:, 0], ltwh[:, 0] + ltwh[:, 2]
    sides = (np.abs(left - edges.left) <= EDGE_PX) | (np.abs(right - edges.right) <= EDGE_PX)
    return np.asarray(below), np.asarray(sides)


def outside(camera: TrackedCamera, ltwh: Array) -> int:
    """How many boxes have their middle outside the camera's picture, where its size is known."""
    if camera.image_size is None or camera.size_from == BOUNDED:
        return 0
    middle = ltwh[:, :2] + ltwh[:, 2:] / 2
    return int(((middle > camera.image_size) | (middle < 0)).any(axis=1).sum())


def disproved(camera: TrackedCamera, ltwh: Array) -> str:
    """What disproves the camera's picture size, in words; empty where nothing does."""
    beside = outside(camera, ltwh)
    if camera.image_size is None or beside < max(FEW, OUTSIDE * len(ltwh)):
        return ""
    width, height = camera.image_size
    far, low = np.ceil(_reach(ltwh)).astype(int).tolist()
    return (
        f"its picture is {width} × {height} ({camera.size_from}), but boxes reach to {far} × {low}, and"
        f" {beside:,} of {len(ltwh):,} lie outside"
    )


def too_large(camera: TrackedCamera, edges: Edges) -> str:
    """What speaks for a smaller picture than the camera's, in words; empty where nothing does."""
    if camera.image_size is None or camera.size_from == BOUNDED:
        return ""
    for name, at, size in zip(("column", "row"), (edges.right, edges.bottom), camera.image_size, strict=True):
        if at < 0.97 * size:
            return f"boxes stop at {name} {at:.0f} as if the picture ended there, which is {size} long"
    return ""
