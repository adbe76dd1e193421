"""Calls a tool from a page: arguments from a form or a link, the result as table, JSON and drawing."""

import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from gnomon.core.errors import GnomonError
from gnomon.drawing.clock_svg import clock_range, clock_svg
from gnomon.drawing.layer import Layer
from gnomon.drawing.plan import bounds_of, positions
from gnomon.drawing.scene_svg import PictureBelow, scene_svg
from gnomon.drawing.trace_sketches import call_sketch
from gnomon.traces.result_table import UNITS, result_table
from gnomon_service.api.state import State
from gnomon_tools.core.inputs import need_words
from gnomon_tools.core.json_text import json_object
from gnomon_tools.core.schema_fields import kind_of
from gnomon_tools.core.sketch import Sketch
from gnomon_tools.core.tool import EMPTY_SCENE, Tool
from gnomon_tools.core.toolbox import Observation, Toolbox
from gnomon_workbench.scene_choice import NOTHING, OpenedScene, choices, first_choice, open_scene

PREFIX = "a."  # of a form's fields that are arguments
LONGEST_LINK = 4000  # characters of arguments that a link carries
TEXT_KINDS = ("string",)


@dataclass(frozen=True, slots=True, kw_only=True)
class WishedCall:
    """A call that a form or a link asks for: the scene's key, and the arguments as JSON text.

    `arguments` is None where a page is opened without any: the tool's example is called then.
    """

    scene: str | None
    arguments: str | None


def wished_call(tool: Tool[Any], fields: Mapping[str, str]) -> WishedCall:
    """The call that the query or the form describes."""
    scene = fields.get("other", "").strip() or fields.get("scene")
    if any(name.startswith(PREFIX) for name in fields):
        return WishedCall(scene=scene, arguments=_arguments_text(tool, fields))
    return WishedCall(scene=scene, arguments=fields.get("args"))


def call_link(base: str, wished: WishedCall) -> str | None:
    """The address that repeats the call; None where it would be too long."""
    if wished.arguments is not None and len(wished.arguments) > LONGEST_LINK:
        return None
    pairs = {"scene": wished.scene, "args": wished.arguments}
    return f"{base}?{urlencode({name: value for name, value in pairs.items() if value is not None})}"


def call_view(state: State, tool: Tool[Any], wished: WishedCall, *, base: str, ident: str) -> dict[str, Any]:
    """The form with its values and, where a call could be made, what came of it. Never an exception."""
    key = first_choice(tool.needs) if wished.scene is None else wished.scene
    scene_problem = ""
    try:
        scene = open_scene(state, key)
    except GnomonError as error:
        scene, scene_problem = NOTHING, error.message
    is_ready = not scene_problem and scene.context.meets(tool.needs)
    if not scene_problem and not is_ready and wished.scene is not None:
        scene_problem = f"This scene lacks what {tool.name} needs: {need_words(tool.needs)}."
    text = _example_text(tool, scene) if wished.arguments is None else wished.arguments
    view: dict[str, Any] = {
        "tool": tool.name,
        "scene": scene.key if not scene_problem else key,
        "scene_title": scene.title,
        "scene_problem": scene_problem,
        "arguments": text,
        "is_example": wished.arguments is None,
        "link": call_link(base, WishedCall(scene=key, arguments=text)) if is_ready else None,
        "error": "",
        "seconds": None,
        "summary": "",
        "table": None,
        "result": "",
        "pictures": [],
    }
    observation, sketch = None, Sketch()
    if is_ready and (wished.arguments is not None or tool.example or not _required(tool)):
        began_s = time.perf_counter()
        observation = Toolbox([tool], scene.context).call(tool.name, text)
        view["seconds"] = time.perf_counter() - began_s
        view |= _observation_record(observation)
        if observation.error is None:
            arguments = json.loads(text or "{}")
            sketch = call_sketch(scene.context, tool.name, arguments, json.loads(observation.content))
            view["summary"] = sketch.summary
    view["_fields"] = _fields(tool, text, view["error"])
    view["_choices"] = _choices(tool, scene, key)
    view["_drawing"], view["_clock"] = _drawings(scene, sketch, ident, tool.name)
    return view


def _example_text(tool: Tool[Any], scene: OpenedScene) -> str:
    """The tool's example; where the scene has no camera `c2`, its second camera takes the place of that."""
    text = json.dumps(dict(tool.example))
    cameras = sorted(scene.context.scene.cameras)

    def fitting(match: re.Match[str]) -> str:
        number = int(match[1])
        is_known = match[0].strip('"') in cameras or number > len(cameras)
        return match[0] if is_known else json.dumps(cameras[number - 1])

    return re.sub(r'"c([1-9])"', fitting, text)


def _required(tool: Tool[Any]) -> list[str]:
    return list(tool.schema()["function"]["parameters"].get("required", ()))


