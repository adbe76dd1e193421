"""When a target passed cameras between two sightings, at an even pace on the shortest way by each.

From the last point before to the first after at an even pace, by the shortest way that touches the view. The
tracks themselves count as well: a stay may begin before the gap and end after it. The part of the way in the
view of `seen_by` is behind the target, where no homography or only stairs give its place there; between two
cameras of one mast a stay lies within the gap, less 4 m on either side. `east_m`, `north_m` and `length_m`
are those of the stay. Through a presumed view, or one that is only touched, the gap's pace holds if it lies
within twice `speed_error_mps` of `speed_mps`, else `speed_mps` does: the target waited elsewhere, or views
overlap.

Error: the view's error and the distance from the network, at the pace of the gap; not more than the gap.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any

from pydantic import Field

from gnomon_published.passages.arrival import view_in
from gnomon_published.passages.camera_rows import CameraId, camera_rows
from gnomon_published.passages.view_crossing import Unreachable
from gnomon_published.passages.view_interval import TargetTrack, interval_in_view
from gnomon_tools.core.array_args import Seconds
from gnomon_tools.core.location import find_camera
from gnomon_tools.core.marks import (
    amount,
    dot_at,
    drawn,
    line_of,
    number_in,
    rows_in,
    some,
    span_of,
    text_in,
    xys,
)
from gnomon_tools.core.scene_marks import camera_dot, measured, way_lines
from gnomon_tools.core.sketch import Mark, Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.geometry.camera_view import view_of_camera

Coordinate = Annotated[float, Field(ge=-1e6, le=1e6)]
XY = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]


class TimedTrack(ToolArgs):
    """Where a target was when it was seen; one point will do, all points tell more."""

    floor: int = Field(default=0, ge=-1000, le=1000, description="floor of the points")
    points_m: list[XY] = Field(
        min_length=1,
        max_length=1000,
        description="[x, y] in metres, rising in time, as project_track gives them",
    )
    times_s: list[Seconds] = Field(
        min_length=1, max_length=1000, description="time of each point in seconds on one clock, rising"
    )
    seen_by: CameraId | None = Field(
        default=None,
        description="id of the camera that saw it: where it has no homography, the gap begins or ends at the"
        " edge of its view",
    )


class InterpolateArgs(ToolArgs):
    """Two sightings and the cameras in between."""

    before: TimedTrack = Field(description="the sighting before the gap")
    after: TimedTrack = Field(description="the sighting after it, on the same clock")
    via: list[CameraId] = Field(
        min_length=1, max_length=20, description="ids of cameras, each taken alone as the one passed between"
    )
    speed_mps: float = Field(ge=0.05, le=100, description="the target's usual speed in metres per second")
    speed_error_mps: float = Field(
        default=0.0,
        ge=0,
        le=100,
        description="its standard deviation: a pace of the gap within twice that is believed",
    )


class Via(ToolResult):
    """A passage by one camera; what is unknown is left out."""

    camera: str
    enters_s: float | None = Field(description="when it came into that view, on the clock of the tracks")
    leaves_s: float | None = Field(description="when it left the view")
    error_s: float | None = Field(
        description="how far off both may be: the errors of view and network, at this pace"
    )
    way_m: float | None = Field(description="the whole way by this camera; stairs count 1.75 times")
    detour_m: float | None = Field(
        description="by how much the way by the middle of its view is longer than the direct one"
    )
    speed_mps: float | None = Field(description="pace that the whole way needs")
    east_m: float | None = Field(description="displacement to the east while in view")
    north_m: float | None = Field(description="displacement to the north while in view")
    length_m: float | None = Field(description="way while in view")
    problem: str | None = Field(description="why nothing is known")


class Interpolation(ToolResult):
    """The cameras, the smallest detour first."""

    passages: list[Via]


def run(context: ToolContext, args: InterpolateArgs) -> Interpolation:
    """Go from the last point before to the first after, by each camera.

    Raises:
        ToolError: points and times do not go together, times do not rise, or no camera can be judged.
    """
    before, after = (
        _track(context, timed, name) for timed, name in ((args.before, "before"), (args.after, "after"))
    )
    if after.times_s[0] <= before.times_s[-1]:
        raise ToolError(
            f"after must begin later than before ends, but {after.times_s[0]:g} s is not after"
            f" {before.times_s[-1]:g} s."
        )
    rows = camera_rows(Via, args.via, lambda camera: _via(context, args, before, after, camera))
    rows.sort(key=lambda row: (row.detour_m is None, row.detour_m or 0.0))
    return Interpolation(passages=rows)


def _track(context: ToolContext, timed: TimedTrack, name: str) -> TargetTrack:
    if len(timed.points_m) != len(timed.times_s):
        raise ToolError(f"{name} has {len(timed.points_m)} points but {len(timed.times_s)} times.")
    if any(later <= earlier for earlier, later in pairwise(timed.times_s)):
        raise ToolError(f"The times_s of {name} must rise strictly.")
    return TargetTrack(
        floor=timed.floor,
        points_m=[(x_m, y_m) for x_m, y_m in timed.points_m],
        times_s=timed.times_s,
        camera=find_camera(context.scene, timed.seen_by) if timed.seen_by else None,
    )


def _via(
    context: ToolContext, args: InterpolateArgs, before: TargetTrack, after: TargetTrack, name: str
) -> Via:
    camera = find_camera(context.scene, name)
    view, spread_mps = view_in(context.scene, camera), 2 * args.speed_error_mps
    speeds = (args.speed_mps, args.speed_mps - spread_mps, args.speed_mps + spread_mps)
    try:
        interval = interval_in_view(context.scene, before, after, camera, view, speeds)
    except Unreachable:
        raise ToolError(f"No way leads by what {name!r} sees.") from None
    gap_s = after.times_s[0] - before.times_s[-1]
    return Via(
        camera=name,
        enters_s=interval.enters_s,
        leaves_s=interval.leaves_s,
        error_s=gap_s * min(1.0, interval.error_m / max(interval.way_m, 1e-6)),
        way_m=interval.way_m,
        detour_m=interval.detour_m,
        speed_mps=interval.way_m / gap_s,
        east_m=interval.exit_m[0] - interval.entry_m[0],
        north_m=interval.exit_m[1] - interval.entry_m[1],
        length_m=interval.length_m,
        problem=None,
    )


def sketch(context: ToolContext, args: InterpolateArgs, result: Result) -> Sketch:
    """Both sightings, the way by each camera and when the target was in its view."""
    marks: list[Mark | None] = []
    spans = []
    for timed in (args.before, args.after):
        name, track = timed.seen_by or "", xys(timed.points_m)
        marks.append(line_of(track, name, "asked", floor=timed.floor, times_s=timed.times_s, has_arrow=True))
        marks.append(dot_at(track[-1], name, "asked", floor=timed.floor))
        spans.append(span_of(timed.times_s[0], timed.times_s[-1], name, "asked"))
    passages = rows_in(result, "passages")
    for row in passages:
        camera, error_s = text_in(row, "camera"), number_in(row, "error_s")
        spans.append(span_of(number_in(row, "enters_s"), number_in(row, "leaves_s"), camera, error_s=error_s))
        marks += _way_marks(context, args, row)
    least = "nothing"
    if passages:
        detour = amount(number_in(passages[0], "detour_m"), "m")
        least = f"{text_in(passages[0], 'camera')} {_after(args, passages[0])}, detour {detour}"
    ends = f"{args.before.seen_by or 'before'} to {args.after.seen_by or 'after'}"
    cameras = [args.before.seen_by or "", args.after.seen_by or "", *args.via]
    return drawn(f"{ends} by {some(args.via)} → {least}", marks, spans=spans, cameras=cameras)


def _after(args: InterpolateArgs, row: Mapping[str, Any]) -> str:
    """How long after the first sighting the target came into a view."""
    enters_s = number_in(row, "enters_s")
    return "" if enters_s is None else amount(enters_s - args.before.times_s[-1], "s", signed=True)


def _way_marks(context: ToolContext, args: InterpolateArgs, row: Mapping[str, Any]) -> list[Mark | None]:
    """The way by one camera, over the middle of its view; or the camera as a problem."""
    name, way_m = text_in(row, "camera"), number_in(row, "way_m")
    if way_m is None:
        return [camera_dot(context.scene, name, f"{name}: {text_in(row, 'problem') or 'nothing'}", "problem")]
    camera = context.scene.cameras.get(name)
    view = view_of_camera(context.scene, camera) if camera else None
    middle = (view.aim_m, camera.floor) if camera and view else None
    [start], [end] = xys(args.before.points_m[-1:]), xys(args.after.points_m[:1])
    to_view = way_lines(context.scene, (start, args.before.floor), middle, measured(f"by {name}", way_m))
    onward = way_lines(context.scene, middle, (end, args.after.floor))
    label = f"{name} {_after(args, row)}".strip()
    return [*to_view, *onward, dot_at(middle[0], label, floor=middle[1]) if middle else None]


interpolate = Tool(
    name="interpolate",
    synonym="passing_between",
    description=(
        "Between two sightings, tell for each of some cameras how long the way by it is, when the target was"
        " in its view at an even pace, and how it moved there."
    ),
    args=InterpolateArgs,
    run=run,
    sketch=sketch,
    example={
        "before": {"points_m": [[-80.0, 0.0], [-60.0, 0.0]], "times_s": [0.0, 4.0], "seen_by": "c1"},
        "after": {"points_m": [[110.0, 0.0], [120.0, 0.0]], "times_s": [40.0, 42.0]},
        "via": ["c2", "c4"],
        "speed_mps": 5.0,
    },
)
