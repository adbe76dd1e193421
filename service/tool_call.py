"""A tool call from outside a trial: one tool, one scene, one result."""

import json
from pathlib import Path
from typing import Any

from gnomon.core.errors import GnomonError, NotFound, SpecError
from tools.core.registry import UnknownPlugin
from tools.core.tool import ToolContext
from tools.core.toolbox import TOOLS, Toolbox
from tools.scene.document import SceneError
from tools.scene.format import read_scene, scene_from_json
from tools.scene.scene import Scene


def call_tool(name: str, scene: Scene, args: object) -> dict[str, Any]:
    """Call the tool `name` on `scene`.

    Raises:
        NotFound: there is no such tool.
        SpecError: the arguments are not allowed, or the tool has no answer to them; the message says why.
    """
    try:
        tool = TOOLS.get(name)
    except UnknownPlugin as error:
        raise NotFound(str(error), field="name") from None
    if not isinstance(args, dict):
        raise SpecError("must be one JSON object", field="args")
    seen = Toolbox([tool], ToolContext(scene=scene, gazetteer=True)).call(name, json.dumps(args))
    result: dict[str, Any] = json.loads(seen.content)
    if seen.error == "tool_crash":
        raise GnomonError(result["error"])
    if seen.error is not None:
        raise SpecError(result["error"], field="args")
    return result


def inline_scene(given: object) -> Scene:
    """A scene given as a GeoJSON object.

    Raises:
        SpecError: it is no scene; the field is the one at fault.
    """
    try:
        return scene_from_json(given)
    except SceneError as error:
        raise SpecError(error.message, field=_field(error)) from None


def scene_file(path: Path) -> Scene:
    """A scene from a file.

    Raises:
        SpecError: it cannot be read or is no scene; the field is the one at fault.
    """
    try:
        return read_scene(path)
    except SceneError as error:
        raise SpecError(error.message, field=_field(error)) from None


def _field(error: SceneError) -> str:
    return f"scene.{error.field}" if error.field else "scene"
