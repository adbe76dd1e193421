"""Displacement, path length, speed and acceleration of positions over time.

Equations 6 to 8 of STI-Bench's appendix: displacement is the straight distance from first to last, path
length the sum over steps, a step's speed its length over its duration, an acceleration the change of that
speed over the later step. Headings are seen from above, counter-clockwise from x.

Error: `error_m` is twice `position_error_m`, for the displacement; the path adds as much for each step.
"""

import math

import numpy as np
from pydantic import Field

from gnomon_tools.core.array_args import MAX_POSITIONS, PositionM, Seconds, checked_positions, checked_times
from gnomon_tools.core.marks import amount, counted, dot_at, drawn, line_of, number_in, span_of, xys
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.geometry.kinematics import (
    accelerations_mps2,
    displacement_m,
    path_length_m,
    speeds_mps,
    step_lengths_m,
)
from gnomon_tools.geometry.polyline import turn_between


class MeasureMotionArgs(ToolArgs):
    """Where it was, and when."""

    positions_m: list[PositionM] = Field(
        min_length=2, max_length=MAX_POSITIONS, description="positions [x, y] or [x, y, z] in metres, z up"
    )
    times_s: list[Seconds] = Field(
        min_length=2, max_length=MAX_POSITIONS, description="when each was reached, rising"
    )
    position_error_m: float = Field(default=0.0, ge=0, le=1e6, description="how far off each may be")


class Motion(ToolResult):
    """By equations 6 to 8 of STI-Bench's appendix; headings seen from above, counter-clockwise from x."""

    displacement_m: float = Field(description="straight from the first position to the last")
    path_length_m: float = Field(description="from each to the next, added")
    duration_s: float
    average_speed_mps: float = Field(description="path length over duration")
    average_velocity_mps: float = Field(description="displacement over duration")
    speeds_mps: list[float] = Field(description="of each step")
    accelerations_mps2: list[float] = Field(description="change of speed at each step but the first")
    average_acceleration_mps2: float | None = Field(
        description="last step's speed less the first's, over the time between them; needs three positions"
    )
    first_heading_deg: float | None = Field(description="direction of the first step that goes anywhere")
    last_heading_deg: float | None
    heading_change_deg: float | None = Field(description="from the first heading to the last, left positive")
    error_m: float = Field(description="of displacement_m; path_length_m may be off by that for each step")


def run(_: ToolContext, args: MeasureMotionArgs) -> Motion:
    """Measure.

    Raises:
        ToolError: positions differ in size, or times do not fit them or do not rise.
    """
    positions = checked_positions(args.positions_m)
    times = checked_times(args.times_s, len(positions))
    duration_s, path_m, straight_m = (
        float(times[-1] - times[0]),
        path_length_m(positions),
        displacement_m(positions),
    )
    speeds = speeds_mps(positions, times)
    steps = np.diff(positions[:, :2], axis=0)[step_lengths_m(positions[:, :2]) > 0]
    return Motion(
        displacement_m=straight_m,
        path_length_m=path_m,
        duration_s=duration_s,
        average_speed_mps=path_m / duration_s,
        average_velocity_mps=straight_m / duration_s,
        speeds_mps=speeds.tolist(),
        accelerations_mps2=accelerations_mps2(positions, times).tolist(),
        average_acceleration_mps2=(
            float((speeds[-1] - speeds[0]) / (times[-1] - times[1])) if len(speeds) > 1 else None
        ),
        first_heading_deg=_heading_deg(steps[0]) if len(steps) else None,
        last_heading_deg=_heading_deg(steps[-1]) if len(steps) else None,
        heading_change_deg=turn_between(steps[0], steps[-1]) if len(steps) else None,
        error_m=2 * args.position_error_m,
    )


def _heading_deg(step: np.ndarray) -> float:
    return math.degrees(math.atan2(step[1], step[0]))


def sketch(_: ToolContext, args: MeasureMotionArgs, result: Result) -> Sketch:
    """The track seen from above with its times, and its displacement."""
    track, path = xys(args.positions_m), amount(number_in(result, "path_length_m"), "m")
    straight_m, speed_mps = number_in(result, "displacement_m"), number_in(result, "average_speed_mps")
    marks = [
        line_of(
            track, f"{path} at {amount(speed_mps, 'm/s')}", "asked", times_s=args.times_s, has_arrow=True
        ),
        line_of([track[0], track[-1]], f"straight {amount(straight_m, 'm')}", is_dashed=True),
        dot_at(track[-1], radius_m=number_in(result, "error_m")),
    ]
    summary = f"{counted(len(track), 'position')} → {path} at {amount(speed_mps, 'm/s')} on average"
    return drawn(summary, marks, spans=[span_of(args.times_s[0], args.times_s[-1], "track", "asked")])


measure_motion = Tool(
    name="measure_motion",
    description=(
        "From positions over time, compute displacement, path length, average and stepwise speed,"
        " acceleration and change of heading."
    ),
    args=MeasureMotionArgs,
    run=run,
    sketch=sketch,
    needs=None,
    example={"positions_m": [[0.0, 0.0, 1.0], [30.0, 0.0, 2.0]], "times_s": [0.0, 3.0]},
)
