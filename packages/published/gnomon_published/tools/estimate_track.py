"""A rough track of a target from the sizes of its boxes, for cameras without a homography.

For cameras without a homography: a target of usual height H (a car 1.5 m, a person 1.7 m) in a box h pixels
high is focal · H / h away, along the bearing of the box's column (pinhole, level camera). The focal length is
that of the camera's angle of view, else of 60°; the picture's width is the scene's, else the usual width
(1920, 2560, 3840) into which the boxes fit. Points outside a known field of view are moved to its edge.
Without the camera's position and heading only ranges and `motion` are given: their ratio needs no lens.

Error: 40 % of the range (heights of cars and people, lenses) and the position error; `speed_error_mps` is the
same share, for one yardstick measures both ends.
"""

import math
from typing import Literal

import numpy as np
import shapely
from numpy.typing import NDArray
from pydantic import Field
from shapely import Polygon
from shapely.ops import nearest_points

from gnomon_tools.core.array_args import Box, Seconds, checked_boxes
from gnomon_tools.core.location import find_camera
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
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.geometry.angles import bearing_deg
from gnomon_tools.geometry.camera_view import PRESUMED_FOV_DEG
from gnomon_tools.geometry.field_of_view import view_of
from gnomon_tools.scene.scene import Camera, Point

Array = NDArray[np.float64]

USUAL_WIDTHS_PX = (1920.0, 2560.0, 3840.0)


def focal_px(width_px: float, fov_deg: float) -> float:
    """Focal length of a pinhole camera: half the picture's width by the tangent of half its angle.

    >>> round(focal_px(2000, 90), 6)
    1000.0
    """
    return width_px / 2 / math.tan(math.radians(fov_deg) / 2)


def ranges_m(heights_px: Array, focal: float, height_m: float) -> Array:
    """Distance of a target `height_m` high that stands upright before a level camera: focal · H / h.

    >>> ranges_m(np.array([50.0, 100.0]), 1000.0, 1.5).tolist()
    [30.0, 15.0]
    """
    return np.asarray(focal * height_m / heights_px, dtype=float)


def seen_at(
    camera_m: Point, heading_deg: float, columns_px: Array, ranges: Array, *, width_px: float, focal: float
) -> Array:
    """Points on the plane (n × 2) that lie so far away in the bearing of each picture column.

    >>> at = seen_at((0.0, 0.0), 0.0, np.array([500.0]), np.array([7.0]), width_px=1000.0, focal=800.0)
    >>> at.tolist()
    [[0.0, 7.0]]
    """
    angles = math.radians(heading_deg) + np.arctan2(columns_px - width_px / 2, focal)
    return np.column_stack([camera_m[0] + ranges * np.sin(angles), camera_m[1] + ranges * np.cos(angles)])


def presumed_width_px(right_px: float) -> float:
    """The usual picture width, at least 1920, that a box's right edge fits into; else that edge itself.

    >>> presumed_width_px(900.0), presumed_width_px(2100.0), presumed_width_px(5000.0)
    (1920.0, 2560.0, 5000.0)
    """
    return next((width for width in USUAL_WIDTHS_PX if width >= right_px), right_px)


HEIGHT_M = {"vehicle": 1.5, "person": 1.7}  # a saloon car; the mean of adults
# Cars are 1.4 to 1.9 m high, people 1.5 to 1.9; lenses 45° to 80°: together about 40 %.
RANGE_ERROR_SHARE = 0.4
NEARER = 1.4  # a range that changes by less than this factor tells no approach: it may be the box's noise


class EstimateTrackArgs(ToolArgs):
    """A track in one camera, and what kind of target it is."""

    camera: str = Field(max_length=200, description="id of the camera that recorded the boxes")
    boxes: list[Box] = Field(
        min_length=1, max_length=1000, description="boxes [x, y, width, height] in pixels, rising in time"
    )
    times_s: list[Seconds] = Field(
        min_length=1, max_length=1000, description="time of each box in seconds, rising, from any start"
    )
    target: Literal["vehicle", "person"] = Field(
        description="what is tracked; its usual height is the yardstick"
    )
    width_px: float | None = Field(
        default=None, gt=0, le=1e5, description="width of the camera's picture, if known"
    )


class RoughTrack(ToolResult):
    """The track as far as box sizes tell it."""

    camera: str
    floor: int
    motion: Literal["towards", "away", "across"] | None = Field(
        description="towards the camera, away from it, or neither; left out for a single box"
    )
    first_range_m: float = Field(description="distance from the camera at the first box")
    last_range_m: float = Field(description="distance at the last box")
    points_m: list[tuple[float, float]] | None = Field(
        description="[x, y] of each box, where the camera's position and heading are known; within its view"
    )
    duration_s: float = Field(description="from the first box to the last")
    speed_mps: float | None = Field(description="from the first point to the last, by duration_s")
    speed_error_mps: float | None = Field(description="how far off speed_mps may be")
    heading_deg: float | None = Field(description="from the first point to the last, clockwise from north")
    error_m: float = Field(
        description="how far off the farthest point may be: 40 % of its range and the position error"
    )


