"""What one camera sees of its floor, and the cameras whose views overlap it.

The field of view is the scene's polygon, else the sector of heading, angle and range, its arc drawn in chords
of at most 2°.

Error: `error_m` is the camera's position error; the whole polygon may be off by it.
"""

import shapely
from pydantic import Field
from shapely import Polygon

from gnomon_tools.core.location import find_camera, listed
from gnomon_tools.core.marks import amount, area_of, drawn, floor_of, number_in, points_in, some, texts_in
from gnomon_tools.core.scene_marks import camera_dot
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.geometry.field_of_view import view_of, views
from gnomon_tools.scene.scene import Scene


class CameraViewArgs(ToolArgs):
    """Which camera."""

    camera: str = Field(max_length=200, description="id of a camera")


class CameraView(ToolResult):
    """The field of view on the camera's floor."""

    camera: str
    floor: int
    polygon_m: list[tuple[float, float]] = Field(
        description="corners [x, y] in metres, without repeating the first"
    )
    area_m2: float = Field(description="area of the polygon")
    overlaps: list[str] = Field(
        description="cameras of the same floor whose fields of view share area with it"
    )
    error_m: float = Field(description="how far off the whole polygon may be: the camera's position error")


def run(context: ToolContext, args: CameraViewArgs) -> CameraView:
    """Describe the view.

    Raises:
        ToolError: the camera does not exist, or its view is unknown.
    """
    camera = find_camera(context.scene, args.camera)
    view = view_of(camera)
    if view is None:
        cameras = [each.id for each in context.scene.cameras.values() if view_of(each) is not None]
        raise ToolError(f"What camera {camera.id!r} sees is unknown. Known for: {listed(cameras)}.")
    return CameraView(
        camera=camera.id,
        floor=camera.floor,
        polygon_m=[(x_m, y_m) for x_m, y_m in view.exterior.coords[:-1]],
        area_m2=view.area,
        overlaps=[
            overlapping
            for overlapping in _overlapping(context.scene, camera.floor, view)
            if overlapping != camera.id
        ],
        error_m=camera.position_error_m,
    )


def _overlapping(scene: Scene, floor: int, view: Polygon) -> list[str]:
    fields = views(scene, floor)
    near = sorted(fields.tree.query(view, predicate="intersects"))
    shared_m2 = shapely.area(shapely.intersection(fields.polygons[near], view))
    return [fields.cameras[index] for index, area_m2 in zip(near, shared_m2, strict=True) if area_m2 > 0]


def sketch(context: ToolContext, args: CameraViewArgs, result: Result) -> Sketch:
    """The field of view, with the cameras whose views overlap it."""
    size, overlaps = amount(number_in(result, "area_m2"), "m²"), texts_in(result, "overlaps")
    view = area_of(points_in(result, "polygon_m"), f"{args.camera} {size}", floor=floor_of(result))
    summary = f"{args.camera} → {size}, overlaps {some(overlaps)}"
    return drawn(summary, [view, camera_dot(context.scene, args.camera)], cameras=[args.camera, *overlaps])


camera_view = Tool(
    name="camera_view",
    synonym="camera_coverage",
    description=(
        "Show what one camera sees of its floor: a polygon in metres, its area, and the cameras of the same"
        " floor whose views overlap it."
    ),
    args=CameraViewArgs,
    run=run,
    sketch=sketch,
    example={"camera": "c1"},
)
