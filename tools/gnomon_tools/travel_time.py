"""The time that the way between two locations takes at a given speed.

`basis` is `path` (along the network) or `straight` (the scene has none).

Error: `earliest_s` = (path − error) / (speed + speed error), `latest_s` = (path + error) / (speed − speed
error), left out where that speed may be zero. `error_m` is that of the length, as in `distance`.
"""

from typing import Literal

from pydantic import Field

from gnomon_tools.core.batch import Batch
from gnomon_tools.core.location import Location
from gnomon_tools.core.marks import amount, drawn, number_in, text_in
from gnomon_tools.core.route import measure_route
from gnomon_tools.core.scene_marks import location_dot, location_name, spot_of, straight_line, way_lines
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult


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
    route = measure_route(context.scene, args.start, args.end)
    path_m = route.path.length_m if route.path else route.straight_m
    slowest_mps = args.speed_mps - args.speed_error_mps
    return TravelTime(
        seconds=path_m / args.speed_mps,
        earliest_s=max(0.0, path_m - route.path_error_m) / (args.speed_mps + args.speed_error_mps),
        latest_s=(path_m + route.path_error_m) / slowest_mps if slowest_mps > 0 else None,
        path_m=path_m,
        error_m=route.path_error_m,
        basis="path" if route.path else "straight",
    )


def sketch(context: ToolContext, args: TravelTimeArgs, result: Result) -> Sketch:
    """Both locations and the way between them."""
    scene, start, end = context.scene, spot_of(context.scene, args.start), spot_of(context.scene, args.end)
    took = f"{amount(number_in(result, 'seconds'), 's')}, {amount(number_in(result, 'path_m'), 'm')}"
    is_straight = text_in(result, "basis") == "straight"
    way = [straight_line(start, end, took)] if is_straight else way_lines(scene, start, end, took)
    ends = f"{location_name(args.start)} to {location_name(args.end)}"
    return drawn(
        f"{ends} at {amount(args.speed_mps, 'm/s')} → {took}",
        [*way, location_dot(scene, args.start), location_dot(scene, args.end)],
        cameras=[args.start.camera or "", args.end.camera or ""],
    )


travel_time = Tool(
    name="travel_time",
    description=(
        "Tell how many seconds the shortest way between two locations takes at a given speed, with the"
        " earliest and the latest arrival."
    ),
    args=TravelTimeArgs,
    run=run,
    sketch=sketch,
    example={"start": {"camera": "c1"}, "end": {"camera": "c2"}, "speed_mps": 2.0},
    batch=Batch(
        takes={"start": "location", "end": "location", "speed_mps": "number", "speed_error_mps": "number"},
        gives={
            "seconds": "n; NaN where no way leads",
            "earliest_s": "n",
            "latest_s": "n; NaN where that speed may be zero",
            "path_m": "n: along the network; in a scene without one, straight",
            "error_m": "n",
        },
    ),
)