def _observation_record(observation: Observation) -> dict[str, Any]:
    if observation.error is not None:
        return {"error": str(json.loads(observation.content)["error"]), "result": observation.content}
    table = result_table(observation.content)
    return {
        "result": observation.content,
        "pictures": [
            {"sha256": picture.sha256, "width": picture.width, "height": picture.height}
            for picture in observation.pictures
        ],
        "table": table.record() if table else None,
    }


def _arguments_text(tool: Tool[Any], fields: Mapping[str, str]) -> str:
    """The form's fields as the text of one JSON object, as a model would write it; empty ones are left out.

    What is no JSON goes in as a text: then the tool's own message names the field, and no other is lost.
    """
    parts = []
    for name, schema in tool.schema()["function"]["parameters"].get("properties", {}).items():
        raw = fields.get(PREFIX + name, "").strip()
        if not raw:
            continue
        is_text = schema.get("type") in TEXT_KINDS or "enum" in schema
        value = json.dumps(raw) if is_text or not _is_json(raw) else raw
        parts.append(f"{json.dumps(name)}: {value}")
    return f"{{{', '.join(parts)}}}"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _fields(tool: Tool[Any], text: str, error: str) -> list[dict[str, Any]]:
    """The form's fields with their values; those that the tool's message is about are marked."""
    values = json_object(text)
    parameters = tool.schema()["function"]["parameters"]
    required = parameters.get("required", ())
    fields = []
    for name, schema in parameters.get("properties", {}).items():
        value = values.get(name)
        fields.append(
            {
                "name": PREFIX + name,
                "ident": f"arg-{name}",
                "label": name,
                "unit": unit_of(name),
                "kind": _input_kind(schema),
                "options": [str(option) for option in schema.get("enum", ())],
                "words": kind_of(schema),
                "description": schema.get("description", ""),
                "default": schema.get("default"),
                "is_required": name in required,
                "value": _shown(value),
                "rows": _rows(value),
                "is_wrong": _is_about(error, name),
            }
        )
    return fields


def unit_of(name: str) -> str:
    """The unit in a field's name; empty where it has none.

    >>> unit_of("speed_mps"), unit_of("camera")
    ('m/s', '')
    """
    stem, _, last = name.rpartition("_")
    return UNITS.get(last, "") if stem else ""


def _input_kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "select"
    kind = schema.get("type")
    if kind in ("number", "integer"):
        return "number"
    return "text" if kind in TEXT_KINDS else "flag" if kind == "boolean" else "json"


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _rows(value: object) -> int:
    return min(10, 2 + len(json.dumps(value)) // 60) if value is not None else 2


def _is_about(error: str, name: str) -> bool:
    """Whether one of the message's parts begins with the argument's name."""
    return any(part.strip().startswith((f"{name}:", f"{name}.")) for part in error.split(";"))


def _choices(tool: Tool[Any], scene: OpenedScene, key: str) -> list[dict[str, Any]]:
    names = dict(choices(tool.needs))
    if key not in names and key == scene.key and key:
        names[key] = scene.title
    return [{"key": name, "words": words, "is_chosen": name == key} for name, words in names.items()]


def _drawings(
    scene: OpenedScene, sketch: Sketch, ident: str, name: str
) -> tuple[Markup | None, Markup | None]:
    """The scene with the call's marks, or the marks on the Earth or on a picture; and its times."""
    layers = [Layer(f"{name}: what was asked, and the result", sketch, "step", key="call")] if sketch else []
    title = f"Map: {sketch.summary or scene.title}"
    clock = None
    stretch = clock_range(layers)
    if stretch is not None:
        clock = clock_svg(
            layers,
            start_s=stretch[0],
            end_s=stretch[1],
            ident=f"{ident}-clock",
            title=f"Times: {sketch.summary}",
        )
    if sketch.plane == "scene" and scene.context.scene is not EMPTY_SCENE:
        return scene_svg(scene.context.scene, layers, ident=ident, title=title), clock
    if not sketch.marks:
        return None, clock
    below = _paper(scene, sketch) if sketch.plane == "picture" else None
    drawing = scene_svg(None, layers, ident=ident, title=title, plane=sketch.plane, picture=below)
    return drawing, clock


def _paper(scene: OpenedScene, sketch: Sketch) -> PictureBelow:
    """Blank paper of the clip's size, else as large as the marks are far."""
    width, height = 640, 360
    if scene.context.footage is not None:
        facts = scene.context.footage.facts()
        width, height = facts.width, facts.height
    else:
        boxes = [bounds_of(positions(mark)) for mark in sketch.marks]
        reach = [box for box in boxes if box is not None]
        width = max([width, *(math.ceil(1.05 * box[2]) for box in reach)])
        height = max([height, *(math.ceil(1.05 * box[3]) for box in reach)])
    return PictureBelow(sha256=sketch.picture or "", href=None, width=width, height=height)
