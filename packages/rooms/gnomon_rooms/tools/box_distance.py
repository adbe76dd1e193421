"""The least distance between two boxes in space, and the gap between them seen from above.

Exact for boxes that are turned in any way: 0 where no separating axis exists, else the least of corners to
the other box and edges to edges.

The gap is that of their outlines on the floor plan, each the hull of the box's eight corners.

Error: `error_m` is rounding alone.
"""

from pydantic import Field

from gnomon_rooms.named_boxes import ROUNDED_M, BoxName, between, box_named, boxes_in, outline, rounded
from gnomon_tools.core.marks import drawn, line_of, number_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.geometry.oriented_boxes import box_distance_m, gap_m
from gnomon_tools.scene.boxes import Boxes


class BoxDistanceArgs(ToolArgs):
    """Which two."""

    first: BoxName = Field(description="name of one object")
    second: BoxName = Field(description="name of the other object")


class BoxDistance(ToolResult):
    """How far apart they are."""

    distance_m: float = Field(description="between their closest points; 0 where they touch or overlap")
    gap_m: float = Field(description="the gap seen from above, whatever the heights; 0 where they overlap")
    error_m: float = Field(description="how far off these may be")


def run(context: ToolContext, args: BoxDistanceArgs) -> BoxDistance:
    """Measure.

    Raises:
        ToolError: there is no such box, or several.
    """
    boxes = boxes_in(context)
    first, second = box_named(boxes, args.first), box_named(boxes, args.second)
    return BoxDistance(
        distance_m=rounded(box_distance_m(first, second)),
        gap_m=rounded(gap_m(first, second)),
        error_m=ROUNDED_M,
    )


def sketch(context: ToolContext, args: BoxDistanceArgs, result: Result) -> Sketch:
    """Both boxes, and the line between their closest points seen from above."""
    far, gap = (f"{number_in(result, name) or 0:.2f} m" for name in ("distance_m", "gap_m"))
    line = line_of(between(context, args.first, args.second), far)
    both = (outline(context, args.first, "asked"), outline(context, args.second, "asked"))
    return drawn(f"{args.first} to {args.second} → {far}, gap {gap}", [line, *both])


box_distance = Tool(
    name="box_distance",
    description="Measure the distance in metres between the closest points of two objects, and the gap seen"
    " from above.",
    args=BoxDistanceArgs,
    run=run,
    sketch=sketch,
    needs=Boxes,
)
