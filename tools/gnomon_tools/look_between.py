"""A denser row of frames between two times.

Gives frames at evenly spaced times, both ends included, at most 512 px each. Where the clip has fewer frames,
each is shown once.

Error: `error_s` is the largest of the frames.
"""

from pydantic import Field

from gnomon_tools.core.clip import Footage
from gnomon_tools.core.frames import ClipSeconds, Look, facts_of, look, look_sketch
from gnomon_tools.core.marks import amount, span_of
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError

MAX_FRAMES = 16
MAX_SIDE_PX = 512


class LookBetweenArgs(ToolArgs):
    """From when to when, and how densely."""

    start_s: ClipSeconds = Field(description="seconds from the start of the clip")
    end_s: ClipSeconds = Field(description="later than start_s; the end of the clip, if it is after that")
    frames: int = Field(default=8, ge=2, le=MAX_FRAMES, description="how many, the first and last included")


def run(context: ToolContext, args: LookBetweenArgs) -> Look:
    """Look at evenly spaced times; where the clip has fewer frames, each is shown once.

    Raises:
        ToolError: there is no readable clip, or the times are not in order within it.
    """
    facts = facts_of(context)
    if args.start_s >= args.end_s:
        raise ToolError(f"start_s {args.start_s:g} must lie before end_s {args.end_s:g}.")
    if args.start_s > facts.seconds:
        raise ToolError(f"start_s {args.start_s:g} is after the end; the clip lasts {facts.seconds:.2f} s.")
    end_s = min(args.end_s, facts.seconds)
    step_s = (end_s - args.start_s) / (args.frames - 1)
    times_s = [args.start_s + step * step_s for step in range(args.frames - 1)]
    return look(context, [*times_s, end_s], facts=facts, max_side_px=MAX_SIDE_PX)


def sketch(_: ToolContext, args: LookBetweenArgs, result: Result) -> Sketch:
    """The stretch asked for and the times of the frames, on the clip's clock."""
    question = f"{amount(args.start_s, 's')} to {amount(args.end_s, 's')}"
    return look_sketch(question, span_of(args.start_s, args.end_s, "asked", "asked"), result)


look_between = Tool(
    name="look_between",
    description=(
        f"Look at 2 to {MAX_FRAMES} frames of the clip, evenly spaced between two times, smaller"
        f" (at most {MAX_SIDE_PX} pixels) but denser than those of the question."
    ),
    args=LookBetweenArgs,
    run=run,
    sketch=sketch,
    needs=Footage,
    example={"start_s": 1.0, "end_s": 2.0, "frames": 4},
)
