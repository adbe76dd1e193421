"""The floor track of a target from its boxes in a calibrated camera's picture.

The middle of each box's lower edge goes through the camera's homography. `speed_mps` is the length of the
line through all points over the duration (noise makes it longer, never shorter); `heading_deg` points from
the first to the last. `outside_image` counts foot points outside the picture: they are projected all the
same. Foot points on or beyond the horizon are refused.

Error: a foot point is taken to be off by 2 px and 1.5 % of its box's height, in both directions. The Jacobian
of the homography carries that to the floor (first order; Hartley & Zisserman 2004, chapter 5): `error_m` is
the largest root-mean-square error of all points. `speed_error_mps` and `heading_error_deg` come from the
errors of the first and the last point, which are independent and so added as squares.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from pydantic import Field

from gnomon_published.homography import HorizonError, Pixel, sensitivity_at, to_ground
from gnomon_tools.core.array_args import Box, Seconds, checked_boxes
from gnomon_tools.core.batch import BadColumn, Batch
from gnomon_tools.core.location import find_camera, listed
from gnomon_tools.core.marks import (
    amount,
    counted,
    dot_at,
    drawn,
    floor_of,
    line_of,
    number_in,
    points_in,
    span_of,
    text_in,
)
from gnomon_tools.core.scene_marks import camera_dot
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.geometry.angles import bearing_deg, compass
from gnomon_tools.scene.scene import Camera, Scene

Array = NDArray[np.float64]

# How well a detector's box marks the foot point: a share of the box's height, and a floor of two pixels.
FOOT_ERROR_SHARE = 0.015
FOOT_ERROR_PX = 2.0


class ProjectTrackArgs(ToolArgs):
    """A track in one camera."""

    camera: str = Field(max_length=200, description="id of the camera that recorded the boxes")
    boxes: list[Box] = Field(
        min_length=1,
        max_length=1000,
        description="boxes [x, y, width, height] in pixels, x and y of the upper left corner, rising in time",
    )
    times_s: list[Seconds] = Field(
        min_length=1, max_length=1000, description="time of each box in seconds, rising, from any start"
    )


class Track(ToolResult):
    """The track on the floor."""

    camera: str
    floor: int
    points_m: list[tuple[float, float]] = Field(description="foot point [x, y] of each box, in metres")
    zones: list[str] | None = Field(
        description="ids of the zones that the points lie in, in the order of the track; left out where there"
        " are none"
    )
    length_m: float = Field(description="length of the line through the points")
    displacement_m: float = Field(description="from the first point to the last, straight")
    duration_s: float = Field(description="from the first box to the last")
    speed_mps: float | None = Field(description="length_m by duration_s; left out for a single box")
    speed_error_mps: float | None = Field(
        description="how far off speed_mps may be: the errors of the first and last point, added as squares,"
        " over the duration"
    )
    heading_deg: float | None = Field(
        description="direction from the first point to the last, clockwise from north; left out where they"
        " coincide"
    )
    compass: str | None = Field(description="nearest of the 16 compass points")
    heading_error_deg: float | None = Field(
        description="how far off heading_deg may be: the angle that the same errors span; 180 is no knowledge"
    )
    outside_image: int | None = Field(
        description="how many foot points lie outside the picture, where its size is known"
    )
    error_m: float = Field(
        description="root-mean-square error of the worst point: 2 px and 1.5 % of its box's height, carried"
        " through the homography; errors of the homography itself are not known"
    )


def run(context: ToolContext, args: ProjectTrackArgs) -> Track:
    """Project the middle of each box's lower edge.

    Raises:
        ToolError: the camera does not exist or has no homography, times do not rise, boxes are empty,
            or a foot point is on or beyond the horizon.
    """
    camera = find_camera(context.scene, args.camera)
    if camera.homography is None:
        raise ToolError(_uncalibrated(context.scene, camera))
    boxes = checked_boxes(args.boxes, args.times_s)
    feet_px = np.column_stack([boxes[:, 0] + boxes[:, 2] / 2, boxes[:, 1] + boxes[:, 3]])
    points_m = _on_floor(camera, camera.homography, feet_px)
    errors_m = _errors_m(camera.homography, boxes, feet_px, points_m)
    zones = _zones(context.scene, camera.floor, points_m)
    duration_s = args.times_s[-1] - args.times_s[0]
    return _track(camera, points_m, errors_m, zones=zones, duration_s=duration_s, feet_px=feet_px)


def _uncalibrated(scene: Scene, camera: Camera) -> str:
    calibrated = [each.id for each in scene.cameras.values() if each.homography is not None]
    return f"Camera {camera.id!r} has no homography. Cameras that have one: {listed(calibrated)}."


def _errors_m(homography: Array, boxes: Array, feet_px: Array, points_m: Array) -> Array:
    foot_error_px = FOOT_ERROR_PX + FOOT_ERROR_SHARE * boxes[:, 3]
    return np.asarray(foot_error_px * sensitivity_at(homography, feet_px, points_m), dtype=float)


class Foot(NamedTuple):
    """Where one box stands on the floor."""

    x_m: float
    y_m: float
    error_m: float


def feet(context: ToolContext, args: ProjectTrackArgs) -> list[Foot]:
    """Where a single box stands.

    Raises:
        BadColumn: the camera has no homography, or the box is empty.
        ToolError: its foot point is on or beyond the horizon.
    """
    camera = find_camera(context.scene, args.camera)
    if camera.homography is None:
        raise BadColumn(_uncalibrated(context.scene, camera), column="camera")
    try:
        checked_boxes(args.boxes, args.times_s)
    except ToolError as error:
        raise BadColumn(str(error), column="boxes") from None
    track = run(context, args)
    return [Foot(*track.points_m[0], track.error_m)]


def _zones(scene: Scene, floor: int, points_m: Array) -> list[str] | None:
    here = [zone for zone in scene.zones.values() if zone.floor == floor]
    feet = [shapely.Point(*point) for point in points_m]
    inside = [next((zone.id for zone in here if zone.area.covers(foot)), None) for foot in feet]
    return [zone for zone, _ in itertools.groupby(inside) if zone is not None] if here else None


def _ground_pixel(camera: Camera) -> Pixel | None:
    # The lower edge of an upright picture shows the floor: in 180 of 180 real indoor clips its side of the
    # horizon is that of every foot point.
    size = camera.image_size
    return (size[0] / 2, float(size[1])) if size else None


def _on_floor(camera: Camera, homography: Array, feet_px: Array) -> Array:
    try:
        return to_ground(homography, feet_px, ground_pixel=_ground_pixel(camera))
    except HorizonError as error:
        which = listed(map(str, error.indices))
        raise ToolError(
            f"The feet of boxes {which} lie on or beyond the horizon, not on the floor."
        ) from None


def _track(
    camera: Camera,
    points_m: Array,
    errors_m: Array,
    *,
    zones: list[str] | None,
    duration_s: float,
    feet_px: Array,
) -> Track:
    steps_m = np.hypot(*np.diff(points_m, axis=0).T)
    length_m = float(steps_m.sum())
    first, last = (
        (float(points_m[0, 0]), float(points_m[0, 1])),
        (float(points_m[-1, 0]), float(points_m[-1, 1])),
    )
    displacement_m = math.dist(first, last)
    ends_error_m = math.hypot(errors_m[0], errors_m[-1])
    heading_deg = bearing_deg(first, last) if first != last else None
    span = min(1.0, ends_error_m / displacement_m) if displacement_m else 1.0
    return Track(
        camera=camera.id,
        floor=camera.floor,
        points_m=[(float(x_m), float(y_m)) for x_m, y_m in points_m],
        zones=zones,
        length_m=length_m,
        displacement_m=displacement_m,
        duration_s=duration_s,
        speed_mps=length_m / duration_s if duration_s else None,
        speed_error_mps=ends_error_m / duration_s if duration_s else None,
        heading_deg=heading_deg,
        compass=compass(heading_deg, 16) if heading_deg is not None else None,
        heading_error_deg=None
        if heading_deg is None
        else (math.degrees(math.asin(span)) if span < 1 else 180.0),
        outside_image=_outside(feet_px, camera.image_size),
        error_m=float(errors_m.max()),
    )


def _outside(feet_px: Array, size: tuple[int, int] | None) -> int | None:
    if size is None:
        return None
    inside = ((feet_px >= 0) & (feet_px <= size)).all(axis=1)
    return int((~inside).sum())


def sketch(context: ToolContext, args: ProjectTrackArgs, result: Result) -> Sketch:
    """The track on the floor with its times."""
    speed_mps, heading = number_in(result, "speed_mps"), text_in(result, "compass")
    length = amount(number_in(result, "length_m"), "m")
    at_speed = f" at {amount(speed_mps, 'm/s')}" if speed_mps is not None else ""
    label, floor = f"{length}{at_speed}", floor_of(result)
    track_m = points_in(result, "points_m")
    track = line_of(track_m, label, floor=floor, times_s=args.times_s, has_arrow=True)
    end = dot_at(track_m[-1], floor=floor, radius_m=number_in(result, "error_m")) if track_m else None
    boxes = counted(len(args.boxes), "box", "boxes")
    return drawn(
        f"{args.camera}, {boxes} → {label}" + (f", {heading}" if heading else ""),
        [track, end, camera_dot(context.scene, args.camera)],
        spans=[span_of(args.times_s[0], args.times_s[-1], args.camera, "asked")],
        cameras=[args.camera],
    )


project_track = Tool(
    name="project_track",
    synonym="ground_path",
    description=(
        "Project the boxes of a tracked target from one camera's picture onto the floor: points in metres,"
        " speed, compass heading and displacement. Works for cameras with has_homography."
    ),
    args=ProjectTrackArgs,
    run=run,
    sketch=sketch,
    batch=Batch(
        takes={"camera": "camera", "boxes": "boxes"},
        fixed={"times_s": [0.0]},
        rows=feet,
        gives={
            "x_m": "metres east of the foot point; NaN where it is on or beyond the horizon",
            "y_m": "metres north of it",
            "error_m": "root-mean-square error of this point",
        },
    ),
    example={
        "camera": "c1",
        "boxes": [[600.0, 300.0, 40.0, 60.0], [610.0, 310.0, 40.0, 80.0], [620.0, 320.0, 40.0, 100.0]],
        "times_s": [1.0, 2.0, 3.5],
    },
)
