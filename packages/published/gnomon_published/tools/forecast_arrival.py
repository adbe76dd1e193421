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

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from gnomon_published.passages.arrival import Departure, arrival, departure_marks
from gnomon_published.passages.camera_rows import CameraId, camera_rows
from gnomon_tools.core.marks import amount, dot_at, drawn, number_in, rows_in, some, span_of, text_in, xy_in
from gnomon_tools.core.scene_marks import (
    camera_dot,
    heading_arrow,
    location_name,
    measured,
    spot_of,
    way_lines,
)
from gnomon_tools.core.sketch import Mark, Result, Sketch
from gnomon_tools.core.tool import Tool, ToolContext, ToolResult


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


def sketch(context: ToolContext, args: ForecastArrivalArgs, result: Result) -> Sketch:
    """The departure, the way to each camera and when the target is in its view."""
    arrivals = rows_in(result, "arrivals")
    spans, marks, starts_s = [], departure_marks(context.scene, args), []
    for row in arrivals:
        camera, start_s, end_s = text_in(row, "camera"), number_in(row, "start_s"), number_in(row, "end_s")
        marks += _row_marks(context, args, row)
        errors_s = [number_in(row, "start_error_s") or 0.0, number_in(row, "end_error_s") or 0.0]
        spans.append(span_of(start_s, end_s, camera, error_s=max(errors_s)))
        if start_s is not None:
            starts_s.append((start_s - args.time_s, camera))
    first = "no forecast"
    if starts_s:
        after_s, camera = min(starts_s)
        unknown = len(arrivals) - len(starts_s)
        first = f"first {camera} after {amount(after_s, 's', signed=True)}" + (
            f", {unknown} without" if unknown else ""
        )
    start = args.seen_by or location_name(args.at)
    return drawn(
        f"from {start} to {some(args.cameras)} → {first}",
        marks,
        spans=spans,
        cameras=[args.seen_by or "", *args.cameras],
    )


def _row_marks(context: ToolContext, args: Departure, row: Mapping[str, Any]) -> list[Mark | None]:
    """The way to one camera, the point of its view and the direction there; or the camera as a problem."""
    camera, middle, start_s = (
        text_in(row, "camera"),
        xy_in(row, "middle_x_m", "middle_y_m"),
        number_in(row, "start_s"),
    )
    if start_s is None:
        why = f"{camera}: {text_in(row, 'problem') or 'no forecast'}"
        return [camera_dot(context.scene, camera, why, "problem")]
    target = context.scene.cameras.get(camera)
    spot = (middle, target.floor) if middle and target else None
    way = way_lines(context.scene, spot_of(context.scene, args.at), spot)
    after = f"{camera} {amount(start_s - args.time_s, 's', signed=True)}"
    label = measured(f"{after},", number_in(row, "distance_m")).rstrip(",")
    through = heading_arrow(context.scene, spot, number_in(row, "heading_deg"))
    return [*way, dot_at(middle, label, floor=spot[1] if spot else 0), through]


forecast_arrival = Tool(
    name="forecast_arrival",
    synonym="predict_passing",
    description=(
        "Forecast when a target that was last seen at a place, with a speed and heading, comes into the view"
        " of each of some cameras and when it leaves it, by the shortest way."
    ),
    args=ForecastArrivalArgs,
    run=run,
    sketch=sketch,
    example={
        "at": {"camera": "c1"},
        "time_s": 10.0,
        "speed_mps": 5.0,
        "heading_deg": 90.0,
        "seen_by": "c1",
        "cameras": ["c2", "c3", "c4"],
    },
)
