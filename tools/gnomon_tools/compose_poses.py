"""Poses moved on step by step, and how the last differs from the first.

p = R · p_own + T (STI-Bench's equation 5), for each move; yaw, pitch and roll turn about the outer z, y and
x, roll first. `azimuth_change_deg` is equation 9, in (−180, 180].

Error: `error_deg` adds by how much each rounded matrix had to be turned to be a rotation again; matrices
further off than 0.02 are refused.
"""

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from gnomon_tools.core.array_args import Metres
from gnomon_tools.core.marks import amount, counted, dot_at, drawn, line_of, number_in, numbers_in, xys
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.geometry.angles import signed_deg
from gnomon_tools.geometry.pose import (
    Axis,
    NotARotation,
    Pose,
    from_yaw_pitch_roll,
    nearest_rotation,
    rotation_angle_deg,
)

Triple = Annotated[list[Metres], Field(min_length=3, max_length=3)]
Degrees = Annotated[float, Field(ge=-3600, le=3600)]
Row = Annotated[list[Annotated[float, Field(ge=-1.1, le=1.1)]], Field(min_length=3, max_length=3)]


class GivenPose(ToolArgs):
    """A position and how it is turned: by `rotation`, or by yaw, pitch and roll (about z, y and x)."""

    position_m: Triple = Field(description="[x, y, z] in metres")
    rotation: list[Row] | None = Field(
        default=None, min_length=3, max_length=3, description="3 rows of a rotation matrix, own to outer axes"
    )
    yaw_deg: Degrees = Field(default=0.0, description="about z, counter-clockwise from above")
    pitch_deg: Degrees = Field(default=0.0, description="about the outer y")
    roll_deg: Degrees = Field(default=0.0, description="about the outer x")


class ComposePosesArgs(ToolArgs):
    """Where it starts and how it moves, or where it ends."""

    start: GivenPose = Field(description="the first pose, in the world")
    moves: list[GivenPose] = Field(
        min_length=1,
        max_length=100,
        description="own: each in the coordinates of the pose before; world: poses in the world, in order",
    )
    frame: Literal["own", "world"] = Field(default="own", description="what moves are given in")
    forward: Axis = Field(
        default="z", description="the own axis that looks ahead: z for usual cameras, x for vehicles"
    )


class Composed(ToolResult):
    """The last pose in the world, and what changed on the way to it."""

    position_m: list[float]
    rotation: list[list[float]]
    moved_m: float = Field(description="straight from the first position to the last")
    moved_own_m: list[float] = Field(description="the same in the first pose's own coordinates")
    turned_deg: float = Field(description="angle of the whole rotation, 0 to 180")
    error_deg: float = Field(description="by how much rounded matrices were turned to be rotations again")
    azimuth_change_deg: float | None = Field(
        description="change of the direction ahead, seen from above (z up), left positive; absent if it looks"
        " straight up or down"
    )


def run(_: ToolContext, args: ComposePosesArgs) -> Composed:
    """Compose: p = R · p_own + T for each move (STI-Bench appendix, equations 5 and 9).

    Raises:
        ToolError: a matrix is not a rotation.
    """
    first, error_deg = _pose(args.start, "start")
    last = first
    for number, move in enumerate(args.moves):
        pose, more_deg = _pose(move, f"moves.{number}")
        error_deg += more_deg
        last = last.then(pose) if args.frame == "own" else pose
    own = last.seen_from(first)
    upright = [np.hypot(*pose.forward(args.forward)[:2]) > 1e-6 for pose in (first, last)]
    change_deg = signed_deg(last.azimuth_deg(args.forward) - first.azimuth_deg(args.forward))
    return Composed(
        position_m=last.position_m.tolist(),
        rotation=last.rotation.tolist(),
        moved_m=float(np.linalg.norm(last.position_m - first.position_m)),
        moved_own_m=own.position_m.tolist(),
        turned_deg=rotation_angle_deg(own.rotation),
        error_deg=error_deg,
        azimuth_change_deg=change_deg if all(upright) else None,
    )


def _pose(pose: GivenPose, name: str) -> tuple[Pose, float]:
    """The pose, and by how many degrees its matrix had to be turned to be a rotation."""
    position_m = np.array(pose.position_m, dtype=float)
    if pose.rotation is None:
        rotation = from_yaw_pitch_roll(pose.yaw_deg, pose.pitch_deg, pose.roll_deg)
        return Pose(position_m=position_m, rotation=rotation), 0.0
    if pose.yaw_deg or pose.pitch_deg or pose.roll_deg:
        raise ToolError(f"{name}: give rotation, or yaw_deg, pitch_deg and roll_deg, not both.")
    matrix = np.array(pose.rotation, dtype=float)
    try:
        rotation = nearest_rotation(matrix)
    except NotARotation as error:
        raise ToolError(f"{name}.rotation: {error}.") from None
    off = float(np.linalg.norm(matrix - rotation)) / math.sqrt(2)  # a small turn moves the matrix so far
    return Pose(position_m=position_m, rotation=rotation), math.degrees(off)


def sketch(_: ToolContext, args: ComposePosesArgs, result: Result) -> Sketch:
    """The first and the last position seen from above, and the straight line between them."""
    [start], moved = xys([args.start.position_m]), amount(number_in(result, "moved_m"), "m")
    end = next(iter(xys([numbers_in(result, "position_m")])), None)
    way = line_of([start, end], moved, has_arrow=True, is_dashed=True) if end else None
    turned = amount(number_in(result, "turned_deg"), "°")
    summary = f"{counted(len(args.moves), 'move')} → {moved} from the start, turned {turned}"
    return drawn(summary, [way, dot_at(start, "start", "asked"), dot_at(end, "end")])


compose_poses = Tool(
    name="compose_poses",
    description=(
        "Move a pose (position and rotation) on step by step, or compare two poses: the last pose, how far it"
        " moved, and by how much it turned, also seen from above."
    ),
    args=ComposePosesArgs,
    run=run,
    sketch=sketch,
    needs=None,
    example={
        "start": {"position_m": [0.0, 0.0, 0.0]},
        "moves": [{"position_m": [0.0, 0.0, 4.0], "yaw_deg": 30.0}, {"position_m": [1.0, 0.0, 3.0]}],
    },
)
