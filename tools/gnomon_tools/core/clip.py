"""Defines how a tool looks into the clip of a question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from gnomon_tools.core.inputs import Input

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures(Input):
    """The pictures of a question, in the order in which it shows them."""

    in_words: ClassVar[str] = "the pictures of a question"

    listed: Sequence[Picture]


class Footage(Input):
    """A clip that can be looked into at any time of it.

    Raises:
        UnreadableFootage: the footage is absent or broken.
    """

    __slots__ = ()

    heading: ClassVar[str] = "On a clip"
    in_words: ClassVar[str] = "the clip of a question"

    def facts(self) -> FootageFacts:
        """What the clip says of itself."""
        raise NotImplementedError

    def frames_at(
        self, times_s: Sequence[float], *, crop: Box | None = None, max_side_px: int | None = None
    ) -> list[ClipFrame]:
        """The frames on screen at those times, in order, each once; cut to `crop`, then made smaller."""
        raise NotImplementedError
