"""Shows a clip in a prompt and to tools, and says why nothing is shown where it cannot be read."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath

from gnomon.core.errors import DataError
from gnomon.media.clips import Clips, Frames, Look
from gnomon.media.frame_rules import AtTimes, FrameRule
from gnomon_tools.core.clip import Box, ClipFrame, Footage, FootageFacts, Picture, UnreadableFootage


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipFootage(Footage):
    """One clip; nothing is read before a tool asks. What it shows is kept with all other media.

    `shown` are the frames of the prompt, for people; tools do not see them.
    """

    clips: Clips
    path: Path
    shown: Frames | None = None

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipFrames:
    """A clip by its published name: its frames, or `fault` in words; footage wherever there is a file."""

    name: str
    frames: Frames | None = None
    footage: ClipFootage | None = None
    fault: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """The name, if nothing of the clip can be shown."""
        return () if self.frames else (self.name,)


def find_clip(folder: Path, name: str) -> Path | None:
    """The clip of that name; None if it is absent, or the name leads out of the folder or is none."""
    try:
        path = folder.joinpath(*PurePosixPath(name).parts).resolve()
        return path if path.is_relative_to(folder.resolve()) and path.is_file() else None
    except (OSError, ValueError):  # too long for a name, or a NUL in it
        return None


def no_file(source: str) -> str:
    """What is said of a path that leads to nothing."""
    hint = "; write / between folders" if "\\" in source else ""
    return f"no file {source[:200]!r} in the folder of the questions{hint}"


def show_clip(clips: Clips, path: Path | None, name: str, rule: FrameRule, look: Look) -> ClipFrames:
    """The frames of a clip as the rule picks them; `path` is None where there is no such file."""
    if path is None:
        return ClipFrames(name=name, fault=f"the clip {name!r} is absent")
    footage = ClipFootage(clips=clips, path=path)
    try:
        frames = clips.frames(path, rule, look)
        return ClipFrames(name=name, footage=replace(footage, shown=frames), frames=frames)
    except DataError as error:
        return ClipFrames(name=name, footage=footage, fault=str(error))
