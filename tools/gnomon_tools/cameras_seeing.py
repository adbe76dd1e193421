"""The cameras that see a point, or a path and from where to where.

Crossings are exact intersections of the path's straight pieces with the polygons (GEOS, through shapely). The
edge of a field of view belongs to it; a path that merely touches it is not seen.

Error: `error_m` is the camera's position error: its field of view may begin and end so much earlier or later.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import shapely
import shapely.ops
from pydantic import Field

from gnomon_tools.core.batch import Batch
from gnomon_tools.core.marks import (
    amount,
    counted,
    dot_at,
    drawn,
    line_of,
    number_in,
    rows_in,
    some,
    text_in,
    xys,
)
from gnomon_tools.core.sketch import Line, Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.geometry.field_of_view import crossings, fields_containing, views
from gnomon_tools.scene.scene import Point, Scene

Coordinate = Annotated[float, Field(ge=-1e6, le=1e6)]
XY = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]


class CamerasSeeingArgs(ToolArgs):
    """A point or a path."""

    points: list[XY] = Field(
        min_length=1, max_length=1000, description="one point, or the corners of a path: [x, y] in metres"
    )
    floor: int = Field(default=0, ge=-1000, le=1000, description="floor of the points")


class Stretch(ToolResult):
    """A part of the path inside a field of view."""

    enters_m: float = Field(description="metres along the path where it comes into view")
    leaves_m: float = Field(description="metres along the path where it goes out of view")


class Seer(ToolResult):
    """A camera that sees the point or a part of the path."""

    camera: str
    stretches: list[Stretch] | None = Field(description="for a path: its parts in view, in order")
    error_m: float = Field(description="how far off the edges of its view may be: its position error")


class SeeingCameras(ToolResult):
    """The cameras of the floor that see it."""

    cameras: list[Seer] = Field(description="for a path in the order in which they first see it")
    length_m: float | None = Field(description="for a path: its whole length")


def run(context: ToolContext, args: CamerasSeeingArgs) -> SeeingCameras:
    """Find the cameras; an empty list where none sees it."""
    points_m = [(x_m, y_m) for x_m, y_m in args.points]
    if len(points_m) == 1:
        return _seeing_point(context.scene, points_m[0], args.floor)
    return _seeing_path(context.scene, points_m, args.floor)


def _seeing_point(scene: Scene, point_m: Point, floor: int) -> SeeingCameras:
    camera_ids = fields_containing(scene, np.array([point_m], dtype=float), floor)
    seers = [
        Seer(camera=id_, stretches=None, error_m=scene.cameras[id_].position_error_m) for id_ in camera_ids
    ]
    return SeeingCameras(cameras=seers, length_m=None)


def _seeing_path(scene: Scene, points_m: list[Point], floor: int) -> SeeingCameras:
    fields, path = views(scene, floor), shapely.LineString(points_m)
    seers: list[Seer] = []
    for index in sorted(fields.tree.query(path, predicate="intersects")):
        camera = fields.cameras[index]
        stretches = [
            Stretch(enters_m=enters_m, leaves_m=leaves_m)
            for enters_m, leaves_m in crossings(points_m, fields.polygons[index])
        ]
        if stretches:
            error_m = scene.cameras[camera].position_error_m
            seers.append(Seer(camera=camera, stretches=stretches, error_m=error_m))
    seers.sort(key=lambda seer: seer.stretches[0].enters_m if seer.stretches else 0.0)
    return SeeingCameras(cameras=seers, length_m=path.length)


def sketch(_: ToolContext, args: CamerasSeeingArgs, result: Result) -> Sketch:
    """The point or path, and the stretches of the path that cameras see."""
    track, seers = xys(args.points), rows_in(result, "cameras")
    cameras = [text_in(seer, "camera") for seer in seers]
    answer = f"{counted(len(cameras), 'camera')}: {some(cameras)}" if cameras else "no camera"
    if len(track) == 1:
        marks = [dot_at(track[0], "the point", "asked", floor=args.floor)]
        return drawn(f"a point → {answer}", marks, cameras=cameras)
    length = amount(number_in(result, "length_m"), "m")
    path = line_of(track, f"path of {length}", "asked", floor=args.floor)
    stretches = [stretch for seer in seers for stretch in _stretches(seer, track, args.floor)]
    return drawn(f"a path of {length} → {answer}", [path, *stretches], cameras=cameras)


def _stretches(seer: Mapping[str, Any], track: Sequence[Point], floor: int) -> Iterator[Line | None]:
    """The parts of the path that one camera sees."""
    path = shapely.LineString(track)
    for stretch in rows_in(seer, "stretches"):
        enters_m, leaves_m = number_in(stretch, "enters_m"), number_in(stretch, "leaves_m")
        if enters_m is not None and leaves_m is not None:
            part = shapely.ops.substring(path, enters_m, leaves_m)
            label = f"{text_in(seer, 'camera')} {amount(leaves_m - enters_m, 'm')}"
            yield line_of(xys(part.coords), label, floor=floor)


cameras_seeing = Tool(
    name="cameras_seeing",
    synonym="viewers_of",
    description=(
        "Find the cameras that see a point, or a path given by its corners. For a path each camera comes with"
        " the stretches it sees, in metres along the path."
    ),
    args=CamerasSeeingArgs,
    run=run,
    sketch=sketch,
    batch=Batch(
        takes={"points": "points", "floor": "floor"},
        rows=lambda context, args: run(context, args).cameras,
        gives={
            "row": "number of the point, from 0, rising: once for each camera that sees it",
            "camera": "id of the camera",
            "error_m": "as above",
        },
    ),
    example={"points": [[-75.0, 4.0], [0.0, 4.0], [0.0, 60.0]]},
)
