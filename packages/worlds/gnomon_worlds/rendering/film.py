"""Makes a clip into a video file: H.264, with the time of every frame. Equal clips give equal bytes."""

import io
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from gnomon_worlds.question import FRAMES_PER_S

if TYPE_CHECKING:
    from av.video.stream import VideoStream

MEDIA_TYPE = "video/mp4"
TICKS = 90_000  # a second
SETTINGS = {"preset": "superfast", "crf": "22", "threads": "1", "tune": "zerolatency"}


def film(pictures: Iterable[Image.Image], times_s: Iterable[float]) -> bytes:
    """Encode pictures of one even size as MP4, each from its time on; libx264, yuv420p, one thread.

    Frames are as long as their times say: clips have ten or about ten a second.
    """
    import av  # late: with FFmpeg inside

    file = io.BytesIO()
    with av.open(file, "w", format="mp4", options={"fflags": "+bitexact"}) as container:
        stream: VideoStream | None = None
        first_s: float | None = None
        for image, time_s in zip(pictures, times_s, strict=True):
            if stream is None:
                stream = container.add_stream("libx264", rate=FRAMES_PER_S, options=SETTINGS)
                stream.width, stream.height = image.size
                stream.pix_fmt = "yuv420p"
                stream.codec_context.thread_count = 1
                stream.codec_context.time_base = Fraction(1, TICKS)
            first_s = time_s if first_s is None else first_s
            words = np.frombuffer(image.tobytes("raw", "RGBX"), np.uint8)  # converted faster than three bytes
            frame: Any = av.VideoFrame.from_ndarray(words.reshape(image.height, image.width, 4), "rgba")
            frame.pts = round((time_s - first_s) * TICKS)
            frame.time_base = Fraction(1, TICKS)
            for packet in stream.encode(frame):
                container.mux(packet)
        if stream is not None:
            for packet in stream.encode(None):
                container.mux(packet)
    return file.getvalue()
