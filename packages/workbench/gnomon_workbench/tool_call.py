"""Calls one tool on one scene, outside any trial."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gnomon.core.errors import GnomonError, NotFound, SpecError
from gnomon.spec import data_paths
from gnomon_tools.core.batch import BadColumn, run_batch
from gnomon_tools.core.inputs import held, need_words
from gnomon_tools.core.registry import Registry, UnknownPlugin
from gnomon_tools.core.tool import EMPTY_SCENE, Tool, ToolContext, ToolError
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.scene.document import SceneError
from gnomon_tools.scene.format import read_scene, scene_from_json
from gnomon_tools.scene.scene import Scene

P = TypeVar("P")


def call_tool(name: str, scene: Scene | None, args: object) -> dict[str, Any]:
    """Call the tool `name` on `scene`; None for a tool that needs none.

    Raises:
        NotFound: the tool does not exist.
        SpecError: there is no scene and the tool needs one, the arguments are not allowed, or the tool has no
            result for them; the message says why.
    """
    tool = _tool_on(name, scene)
    if not isinstance(args, dict):
        raise SpecError("must be one JSON object", field="args")
    context = ToolContext(inputs=held(scene or EMPTY_SCENE), is_free=True)
    if not context.meets(tool.needs):
        message = f"{name} works on {need_words(tool.needs)}, which only questions hold: see `gnomon try`"
        raise SpecError(message, field="name")
    answer = Toolbox([tool], context).call(name, json.dumps(args))
    result: dict[str, Any] = json.loads(answer.content)
    if answer.error == "tool_crash":
        raise GnomonError(result["error"])
    if answer.error is not None:
        raise SpecError(result["error"], field="args")
    return result


def call_batch(name: str, scene: Scene | None, columns: Mapping[str, object]) -> dict[str, NDArray[Any]]:
    """Call the tool `name` on `scene` for very many rows: columns in and out (docs/tools.md).

    Raises:
        NotFound: the tool does not exist.
        SpecError: the tool has no batch form, there is no scene and it needs one, or a column is not allowed;
            the field names the column, and its row.
    """
    tool = _tool_on(name, scene)
    if tool.batch is None:
        having = [other.name for other in TOOLS if other.batch is not None]
        raise SpecError(f"{name} has no batch form; those that have: {', '.join(having)}", field="name")
    try:
        return run_batch(tool, scene or EMPTY_SCENE, columns)
    except BadColumn as error:
        row = "" if error.row is None else f".{error.row}"
        raise SpecError(error.reason, field=f"args.{error.column}{row}") from None
    except ToolError as error:
        raise SpecError(str(error), field="args") from None


def as_json_columns(columns: Mapping[str, NDArray[Any]]) -> dict[str, list[Any]]:
    """Columns as JSON has them: a list each, with null for NaN."""
    lists = {}
    for name, column in columns.items():
        if column.dtype.kind == "f" and (unknown := np.isnan(column)).any():
            column = column.astype(object)
            column[unknown] = None
        lists[name] = column.tolist()
    return lists


def as_arrow_stream(columns: Mapping[str, NDArray[Any]]) -> bytes:
    """Columns as an Arrow IPC stream: NaN is null, pairs of numbers are lists of two."""
    import pyarrow as pa  # late: the API starts without it

    arrays = {
        name: pa.array(column, from_pandas=True)
        if column.ndim == 1
        else pa.FixedSizeListArray.from_arrays(
            pa.array(column.reshape(-1), from_pandas=True), column.shape[1]
        )
        for name, column in columns.items()
    }
    table, sink = pa.table(arrays), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def plugin_of(registry: Registry[P], name: str) -> P:
    """The plug-in of that name.

    Raises:
        NotFound: there is none.
    """
    try:
        return registry.get(name)
    except UnknownPlugin as error:
        raise NotFound(str(error), field="name") from None


def _tool_on(name: str, scene: Scene | None) -> Tool[Any]:
    tool = plugin_of(TOOLS, name)
    if scene is None and tool.needs is Scene and not tool.works_alone:
        raise SpecError(f"{name} needs a scene", field="scene")
    return tool


def inline_scene(geojson: object) -> Scene:
    """The scene in a GeoJSON object.

    Raises:
        SpecError: it is not a scene; the field is the offending one.
    """
    try:
        return scene_from_json(geojson)
    except SceneError as error:
        raise SpecError(error.message, field=_field(error)) from None


def scene_file(path: Path) -> Scene:
    """A scene from a file.

    Raises:
        SpecError: it cannot be read or is not a scene; the field is the offending one.
    """
    try:
        return read_scene(path)
    except SceneError as error:
        raise SpecError(error.message, field=_field(error)) from None


def _field(error: SceneError) -> str:
    return f"scene.{error.field}" if error.field else "scene"


def parts_of(body: object, roots: tuple[Path, ...] | None) -> tuple[Scene | None, object]:
    """The scene, if there is one, and the arguments of a posted call; `roots` are where scenes may lie.

    Raises:
        SpecError: it is no call, or names a scene that may not be read.
    """
    if not isinstance(body, dict):
        raise SpecError("must be one JSON object {scene, args}", field="body")
    unknown = sorted(set(body) - {"scene", "args"})
    if unknown:
        raise SpecError("unknown field; allowed: scene, args", field=unknown[0])
    scene, parsed = body.get("scene"), None
    if isinstance(scene, str):
        parsed = scene_file(data_paths.from_request(scene, roots, field="scene"))
    elif isinstance(scene, dict):
        parsed = inline_scene(scene)
    elif scene is not None:
        raise SpecError("needs a GeoJSON object, or a path under GNOMON_MEDIA_ROOTS", field="scene")
    return parsed, body.get("args", {})
