"""Lists of numbers as arguments of tools (boxes in a picture, positions, times), and their checks."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from gnomon_tools.core.tool import ToolError

Pixels = Annotated[float, Field(ge=-1e5, le=1e5)]
Box = Annotated[list[Pixels], Field(min_length=4, max_length=4)]
Seconds = Annotated[float, Field(ge=-1e9, le=1e9)]

MIN_STEP_S = 1e-6  # speeds over less than that are no numbers any more


def checked_boxes(boxes: Sequence[Sequence[float]], times_s: Sequence[float]) -> NDArray[np.float64]:
    """The boxes (n × 4: x, y, width, height) as an array.

    Raises:
        ToolError: there is not one time per box, times do not rise, or a box is empty.
    """
    if len(boxes) != len(times_s):
        raise ToolError(f"There are {len(boxes)} boxes but {len(times_s)} times; give one time a box.")
    for index in range(1, len(times_s)):
        if times_s[index] - times_s[index - 1] < MIN_STEP_S:
            raise ToolError(
                f"times_s must rise strictly, but entry {index} does not come after the one before."
            )
    sizes_px = np.array(boxes, dtype=float)
    empty = np.flatnonzero((sizes_px[:, 2] <= 0) | (sizes_px[:, 3] <= 0))
    if empty.size:
        raise ToolError(f"Box {empty[0]} is empty; boxes are [x, y, width, height] with positive sizes.")
    return sizes_px


Metres = Annotated[float, Field(ge=-1e7, le=1e7)]
PositionM = Annotated[list[Metres], Field(min_length=2, max_length=3)]

MAX_POSITIONS = 1000


def checked_positions(positions_m: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """The positions (n × 2 or n × 3) as an array.

    Raises:
        ToolError: some positions have two coordinates and others three.
    """
    sizes = {len(position) for position in positions_m}
    if len(sizes) > 1:
        raise ToolError("Give every position with two coordinates, or every one with three.")
    return np.array(positions_m, dtype=float)


def checked_times(times_s: Sequence[float], count: int) -> NDArray[np.float64]:
    """One rising time for each of `count` positions, as an array.

    Raises:
        ToolError: there are more or fewer times than boxes or positions, or they do not rise.
    """
    if len(times_s) != count:
        raise ToolError(f"There are {count} positions but {len(times_s)} times; give one time a position.")
    times = np.array(times_s, dtype=float)
    late = np.flatnonzero(np.diff(times) < MIN_STEP_S)
    if late.size:
        raise ToolError(
            f"times_s must rise strictly, but entry {late[0] + 1} does not come after the one before."
        )
    return times
