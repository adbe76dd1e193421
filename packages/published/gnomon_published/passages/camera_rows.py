"""A tool's answer camera by camera: what is unknown of one camera does not hide the others."""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from pydantic import Field

from gnomon_tools.core.tool import ToolError, ToolResult

CameraId = Annotated[str, Field(max_length=200)]

R = TypeVar("R", bound=ToolResult)


def camera_rows(kind: type[R], cameras: Sequence[str], row: Callable[[str], R]) -> list[R]:
    """One row per camera; where `row` raises ToolError, all fields but `camera` and `problem` are None.

    Raises:
        ToolError: every camera has a problem; the message is that of the first.
    """
    rows, problems = [], []
    for camera in cameras:
        try:
            rows.append(row(camera))
        except ToolError as error:
            problems.append(str(error))
            unknown = dict.fromkeys(kind.model_fields)
            rows.append(kind.model_validate({**unknown, "camera": camera, "problem": str(error)}))
    if len(problems) == len(rows):
        raise ToolError(problems[0])
    return rows
