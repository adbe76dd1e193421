"""What the tools that look into a clip share."""

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field

from gnomon_tools.core.clip import Box, ClipFrame, Footage, FootageFacts, UnreadableFootage
from gnomon_tools.core.marks import amount, counted, drawn, number_in, numbers_in, span_of
from gnomon_tools.core.sketch import Mark, Result, Sketch, Span
from gnomon_tools.core.tool import PictureResult, ToolContext, ToolError

ClipSeconds = Annotated[float, Field(ge=0, le=1e6)]


class Look(PictureResult):
    """What was looked at; the pictures follow in the same order."""

    times_s: list[float] = Field(description="when each frame comes on screen")
    error_s: float = Field(description="by how much a frame may lie before the time asked for")
    clip_seconds: float = Field(description="how long the clip lasts")
    clip_fps: float = Field(description="its frames a second, on average")
    frame_width_px: int = Field(description="width of its full frames; coordinates of crops count in it")
    frame_height_px: int = Field(description="height of its full frames")


def look(
    context: ToolContext,
    times_s: Sequence[float],
    *,
    facts: FootageFacts,
    crop: Box | None = None,
    max_side_px: int | None = None,
) -> Look:
    """The frames on screen at those times, as a result.

    Raises:
        ToolError: the clip cannot be read, or does not last so long.
    """
    for time_s in times_s:
        if time_s > facts.seconds:
            raise ToolError(f"{time_s:g} s is after the end; the clip lasts {facts.seconds:.2f} s.")
    shots = _shots(context, times_s, crop, max_side_px)
    return Look(
        times_s=[shot.time_s for shot in shots],
        pictures=tuple(shot.picture for shot in shots),
        error_s=max(_wait_s(shots, time_s) for time_s in times_s),
        clip_seconds=facts.seconds,
        clip_fps=facts.fps,
        frame_width_px=facts.width,
        frame_height_px=facts.height,
    )


def look_sketch(
    question: str, wanted: Span | None, result: Result, marks: Iterable[Mark | None] = ()
) -> Sketch:
    """What was wanted of the clip, and an instant for every frame; a recorded result holds no pictures."""
    times_s = numbers_in(result, "times_s")
    frames = [
        span_of(time_s, None, amount(time_s, "s"), error_s=number_in(result, "error_s")) for time_s in times_s
    ]
    when = " to ".join(dict.fromkeys(amount(time_s, "s") for time_s in (times_s[:1] + times_s[-1:])))
    summary = f"{question} → {counted(len(times_s), 'frame')}" + (f", {when}" if when else "")
    return drawn(summary, marks, spans=[wanted, *frames], plane="picture")


def _wait_s(shots: Sequence[ClipFrame], time_s: float) -> float:
    """How long before `time_s` the frame shown for it came on screen."""
    earlier = (shot.time_s for shot in shots if shot.time_s <= time_s + 1e-6)
    return max(0.0, time_s - max(earlier, default=time_s))


def facts_of(context: ToolContext) -> FootageFacts:
    """What the clip says of itself.

    Raises:
        ToolError: the clip does not exist, or cannot be read.
    """
    footage = _footage(context)
    try:
        return footage.facts()
    except UnreadableFootage as error:
        raise ToolError(f"The clip cannot be read: {error}.") from None


def _shots(
    context: ToolContext, times_s: Sequence[float], crop: Box | None, max_side_px: int | None
) -> list[ClipFrame]:
    try:
        return _footage(context).frames_at(times_s, crop=crop, max_side_px=max_side_px)
    except UnreadableFootage as error:
        raise ToolError(f"The clip cannot be read: {error}.") from None


def _footage(context: ToolContext) -> Footage:
    if context.footage is None:
        raise ToolError("This question has no clip to look into.")
    return context.footage
