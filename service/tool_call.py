"""Calls one tool on one scene, outside any trial."""

import json
from pathlib import Path
from typing import Any

from gnomon.core.errors import GnomonError, NotFound, SpecError
from tools.core.registry import UnknownPlugin
from tools.core.tool import EMPTY_SCENE, ToolContext
from tools.core.toolbox import TOOLS, Toolbox
from tools.scene.document import SceneError
from tools.scene.format import read_scene, scene_from_json
from tools.scene.scene import Scene


def call_tool(name: str, scene: Scene | None, args: object) -> dict[str, Any]:
    """Call the tool `name` on `scene`; None for a tool that needs none.

    Raises:
        NotFound: the tool does not exist.
        SpecError: there is no scene and the tool needs one, the arguments are not allowed, or the tool has no
            result for them; the message says why.
    """
    try:
        tool = TOOLS.get(name)
    except UnknownPlugin as error:
        raise NotFound(str(error), field="name") from None
    if scene is None and tool.needs == "scene":
        raise SpecError(f"{name} needs a scene", field="scene")
    if not isinstance(args, dict):
        raise SpecError("must be one JSON object", field="args")
    context = ToolContext(scene=scene or EMPTY_SCENE, gazetteer=True)
    answer = Toolbox([tool], context).call(name, json.dumps(args))
    result: dict[str, Any] = json.loads(answer.content)
    if answer.error == "tool_crash":
        raise GnomonError(result["error"])
    if answer.error is not None:
        raise SpecError(result["error"], field="args")
    return result


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
