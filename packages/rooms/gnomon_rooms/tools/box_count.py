"""How many objects of a kind there are within a radius of an object.

Between centres, seen from above. The object itself is not counted.

Error: `error_count` is how many lie so close to the radius that rounding to the millimetre could decide.
"""

import math

from pydantic import Field

from gnomon_rooms.named_boxes import (
    ROUNDED_M,
    BoxName,
    box_named,
    boxes_in,
    centre_of,
    kind_named,
    outline,
)
from gnomon_tools.core.marks import dot_at, drawn, number_in, texts_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.scene.boxes import Boxes

MAX_NAMES = 30


class BoxCountArgs(ToolArgs):
    """Which kind, around what, how far."""

    kind: BoxName = Field(description="kind of the objects to count, such as chair")
    near: BoxName = Field(description="name of the object in the middle")
    radius_m: float = Field(gt=0, le=1000, description="radius seen from above, in metres")


class BoxCount(ToolResult):
    """How many there are."""

    count: int = Field(description="how many have their centre within the radius")
    total: int = Field(description="how many there are in all")
    names: list[str] = Field(description="those within, by name; the first 30")
    error_count: int = Field(description="how many lie on the edge of the radius, so that rounding decides")


def run(context: ToolContext, args: BoxCountArgs) -> BoxCount:
    """Count.

    Raises:
        ToolError: there is no such box, or several, or no such kind.
    """
    boxes = boxes_in(context)
    middle = box_named(boxes, args.near)
    far = {
        box.name: math.dist(box.centre_m[:2], middle.centre_m[:2])
        for box in kind_named(boxes, args.kind)
        if box != middle
    }
    within = [name for name, distance_m in far.items() if distance_m <= args.radius_m]
    edge = sum(abs(distance_m - args.radius_m) < ROUNDED_M for distance_m in far.values())
    return BoxCount(count=len(within), total=len(far), names=within[:MAX_NAMES], error_count=edge)


def sketch(context: ToolContext, args: BoxCountArgs, result: Result) -> Sketch:
    """The circle, and those in it."""
    count = f"{number_in(result, 'count') or 0:.0f} within {args.radius_m:g} m"
    circle = dot_at(centre_of(context, args.near), args.near, "asked", radius_m=args.radius_m)
    inside = [outline(context, name) for name in texts_in(result, "names")]
    return drawn(f"{args.kind} around {args.near} → {count}", [*inside, circle])


box_count = Tool(
    name="box_count",
    description="Count objects of a kind whose centres lie within a radius of an object, seen from above.",
    args=BoxCountArgs,
    run=run,
    sketch=sketch,
    needs=Boxes,
)