def run(context: ToolContext, args: EstimateTrackArgs) -> RoughTrack:
    """Take every box's height for the target's usual height, seen through a usual lens.

    Raises:
        ToolError: the camera does not exist, times do not rise, or boxes are empty.
    """
    camera = find_camera(context.scene, args.camera)
    boxes = checked_boxes(args.boxes, args.times_s)
    known_width_px = args.width_px or (camera.image_size[0] if camera.image_size else None)
    width_px = known_width_px or presumed_width_px(float((boxes[:, 0] + boxes[:, 2]).max()))
    focal = focal_px(
        width_px, camera.fov_deg if camera.fov_deg and camera.fov_deg < 170 else PRESUMED_FOV_DEG
    )
    ranges = ranges_m(boxes[:, 3], focal, HEIGHT_M[args.target])
    points = None
    if camera.xy_m is not None and camera.heading_deg is not None:
        middles = boxes[:, 0] + boxes[:, 2] / 2
        points = seen_at(camera.xy_m, camera.heading_deg, middles, ranges, width_px=width_px, focal=focal)
        points = _within(view_of(camera), points)
    return _track(camera, ranges, points, duration_s=args.times_s[-1] - args.times_s[0])


def _within(view: Polygon | None, points: Array) -> Array:
    """The points, those outside a known view moved to its nearest edge: it was seen, so it was there."""
    if view is None:
        return points
    inside = [nearest_points(view, shapely.Point(point))[0] for point in points]
    return np.array([(point.x, point.y) for point in inside])


def _track(camera: Camera, ranges: Array, points: Array | None, *, duration_s: float) -> RoughTrack:
    points_m = None if points is None else [(float(x_m), float(y_m)) for x_m, y_m in points]
    first, last = (points_m[0], points_m[-1]) if points_m else (None, None)
    moved_m = math.dist(first, last) if first and last else None
    # One yardstick and one lens measure both ends, so the share goes with the distance between them.
    speed_mps = moved_m / duration_s if moved_m is not None and duration_s else None
    return RoughTrack(
        camera=camera.id,
        floor=camera.floor,
        motion=_motion(float(ranges[0]), float(ranges[-1])) if len(ranges) > 1 else None,
        first_range_m=float(ranges[0]),
        last_range_m=float(ranges[-1]),
        points_m=points_m,
        duration_s=duration_s,
        speed_mps=speed_mps,
        speed_error_mps=RANGE_ERROR_SHARE * speed_mps if speed_mps is not None else None,
        heading_deg=bearing_deg(first, last) if first and last and first != last else None,
        error_m=RANGE_ERROR_SHARE * float(ranges.max()) + camera.position_error_m,
    )


def _motion(first_m: float, last_m: float) -> Literal["towards", "away", "across"]:
    if first_m > NEARER * last_m:
        return "towards"
    return "away" if last_m > NEARER * first_m else "across"


def sketch(context: ToolContext, args: EstimateTrackArgs, result: Result) -> Sketch:
    """The rough track with its times, where the camera's position is known; else its ranges in words."""
    speed_mps, motion = number_in(result, "speed_mps"), text_in(result, "motion")
    ranges = [amount(number_in(result, name), "m") for name in ("first_range_m", "last_range_m")]
    at_speed = f"{amount(speed_mps, 'm/s')}" if speed_mps is not None else ""
    track_m, floor = points_in(result, "points_m"), floor_of(result)
    track = line_of(track_m, at_speed, floor=floor, times_s=args.times_s, has_arrow=True)
    end = dot_at(track_m[-1], floor=floor, radius_m=number_in(result, "error_m")) if track_m else None
    moved = ", ".join(filter(None, (f"range {' to '.join(ranges)}", at_speed, motion)))
    return drawn(
        f"{args.camera}, {counted(len(args.boxes), 'box', 'boxes')} → {moved}",
        [track, end, camera_dot(context.scene, args.camera)],
        spans=[span_of(args.times_s[0], args.times_s[-1], args.camera, "asked")],
        cameras=[args.camera],
    )


estimate_track = Tool(
    name="estimate_track",
    synonym="rough_motion",
    description=(
        "Estimate roughly how a target moved before a camera without homography, from the heights of its"
        " boxes: range, approach, points, speed. Expect errors of 40 %."
    ),
    args=EstimateTrackArgs,
    run=run,
    sketch=sketch,
    example={
        "camera": "c2",
        "boxes": [[600.0, 300.0, 40.0, 60.0], [610.0, 310.0, 40.0, 80.0], [620.0, 320.0, 40.0, 100.0]],
        "times_s": [1.0, 2.0, 3.5],
        "target": "vehicle",
    },
)
