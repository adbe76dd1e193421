"""Distances, angles and sizes in a picture, in pixels.

Angles run clockwise from the right, as pictures do. `overlaps` are intersections over unions of neighbouring
boxes.

Error: `error_px` is twice `point_error_px`: both ends may be off.
"""

import itertools
import math
from typing import Annotated

from pydantic import Field

from gnomon_tools.core.array_args import Box, Pixels
from gnomon_tools.core.marks import amount, box_area, counted, drawn, line_of, number_in, rows_in, xys
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult

PointPx = Annotated[list[Pixels], Field(min_length=2, max_length=2)]


class MeasureImageArgs(ToolArgs):
    """What to measure; at least two points or one box."""

    points_px: list[PointPx] = Field(
        default=[], max_length=200, description="points [x, y], measured each to the next"
    )
    boxes_px: list[Box] = Field(default=[], max_length=50, description="boxes [x, y, width, height]")
    point_error_px: float = Field(default=1.0, ge=0, le=1e5, description="how far off a coordinate may be")


class BoxSize(ToolResult):
    """One box."""

    width_px: float
    height_px: float
    diagonal_px: float
    area_px2: float
    centre_px: list[float]
    foot_px: list[float] = Field(description="middle of the lower edge: where a target stands")


class ImageMeasures(ToolResult):
    """Everything in pixels; angles clockwise on the picture, from the right."""

    distances_px: list[float] = Field(description="from each point to the next")
    angles_deg: list[float] = Field(description="of each of these, clockwise from the right")
    length_px: float = Field(description="all distances added")
    boxes: list[BoxSize]
    centre_distances_px: list[float] = Field(description="from the centre of each box to that of the next")
    error_px: float = Field(description="how far off a distance or extent may be")
    overlaps: list[float] = Field(description="intersection over union of each box and the next")


def run(_: ToolContext, args: MeasureImageArgs) -> ImageMeasures:
    """Measure.

    Raises:
        ToolError: there is nothing to measure, or a box is empty.
    """
    if len(args.points_px) == 1 or not (args.points_px or args.boxes_px):
        raise ToolError("Give at least two points_px, or at least one box in boxes_px.")
    for number, (_x, _y, width, height) in enumerate(args.boxes_px):
        if min(width, height) <= 0:
            raise ToolError(f"Box {number} is empty; boxes are [x, y, width, height] with positive sizes.")
    steps = [(x2 - x1, y2 - y1) for (x1, y1), (x2, y2) in itertools.pairwise(args.points_px)]
    distances = [math.hypot(*step) for step in steps]
    sizes = [_size(box) for box in args.boxes_px]
    return ImageMeasures(
        distances_px=distances,
        angles_deg=[math.degrees(math.atan2(down, right)) % 360.0 for right, down in steps],
        length_px=math.fsum(distances),
        boxes=sizes,
        centre_distances_px=[
            math.dist(before.centre_px, after.centre_px) for before, after in itertools.pairwise(sizes)
        ],
        error_px=2 * args.point_error_px,
        overlaps=[overlap(before, after) for before, after in itertools.pairwise(args.boxes_px)],
    )


def overlap(first: list[float], second: list[float]) -> float:
    """Intersection over union of two boxes [x, y, width, height].

    >>> overlap([0, 0, 2, 2], [1, 0, 2, 2])
    0.3333333333333333
    """
    width = min(first[0] + first[2], second[0] + second[2]) - max(first[0], second[0])
    height = min(first[1] + first[3], second[1] + second[3]) - max(first[1], second[1])
    shared = max(width, 0.0) * max(height, 0.0)
    return shared / (first[2] * first[3] + second[2] * second[3] - shared)


def _size(box: list[float]) -> BoxSize:
    x, y, width, height = box
    return BoxSize(
        width_px=width,
        height_px=height,
        diagonal_px=math.hypot(width, height),
        area_px2=width * height,
        centre_px=[x + width / 2, y + height / 2],
        foot_px=[x + width / 2, y + height],
    )


def sketch(_: ToolContext, args: MeasureImageArgs, result: Result) -> Sketch:
    """The points and boxes in the picture with their sizes in pixels."""
    length = amount(number_in(result, "length_px"), "px")
    sizes = [
        f"{amount(number_in(row, 'width_px'), 'px')} × {amount(number_in(row, 'height_px'), 'px')}"
        for row in rows_in(result, "boxes")
    ]
    labels = [*sizes, *[""] * len(args.boxes_px)]
    boxes = [box_area(box, label) for box, label in zip(args.boxes_px, labels, strict=False)]
    answers = []
    if args.points_px:
        answers.append(f"{counted(len(args.points_px), 'point')} → {length}")
    if args.boxes_px:
        answers.append(f"{counted(len(args.boxes_px), 'box', 'boxes')} → {', '.join(sizes) or '?'}")
    return drawn("; ".join(answers), [line_of(xys(args.points_px), length, "asked"), *boxes], plane="picture")


measure_image = Tool(
    name="measure_image",
    description=(
        "Measure in a picture, in pixels: distances and angles from point to point; size, centre, foot point"
        " and overlap of boxes."
    ),
    args=MeasureImageArgs,
    run=run,
    sketch=sketch,
    needs=None,
    example={
        "points_px": [[0.0, 0.0], [30.0, 40.0]],
        "boxes_px": [[600.0, 300.0, 40.0, 60.0], [610.0, 310.0, 40.0, 80.0]],
    },
)
