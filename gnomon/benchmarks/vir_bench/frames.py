"""Frames: which pictures of a video are shown.

The released scripts sample 64 to 256 frames, as many as each model takes; the wrapper for OpenAI-like models
spreads 256 evenly from the first frame to the last. Guarded shows 64, each with its time.
"""

from collections.abc import Mapping

from gnomon.core.benchmark import PromptProtocol
from gnomon.media.clips import Look
from gnomon.media.rules import FrameRule, Spread, Uniform, as_asked

OFFICIAL, GUARDED = 256, 64
LOOKS: Mapping[PromptProtocol, Look] = {
    "official": Look(max_side_px=1024),
    "guarded": Look(max_side_px=768, quality=85),
}


def rule_of(protocol: PromptProtocol, *, frames: int | None, fps: float | None) -> FrameRule:
    """The protocol's rule, with its own number of frames or the job's."""
    rule, count = (Spread, OFFICIAL) if protocol == "official" else (Uniform, GUARDED)
    return as_asked(rule, count, frames=frames, fps=fps)


def timestamps_s(duration_s: float, count: int = 64) -> list[float]:
    """Seconds of the frames that the released helper for frame models names: one a second, or `count` spans.

    >>> timestamps_s(3), timestamps_s(8, 4)
    ([0, 1, 2], [0.0, 2.0, 4.0, 6.0])
    """
    if duration_s <= count:
        return list(range(int(duration_s)))
    return [duration_s / count * step for step in range(count)]
