"""The time that a target crossing a camera's view stays in it.

The straight line through the middle of the view in that direction, over the speed. Standing and turning are
not in it.

Error: the view's error at both edges, and the speed's error.
"""

from typing import Literal

from pydantic import Field

from gnomon_published.passages.arrival import view_in
from gnomon_tools.core.location import find_camera
from gnomon_tools.core.marks import amount, drawn, line_of, number_in
from gnomon_tools.core.scene_marks import camera_dot
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.geometry.camera_view import alignment, chord_of, view_of_camera


class DwellArgs(ToolArgs):
    """Which camera, and how the target moves."""

    camera: str = Field(max_length=200, description="id of the camera")
    heading_deg: float = Field(
        ge=-360, le=360, description="direction of travel through the view, clockwise from north"
    )
    speed_mps: float = Field(ge=0.05, le=100, description="speed in metres per second")
    speed_error_mps: float = Field(
        default=0.0, ge=0, le=100, description="how far off the speed may be, in metres per second"
    )


class Dwell(ToolResult):
    """How long it is in view."""

    seconds: float = Field(description="length_m at speed_mps, without standing or turning")
    length_m: float = Field(description="the straight way through the middle of the view")
    alignment: Literal["following", "oncoming", "across"] | None = Field(
        description="along the camera's axis away from it or towards it, or across its picture"
    )
    error_s: float = Field(
        description="how far off seconds may be: the view's edges, both, and the speed's error"
    )


def run(context: ToolContext, args: DwellArgs) -> Dwell:
    """Divide the view's chord by the speed.

    Raises:
        ToolError: the camera does not exist, or its view is unknown.
    """
    camera = find_camera(context.scene, args.camera)
    view = view_in(context.scene, camera)
    chord = chord_of(view, camera, args.heading_deg)
    if chord is None:
        raise ToolError(f"A way towards {args.heading_deg:g}° does not cross what {camera.id!r} sees.")
    length_m = chord[0]
    seconds = length_m / args.speed_mps
    return Dwell(
        seconds=seconds,
        length_m=length_m,
        alignment=None if camera.heading_deg is None else alignment(camera.heading_deg, args.heading_deg),
        error_s=2 * view.error_m / args.speed_mps + seconds * args.speed_error_mps / args.speed_mps,
    )


def sketch(context: ToolContext, args: DwellArgs, result: Result) -> Sketch:
    """The straight way through the camera's view."""
    stay = f"{amount(number_in(result, 'seconds'), 's')}, {amount(number_in(result, 'length_m'), 'm')}"
    camera = context.scene.cameras.get(args.camera)
    view = view_of_camera(context.scene, camera) if camera else None
    chord = chord_of(view, camera, args.heading_deg) if camera and view else None
    way = line_of(chord[1:], stay, floor=camera.floor, has_arrow=True) if camera and chord else None
    summary = (
        f"{args.camera}, {amount(args.heading_deg, '°')} at {amount(args.speed_mps, 'm/s')} → {stay} in view"
    )
    return drawn(summary, [way, camera_dot(context.scene, args.camera)], cameras=[args.camera])


dwell = Tool(
    name="dwell",
    synonym="time_in_view",
    description=(
        "Estimate how many seconds a target that crosses a camera's view in a direction at a speed stays in"
        " view, and whether it crosses along or across the picture."
    ),
    args=DwellArgs,
    run=run,
    sketch=sketch,
    example={"camera": "c1", "heading_deg": 90.0, "speed_mps": 5.0},
)
