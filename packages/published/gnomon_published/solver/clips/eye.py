"""Finds targets in the pictures of clips, by their red box, where the prompt tells no boxes in numbers."""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from PIL import Image

from gnomon.core.message import Block, Message
from gnomon.media import MediaStore
from gnomon_published.solver.clips.question import SPAN_OR_LENGTH, Box, Clip, clip_of

REDDER = (
    136  # by so much red exceeds green and blue in the box's lines; bricks are paler, and JPEG pales lines
)
EDGE_PX = 2  # a box that ends so near to the picture's edge may go on beyond it
FEWEST_PX = 12  # of a box's lines
LEAST_BOXES = 2  # to tell how a target moves
KEPT = 4_096  # boxes remembered: every turn looks at the same pictures

_FILM = re.compile(
    rf"^Clip (\d+), camera (\S+), target (\S+) in the red box, {SPAN_OR_LENGTH}; pictures of .*, "
    r"[\d.]+ of the camera's (\d+) x (\d+)"
)
_PICTURE = re.compile(r"^Clip (\d+), picture (\d+) of (\d+):$")


def seen_clips(messages: Sequence[Message], media: MediaStore) -> tuple[Clip, ...]:
    """The clips of which pictures are shown, with the boxes seen in them, in pixels of the camera.

    Each picture is taken to be from the middle of its equal part of the clip. A clip lasts from the first to
    the last box that was seen, so that times belong to places.
    """
    clips: dict[str, tuple[Clip, tuple[int, int]]] = {}
    boxes: dict[str, list[tuple[float, Box, bool]]] = {}
    shown: re.Match[str] | None = None
    for block in _blocks(messages):
        if block["type"] == "image" and shown and shown[1] in clips:
            clip, size = clips[shown[1]]
            share = (int(shown[2]) - 0.5) / int(shown[3])
            if red := _box(media, block["sha256"], size):
                boxes[shown[1]].append((share * clip.lasting_s, *red))
        elif block["type"] == "text":
            for line in block["text"].splitlines():
                shown = _PICTURE.match(line)
                if film := _FILM.match(line):
                    clip = clip_of(film[2], film[3], film.groups()[3:])
                    clips[film[1]] = clip, (int(film.groups()[-2]), int(film.groups()[-1]))
                    boxes[film[1]] = []
    return tuple(_watched(clip, boxes[number]) for number, (clip, _) in clips.items())


def _blocks(messages: Sequence[Message]) -> Iterator[Block]:
    for message in messages:
        if message["role"] == "user" and isinstance(message["content"], list):
            yield from message["content"]


def _watched(clip: Clip, seen: Sequence[tuple[float, Box, bool]]) -> Clip:
    """The clip with what was seen in it; boxes that may go on beyond the picture only if need be."""
    whole = [place for place in seen if place[2]]
    used = whole if len(whole) >= LEAST_BOXES else seen
    if not used:
        return clip
    first_s, last_s = used[0][0], used[-1][0]
    start_s = clip.start_s or 0.0
    return replace(
        clip,
        boxes=tuple(box for _, box, _ in used),
        times_s=tuple(start_s + time_s for time_s, _, _ in used),
        start_s=None if clip.start_s is None else clip.start_s + first_s,
        lasting_s=last_s - first_s,
    )


@lru_cache(KEPT)
def _box(media: MediaStore, sha256: str, size: tuple[int, int]) -> tuple[Box, bool] | None:
    """The red box in pixels of the camera, and whether all of it is in the picture; None: there is none."""
    image = Image.open(io.BytesIO(media.read(sha256))).convert("RGB")
    red = red_box(image)
    if red is None:
        return None
    left, top, width, height = red
    across, down = size[0] / image.width, size[1] / image.height
    is_whole = (
        left > EDGE_PX
        and left + width < image.width - 1 - EDGE_PX
        and top + height < image.height - 1 - EDGE_PX
    )
    return (left * across, top * down, width * across, height * down), is_whole


def red_box(image: Image.Image) -> Box | None:
    """The box drawn in red lines: left, top, width and height in pixels of the picture.

    >>> from PIL import ImageDraw
    >>> picture = Image.new("RGB", (80, 60), "gray")
    >>> ImageDraw.Draw(picture).rectangle((10, 20, 40, 50), outline="red", width=2)
    >>> red_box(picture)
    (10.0, 20.0, 30.0, 30.0)
    """
    pixels = np.asarray(image, dtype=np.int16)
    is_red = pixels[..., 0] - np.maximum(pixels[..., 1], pixels[..., 2]) > REDDER
    if is_red.sum() < FEWEST_PX:
        return None
    rows, columns = (np.flatnonzero(is_red.any(axis=axis)) for axis in (1, 0))
    left, top = float(columns[0]), float(rows[0])
    return left, top, float(columns[-1]) - left, float(rows[-1]) - top
