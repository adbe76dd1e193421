"""Batch forms of tools: the same answer for many rows, columns in and columns out, as NumPy arrays."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tools.core.tool import Tool, ToolError
from tools.scene.scene import Scene

Columns = dict[str, NDArray[Any]]


def column(
    name: str, values: ArrayLike, low: float, high: float, *, width: int | None = None
) -> NDArray[Any]:
    """The values as numbers, n or n × width; all finite and from `low` to `high`.

    Raises:
        ToolError: the shape is another, or a value is not allowed; names the first such row.
    """
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ToolError(f"{name}: not an array of numbers.") from None
    if numbers.ndim != (1 if width is None else 2) or (width is not None and numbers.shape[1] != width):
        needed = "n" if width is None else f"n × {width}"
        raise ToolError(f"{name}: the shape must be {needed}, not {numbers.shape}.")
    good = (numbers >= low) & (numbers <= high)  # NaN is neither
    if not good.all():
        row = int(np.argmin(good if width is None else good.all(axis=1)))
        raise ToolError(f"{name}: row {row} is {numbers[row]}; allowed: {low:g} to {high:g}.")
    return numbers


def same_length(**columns: NDArray[Any]) -> None:
    """Check that columns have one row each for the same things.

    Raises:
        ToolError: they are of different lengths.
    """
    if len({len(values) for values in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(values)}" for name, values in columns.items())
        raise ToolError(f"The columns have different numbers of rows: {lengths}.")


def run_batch(tool: Tool[Any], scene: Scene, columns: Mapping[str, Any]) -> Columns:
    """The tool's answers for all rows of the columns.

    Raises:
        ToolError: the tool has no batch form, a column is missing or unknown, or a row is not allowed.
    """
    if tool.batch is None:
        raise ToolError(f"{tool.name} has no batch form.")
    try:
        return tool.batch(scene, **columns)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise ToolError(f"{tool.name}: {str(error).partition(') ')[2] or error}.") from None
