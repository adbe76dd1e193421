"""Every camera of the scene: where it is, where it looks, how far it sees.

Error: `error_m` is the camera's stated position error.
"""

from pydantic import Field

from gnomon_tools.core.marks import counted, dot_at, drawn, floor_of, number_in, rows_in, text_in, xy_in
from gnomon_tools.core.scene_marks import heading_arrow
from gnomon_tools.core.sketch import Mark, Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.scene.scene import Camera


class ListCamerasArgs(ToolArgs):
    """Nothing to ask for."""


class CameraRow(ToolResult):
    """What is known of one camera; what is unknown is left out."""

    camera: str
    floor: int
    x_m: float | None = Field(description="metres east of the scene's origin")
    y_m: float | None = Field(description="metres north of the scene's origin")
    heading_deg: float | None = Field(description="compass direction it looks to, clockwise from north")
    fov_deg: float | None = Field(description="horizontal angle of view")
    range_m: float | None = Field(description="how far it sees")
    has_homography: bool = Field(description="whether project_track works for it")
    error_m: float = Field(description="how far off x_m and y_m may be, as the scene states it")


class CameraList(ToolResult):
    """The scene's cameras, in the scene's order."""

    cameras: list[CameraRow]


def run(context: ToolContext, _: ListCamerasArgs) -> CameraList:
    """List the cameras; a scene without any gives an empty list."""
    return CameraList(cameras=[_row(camera) for camera in context.scene.cameras.values()])


def _row(camera: Camera) -> CameraRow:
    x_m, y_m = camera.xy_m or (None, None)
    return CameraRow(
        camera=camera.id,
        floor=camera.floor,
        x_m=x_m,
        y_m=y_m,
        heading_deg=camera.heading_deg,
        fov_deg=camera.fov_deg,
        range_m=camera.range_m,
        has_homography=camera.homography is not None,
        error_m=camera.position_error_m,
    )


def sketch(context: ToolContext, _: ListCamerasArgs, result: Result) -> Sketch:
    """Every camera where the list says it is, with an arrow into its direction."""
    cameras = rows_in(result, "cameras")
    marks: list[Mark | None] = []
    for row in cameras:
        at, floor = xy_in(row), floor_of(row)
        marks.append(dot_at(at, text_in(row, "camera"), floor=floor, radius_m=number_in(row, "error_m")))
        marks.append(heading_arrow(context.scene, at and (at, floor), number_in(row, "heading_deg")))
    return drawn(
        f"→ {counted(len(cameras), 'camera')}", marks, cameras=[text_in(row, "camera") for row in cameras]
    )


list_cameras = Tool(
    name="list_cameras",
    synonym="all_sensors",
    description=(
        "List all cameras of the scene: id, floor, position in metres (x east, y north), compass heading and"
        " angle of view in degrees, range in metres. Unknown values are left out."
    ),
    args=ListCamerasArgs,
    run=run,
    sketch=sketch,
)
