"""When a target that was last seen somewhere comes into the views of cameras, and how long it stays.

The target takes the shortest way at an even pace. Through rooms it comes into view at the nearest edge and
stays for as long as the way to the view's middle, and straight on, is in view; an edge may lie as far out as
the view's error. `basis`:

- `overlap`: it is in that view already. With a track the stay is the track's longest stretch in the view,
  before it straight back and after it straight on; without one, where its straight line crosses the view. So
  `start_s` may lie before `time_s`, and `end_s` as well.
- `same_mast`: the view of another camera within 30 m takes over after 4 m that neither shows (a box at the
  picture's edge is cut), unless both look the same way or the target went away along the first one's axis.
- `transit`: it comes from elsewhere. Of stairs that lead to a view nothing is in view before their end; who
  leaves by them is in view for another 5 m.

`middle_s` is when it passes the view's middle, or the lane nearest to a street camera: forecast on from
there.

Error: positions, views and snapping over the speed, and the speed's error over the way. Waiting is not in it.
"""

from typing import Annotated, Literal

from pydantic import Field

from tools.core.arrival import Departure, arrival
from tools.core.tool import Tool, ToolContext, ToolError, ToolResult

CameraId = Annotated[str, Field(max_length=200)]


class ForecastArrivalArgs(Departure):
    """A departure, and the cameras to forecast for."""

    cameras: list[CameraId] = Field(
        min_length=1, max_length=20, description="ids of the cameras to forecast the arrival at"
    )


class CameraArrival(ToolResult):
    """One camera's forecast, or why there is none."""

    camera: str
    start_s: float | None = Field(description="when it comes into view, on the clock of time_s")
    end_s: float | None = Field(description="when it goes out of view")
    start_error_s: float | None = Field(
        description="how far off start_s may be: position errors at this speed, and the speed's error over"
        " the way; how long people stand or turn is not known"
    )
    end_error_s: float | None = Field(description="how far off end_s may be, likewise")
    distance_m: float | None = Field(description="way to the middle of the view; stairs count 1.75 times")
    basis: Literal["overlap", "same_mast", "transit"] | None = Field(
        description="overlap: it is in view at once; same_mast: a camera of the same crossing takes over;"
        " transit: it travels there"
    )
    middle_s: float | None = Field(
        description="when it passes the middle of the view, or the lane nearest to a street camera"
    )
    middle_x_m: float | None = Field(description="that point, east; forecast on from there")
    middle_y_m: float | None = Field(description="that point, north")
    exit_x_m: float | None = Field(description="where it leaves the view, east")
    exit_y_m: float | None = Field(description="where it leaves the view, north")
    heading_deg: float | None = Field(description="its direction through the view, clockwise from north")
    problem: str | None = Field(description="why there is no forecast")


class ForecastArrival(ToolResult):
    """Forecasts in the order of the cameras asked for."""

    arrivals: list[CameraArrival]


def run(context: ToolContext, args: ForecastArrivalArgs) -> ForecastArrival:
    """Forecast for each camera; a camera that cannot be forecast has a `problem`.

    Raises:
        ToolError: the departure's location or `seen_by` is not found, or no camera could be forecast.
    """
    rows = [_row(context, args, camera) for camera in args.cameras]
    if all(row.problem for row in rows):
        raise ToolError(rows[0].problem or "")
    return ForecastArrival(arrivals=rows)


def _row(context: ToolContext, args: Departure, camera: str) -> CameraArrival:
    unknown = dict.fromkeys(CameraArrival.model_fields)
    try:
        found = arrival(context.scene, args, camera)
    except ToolError as error:
        return CameraArrival.model_validate({**unknown, "camera": camera, "problem": str(error)})
    return CameraArrival(
        camera=camera,
        start_s=found.start_s,
        end_s=found.end_s,
        start_error_s=found.start_spread_s,
        end_error_s=found.end_spread_s,
        distance_m=found.distance_m,
        basis=found.basis,
        middle_s=found.middle_s,
        middle_x_m=found.middle_m[0],
        middle_y_m=found.middle_m[1],
        exit_x_m=found.passage.exit_m[0],
        exit_y_m=found.passage.exit_m[1],
        heading_deg=found.passage.heading_deg,
        problem=None,
    )


forecast_arrival = Tool(
    name="forecast_arrival",
    description=(
        "Forecast when a target that was last seen at a place, with a speed and heading, comes into the view"
        " of each of some cameras and when it leaves it, by the shortest way."
    ),
    args=ForecastArrivalArgs,
    run=run,
)
