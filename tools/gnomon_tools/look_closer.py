"""A part of a frame at full resolution.

Gives that part of the frame at full resolution, at most 2,000 px; its box is in pixels of the full frame.
What reaches beyond the frame is cut off.

Error: `error_s` as in `look_at_frame`.
"""

from typing import Annotated

from pydantic import Field

from gnomon_tools.core.clip import Footage
from gnomon_tools.core.frames import ClipSeconds, Look, facts_of, look, look_sketch
from gnomon_tools.core.marks import amount, box_area, span_of
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError

MIN_SIDE_PX = 8
MAX_SIDE_PX = 2000

Pixel = Annotated[int, Field(ge=0, le=100_000)]


class LookCloserArgs(ToolArgs):
    """When, and which part."""

    time_s: ClipSeconds = Field(description="seconds from the start of the clip")
    x_px: Pixel = Field(description="left edge of the part, in pixels of the full frame")
    y_px: Pixel = Field(description="upper edge of the part")
    width_px: Pixel = Field(description="width of the part")
    height_px: Pixel = Field(description="height of the part")


def run(context: ToolContext, args: LookCloserArgs) -> Look:
    """Look.

    Raises:
        ToolError: there is no readable clip, it does not last so long, or the part is outside the frame.
    """
    facts = facts_of(context)
    width = min(args.width_px, facts.width - args.x_px)
    height = min(args.height_px, facts.height - args.y_px)
    if min(width, height) < MIN_SIDE_PX:
        size = f"{facts.width} x {facts.height}"
        raise ToolError(f"Less than {MIN_SIDE_PX} pixels of that part lie inside the frame of {size}.")
    crop = (args.x_px, args.y_px, width, height)
    return look(context, [args.time_s], facts=facts, crop=crop, max_side_px=MAX_SIDE_PX)


def sketch(_: ToolContext, args: LookCloserArgs, result: Result) -> Sketch:
    """The part of the frame, and its time on the clip's clock."""
    part = box_area(
        (args.x_px, args.y_px, args.width_px, args.height_px), f"{args.width_px} × {args.height_px} px"
    )
    question = f"{args.width_px} × {args.height_px} px at {amount(args.time_s, 's')}"
    return look_sketch(question, span_of(args.time_s, None, "asked", "asked"), result, [part])


look_closer = Tool(
    name="look_closer",
    description=(
        "Look at a part of one frame of the clip in its full resolution. Coordinates are pixels of the full"
        " frame, from its upper left corner; what reaches beyond the frame is cut off."
    ),
    args=LookCloserArgs,
    run=run,
    sketch=sketch,
    needs=Footage,
    example={"time_s": 0.0, "x_px": 100, "y_px": 20, "width_px": 500, "height_px": 40},
)
