"""Reads what a video file says of its frames, and frames by their index; no file is trusted."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from gnomon.core.errors import DataError
from gnomon_tools.core.open_picture import MAX_PIXELS
from gnomon_tools.core.regular_file import check_regular

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.packet import Packet
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

MAX_FRAMES = 1_000_000
MAX_SECONDS = 6 * 3600.0
FORMATS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,mpegvideo,flv,asf,gif,h264,hevc"
SEEK_GAIN = 100  # frames; a seek costs about as much as decoding so many


@dataclass(frozen=True, slots=True, kw_only=True)
class Video:
    """A clip's frames in the order in which they are shown.

    `times_s` counts from the first frame; steps need not be equal. `announced` is how many frames the header
    promises (0: it says nothing), `hidden` how many of them are not to be shown; `fps` is the header's
    average rate, `seconds` the end of the last frame, which is taken to last as long as the one before.
    """

    times_s: tuple[float, ...]
    announced: int
    hidden: int
    fps: float
    seconds: float
    width: int
    height: int
    stamps: tuple[int, ...] = field(repr=False)  # of each frame, in the stream's own ticks; empty: unknown
    keyframes: tuple[int, ...] = field(repr=False)  # indices where decoding may begin

    @property
    def count(self) -> int:
        """How many frames there are."""
        return len(self.times_s)

    def at(self, time_s: float) -> int:
        """Index of the frame that is on screen at `time_s`; the first before, and the last after the clip."""
        return max(0, bisect_right(self.times_s, time_s + 1e-6) - 1)


def probe(path: Path) -> Video:
    """Read a clip's packets, decoding none.

    Raises:
        DataError: it is no regular file, no video in one of FORMATS, or larger than the limits.
    """
    with _opened(path) as (container, stream):
        packets: list[tuple[int | None, bool]] = []
        hidden = 0
        for packet in _packets(container, stream):
            if packet.is_discard:
                hidden += 1
            elif packet.size:
                packets.append((packet.pts, packet.is_keyframe))
            if len(packets) > MAX_FRAMES:
                raise DataError(f"{path.name} has more than {MAX_FRAMES:,} frames")
        stamps = [stamp for stamp, _ in packets if stamp is not None]
        # Without times of showing, frames are distinguished by counting; AVI has the times of decoding only.
        if len(set(stamps)) < len(packets) or container.format.name == "avi":
            return _video(path, stream, count=len(packets), hidden=hidden)
        packets.sort(key=lambda packet: packet[0] or 0)
        keyframes = tuple(index for index, (_, is_key) in enumerate(packets) if is_key)
        return _video(
            path, stream, count=len(packets), hidden=hidden, stamps=sorted(stamps), keyframes=keyframes
        )


def probe_decoding(path: Path) -> Video:
    """The same by decoding everything: for clips that announce frames which cannot be decoded.

    Raises:
        DataError: as `probe`; or not one frame can be decoded.
    """
    with _opened(path) as (container, stream):
        stamps: list[int | None] = []
        for frame in _frames(path, container, stream):
            stamps.append(frame.pts)
            if len(stamps) > MAX_FRAMES:
                raise DataError(f"{path.name} has more than {MAX_FRAMES:,} frames")
        numbers = [stamp for stamp in stamps if stamp is not None]
        rising = numbers if len(numbers) == len(stamps) and sorted(set(numbers)) == numbers else ()
        return _video(path, stream, count=len(stamps), stamps=rising)


def decode(path: Path, video: Video, indices: Sequence[int]) -> Iterator[tuple[int, Image.Image]]:
    """The frames of those indices, upright and in RGB, in rising order; what cannot be decoded is left out.

    One pass, with a jump where more than SEEK_GAIN frames before a keyframe are not wanted.
    """
    wanted = sorted(set(indices))
    with _opened(path) as (container, stream):
        for start, run in _runs(video, wanted):
            if start:
                container.seek(video.stamps[start], stream=stream)
            by_stamp = {video.stamps[index]: index for index in run} if video.stamps else {}
            left = set(run)
            for ordinal, frame in enumerate(_frames(path, container, stream)):
                index = by_stamp.get(frame.pts or 0) if by_stamp else ordinal
                if index in left:
                    left.discard(index)
                    yield index, _upright(frame)
                if not left or (by_stamp and (frame.pts or 0) > video.stamps[run[-1]]):
                    break


def _runs(video: Video, wanted: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Where to begin decoding (a keyframe's index), and the wanted frames to pick up from there."""
    start, run, position = 0, list[int](), 0
    for index in wanted:
        before = bisect_right(video.keyframes, index) - 1
        keyframe = video.keyframes[before] if before >= 0 and video.stamps else 0
        if keyframe - position > SEEK_GAIN:
            if run:
                yield start, run
            start, run = keyframe, []
        run.append(index)
        position = index
    if run:
        yield start, run


