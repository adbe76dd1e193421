"""Shown clip: what a prompt shows of a clip, and why it shows nothing where the clip cannot be read."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gnomon.core.errors import DataError
from gnomon.media.clips import Clips, Frames, Look
from gnomon.media.footage import ClipFootage
from gnomon.media.rules import FrameRule


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


def show_clip(clips: Clips, path: Path | None, name: str, rule: FrameRule, look: Look) -> ClipFrames:
    """The frames of a clip as the rule picks them; `path` is None where there is no such file."""
    if path is None:
        return ClipFrames(name=name, fault=f"the clip {name!r} is absent")
    footage = ClipFootage(clips=clips, path=path)
    try:
        return ClipFrames(name=name, footage=footage, frames=clips.frames(path, rule, look))
    except DataError as error:
        return ClipFrames(name=name, footage=footage, fault=str(error))
