"""Calls a tool for many rows: arguments and results are columns (NumPy arrays).

A column has one value a row, or one value for all rows. What a single call refuses is refused with its row.
A row that has no answer (two points that coincide have no bearing) is NaN, while the single call says why.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from gnomon_tools.core.inputs import held
from gnomon_tools.core.location import find_camera, position_of
from gnomon_tools.core.tool import ToolContext, ToolError
from gnomon_tools.scene.scene import Scene

if TYPE_CHECKING:  # a single call needs no arrays
    from numpy.typing import NDArray

    from gnomon_tools.core.tool import Tool

Kind = Literal["location", "points", "boxes", "camera", "number", "floor"]

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


class BadColumn(ToolError):
    """A column that a batch does not take: its name, and the first row that is wrong, if one is."""

    def __init__(self, reason: str, *, column: str, row: int | None = None) -> None:
        super().__init__(f"{column}{'' if row is None else f', row {row}'}: {reason}")
        self.reason, self.column, self.row = reason, column, row


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """How columns become the arguments of single calls, and the results columns.

    `takes` names its columns, each an argument of the call; a number has that one's range and default. A
    location may come with a column `…_floor`, 0 if left out. `points` and `boxes` are lists of one in each
    call. `fixed` are arguments that are the same in every call.

    `gives` says what the columns of its result are: fields of the call's result, or of what `rows` makes of
    a call. Where its first is `row`, a call gives any number of rows, and `row` says of which row they are.
    """

    takes: Mapping[str, Kind]
    gives: Mapping[str, str]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    rows: Callable[[ToolContext, Any], Iterable[object]] | None = None

    def kinds(self) -> dict[str, Kind]:
        """Every column that it takes, floors of locations among them."""
        floors: dict[str, Kind] = {
            f"{name}_floor": "floor" for name, kind in self.takes.items() if kind == "location"
        }
        return {**self.takes, **floors}


def run_batch(tool: "Tool[Any]", scene: Scene, columns: Mapping[str, object]) -> "dict[str, NDArray[Any]]":
    """Call a tool row by row with columns by name; what its result's columns hold, by name.

    Raises:
        BadColumn: a column is unknown or missing, has another length or shape, or a value that is refused.
        ToolError: the tool takes no batches, or gives more than MAX_PAIRS rows.
    """
    import numpy as np

    if tool.batch is None:
        raise ToolError(f"{tool.name} has no batch form")
    context, names = ToolContext(inputs=held(scene)), list(tool.batch.gives)
    found: dict[str, list[Any]] = {name: [] for name in names}
    for row, args in enumerate(_calls(tool, scene, columns)):
        for result in _results(tool, tool.batch, context, args, row):
            for name in names:
                value = row if name == "row" else getattr(result, name, None)
                found[name].append(np.nan if value is None else value)
        if len(found[names[0]]) > MAX_PAIRS:
            raise ToolError(f"More than {MAX_PAIRS:,} pairs; give fewer points, or a smaller radius.")
    return {name: np.array(values, dtype=None if values else np.float64) for name, values in found.items()}


def _results(
    tool: "Tool[Any]", batch: Batch, context: ToolContext, args: Mapping[str, Any], row: int
) -> Iterable[object]:
    """What one call gives; without an answer a row that holds nothing, or no row where it may give many."""
    try:
        checked = tool.args.model_validate(args)
        return [tool.run(context, checked)] if batch.rows is None else batch.rows(context, checked)
    except BadColumn as error:
        raise BadColumn(error.reason, column=error.column, row=row) from None
    except ValidationError as error:
        fault = error.errors()[0]
        name, *inner = map(str, fault["loc"] or ("",))
        column = f"{name}_floor" if inner == ["floor"] else name
        raise BadColumn(fault["msg"], column=column, row=row) from None
    except ToolError:
        return [] if "row" in batch.gives else [None]


def _calls(tool: "Tool[Any]", scene: Scene, columns: Mapping[str, object]) -> Iterator[dict[str, Any]]:
    """The arguments of each row's call; all columns are checked before the first.

    Raises:
        BadColumn: see `run_batch`.
    """
    import numpy as np

    batch = tool.batch
    assert batch is not None  # noqa: S101  # as `run_batch` makes sure
    kinds = batch.kinds()
    for name in columns:
        if name not in kinds:
            raise BadColumn(f"is no column of {tool.name}; allowed: {', '.join(kinds)}", column=name)
    arrays = {name: _array(tool, name, kind, columns) for name, kind in kinds.items()}
    count = _rows(arrays)
    for name, kind in batch.takes.items():
        if arrays[name].dtype.kind == "U":
            _check_cameras(scene, name, arrays[name], must_stand=kind == "location")
            if kind == "location" and arrays[f"{name}_floor"].any():
                raise BadColumn("goes with [x, y]; a camera has its own floor", column=f"{name}_floor")
    wide = [np.broadcast_to(array, (count, *array.shape[1:])) for array in arrays.values()]
    for row in range(count):
        cells = dict(zip(arrays, (array[row].tolist() for array in wide), strict=True))
        yield {**batch.fixed, **{name: _argument(name, kind, cells) for name, kind in batch.takes.items()}}


def _argument(name: str, kind: Kind, cells: Mapping[str, Any]) -> object:
    """The argument of a single call."""
    value = cells[name]
    if kind != "location":
        return [value] if kind in ("points", "boxes") else value
    if isinstance(value, str):
        return {"camera": value}
    return {"x_m": value[0], "y_m": value[1], "floor": cells[f"{name}_floor"]}


def _check_cameras(scene: Scene, name: str, column: "NDArray[Any]", *, must_stand: bool) -> None:
    for row, id_ in enumerate(column.tolist()):
        try:
            camera = find_camera(scene, id_)
            if must_stand:
                position_of(camera)
        except ToolError as error:
            raise BadColumn(str(error), column=name, row=row) from None


def _array(tool: "Tool[Any]", name: str, kind: Kind, columns: Mapping[str, object]) -> "NDArray[Any]":
    """A column as an array whose first axis is that of the rows: of length 1 where one value is for all."""
    import numpy as np

    value = columns[name] if name in columns else _default(tool, name, kind)
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
        raise BadColumn(f"must be {KINDS[kind]}, or one for all rows", column=name)
    if is_id or kind == "camera":
        return array.astype(np.str_)
    if kind != "floor":
        return array.astype(np.float64, copy=False)
    parts = np.flatnonzero(~np.isfinite(array) | (array != np.floor(array)))
    if len(parts):
        raise BadColumn("must be a whole number", column=name, row=int(parts[0]))
    return array.astype(np.int64, copy=False)


def may_be_left_out(tool: "Tool[Any]", name: str, kind: Kind) -> bool:
    """Whether a column has a default: floors, and numbers of which a single call has one."""
    return kind == "floor" or (kind == "number" and not tool.args.model_fields[name].is_required())


def _default(tool: "Tool[Any]", name: str, kind: Kind) -> object:
    if not may_be_left_out(tool, name, kind):
        raise BadColumn(f"is missing; it is {KINDS[kind]}, or one for all rows", column=name)
    return 0 if kind == "floor" else tool.args.model_fields[name].default


def _rows(arrays: "Mapping[str, NDArray[Any]]") -> int:
    """How many rows there are: a column of one row serves all."""
    count, first = 1, ""
    for name, array in arrays.items():
        if len(array) != 1 and first and len(array) != count:
            raise BadColumn(f"has {len(array):,} rows, but {first} has {count:,}", column=name)
        if len(array) != 1:
            count, first = len(array), name
    return count
