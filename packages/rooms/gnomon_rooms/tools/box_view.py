"""Which objects lie in the field of view of someone who stands at one object and looks towards another.

Centres, seen from above; nothing hides anything.

Error: `error_deg` is rounding alone.
"""

import math

from pydantic import Field

from gnomon_rooms.named_boxes import (
    ROUNDED_DEG,
    BoxName,
    box_named,
    boxes_in,
    boxes_named,
    centre_of,
    outline,
    outlines,
    rounded,
    rows_in_words,
    turn_deg,
)
from gnomon_tools.core.marks import area_of, drawn, rows_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.scene.boxes import Boxes

MAX_ROWS = 20
REACH_M = 4.0  # how far the field of view is drawn


class BoxViewArgs(ToolArgs):
    """From where, towards what, how wide."""

    at: BoxName = Field(description="name of the object to stand at")
    towards: BoxName = Field(description="name of the object to look towards")
    fov_deg: float = Field(90.0, gt=0, le=360, description="whole angle of the field of view, in degrees")
    among: list[BoxName] = Field([], max_length=20, description="names to choose from; empty: all objects")


class InView(ToolResult):
    """An object in view."""

    name: str
    turn_deg: float = Field(description="turn from the line of sight: left positive, right negative")


class BoxView(ToolResult):
    """What is in view."""

    in_view: list[InView] = Field(description="the objects in view, the most central first; the first 20")
    total: int = Field(description="how many are in view")
    error_deg: float = Field(description="how far off the turns may be")


def run(context: ToolContext, args: BoxViewArgs) -> BoxView:
    """Look.

    Raises:
        ToolError: there is no such box, or several, or both places are one seen from above.
    """
    boxes = boxes_in(context)
    at, towards = box_named(boxes, args.at), box_named(boxes, args.towards)
    if at.centre_m[:2] == towards.centre_m[:2]:
        raise ToolError(f"{args.at!r} and {args.towards!r} have one centre seen from above; name others.")
    others = boxes_named(boxes, args.among, but=(at,))
    turns = {
        box.name: turn_deg(at.centre_m, towards.centre_m, box.centre_m)
        for these in others.values()
        for box in these
    }
    seen = sorted(
        (name for name, turned in turns.items() if abs(turned) <= args.fov_deg / 2),
        key=lambda name: abs(turns[name]),
    )
    rows = [InView(name=name, turn_deg=rounded(turns[name], 2)) for name in seen[:MAX_ROWS]]
    return BoxView(in_view=rows, total=len(seen), error_deg=ROUNDED_DEG)


def sketch(context: ToolContext, args: BoxViewArgs, result: Result) -> Sketch:
    """The field of view, and what is in it."""
    rows = rows_in(result, "in_view")
    at, towards = centre_of(context, args.at), centre_of(context, args.towards)
    cone = None
    if at and towards:
        middle = math.atan2(towards[1] - at[1], towards[0] - at[0])
        half = math.radians(min(args.fov_deg, 359) / 2)
        turns = [middle - half + step * half / 8 for step in range(17)]
        ring = [at, *((at[0] + REACH_M * math.cos(t), at[1] + REACH_M * math.sin(t)) for t in turns)]
        cone = area_of(ring, "", "asked")
    summary = f"at {args.at} towards {args.towards} → {rows_in_words(rows, 'turn_deg', '°')}"
    return drawn(summary, [cone, outline(context, args.at, "asked"), *outlines(context, rows)])


box_view = Tool(
    name="box_view",
    description="List the objects in the field of view of someone at one object who looks towards another.",
    args=BoxViewArgs,
    run=run,
    sketch=sketch,
    needs=Boxes,
)
