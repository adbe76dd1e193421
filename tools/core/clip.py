"""The clip of a question, as far as a tool may look into it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

Box = tuple[int, int, int, int]  # x, y, width, height in pixels of the full frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture among the media, by the hash of its bytes; its size in pixels."""

    sha256: str
    media_type: str
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipFrame:
    """A frame as a picture, and the time at which it comes on screen."""

    time_s: float
    picture: Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class FootageFacts:
    """What a clip says of itself; the size is that of its full frames."""

    seconds: float
    frames: int
    fps: float
    width: int
    height: int


class UnreadableFootage(Exception):
    """The clip is absent or broken; the message says how."""


class Footage(Protocol):
    """A clip that can be looked into at any time of it.

    Raises:
        UnreadableFootage: the footage is absent or broken.
    """

    def facts(self) -> FootageFacts: ...

    def frames_at(
        self, times_s: Sequence[float], *, crop: Box | None = None, max_side_px: int | None = None
    ) -> list[ClipFrame]:
        """The frames on screen at those times, in order, each once; cut to `crop`, then made smaller."""
        ...
