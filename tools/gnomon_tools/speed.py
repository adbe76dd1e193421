"""Speed from a distance and a time.

Error: the distance's error over the duration; the duration is taken as exact.
"""

from pydantic import Field

from gnomon_tools.core.batch import Batch
from gnomon_tools.core.marks import amount, drawn, number_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult

KMH = 3.6  # km/h in a metre per second


class SpeedArgs(ToolArgs):
    """How far, in what time."""

    distance_m: float = Field(ge=0, le=1e9, description="distance in metres")
    seconds: float = Field(ge=1e-6, le=1e9, description="duration in seconds")
    distance_error_m: float = Field(
        default=0.0, ge=0, le=1e9, description="how far off the distance may be, in metres"
    )


class Speed(ToolResult):
    """The mean speed."""

    speed_mps: float = Field(description="metres per second")
    kmh: float = Field(description="kilometres per hour")
    error_mps: float = Field(
        description="how far off speed_mps may be: the distance's error over the duration"
    )


def run(_: ToolContext, args: SpeedArgs) -> Speed:
    """Divide."""
    speed_mps = args.distance_m / args.seconds
    return Speed(speed_mps=speed_mps, kmh=speed_mps * KMH, error_mps=args.distance_error_m / args.seconds)


def sketch(_: ToolContext, args: SpeedArgs, result: Result) -> Sketch:
    """The speed in words."""
    way = f"{amount(args.distance_m, 'm')} in {amount(args.seconds, 's')}"
    speeds = f"{amount(number_in(result, 'speed_mps'), 'm/s')}, {amount(number_in(result, 'kmh'), 'km/h')}"
    return drawn(f"{way} → {speeds}")


speed = Tool(
    name="speed",
    synonym="rate_of_motion",
    description="Compute the mean speed over a distance in metres and a duration in seconds.",
    args=SpeedArgs,
    run=run,
    works_alone=True,
    sketch=sketch,
    batch=Batch(
        takes={"distance_m": "number", "seconds": "number", "distance_error_m": "number"},
        gives={"speed_mps": "as above", "kmh": "as above", "error_mps": "as above"},
    ),
    example={"distance_m": 105.0, "seconds": 75.0},
)
