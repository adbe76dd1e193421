"""The objects nearest to the point halfway between two objects.

Between centres, in space.

Error: `error_m` is rounding alone.
"""

import math

from pydantic import Field

from gnomon_rooms.named_boxes import (
    ROUNDED_M,
    BoxName,
    box_named,
    boxes_in,
    boxes_named,
    centre_of,
    outline,
    outlines,
    rounded,
    rows_in_words,
)
from gnomon_tools.core.marks import dot_at, drawn, line_of, rows_in, xy_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.scene.boxes import Boxes

MAX_ROWS = 12


class BoxMidpointArgs(ToolArgs):
    """Between which two, and among which."""

    first: BoxName = Field(description="name of one object")
    second: BoxName = Field(description="name of the other object")
    among: list[BoxName] = Field([], max_length=20, description="names to choose from; empty: all others")


class FromMidpoint(ToolResult):
    """An object and how far its centre is from the point."""

    name: str
    distance_m: float = Field(description="from the point to the object's centre")


class BoxMidpoint(ToolResult):
    """The point and the nearest objects."""

    x_m: float
    y_m: float
    z_m: float
    nearest: list[FromMidpoint] = Field(description="the nearest first; the first 12")
    error_m: float = Field(description="how far off the distances may be")


def run(context: ToolContext, args: BoxMidpointArgs) -> BoxMidpoint:
    """Measure all and sort.

    Raises:
        ToolError: there is no such box, or several, or nothing else to measure to.
    """
    boxes = boxes_in(context)
    first, second = box_named(boxes, args.first), box_named(boxes, args.second)
    middle = [(a + b) / 2 for a, b in zip(first.centre_m, second.centre_m, strict=True)]
    others = boxes_named(boxes, args.among, but=(first, second))
    far = {box.name: math.dist(box.centre_m, middle) for these in others.values() for box in these}
    rows = [
        FromMidpoint(name=name, distance_m=rounded(far[name])) for name in sorted(far, key=far.__getitem__)
    ]
    x_m, y_m, z_m = map(rounded, middle)
    return BoxMidpoint(x_m=x_m, y_m=y_m, z_m=z_m, nearest=rows[:MAX_ROWS], error_m=ROUNDED_M)


def sketch(context: ToolContext, args: BoxMidpointArgs, result: Result) -> Sketch:
    """The line between the two, its middle, and those that were found."""
    rows = rows_in(result, "nearest")
    ends = [end for name in (args.first, args.second) if (end := centre_of(context, name))]
    both = (outline(context, args.first, "asked"), outline(context, args.second, "asked"))
    summary = f"halfway from {args.first} to {args.second} → {rows_in_words(rows, 'distance_m', 'm')}"
    line, middle = line_of(ends, "", "asked", is_dashed=True), dot_at(xy_in(result), "halfway")
    return drawn(summary, [line, *both, *outlines(context, rows[:1]), middle])


box_midpoint = Tool(
    name="box_midpoint",
    description="List objects by how far their centres are from the point halfway between two objects.",
    args=BoxMidpointArgs,
    run=run,
    sketch=sketch,
    needs=Boxes,
)
