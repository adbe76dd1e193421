"""Decodes, marks and encodes the frames of a clip that a rule picks; kept by content, made once."""

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from PIL import Image, ImageDraw

from gnomon.core.errors import DataError
from gnomon.core.ids import stable_hash
from gnomon.core.sample import ImageRef
from gnomon.media.drawn_later import alone
from gnomon.media.frame_rules import FrameRule
from gnomon.media.store import MediaStore
from gnomon.media.video import Video, decode, probe, probe_decoding
from gnomon.whole_file import write_whole
from gnomon_tools.core.regular_file import open_regular

RED = (255, 0, 0)
BOX_WIDTH_PX = 3
LABEL_MARGIN_PX = 8
LABEL_SIZE_PX = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What to draw on one frame: a red box (x, y, width, height in pixels), lines in a black corner panel."""

    index: int
    box: tuple[float, float, float, float] | None = None
    label: tuple[str, ...] = ()


def draw_box(image: Image.Image, box: Sequence[float], *, width_px: int = BOX_WIDTH_PX) -> None:
    """Draw a red box on the picture; one outside of it changes nothing."""
    x, y, width, height = box
    corners = (x, y, x + max(width, 0), y + max(height, 0))
    ImageDraw.Draw(image).rectangle(corners, outline=RED, width=width_px)


def draw_label(image: Image.Image, lines: Sequence[str]) -> None:
    """Write white lines on a black panel in the upper right corner."""
    draw, text = ImageDraw.Draw(image), "\n".join(lines)
    left, top, right, bottom = draw.multiline_textbbox((0, 0), text, font_size=LABEL_SIZE_PX)
    panel_px = right - left + 2 * LABEL_MARGIN_PX
    draw.rectangle(
        (image.width - panel_px, 0, image.width, bottom + top + 2 * LABEL_MARGIN_PX), fill=(0, 0, 0)
    )
    at = (image.width - panel_px + LABEL_MARGIN_PX - left, LABEL_MARGIN_PX)
    draw.multiline_text(at, text, fill=(255, 255, 255), font_size=LABEL_SIZE_PX)


VERSION = 1  # a change that can change a picture changes it


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How frames become pictures: JPEG of that quality, cut to `crop` (x, y, width, height in pixels of the
    frame), the longest side at most `max_side_px`, marked; red and blue swapped where a protocol does so.
    """

    max_side_px: int | None = None
    quality: int = 95
    crop: tuple[int, int, int, int] | None = None
    marks: tuple[Mark, ...] = ()
    swap_red_blue: bool = False


AS_IT_IS = Look()


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """The chosen frames: pictures, with the index and time of each; `lost` promised frames are not there."""

    images: tuple[ImageRef, ...]
    indices: tuple[int, ...]
    times_s: tuple[float, ...]
    count: int  # frames in the clip
    fps: float
    seconds: float
    width: int
    height: int
    lost: int = 0


class Clips:
    """Frames of clips by rule and look. What was made is found by the hash of the clip's bytes.

    Any number of processes may ask for the same frames at once: one decodes, the others wait and read.
    """

    def __init__(self, media: MediaStore) -> None:
        self.media = media
        self.decoded = 0  # clips that this object had to decode
        self._hashes: dict[tuple[str, int, int], str] = {}
        self._videos: dict[str, Video] = {}

    def video(self, path: Path) -> Video:
        """What the clip says of itself.

        Raises:
            DataError: it cannot be read as video, or is larger than the limits.
        """
        return self._video(path, self._hash(path))

    def frames(self, path: Path, rule: FrameRule, look: Look = AS_IT_IS) -> Frames:
        """The frames that the rule picks, rendered as `look` says.

        Raises:
            DataError: the clip cannot be read as video, is larger than the limits, or shows no frame.
        """
        clip = self._hash(path)
        key = stable_hash(VERSION, clip, repr(rule), repr(look), size=40)
        file = self.media.folder / "clips" / key[:2] / f"{key}.json"
        frames = self._kept(file)
        if frames is None:
            with alone(self.media.folder / "clips" / "locks", key):
                frames = self._kept(file) or self._made(path, clip, rule, look, file)
        return frames

    def _made(self, path: Path, clip: str, rule: FrameRule, look: Look, file: Path) -> Frames:
        video = self._video(path, clip)
        promised = max(video.count, video.announced - video.hidden)
        images = self._pictures(path, video, rule, look)
        if len(images) < len(rule.pick(video)):
            video = self._videos[clip] = probe_decoding(path)
            images = self._pictures(path, video, rule, look)
        if not images:
            raise DataError(f"{path.name} has no frame to show")
        frames = Frames(
            images=tuple(images.values()),
            indices=tuple(images),
            times_s=tuple(round(video.times_s[index], 6) for index in images),
            count=video.count,
            fps=video.fps,
            seconds=video.seconds,
            width=video.width,
            height=video.height,
            lost=promised - video.count,
        )
        write_whole(file, json.dumps(asdict(frames)).encode())
        return frames

    def _pictures(self, path: Path, video: Video, rule: FrameRule, look: Look) -> dict[int, ImageRef]:
        self.decoded += 1
        chosen = decode(path, video, rule.pick(video))
        return {index: self.media.put(jpeg(frame, look, index)) for index, frame in chosen}

    def _kept(self, file: Path) -> Frames | None:
        """The frames as they were made before, if every picture is still there."""
        try:
            fields = json.loads(file.read_bytes())
            images = tuple(ImageRef(**image) for image in fields["images"])
            lists = {name: tuple(fields[name]) for name in ("indices", "times_s")}
            frames = Frames(**{**fields, **lists, "images": images})
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return frames if all(self.media.has(image.sha256) for image in frames.images) else None

    def _video(self, path: Path, clip: str) -> Video:
        if clip not in self._videos:
            self._videos[clip] = probe(path)
        return self._videos[clip]

    def _hash(self, path: Path) -> str:
        """The hash of the file's bytes, remembered for as long as its size and time stay the same."""
        try:
            state = path.stat()
            key = (str(path), state.st_size, state.st_mtime_ns)
            if not path.is_file():
                raise DataError(f"{path.name} is not a file")
            if key not in self._hashes:
                with open_regular(path) as file:
                    self._hashes[key] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DataError(f"{path.name} cannot be read: {error.strerror}") from error
        return self._hashes[key]


def jpeg(frame: Image.Image, look: Look = AS_IT_IS, index: int = 0) -> bytes:
    """A frame as JPEG, rendered as `look` says; marks are placed in pixels of the whole frame."""
    image = frame.convert("RGB")
    for mark in (mark for mark in look.marks if mark.index == index):
        if mark.box:
            draw_box(image, mark.box)
        if mark.label:
            draw_label(image, mark.label)
    if look.crop:
        x, y, width, height = look.crop
        image = image.crop((x, y, x + width, y + height))
    if look.max_side_px:
        image.thumbnail((look.max_side_px, look.max_side_px))
    if look.swap_red_blue:
        image = Image.merge("RGB", image.split()[::-1])
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=look.quality)
    return buffer.getvalue()
