"""The whole frame that is on screen at a time of the clip.

Gives the picture that is on screen at that time, its longer side at most 1,280 px.

Error: `error_s` is how long before the time asked for the frame came on screen; times are those of the file,
also where its frame rate varies.
"""

from pydantic import Field

from gnomon_tools.core.clip import Footage
from gnomon_tools.core.frames import ClipSeconds, Look, facts_of, look, look_sketch
from gnomon_tools.core.marks import amount, span_of
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext

MAX_SIDE_PX = 1280


class LookAtFrameArgs(ToolArgs):
    """When."""

    time_s: ClipSeconds = Field(description="seconds from the start of the clip")


def run(context: ToolContext, args: LookAtFrameArgs) -> Look:
    """Look.

    Raises:
        ToolError: there is no readable clip, or it does not last so long.
    """
    return look(context, [args.time_s], facts=facts_of(context), max_side_px=MAX_SIDE_PX)


def sketch(_: ToolContext, args: LookAtFrameArgs, result: Result) -> Sketch:
    """The time asked for and that of the frame, on the clip's clock."""
    return look_sketch(f"at {amount(args.time_s, 's')}", span_of(args.time_s, None, "asked", "asked"), result)


look_at_frame = Tool(
    name="look_at_frame",
    description=(
        "Look at one frame of the clip: the picture on screen at a given time, its longer side at most"
        f" {MAX_SIDE_PX} pixels."
    ),
    args=LookAtFrameArgs,
    run=run,
    sketch=sketch,
    needs=Footage,
    example={"time_s": 1.75},
)
