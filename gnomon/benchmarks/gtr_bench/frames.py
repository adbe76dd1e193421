"""Frames: the pictures of a clip, where the user has them, with the target marked."""

import io
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from gnomon.benchmarks.gtr_bench.case import Clip
from gnomon.benchmarks.gtr_bench.clock import clock
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import ImageRef
from gnomon.media.clips import Clips, Look
from gnomon.media.clips import jpeg as encoded
from gnomon.media.marks import Mark
from gnomon.media.rules import AtIndices
from tools.core.regular_file import open_regular

MAX_SIDE_PX = 1800
QUALITY = 95


def picked(count: int) -> tuple[int, ...]:
    """Which of a clip's frames are shown: first, middle and last of more than three, else all.

    >>> picked(2), picked(6)
    ((0, 1), (0, 3, 5))
    """
    return tuple(range(count)) if count <= 3 else (0, count // 2, count - 1)


def frame_path(folder: Path, frame_id: int) -> Path:
    """A frame of a clip that was published as a folder of numbered pictures."""
    return folder / f"{frame_id:06d}.jpg"


def has_frames(path: Path | None, clip: Clip) -> bool:
    """Whether every frame that would be shown is there; a video file is taken to have them."""
    if path is None or is_video(path):
        return path is not None
    return all(frame_path(path, clip.frame_ids[index]).is_file() for index in picked(len(clip.frame_ids)))


def is_video(path: Path) -> bool:
    """Whether a clip was published as a video file, and not as a folder of pictures."""
    return path.suffix in (".avi", ".mp4") and path.is_file()


def clip_pictures(
    path: Path, clip: Clip, *, clips: Clips, protocol: PromptProtocol, timeless: bool = False
) -> list[ImageRef]:
    """JPEGs of the clip's frames, a red box about the target, the longest side at most MAX_SIDE_PX.

    Under `official` a black panel in the corner repeats id, time (unless timeless) and box. A frame id is the
    frame's number in the video, from 0, as the released runner takes it.

    Raises:
        DataError: a video file cannot be read.
        OSError: a picture cannot.
    """
    marks = tuple(_marks(clip, protocol, timeless=timeless))
    look = Look(max_side_px=MAX_SIDE_PX, quality=QUALITY, marks=marks)
    if is_video(path):
        return list(clips.frames(path, AtIndices(tuple(mark.index for mark in marks)), look).images)
    pictures = []
    for mark in marks:
        with open_regular(frame_path(path, mark.index)) as file, Image.open(file) as source:
            pictures.append(clips.media.put(encoded(source, look, mark.index)))
    return pictures


def _marks(clip: Clip, protocol: PromptProtocol, *, timeless: bool) -> Iterator[Mark]:
    times_s = clip.box_times_s()
    for index in picked(len(clip.frame_ids)):
        box = clip.bboxes[index]
        told = [f"ID: {clip.object_id}", *([] if timeless else [f"Time: {clock(times_s[index])}"])]
        told.append("Box: " + ", ".join(f"{value:.1f}" for value in box))
        yield Mark(index=clip.frame_ids[index], box=box, label=tuple(told) if protocol == "official" else ())


def jpeg(image: Image.Image) -> bytes:
    """A picture as the released runner sends it."""
    image = image.convert("RGB")
    image.thumbnail((MAX_SIDE_PX, MAX_SIDE_PX))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()
