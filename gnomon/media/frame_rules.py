"""Which frames of a clip are shown. Each rule is a small value, so that equal rules share their frames."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from gnomon.core.errors import DataError
from gnomon.media.video import Video

MAX_PICKED = 4_096  # more pictures than any model takes


class FrameRule(Protocol):
    """Picks frames; its `repr` names it with all its numbers."""

    def pick(self, video: Video) -> Sequence[int]:
        """Indices, rising and distinct, at least one."""
        ...


@dataclass(frozen=True, slots=True)
class Uniform:
    """The frames on screen in the middle of `count` equal spans of time; exact at any frame rate.

    A clip with fewer frames than spans shows each frame once. `start_s` and `end_s` keep to a part of it.
    """

    count: int
    start_s: float = 0.0
    end_s: float | None = None

    def pick(self, video: Video) -> Sequence[int]:
        end_s = video.seconds if self.end_s is None else min(self.end_s, video.seconds)
        span_s = max(end_s - self.start_s, 0.0) / self.count
        return _distinct(video.at(self.start_s + (step + 0.5) * span_s) for step in range(self.count))


@dataclass(frozen=True, slots=True)
class Stride:
    """Every k-th frame from the first, at most `at_most` of them.

    `up`: k = ⌈n / at_most⌉ of the n frames there are (UrbanVideo-Bench). `down`: k = ⌊n / at_most⌋, at least
    1, of the n frames that the header announces (STI-Bench), so that the end of the clip may go unseen.
    """

    at_most: int
    rounding: Literal["up", "down"]

    def step(self, video: Video) -> int:
        """The k of the rule."""
        if self.rounding == "up":
            return math.ceil(video.count / self.at_most)
        return max(1, (video.announced or video.count) // self.at_most)

    def pick(self, video: Video) -> Sequence[int]:
        return range(0, video.count, self.step(video))[: self.at_most]


@dataclass(frozen=True, slots=True)
class Spread:
    """`count` indices spread evenly from the first frame to the last, rounded down; or all."""

    count: int

    def pick(self, video: Video) -> Sequence[int]:
        if video.count <= self.count:
            return range(video.count)
        return _distinct(np.linspace(0, video.count - 1, self.count, dtype=int).tolist())


@dataclass(frozen=True, slots=True)
class PerSecond:
    """The frames on screen at 0 s, 1/fps s, 2/fps s and so on; each once where the clip has fewer."""

    fps: float

    def pick(self, video: Video) -> Sequence[int]:
        count = max(1, math.ceil(video.seconds * self.fps - 1e-6))  # a length is a sum of rounded times
        if count > MAX_PICKED:
            raise DataError(
                f"{self.fps:g} frames a second of this clip are {count:,}; allowed: {MAX_PICKED:,}"
            )
        return _distinct(video.at(step / self.fps) for step in range(count))


@dataclass(frozen=True, slots=True)
class AtTimes:
    """The frames on screen at those seconds."""

    times_s: tuple[float, ...]

    def pick(self, video: Video) -> Sequence[int]:
        return _distinct(video.at(time_s) for time_s in sorted(self.times_s))


@dataclass(frozen=True, slots=True)
class AtIndices:
    """Frames by their number in the clip, from 0; those that the clip does not have are left out."""

    indices: tuple[int, ...]

    def pick(self, video: Video) -> Sequence[int]:
        return sorted({index for index in self.indices if 0 <= index < video.count})


def as_asked(
    rule: Callable[[int], FrameRule], count: int, *, frames: int | None, fps: float | None
) -> FrameRule:
    """The protocol's rule with its own count, with that of the job, or so many frames a second instead.

    >>> as_asked(Uniform, 32, frames=None, fps=None), as_asked(Uniform, 32, frames=64, fps=None)
    (Uniform(count=32, start_s=0.0, end_s=None), Uniform(count=64, start_s=0.0, end_s=None))
    >>> as_asked(Uniform, 32, frames=None, fps=0.5)
    PerSecond(fps=0.5)
    """
    return PerSecond(fps) if fps is not None else rule(frames or count)


def _distinct(indices: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(indices))
