"""Clips whose frames carry their own number, as black and white blocks that survive any codec."""

import io
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path

import av
import numpy as np
from PIL import Image

BITS = 10


def numbered_frame(number: int, width: int = 160, height: int = 96) -> np.ndarray:
    """A picture (height × width × 3) with `number` in its upper half, bit by bit, and red below."""
    picture = np.zeros((height, width, 3), np.uint8)
    picture[height // 2 :] = (200, 30, 30)
    for bit in range(BITS):
        left, right = width * bit // BITS, width * (bit + 1) // BITS
        picture[: height // 2, left:right] = 255 * (number >> bit & 1)
    return picture


def number_of(data: bytes) -> int:
    """The number that a picture (PNG or JPEG) carries."""
    with Image.open(io.BytesIO(data)) as image:
        grey = np.asarray(image.convert("L"))
    row, width = grey[grey.shape[0] // 4], grey.shape[1]
    return sum(1 << bit for bit in range(BITS) if row[(2 * bit + 1) * width // (2 * BITS)] > 127)


def write_clip(
    path: Path,
    frames: int = 40,
    *,
    fps: int = 10,
    times_s: Sequence[float] = (),
    width: int = 160,
    height: int = 96,
    codec: str = "libx264",
    gop: int = 12,
) -> Path:
    """Encode a clip of numbered frames; `times_s` gives each its own time (variable frame rate)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    times = tuple(times_s)
    path.write_bytes(
        _encoded(
            path.suffix, len(times) or frames, fps, times, width=width, height=height, codec=codec, gop=gop
        )
    )
    return path


@cache
def _encoded(
    suffix: str,
    frames: int,
    fps: int,
    times_s: tuple[float, ...],
    *,
    width: int,
    height: int,
    codec: str,
    gop: int,
) -> bytes:
    """The same clip for every test that asks for it: encoding one takes ten times as long as writing it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"clip{suffix}"
        with av.open(str(path), "w") as container:
            stream = container.add_stream(codec, rate=fps)
            stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            stream.gop_size = gop
            if times_s:
                stream.codec_context.time_base = Fraction(1, 1000)
            for number in range(frames):
                frame = av.VideoFrame.from_ndarray(numbered_frame(number, width, height), format="rgb24")
                if times_s:
                    frame.pts, frame.time_base = round(times_s[number] * 1000), Fraction(1, 1000)
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
        return path.read_bytes()
