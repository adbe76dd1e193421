"""The cameras that a target can come to next from a camera, and how it will cross their views.

The nearest come first; at most 20 are shown.

`distance_m` is the way from the middle of one view to that of the other. `same_mast`: outdoors, within 25 m.
`alignment` compares the camera's heading with the straight way from here, within 45° of its axis or not.

Error: `error_m` adds the errors of both views.
"""

from typing import Literal, NamedTuple

import shapely
from pydantic import Field

from gnomon_published.passages.arrival import same_mast, view_in
from gnomon_published.passages.view_crossing import Unreachable, view_crossing
from gnomon_tools.core.location import find_camera
from gnomon_tools.core.marks import amount, drawn, number_in, rows_in, some, text_in
from gnomon_tools.core.scene_marks import camera_dot, heading_arrow, measured, way_lines
from gnomon_tools.core.sketch import Mark, Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.geometry.angles import bearing_deg, turn_deg
from gnomon_tools.geometry.camera_view import View, alignment, view_of_camera
from gnomon_tools.scene.scene import Camera, Point, Scene
from gnomon_tools.scene.scene_cache import cached_per_scene

SHOWN = 20


class NeighboursArgs(ToolArgs):
    """From which camera, going whither."""

    camera: str = Field(max_length=200, description="id of the camera the target is seen by")
    heading_deg: float | None = Field(
        default=None, ge=-360, le=360, description="direction of travel, clockwise from north, if known"
    )


class Neighbour(ToolResult):
    """A camera that can be reached."""

    camera: str
    floor: int
    distance_m: float = Field(description="way from view to view, middle to middle; stairs count 1.75 times")
    error_m: float = Field(description="how far off distance_m may be: the errors of both views")
    turn_deg: float | None = Field(
        description="from heading_deg to the straight bearing of the camera's view; 0 is ahead, 180 behind"
    )
    overlaps: bool = Field(description="whether the two views share area")
    same_mast: bool = Field(description="whether both stand at one mast or crossing outdoors")
    alignment: Literal["following", "oncoming", "across"] | None = Field(
        description="how a target that comes straight from here crosses its picture: along the axis away from"
        " the camera or towards it, or across"
    )


class Neighbours(ToolResult):
    """The nearest first, at most 20."""

    neighbours: list[Neighbour]


class _Way(NamedTuple):
    row: Neighbour  # without the turn
    to_deg: float | None


def run(context: ToolContext, args: NeighboursArgs) -> Neighbours:
    """Measure from the camera's view to every other; cameras of unknown view, or out of reach, are left out.

    Raises:
        ToolError: the camera does not exist, or its view is unknown.
    """
    with_place = _known(context.scene)
    ways = with_place.get(args.camera)
    if ways is None:
        ways = with_place[args.camera] = _ways(context.scene, args.camera)
    rows = [way.row.model_copy(update={"turn_deg": _turn(args.heading_deg, way)}) for way in ways]
    return Neighbours(neighbours=rows)


@cached_per_scene
def _known(_scene: Scene) -> dict[str, list[_Way]]:
    """The ways by the camera they begin at: all but the turn is the same for whoever asks again."""
    return {}


def _ways(scene: Scene, camera_id: str) -> list[_Way]:
    here = find_camera(scene, camera_id)
    view = view_in(scene, here)
    others = [camera for camera in scene.cameras.values() if camera.id != here.id]
    ways = [way for camera in others if (way := _way(scene, here, view, camera))]
    ways.sort(key=lambda way: way.row.distance_m)
    return ways[:SHOWN]


def _way(scene: Scene, here: Camera, view: View, camera: Camera) -> _Way | None:
    theirs = view_of_camera(scene, camera)
    if theirs is None:
        return None
    try:
        way = view_crossing(scene, (view.aim_m, here.floor), camera, theirs)
    except Unreachable:
        return None
    to_deg = None if view.aim_m == theirs.aim_m else bearing_deg(view.aim_m, theirs.aim_m)
    row = Neighbour(
        camera=camera.id,
        floor=camera.floor,
        distance_m=way.length_m,
        error_m=view.error_m + way.error_m,
        turn_deg=None,
        overlaps=here.floor == camera.floor and shapely.intersection(view.area, theirs.area).area > 0,
        same_mast=same_mast(scene, here.id, camera),
        alignment=None
        if to_deg is None or camera.heading_deg is None
        else alignment(camera.heading_deg, to_deg),
    )
    return _Way(row, to_deg)


def _turn(heading_deg: float | None, way: _Way) -> float | None:
    return None if heading_deg is None or way.to_deg is None else abs(turn_deg(heading_deg, way.to_deg))


def sketch(context: ToolContext, args: NeighboursArgs, result: Result) -> Sketch:
    """The ways from the middle of the camera's view to those of its neighbours."""
    scene, neighbours_found = context.scene, rows_in(result, "neighbours")
    start = _middle(scene, args.camera)
    marks: list[Mark | None] = [camera_dot(scene, args.camera)]
    marks.append(heading_arrow(scene, start, args.heading_deg, role="asked"))
    for row in neighbours_found:
        camera, distance_m = text_in(row, "camera"), number_in(row, "distance_m")
        marks += way_lines(scene, start, _middle(scene, camera))
        marks.append(camera_dot(scene, camera, measured(camera, distance_m), "result"))
    cameras = [text_in(row, "camera") for row in neighbours_found]
    nearest = f", nearest {amount(number_in(neighbours_found[0], 'distance_m'), 'm')}" if cameras else ""
    return drawn(f"{args.camera} → {some(cameras)}{nearest}", marks, cameras=[args.camera, *cameras])


def _middle(scene: Scene, camera_id: str) -> tuple[Point, int] | None:
    camera = scene.cameras.get(camera_id)
    view = view_of_camera(scene, camera) if camera else None
    return (view.aim_m, camera.floor) if camera and view else None


neighbours = Tool(
    name="neighbours",
    synonym="next_sensors",
    description=(
        "List the cameras that can be reached from a camera's view, the nearest first: way, whether ahead or"
        " behind, shared mast or view, and how a target crosses their picture."
    ),
    args=NeighboursArgs,
    run=run,
    sketch=sketch,
    example={"camera": "c1", "heading_deg": 90.0},
)
