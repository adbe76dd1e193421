"""Tells the edges and the heights of a box, and how wide it is where it stands upright.

Error: `error_m` is rounding alone.
"""

from pydantic import Field

from gnomon_rooms.named_boxes import ROUNDED_M, BoxName, box_named, boxes_in, outline, rounded
from gnomon_tools.core.marks import drawn, number_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.geometry.oriented_boxes import BoxArray, width_upright_m
from gnomon_tools.scene.boxes import Boxes


class BoxExtentArgs(ToolArgs):
    """Of which."""

    name: BoxName = Field(description="name of the object")


class BoxExtent(ToolResult):
    """Its sizes."""

    longest_m: float = Field(description="the longest of its three edges")
    edges_m: list[float] = Field(description="all three edges, the longest first")
    width_m: float | None = Field(
        description="the shorter of its two horizontal edges; left out where the box leans"
    )
    bottom_m: float = Field(description="height of its lowest corner")
    top_m: float = Field(description="height of its highest corner")
    error_m: float = Field(description="how far off these may be")


def run(context: ToolContext, args: BoxExtentArgs) -> BoxExtent:
    """Read its edges.

    Raises:
        ToolError: there is no such box, or several.
    """
    box = box_named(boxes_in(context), args.name)
    edges_m = sorted((rounded(length) for length in box.lengths_m), reverse=True)
    width_m, heights_m = width_upright_m(box), BoxArray.of([box]).corners_m()[0, :, 2]
    return BoxExtent(
        longest_m=edges_m[0],
        edges_m=edges_m,
        width_m=None if width_m is None else rounded(width_m),
        bottom_m=rounded(heights_m.min()),
        top_m=rounded(heights_m.max()),
        error_m=ROUNDED_M,
    )


def sketch(context: ToolContext, args: BoxExtentArgs, result: Result) -> Sketch:
    """The box from above."""
    longest = f"{number_in(result, 'longest_m') or 0:.2f} m"
    label = f"{args.name}: longest edge {longest}"
    return drawn(f"{args.name} → longest edge {longest}", [outline(context, args.name, label=label)])


box_extent = Tool(
    name="box_extent",
    description="Tell how large an object's box is: its three edges, the longest first, and its heights.",
    args=BoxExtentArgs,
    run=run,
    sketch=sketch,
    needs=Boxes,
)
