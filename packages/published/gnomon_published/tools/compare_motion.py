"""How well movements described in words fit a movement that was measured or predicted.

Reads compass words with metres and metres per second, part by part («then», «finally», «before», «, and»); a
part without a direction goes on in the one before.

Error: `error_m` is the distance between the ends of the described and the given displacement.
"""

import math
from typing import Annotated

from pydantic import Field

from gnomon_published.passages.motion_text import displacement_m, duration_s, parse_segments
from gnomon_tools.core.marks import amount, counted, drawn, number_in, rows_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult

Text = Annotated[str, Field(max_length=2000)]
Offset = Annotated[float, Field(ge=-1e6, le=1e6)]


class CompareMotionArgs(ToolArgs):
    """The tellings, and what they should fit."""

    texts: list[Text] = Field(
        min_length=1, max_length=12, description="movements in words, such as «east at 1.2 m/s for 8 meters»"
    )
    east_m: Offset = Field(description="the movement's displacement to the east; negative is west")
    north_m: Offset = Field(description="the movement's displacement to the north; negative is south")
    length_m: float | None = Field(
        default=None, gt=0, le=1e6, description="length of the whole movement, if known"
    )
    seconds: float | None = Field(default=None, gt=0, le=1e6, description="duration, if known")


class ToldStretch(ToolResult):
    """A straight part of a telling."""

    heading_deg: float
    length_m: float
    speed_mps: float | None


class Comparison(ToolResult):
    """One telling against the movement; what cannot be compared is left out."""

    stretches: list[ToldStretch] = Field(description="what was understood, in order; empty: nothing")
    told_m: float | None = Field(description="told length")
    told_s: float | None = Field(description="told duration, if every part tells a speed")
    direction_cosine: float | None = Field(
        description="cosine of the angle between both displacements: 1 is the same direction, -1 the opposite"
    )
    length_ratio: float | None = Field(description="told length by length_m")
    duration_ratio: float | None = Field(description="told duration by seconds")
    error_m: float | None = Field(
        description="distance between the ends of both displacements: how far off the telling is"
    )


class CompareMotion(ToolResult):
    """One comparison a text, in their order."""

    comparisons: list[Comparison]


def run(_: ToolContext, args: CompareMotionArgs) -> CompareMotion:
    """Read each text and compare.

    Raises:
        ToolError: no text holds a direction with a length.
    """
    rows = [_row(args, text) for text in args.texts]
    if not any(row.stretches for row in rows):
        raise ToolError(
            "No text tells a compass direction with a length in metres, such as «east for 8 meters»."
        )
    return CompareMotion(comparisons=rows)


def _row(args: CompareMotionArgs, text: str) -> Comparison:
    parts = parse_segments(text)
    if not parts:
        return Comparison.model_validate({**dict.fromkeys(Comparison.model_fields), "stretches": []})
    described, measured = displacement_m(parts), (args.east_m, args.north_m)
    told_m, told_s = math.fsum(part.length_m for part in parts), duration_s(parts)
    both = math.hypot(*described) * math.hypot(*measured)
    return Comparison(
        stretches=[
            ToldStretch(heading_deg=part.heading_deg, length_m=part.length_m, speed_mps=part.speed_mps)
            for part in parts
        ],
        told_m=told_m,
        told_s=told_s,
        direction_cosine=(described[0] * measured[0] + described[1] * measured[1]) / both if both else None,
        length_ratio=told_m / args.length_m if args.length_m else None,
        duration_ratio=told_s / args.seconds if args.seconds and told_s is not None else None,
        error_m=math.dist(described, measured),
    )


def sketch(_: ToolContext, args: CompareMotionArgs, result: Result) -> Sketch:
    """Which telling fits best, in words: a displacement has no place on a map."""
    errors_m = [number_in(row, "error_m") for row in rows_in(result, "comparisons")]
    nearest = min(
        ((error_m, index) for index, error_m in enumerate(errors_m, 1) if error_m is not None), default=None
    )
    best = (
        f"number {nearest[1]} is nearest, {amount(nearest[0], 'm')} off"
        if nearest
        else "none can be compared"
    )
    return drawn(f"{counted(len(args.texts), 'movement')} in words → {best}")


compare_motion = Tool(
    name="compare_motion",
    synonym="match_descriptions",
    description=(
        "Read movements told in words (compass directions, metres, m/s) and compare each with a displacement,"
        " length and duration: direction, ratios, and how far off it ends."
    ),
    args=CompareMotionArgs,
    run=run,
    works_alone=True,
    sketch=sketch,
    example={"texts": ["east at 1.2 m/s for 8 meters", "north for 8 meters"], "east_m": 9.0, "north_m": 1.0},
)
