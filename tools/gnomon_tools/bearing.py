"""The compass direction from one location to another.

The bearing on the scene's plane: atan2(east, north). Two locations at the same point have none.

Error: asin((error of start + error of end) / distance), and in an anchored scene by how much the plane's
north differs from true north along this line. 180 means that nothing is known.
"""

import math

from pydantic import Field

from gnomon_tools.core.batch import Batch
from gnomon_tools.core.location import Location, Position, locate
from gnomon_tools.core.marks import amount, arrow_at, drawn, number_in, text_in
from gnomon_tools.core.scene_marks import location_dot, location_name
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.geometry.angles import bearing_deg, compass, turn_deg
from gnomon_tools.scene.frame import Frame


class BearingArgs(ToolArgs):
    """From where to where."""

    start: Location = Field(description="where to look from: exactly one of camera, place, or x_m with y_m")
    end: Location = Field(description="where to look to: exactly one of camera, place, or x_m with y_m")


class Bearing(ToolResult):
    """A compass direction."""

    bearing_deg: float = Field(description="clockwise from the scene's north, 0 to 360")
    compass: str = Field(description="nearest of the 16 compass points")
    error_deg: float = Field(
        description="how far off bearing_deg may be: the angle both position errors span at this distance,"
        " and in an anchored scene the difference between the scene's and true north; 180 is no knowledge"
    )


def run(context: ToolContext, args: BearingArgs) -> Bearing:
    """Take the bearing on the scene's plane; floors play no part.

    Raises:
        ToolError: a location is not found, or the two coincide.
    """
    start, end = locate(context.scene, args.start), locate(context.scene, args.end)
    if start.xy_m == end.xy_m:
        raise ToolError("The start and the end are the same point, so there is no direction between them.")
    angle_deg = bearing_deg(start.xy_m, end.xy_m)
    return Bearing(
        bearing_deg=angle_deg,
        compass=compass(angle_deg, 16),
        error_deg=_error_deg(context.scene.frame, start, end, angle_deg),
    )


def _error_deg(frame: Frame, start: Position, end: Position, angle_deg: float) -> float:
    off_m, apart_m = start.error_m + end.error_m, math.dist(start.xy_m, end.xy_m)
    if off_m >= apart_m:
        return 180.0
    true_deg = frame.geodesic(start.xy_m, end.xy_m)[1] if frame.anchored else angle_deg
    return min(180.0, math.degrees(math.asin(off_m / apart_m)) + abs(turn_deg(true_deg, angle_deg)))


def sketch(context: ToolContext, args: BearingArgs, result: Result) -> Sketch:
    """The two locations and an arrow into the direction, as long as they are apart."""
    start, end = location_dot(context.scene, args.start), location_dot(context.scene, args.end)
    angle_deg, point = number_in(result, "bearing_deg"), text_in(result, "compass")
    direction = None
    if start and end:
        label = f"{amount(angle_deg, '°')} {point}"
        apart_m = math.dist(start.at, end.at)
        direction = arrow_at(start.at, angle_deg, apart_m, label, floor=start.floor)
    ends = f"{location_name(args.start)} to {location_name(args.end)}"
    summary = f"{ends} → {amount(angle_deg, '°')}, {point}"
    return drawn(summary, [start, end, direction], cameras=[args.start.camera or "", args.end.camera or ""])


bearing = Tool(
    name="bearing",
    synonym="compass_direction",
    description="Tell the compass direction, in degrees clockwise from north, from one location to another.",
    args=BearingArgs,
    run=run,
    sketch=sketch,
    batch=Batch(
        takes={"start": "location", "end": "location"},
        gives={"bearing_deg": "as above; NaN where both are the same point", "error_deg": "as above"},
    ),
    example={"start": {"camera": "c1"}, "end": {"camera": "c2"}},
)
