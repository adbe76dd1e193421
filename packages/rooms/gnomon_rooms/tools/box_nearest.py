"""The objects nearest to an object, between the closest points of their boxes.

Exact for boxes that are turned in any way. A kind counts with its nearest box.

Error: `error_m` is rounding alone.
"""

from pydantic import Field

from gnomon_rooms.named_boxes import (
    ROUNDED_M,
    BoxName,
    between,
    box_named,
    boxes_in,
    boxes_named,
    outline,
    outlines,
    rounded,
    rows_in_words,
)
from gnomon_tools.core.marks import drawn, line_of, rows_in, text_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.geometry.oriented_boxes import BoxArray, distances_m
from gnomon_tools.scene.boxes import Box, Boxes

MAX_ROWS = 12


class BoxNearestArgs(ToolArgs):
    """To what, and among which."""

    to: BoxName = Field(description="name of the object to measure from")
    among: list[BoxName] = Field(
        [], max_length=20, description="names or kinds to choose from; empty: all other objects"
    )


class NearBox(ToolResult):
    """An object and its distance."""

    asked: str = Field(description="the name or kind that was asked about")
    name: str = Field(description="the object")
    distance_m: float = Field(description="between the closest points of the boxes")


class BoxNearest(ToolResult):
    """The nearest ones."""

    nearest: list[NearBox] = Field(description="the nearest first; the first 12")
    error_m: float = Field(description="how far off the distances may be")


def run(context: ToolContext, args: BoxNearestArgs) -> BoxNearest:
    """Measure all and sort.

    Raises:
        ToolError: there is no such box, or several, or nothing else to measure to.
    """
    boxes = boxes_in(context)
    box = box_named(boxes, args.to)
    others = [
        (asked, other)
        for asked, these in boxes_named(boxes, args.among, but=(box,)).items()
        for other in these
    ]
    far_m = distances_m(BoxArray.of([box] * len(others)), BoxArray.of([other for _, other in others]))
    least: dict[str, tuple[float, Box]] = {}
    for (asked, other), distance_m in zip(others, far_m.tolist(), strict=True):
        if asked not in least or distance_m < least[asked][0]:
            least[asked] = distance_m, other
    order = sorted(least, key=lambda asked: least[asked][0])
    rows = [
        NearBox(asked=asked, name=least[asked][1].name, distance_m=rounded(least[asked][0]))
        for asked in order[:MAX_ROWS]
    ]
    return BoxNearest(nearest=rows, error_m=ROUNDED_M)


def sketch(context: ToolContext, args: BoxNearestArgs, result: Result) -> Sketch:
    """The object, those that were found, and the line to the nearest."""
    rows = rows_in(result, "nearest")
    line = line_of(between(context, args.to, text_in(rows[0], "name"))) if rows else None
    summary = f"nearest to {args.to} → {rows_in_words(rows, 'distance_m', 'm')}"
    return drawn(summary, [line, outline(context, args.to, "asked"), *outlines(context, rows)])


box_nearest = Tool(
    name="box_nearest",
    description="List objects by their distance from one object, between closest points, nearest first.",
    args=BoxNearestArgs,
    run=run,
    sketch=sketch,
    needs=Boxes,
)
