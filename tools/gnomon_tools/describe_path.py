"""A path in words: straight stretches and turns, simplified by Ramer, Douglas and Peucker.

The path seen from above is simplified by Ramer, Douglas and Peucker (1972, 1973); turns below 10° are left
out.

Error: `error_m` is the tolerance: no position is further from the described line.
"""

from pydantic import Field

from gnomon_tools.core.array_args import MAX_POSITIONS, PositionM, checked_positions
from gnomon_tools.core.marks import counted, drawn, line_of, text_in, xys
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.geometry.polyline import in_words, legs_of


class DescribePathArgs(ToolArgs):
    """The path, and how closely to follow it."""

    positions_m: list[PositionM] = Field(
        min_length=2, max_length=MAX_POSITIONS, description="positions [x, y] or [x, y, z] in order, z up"
    )
    tolerance_m: float = Field(
        gt=0, le=1e6, description="bends that stay within so many metres of a straight line are not told"
    )


class ToldLeg(ToolResult):
    """A turn (left positive, 0 for the first leg), then a straight stretch."""

    turn_deg: float
    length_m: float


class PathInWords(ToolResult):
    """The path seen from above; height is left out."""

    words: str
    legs: list[ToldLeg]
    error_m: float = Field(description="no position is further than this from the told line")


def run(_: ToolContext, args: DescribePathArgs) -> PathInWords:
    """Tell.

    Raises:
        ToolError: some positions have two coordinates and others three.
    """
    legs = legs_of(checked_positions(args.positions_m)[:, :2], args.tolerance_m)
    described = [ToldLeg(turn_deg=leg.turn_deg, length_m=leg.length_m) for leg in legs]
    return PathInWords(words=in_words(legs), legs=described, error_m=args.tolerance_m)


def sketch(_: ToolContext, args: DescribePathArgs, result: Result) -> Sketch:
    """The path seen from above; its words are the summary."""
    path = line_of(xys(args.positions_m), text_in(result, "words"), "asked", has_arrow=True)
    return drawn(f"{counted(len(args.positions_m), 'position')} → {text_in(result, 'words') or '?'}", [path])


describe_path = Tool(
    name="describe_path",
    description=(
        "Tell a path of positions in words: straight stretches in metres with the turns between them in"
        " degrees, left or right."
    ),
    args=DescribePathArgs,
    run=run,
    sketch=sketch,
    needs=None,
    example={"positions_m": [[0.0, 0.0], [30.0, 0.0], [30.0, 20.0]], "tolerance_m": 1.0},
)
