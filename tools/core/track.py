"""Boxes of a track as arguments, and their check."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tools.core.tool import ToolError

Pixels = Annotated[float, Field(ge=-1e5, le=1e5)]
Box = Annotated[list[Pixels], Field(min_length=4, max_length=4)]
Seconds = Annotated[float, Field(ge=-1e9, le=1e9)]

MIN_STEP_S = 1e-6  # speeds over less than that are no numbers any more


def checked_boxes(boxes: Sequence[Sequence[float]], times_s: Sequence[float]) -> NDArray[np.float64]:
    """The boxes (n × 4: x, y, width, height) as an array.

    Raises:
        ToolError: there is not one time a box, times do not rise, or a box is empty.
    """
    if len(boxes) != len(times_s):
        raise ToolError(f"There are {len(boxes)} boxes but {len(times_s)} times; give one time a box.")
    for index in range(1, len(times_s)):
        if times_s[index] - times_s[index - 1] < MIN_STEP_S:
            raise ToolError(
                f"times_s must rise strictly, but entry {index} does not come after the one before."
            )
    found = np.array(boxes, dtype=float)
    empty = np.flatnonzero((found[:, 2] <= 0) | (found[:, 3] <= 0))
    if empty.size:
        raise ToolError(f"Box {empty[0]} is empty; boxes are [x, y, width, height] with positive sizes.")
    return found
