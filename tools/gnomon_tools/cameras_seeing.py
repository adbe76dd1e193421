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
from numpy.typing import NDArray
from pydantic import Field

from gnomon_tools.core.batch import MAX_PAIRS, Batch, Columns
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
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.geometry.field_of_view import crossings, fields_containing, views
from gnomon_tools.scene.scene import Point, Scene

Coordinate = Annotated[float, Field(ge=-1e6, le=1e6)]
XY = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]


BLOCK = 100_000  # points of a batch at a time


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


def run_batch(scene: Scene, columns: Mapping[str, Any]) -> Columns:
    """Find the cameras of every point: one row of the result for each pair of a point and a camera.

    Raises:
        ToolError: there are more than MAX_PAIRS pairs.
    """
    points_m, floors = columns["points"], columns["floor"]
    number_of = {id_: number for number, id_ in enumerate(scene.cameras)}
    blocks, total = [np.empty((2, 0), dtype=np.intp)], 0
    for first in range(0, len(points_m), BLOCK):
        blocks.append(_pairs(scene, points_m, floors, number_of, rows=slice(first, first + BLOCK)))
        total += blocks[-1].shape[1]
        if total > MAX_PAIRS:
            raise ToolError(f"More than {MAX_PAIRS:,} pairs of a point and a camera; give fewer points.")
    row, number = np.concatenate(blocks, axis=1)
    errors_m = np.array([camera.position_error_m for camera in scene.cameras.values()], dtype=np.float64)
    return {
        "row": row,
        "camera": np.array(list(number_of), dtype=np.str_)[number],
        "error_m": errors_m[number],
    }


def _pairs(
    scene: Scene,
    points_m: NDArray[np.float64],
    floors: NDArray[np.int64],
    number_of: Mapping[str, int],
    *,
    rows: slice,
) -> NDArray[np.intp]:
    """Of some rows, those that are seen (rising) and the numbers of the cameras: 2 × pairs."""
    pairs = [np.empty((2, 0), dtype=np.intp)]
    for floor in np.unique(floors[rows]).tolist():
        here = rows.start + np.flatnonzero(floors[rows] == floor)
        for id_, indices in fields_containing(scene, points_m[here], floor).items():
            pairs.append(np.stack([here[indices], np.full(len(indices), number_of[id_])]))
    seen_by = np.concatenate(pairs, axis=1)
    return seen_by[:, np.lexsort((seen_by[1], seen_by[0]))]


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
        run=run_batch,
        gives={
            "row": "number of the point, from 0, rising: once for each camera that sees it",
            "camera": "id of the camera",
            "error_m": "as above",
        },
    ),
    example={"points": [[-75.0, 4.0], [0.0, 4.0], [0.0, 60.0]]},
)
