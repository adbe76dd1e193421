"""The gap between two boxes seen from above.

The least distance of their outlines on the floor plan, each the hull of the box's eight corners.

Error: `error_m` is the rounding of the result; the boxes are taken as they are.
"""

from pydantic import Field

from gnomon_rooms.named_boxes import ROUNDED_M, BoxName, between, box_named, boxes_in, outline, rounded
from gnomon_tools.core.marks import drawn, line_of, number_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.geometry.oriented_boxes import gap_m
from gnomon_tools.scene.boxes import Boxes


class BoxGapArgs(ToolArgs):
    """Between which two."""

    first: BoxName = Field(description="name of one object")
    second: BoxName = Field(description="name of the other object")


class BoxGap(ToolResult):
    """How wide the gap is."""

    gap_m: float = Field(description="between their outlines seen from above; 0 where they overlap")
    error_m: float = Field(description="how far off that may be")


def run(context: ToolContext, args: BoxGapArgs) -> BoxGap:
    """Measure.

    Raises:
        ToolError: there is no such box, or several.
    """
    boxes = boxes_in(context)
    wide_m = gap_m(box_named(boxes, args.first), box_named(boxes, args.second))
    return BoxGap(gap_m=rounded(wide_m), error_m=ROUNDED_M)


def sketch(context: ToolContext, args: BoxGapArgs, result: Result) -> Sketch:
    """Both boxes and the gap."""
    wide = f"{number_in(result, 'gap_m') or 0:.2f} m"
    line = line_of(between(context, args.first, args.second), wide)
    both = (outline(context, args.first, "asked"), outline(context, args.second, "asked"))
    return drawn(f"gap of {args.first} and {args.second} → {wide}", [line, *both])


box_gap = Tool(
    name="box_gap",
    description="Measure how wide the gap between two objects is seen from above, in metres.",
    args=BoxGapArgs,
    run=run,
    sketch=sketch,
    needs=Boxes,
)
