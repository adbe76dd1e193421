"""Where an object lies for someone who stands at a second one and faces a third.

The turn from the line of sight, between centres and seen from above.

Error: `error_deg` is rounding alone.
"""

from typing import Literal

from pydantic import Field

from gnomon_rooms.named_boxes import (
    ROUNDED_DEG,
    BoxName,
    box_named,
    boxes_in,
    centre_of,
    outline,
    rounded,
    turn_deg,
)
from gnomon_tools.core.marks import drawn, line_of, number_in, text_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.scene.boxes import Boxes

Quarter = Literal["front-left", "front-right", "back-left", "back-right"]


class BoxDirectionArgs(ToolArgs):
    """From where, towards what, and of what."""

    at: BoxName = Field(description="name of the object to stand at")
    towards: BoxName = Field(description="name of the object to face")
    of: BoxName = Field(description="name of the object whose direction is wanted")


class BoxDirection(ToolResult):
    """The direction."""

    turn_deg: float = Field(description="turn from the line of sight: left positive, right negative")
    side: Literal["left", "right"]
    quarter: Quarter
    is_behind: bool = Field(description="whether it takes a turn of 135 degrees or more")
    error_deg: float = Field(description="how far off the turn may be")


def run(context: ToolContext, args: BoxDirectionArgs) -> BoxDirection:
    """Measure.

    Raises:
        ToolError: there is no such box, or several, or two of the centres are one seen from above.
    """
    boxes = boxes_in(context)
    at, towards, of = (box_named(boxes, name) for name in (args.at, args.towards, args.of))
    for name, box in ((args.towards, towards), (args.of, of)):
        if box.centre_m[:2] == at.centre_m[:2]:
            raise ToolError(f"{name!r} and {args.at!r} have one centre seen from above; name others.")
    turned_deg = turn_deg(at.centre_m, towards.centre_m, of.centre_m)
    side: Literal["left", "right"] = "left" if turned_deg > 0 else "right"
    is_ahead = abs(turned_deg) < 90
    quarters: dict[tuple[bool, str], Quarter] = {
        (True, "left"): "front-left",
        (True, "right"): "front-right",
        (False, "left"): "back-left",
        (False, "right"): "back-right",
    }
    return BoxDirection(
        turn_deg=rounded(turned_deg, 2),
        side=side,
        quarter=quarters[is_ahead, side],
        is_behind=abs(turned_deg) >= 135,
        error_deg=ROUNDED_DEG,
    )


def sketch(context: ToolContext, args: BoxDirectionArgs, result: Result) -> Sketch:
    """The line of sight, and the line to the object."""
    turned = f"{number_in(result, 'turn_deg') or 0:.0f}°".replace("-", "−")
    at, towards, of = (centre_of(context, name) for name in (args.at, args.towards, args.of))
    sight = line_of([at, towards], "", "asked", has_arrow=True, is_dashed=True) if at and towards else None
    found = line_of([at, of], turned, has_arrow=True) if at and of else None
    names = (outline(context, args.at, "asked"), outline(context, args.towards, "asked"))
    summary = f"at {args.at} facing {args.towards}: {args.of} → {text_in(result, 'quarter')}, {turned}"
    return drawn(summary, [*names, outline(context, args.of), sight, found])


box_direction = Tool(
    name="box_direction",
    description="Tell in which direction an object lies for someone at one object who faces another.",
    args=BoxDirectionArgs,
    run=run,
    sketch=sketch,
    needs=Boxes,
)
