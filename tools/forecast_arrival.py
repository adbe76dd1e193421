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

from typing import Literal

from pydantic import Field

from tools.core.arrival import Departure, arrival
from tools.core.camera_rows import CameraId, camera_rows
from tools.core.tool import Tool, ToolContext, ToolResult


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
    rows = camera_rows(CameraArrival, args.cameras, lambda camera: _row(context, args, camera))
    return ForecastArrival(arrivals=rows)


def _row(context: ToolContext, args: Departure, camera: str) -> CameraArrival:
    stay = arrival(context.scene, args, camera)
    return CameraArrival(
        camera=camera,
        start_s=stay.start_s,
        end_s=stay.end_s,
        start_error_s=stay.start_spread_s,
        end_error_s=stay.end_spread_s,
        distance_m=stay.distance_m,
        basis=stay.basis,
        middle_s=stay.middle_s,
        middle_x_m=stay.middle_m[0],
        middle_y_m=stay.middle_m[1],
        exit_x_m=stay.passage.exit_m[0],
        exit_y_m=stay.passage.exit_m[1],
        heading_deg=stay.passage.heading_deg,
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
