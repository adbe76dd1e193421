"""Footage: a clip as tools look into it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from gnomon.core.errors import DataError
from gnomon.media.clips import Clips, Look
from gnomon.media.rules import AtTimes
from tools.core.clip import Box, ClipFrame, FootageFacts, Picture, UnreadableFootage


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipFootage:
    """One clip; nothing is read before a tool asks. What it shows is kept with all other media."""

    clips: Clips
    path: Path

    def facts(self) -> FootageFacts:
        try:
            video = self.clips.video(self.path)
        except DataError as error:
            raise UnreadableFootage(str(error)) from error
        return FootageFacts(
            seconds=video.seconds,
            frames=video.count,
            fps=video.fps,
            width=video.width,
            height=video.height,
        )

    def frames_at(
        self, times_s: Sequence[float], *, crop: Box | None = None, max_side_px: int | None = None
    ) -> list[ClipFrame]:
        look = Look(crop=crop, max_side_px=max_side_px)
        try:
            frames = self.clips.frames(self.path, AtTimes(tuple(times_s)), look)
        except DataError as error:
            raise UnreadableFootage(str(error)) from error
        return [
            ClipFrame(time_s=time_s, picture=Picture(**asdict(image)))
            for time_s, image in zip(frames.times_s, frames.images, strict=True)
        ]
