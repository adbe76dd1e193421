"""Frames: the pictures of a clip, where the user has them, with the target marked."""

import io
from pathlib import Path

from PIL import Image, ImageDraw

from gnomon.benchmark import PromptProtocol
from gnomon.benchmarks.gtr_bench.case import Box, Clip
from gnomon.benchmarks.gtr_bench.clock import clock

MAX_SIDE_PX = 1800
BOX_WIDTH_PX = 3
QUALITY = 95

_RED = (255, 0, 0)


def picked(count: int) -> tuple[int, ...]:
    """Which of a clip's frames are shown: first, middle and last of more than three, else all.

    >>> picked(2), picked(6)
    ((0, 1), (0, 3, 5))
    """
    return tuple(range(count)) if count <= 3 else (0, count // 2, count - 1)


def frame_path(folder: Path, frame_id: int) -> Path:
    """A frame of a clip that was published as a folder of numbered pictures."""
    return folder / f"{frame_id:06d}.jpg"


def has_frames(folder: Path | None, clip: Clip) -> bool:
    """Whether every frame that would be shown is there. A video file has none: it is not decoded here."""
    return folder is not None and all(
        frame_path(folder, clip.frame_ids[index]).is_file() for index in picked(len(clip.frame_ids))
    )


def clip_pictures(
    folder: Path, clip: Clip, *, protocol: PromptProtocol, timeless: bool = False
) -> list[bytes]:
    """JPEGs of the clip's frames, a red box about the target, the longest side at most MAX_SIDE_PX.

    Under `official` a black panel in the corner repeats id, time (unless timeless) and box.
    """
    times_s = clip.box_times_s()
    pictures = []
    for index in picked(len(clip.frame_ids)):
        with Image.open(frame_path(folder, clip.frame_ids[index])) as source:
            image = source.convert("RGB")
        draw = ImageDraw.Draw(image)
        x, y, width, height = box = clip.bboxes[index]
        draw.rectangle((x, y, x + max(width, 0), y + max(height, 0)), outline=_RED, width=BOX_WIDTH_PX)
        if protocol == "official":
            _panel(draw, clip.object_id, None if timeless else clock(times_s[index]), box)
        pictures.append(jpeg(image))
    return pictures


def jpeg(image: Image.Image) -> bytes:
    """A picture as the released runner sends it."""
    image = image.convert("RGB")
    image.thumbnail((MAX_SIDE_PX, MAX_SIDE_PX))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def _panel(draw: ImageDraw.ImageDraw, object_id: str, time: str | None, box: Box) -> None:
    lines = [f"ID: {object_id}", *([f"Time: {time}"] if time else [])]
    lines.append("Box: " + ", ".join(f"{value:.1f}" for value in box))
    text = "\n".join(lines)
    left, top, right, bottom = draw.multiline_textbbox((8, 8), text, font_size=20)
    draw.rectangle((0, 0, right + left, bottom + top), fill=(0, 0, 0))
    draw.multiline_text((8, 8), text, fill=(255, 255, 255), font_size=20)
