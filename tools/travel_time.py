"""The time that the way between two locations takes at a given speed.

`basis` is `path` (along the network) or `straight` (the scene has none).

Error: `earliest_s` = (path − error) / (speed + speed error), `latest_s` = (path + error) / (speed − speed
error), left out where that speed may be zero. `error_m` is that of the length, as in `distance`.
"""

from typing import Literal

from pydantic import Field

from tools.core.location import Location
from tools.core.route import measure_route
from tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult


class TravelTimeArgs(ToolArgs):
    """From where to where, and how fast."""

    start: Location = Field(description="where the way starts: exactly one of camera, place, or x_m with y_m")
    end: Location = Field(description="where the way ends: exactly one of camera, place, or x_m with y_m")
    speed_mps: float = Field(ge=0.001, le=1000, description="speed in metres per second")
    speed_error_mps: float = Field(
        default=0.0, ge=0, le=1000, description="how far off the speed may be, in metres per second"
    )


class TravelTime(ToolResult):
    """Seconds, with the earliest and the latest."""

    seconds: float = Field(description="length of the way divided by the speed")
    earliest_s: float = Field(description="the shortest the way may be, at the highest speed")
    latest_s: float | None = Field(
        description="the longest the way may be, at the lowest speed; left out where that speed may be zero"
    )
    path_m: float = Field(description="length of the way")
    error_m: float = Field(description="how far off path_m may be, as in distance")
    basis: Literal["path", "straight"] = Field(
        description="path: along the network; straight: the scene has no network"
    )


def run(context: ToolContext, args: TravelTimeArgs) -> TravelTime:
    """Divide the way by the speed.

    Raises:
        ToolError: a location is not found, or no way joins the two.
    """
    found = measure_route(context.scene, args.start, args.end)
    path_m = found.path.length_m if found.path else found.straight_m
    slowest_mps = args.speed_mps - args.speed_error_mps
    return TravelTime(
        seconds=path_m / args.speed_mps,
        earliest_s=max(0.0, path_m - found.path_error_m) / (args.speed_mps + args.speed_error_mps),
        latest_s=(path_m + found.path_error_m) / slowest_mps if slowest_mps > 0 else None,
        path_m=path_m,
        error_m=found.path_error_m,
        basis="path" if found.path else "straight",
    )


travel_time = Tool(
    name="travel_time",
    description=(
        "Tell how many seconds the shortest way between two locations takes at a given speed, with the"
        " earliest and the latest arrival."
    ),
    args=TravelTimeArgs,
    run=run,
)
