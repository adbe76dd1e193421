"""Shows the clips of a generated question: frames and whole videos, drawn when a prompt shows them."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

from PIL import Image

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.clock import clock
from gnomon.core.ids import stable_hash
from gnomon.core.sample import ImageRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.clips import draw_label
from gnomon.media.drawn_later import drawn_later, filmed_later
from gnomon.media.frame_rules import FrameRule, Uniform, as_asked
from gnomon.media.video import Video
from gnomon_published.benchmarks.gtr_bench.case import Case, Clip
from gnomon_published.benchmarks.gtr_bench.prompt import Film, Films, Frames, guarded_clips
from gnomon_tools.core.clip import Box, ClipFrame, Footage, FootageFacts, Picture
from gnomon_worlds.question import box
from gnomon_worlds.rendering.clip import Clip as DrawnClip
from gnomon_worlds.rendering.clip import Style, clips_of
from gnomon_worlds.rendering.film import MEDIA_TYPE, film
from gnomon_worlds.sample_making import VERSION, Drawn


class FilmedClip(Protocol):
    """A clip with a picture for each of its moments."""

    @property
    def style(self) -> Style: ...

    @property
    def times_s(self) -> tuple[float, ...]: ...

    def pictures(self, frames: Sequence[int] | None = None) -> Iterator[Image.Image]: ...


LOOKS = 1  # a change that changes pictures changes it
FRAMES = 4  # where a rate is asked for, the count that it replaces
QUALITY = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownClips:
    """What a prompt shows of a question's clips, and the footage for tools that look again."""

    frames: Frames
    films: Films
    footage: "WorldFootage"


def shown_clips(
    drawn: Drawn, case: Case, *, seed: int, select: Select, protocol: PromptProtocol, media: MediaStore
) -> ShownClips:
    """The clips with the frames that `select` asks for. Nothing is drawn yet."""
    rule = as_asked(Uniform, FRAMES, frames=select.frames, fps=select.fps)
    style = Style(has_clock=protocol != "official")
    made = dict(zip(case.clips, clips_of(drawn.question, drawn.world, seed=seed, style=style), strict=True))
    footage = WorldFootage(
        sample_id=case.case_id, clips=tuple(made[clip] for clip in guarded_clips(case)), media=media
    )
    frames = {clip: _pictures(case, clip, made[clip], rule, protocol, media) for clip in case.clips}
    starts_s = dict(zip(guarded_clips(case), footage.starts_s, strict=True))
    films = {clip: _film(case, clip, made[clip], starts_s[clip], media) for clip in case.clips}
    return ShownClips(frames=frames, films=films, footage=footage)


def video_of(clip: FilmedClip) -> Video:
    """A clip as the file that it would be says of itself."""
    times_s = tuple(time_s - clip.times_s[0] for time_s in clip.times_s)
    width, height = clip.style.size_px
    return Video(
        times_s=times_s,
        announced=len(times_s),
        hidden=0,
        fps=(len(times_s) - 1) / times_s[-1],
        seconds=times_s[-1] + times_s[-1] - times_s[-2],
        width=width,
        height=height,
        stamps=(),
        keyframes=(0,),
    )


def _pictures(
    case: Case, clip: Clip, made: DrawnClip, rule: FrameRule, protocol: PromptProtocol, media: MediaStore
) -> tuple[ImageRef, ...]:
    def key(index: int) -> str:
        return stable_hash(
            "frame", VERSION, LOOKS, case.case_id, case.clips.index(clip), index, protocol, size=40
        )

    return tuple(
        drawn_later(
            media, key(index), partial(_picture, made, index, clip if protocol == "official" else None)
        )
        for index in rule.pick(video_of(made))
    )


def _picture(made: DrawnClip, index: int, labelled: Clip | None) -> bytes:
    image = next(made.pictures([index]))
    if labelled:
        mount = made.world.installation.mounts[made.sighting.camera]
        numbers = box(mount, made.trip.journey, made.times_s[index])
        times = [] if made.is_timeless else [f"Time: {clock(made.clock_times_s[index])}"]
        boxed = "Box: " + ", ".join(f"{value:.1f}" for value in numbers)
        draw_label(image, [f"ID: {labelled.object_id}", *times, boxed])
    return jpeg(image)


def _film(case: Case, clip: Clip, made: DrawnClip, start_s: float, media: MediaStore) -> Film:
    video = video_of(made)
    width, height = made.style.size_px
    full = made.world.installation.mounts[made.sighting.camera].image_size
    seen = filmed_later(
        media,
        stable_hash("film", VERSION, LOOKS, case.case_id, case.clips.index(clip), size=40),
        partial(filmed, made),
        media_type=MEDIA_TYPE,
        seconds=video.seconds,
    )
    note = (
        f"pictures of {width} x {height} pixels, {width / full[0]:g} of the camera's {full[0]} x {full[1]}; "
        f"tools for clips find it at {start_s:.1f} s to {start_s + video.seconds:.1f} s"
    )
    return Film(video=seen, note=note)


def filmed(made: FilmedClip) -> bytes:
    """The clip as a video file."""
    return film(made.pictures(), made.times_s)


def jpeg(image: Image.Image) -> bytes:
    """A picture as it is shown."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


@dataclass(frozen=True, kw_only=True)
class WorldFootage(Footage):
    """All clips of a question, one behind the other as the prompt shows them; drawn when asked for."""

    sample_id: str
    clips: tuple[FilmedClip, ...]
    media: MediaStore

    @cached_property
    def _videos(self) -> tuple[Video, ...]:
        return tuple(video_of(clip) for clip in self.clips)

    @property
    def starts_s(self) -> tuple[float, ...]:
        return tuple(
            sum(video.seconds for video in self._videos[:number]) for number in range(len(self.clips))
        )

    def facts(self) -> FootageFacts:
        seconds, frames = sum(v.seconds for v in self._videos), sum(v.count for v in self._videos)
        width, height = self.clips[0].style.size_px
        return FootageFacts(seconds=seconds, frames=frames, fps=frames / seconds, width=width, height=height)

    def frames_at(
        self, times_s: Sequence[float], *, crop: Box | None = None, max_side_px: int | None = None
    ) -> list[ClipFrame]:
        wanted = dict.fromkeys(self._frame(time_s) for time_s in sorted(times_s))
        frames = []
        for number, index in wanted:
            image = next(self.clips[number].pictures([index]))
            if crop:
                x, y, width, height = crop
                image = image.crop((x, y, x + width, y + height))
            if max_side_px:
                image.thumbnail((max_side_px, max_side_px))
            kept = self.media.put(jpeg(image))
            time_s = self.starts_s[number] + self._videos[number].times_s[index]
            picture = Picture(
                sha256=kept.sha256, media_type=kept.media_type, width=kept.width, height=kept.height
            )
            frames.append(ClipFrame(time_s=round(time_s, 6), picture=picture))
        return frames

    def _frame(self, time_s: float) -> tuple[int, int]:
        number = max((n for n, start_s in enumerate(self.starts_s) if start_s <= time_s + 1e-6), default=0)
        return number, self._videos[number].at(time_s - self.starts_s[number])
