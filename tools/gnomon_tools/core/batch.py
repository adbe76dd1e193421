"""A tool's batch form: many calls at once, their arguments and results as columns (NumPy arrays).

A column has one value a row, or one value for all rows. What is not a number, not finite or out of the tool's
range is refused with its row. A row that has no answer (two points that coincide have no bearing) is NaN,
while the single call says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gnomon_tools.core.location import find_camera, position_of
from gnomon_tools.core.tool import ToolError
from gnomon_tools.scene.scene import Camera, Scene

if TYPE_CHECKING:  # a single call needs no arrays
    import numpy as np
    from numpy.typing import NDArray

    from gnomon_tools.core.tool import Tool

Kind = Literal["location", "points", "boxes", "camera", "number", "floor"]
Numbers: TypeAlias = "NDArray[np.float64]"
Columns: TypeAlias = "Mapping[str, NDArray[Any]]"

KINDS: Mapping[Kind, str] = {
    "location": "n × 2: [x, y] in metres; or n ids of cameras",
    "points": "n × 2: [x, y] in metres",
    "boxes": "n × 4: [x, y, width, height] in pixels",
    "camera": "n ids of cameras",
    "number": "n numbers",
    "floor": "n whole numbers",
}
WIDTHS: Mapping[Kind, int] = {"location": 2, "points": 2, "boxes": 4}
MAX_PAIRS = 20_000_000  # rows of the result of a batch that gives pairs
RANGES: Mapping[Kind, float] = {"location": 1e6, "points": 1e6, "boxes": 1e5, "floor": 1000}  # as in one call


class BadColumn(ToolError):
    """A column that a batch does not take: its name, and the first row that is wrong, if one is."""

    def __init__(self, reason: str, *, column: str, row: int | None = None) -> None:
        super().__init__(f"{column}{'' if row is None else f', row {row}'}: {reason}")
        self.reason, self.column, self.row = reason, column, row


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Located points, row by row: n × 2 metres, n floors, n metres of error."""

    xy_m: Numbers
    floor: NDArray[np.int64]
    error_m: Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraRows:
    """A column of cameras: the distinct ones, and for each row which of them it is (n)."""

    cameras: tuple[Camera, ...]
    index: NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The batch form of a tool.

    `takes` names its columns; a number has the range and the default of the single call's argument of that
    name. A location may come with a column `…_floor`, 0 if left out. `run` gets each column checked and as
    long as there are rows: `Positions` for a location, `CameraRows` for cameras, else an array. `gives` says
    what the columns of its result are.
    """

    takes: Mapping[str, Kind]
    run: Callable[[Scene, Mapping[str, Any]], Columns]
    gives: Mapping[str, str]

    def kinds(self) -> dict[str, Kind]:
        """Every column that it takes, floors of locations among them."""
        floors: dict[str, Kind] = {
            f"{name}_floor": "floor" for name, kind in self.takes.items() if kind == "location"
        }
        return {**self.takes, **floors}


def run_batch(tool: Tool[Any], scene: Scene, columns: Mapping[str, object]) -> dict[str, NDArray[Any]]:
    """Call the batch form of a tool with its columns by name; what its result's columns hold, by name.

    Raises:
        BadColumn: a column is unknown or missing, has another length or shape, or a value that is refused.
        ToolError: the tool has no batch form, or the scene has not what it needs.
    """
    import numpy as np

    if tool.batch is None:
        raise ToolError(f"{tool.name} has no batch form")
    kinds = tool.batch.kinds()
    for name in columns:
        if name not in kinds:
            raise BadColumn(f"is no column of {tool.name}; allowed: {', '.join(kinds)}", column=name)
    arrays = {name: _array(tool, name, kind, columns) for name, kind in kinds.items()}
    count = _rows(arrays)
    checked: dict[str, Any] = {}
    for name, kind in tool.batch.takes.items():
        array = arrays[name]
        if kind == "location":
            checked[name] = _positions(scene, name, array, arrays[f"{name}_floor"], count)
        elif kind == "camera":
            checked[name] = _camera_rows(scene, name, array, count)
        else:
            checked[name] = np.broadcast_to(array, (count, *array.shape[1:]))
    return dict(tool.batch.run(scene, checked))


def _array(tool: Tool[Any], name: str, kind: Kind, columns: Mapping[str, object]) -> NDArray[Any]:
    """A column as an array whose first axis is that of the rows: of length 1 where one value is for all."""
    import numpy as np

    value = columns[name] if name in columns else _default(tool, name, kind)
    low, high = _range(tool, name) if kind == "number" else (-RANGES.get(kind, 0.0), RANGES.get(kind, 0.0))
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.empty(0, dtype=object)
    is_text = array.dtype.kind == "U" or (
        array.dtype.kind == "O" and array.size > 0 and all(isinstance(item, str) for item in array.flat)
    )
    width = None if is_text else WIDTHS.get(kind)
    if array.size == 0 and array.shape == (0,) and array.dtype.kind == "f":
        array = array.reshape((0, width) if width else (0,))
    if array.ndim == (0 if width is None else 1):
        array = array[np.newaxis]
    fits = array.ndim == (1 if width is None else 2) and (width is None or array.shape[1] == width)
    is_id = kind in ("location", "camera") and is_text
    is_number = kind != "camera" and array.dtype.kind in "iuf"
    if not fits or not (is_id or is_number or (kind == "camera" and array.size == 0)):
        raise BadColumn(f"must be {KINDS[kind]}, or one for all rows{_culprit(array)}", column=name)
    if is_id or kind == "camera":
        return array.astype(np.str_)
    _check_range(name, array, low, high, is_whole=kind == "floor")
    return array.astype(np.int64 if kind == "floor" else np.float64, copy=False)


def may_be_left_out(tool: Tool[Any], name: str, kind: Kind) -> bool:
    """Whether a column has a default: floors, and numbers of which a single call has one."""
    return kind == "floor" or (kind == "number" and not tool.args.model_fields[name].is_required())


def _default(tool: Tool[Any], name: str, kind: Kind) -> object:
    if not may_be_left_out(tool, name, kind):
        raise BadColumn(f"is missing; it is {KINDS[kind]}, or one for all rows", column=name)
    return 0 if kind == "floor" else tool.args.model_fields[name].default


def _range(tool: Tool[Any], name: str) -> tuple[float, float]:
    import numpy as np

    limits = tool.args.model_fields[name].metadata
    low = max((limit.ge for limit in limits if hasattr(limit, "ge")), default=-np.inf)
    return low, min((limit.le for limit in limits if hasattr(limit, "le")), default=np.inf)


def _culprit(array: NDArray[Any]) -> str:
    """The first row that is neither a number nor a text, for a message."""
    import numpy as np

    if array.dtype.kind != "O" or array.ndim == 0:
        return ""
    for row, value in enumerate(array):
        if not isinstance(value, str | int | float | np.ndarray):
            return f"; row {row} is {value!r}"
    return ""


def _check_range(name: str, array: NDArray[Any], low: float, high: float, *, is_whole: bool) -> None:
    import numpy as np

    if not array.size:
        return
    may_be_parts = is_whole and array.dtype.kind == "f"
    if low <= array.min() <= array.max() <= high and not (may_be_parts and (array != np.floor(array)).any()):
        return  # NaN is in no range, and min and max pass it on
    good = (array >= low) & (array <= high)
    if may_be_parts:
        good &= array == np.floor(array)
    row = int(np.argwhere(~good)[0][0])
    kind = "a whole number" if is_whole else "a number"
    value = array[row].tolist()
    raise BadColumn(f"must be {kind} from {low:g} to {high:g}, not {value}", column=name, row=row)


def _rows(arrays: Mapping[str, NDArray[Any]]) -> int:
    """How many rows there are: a column of one row serves all."""
    count, first = 1, ""
    for name, array in arrays.items():
        if len(array) != 1 and first and len(array) != count:
            raise BadColumn(f"has {len(array):,} rows, but {first} has {count:,}", column=name)
        if len(array) != 1:
            count, first = len(array), name
    return count


def _camera_rows(scene: Scene, name: str, column: NDArray[Any], count: int) -> CameraRows:
    """The cameras of a column.

    Raises:
        BadColumn: one does not exist.
    """
    import numpy as np

    numbers: dict[str, int] = {}
    index = np.array([numbers.setdefault(id_, len(numbers)) for id_ in column.tolist()], dtype=np.intp)
    cameras = []
    for id_, number in numbers.items():
        try:
            cameras.append(find_camera(scene, id_))
        except ToolError as error:
            row = int(np.argmax(index == number))
            raise BadColumn(str(error), column=name, row=row) from None
    return CameraRows(cameras=tuple(cameras), index=np.broadcast_to(index, count))


def _positions(scene: Scene, name: str, column: NDArray[Any], floor: NDArray[Any], count: int) -> Positions:
    """The points of a column of locations.

    Raises:
        BadColumn: a camera does not exist, or where it stands is unknown.
    """
    import numpy as np

    if column.dtype.kind != "U":
        return Positions(
            xy_m=np.broadcast_to(column, (count, 2)),
            floor=np.broadcast_to(floor, count),
            error_m=np.broadcast_to(0.0, count),
        )
    if floor.any():
        raise BadColumn("goes with [x, y]; a camera has its own floor", column=f"{name}_floor")
    named = _camera_rows(scene, name, column, count)
    spots = np.empty((len(named.cameras), 2))
    for number, camera in enumerate(named.cameras):
        try:
            spots[number] = position_of(camera)
        except ToolError as error:
            row = int(np.flatnonzero(named.index == number)[0])
            raise BadColumn(str(error), column=name, row=row) from None
    floors = np.array([camera.floor for camera in named.cameras], dtype=np.int64)
    errors_m = np.array([camera.position_error_m for camera in named.cameras], dtype=np.float64)
    return Positions(xy_m=spots[named.index], floor=floors[named.index], error_m=errors_m[named.index])