@contextmanager
def _opened(path: Path) -> Iterator[tuple["InputContainer", "VideoStream"]]:
    """The file and its first video stream, with what FFmpeg may open held to this one file."""
    import av

    if not path.is_file():
        raise DataError(f"{path.name} is not a file")
    try:
        check_regular(path)
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror}") from None
    safe = {"protocol_whitelist": "file", "format_whitelist": FORMATS}
    try:
        with av.open(f"file:{path.resolve()}", options=safe, metadata_errors="ignore") as container:
            if not container.streams.video:
                raise DataError(f"{path.name} holds no video")
            stream = container.streams.video[0]
            if getattr(stream, "codec_context", None) is None:  # so PyAV says that it knows no such codec
                raise DataError(f"{path.name} is in no codec that can be decoded")
            _check_size(path, stream.codec_context.width, stream.codec_context.height)
            stream.thread_type = "AUTO"
            stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
            yield container, stream
    except (av.FFmpegError, ValueError, OSError) as error:
        raise DataError(
            f"{path.name} cannot be read as video: {getattr(error, 'strerror', None) or error}"
        ) from error


def _packets(container: "InputContainer", stream: "VideoStream") -> Iterator["Packet[VideoStream]"]:
    """Packets up to the end, or to where the file breaks off."""
    import av

    with suppress(av.InvalidDataError):
        yield from container.demux(stream)


def _frames(path: Path, container: "InputContainer", stream: "VideoStream") -> Iterator["VideoFrame"]:
    """Frames as they decode; a packet that does not is passed over, as players do."""
    import av

    for packet in _packets(container, stream):
        try:
            frames = packet.decode()
        except av.InvalidDataError:
            continue
        for frame in frames:
            _check_size(path, frame.width, frame.height)
            yield frame


def _check_size(path: Path, width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise DataError(f"{path.name}: {width} x {height} pixels a frame are more than {MAX_PIXELS:,}")


def _video(
    path: Path,
    stream: "VideoStream",
    *,
    count: int,
    hidden: int = 0,
    stamps: Sequence[int] = (),
    keyframes: tuple[int, ...] = (0,),
) -> Video:
    if not count:
        raise DataError(f"{path.name} holds no frame")
    fps = float(stream.average_rate or 0) or 25.0
    tick = stream.time_base or Fraction(1, 1000)
    times_s = tuple(float((stamp - stamps[0]) * tick) for stamp in stamps)
    times_s = times_s or tuple(index / fps for index in range(count))
    if times_s[-1] > MAX_SECONDS:
        raise DataError(f"{path.name} lasts {times_s[-1]:.0f} s, more than {MAX_SECONDS:.0f}")
    step_s = times_s[-1] - times_s[-2] if count > 1 else 1 / fps
    return Video(
        times_s=times_s,
        announced=stream.frames,
        hidden=hidden,
        fps=fps,
        seconds=times_s[-1] + step_s,
        width=stream.codec_context.width,
        height=stream.codec_context.height,
        stamps=tuple(stamps),
        keyframes=keyframes,
    )


def _upright(frame: "VideoFrame") -> Image.Image:
    image: Image.Image = frame.to_image()  # type: ignore[no-untyped-call]  # PyAV leaves it untyped
    return image.rotate(frame.rotation, expand=True) if frame.rotation else image
