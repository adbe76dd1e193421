"""The list of tools, the page of each with a form that calls it, and the page of a scene."""

import inspect
import sys
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from gnomon.drawing.layer import Layer
from gnomon.drawing.scene_svg import scene_svg
from gnomon_service.api.access import comes_from_here
from gnomon_service.api.places import in_place
from gnomon_service.api.state import Shared, State
from gnomon_service.web.pages import View, page, respond
from gnomon_tools.core.inputs import Need, need_words
from gnomon_tools.core.schema_fields import fields_of
from gnomon_tools.core.sketch import Sketch
from gnomon_tools.core.tool import EMPTY_SCENE, Tool, contract_hash
from gnomon_tools.core.toolbox import TOOLS
from gnomon_tools.scene.scene import Scene
from gnomon_workbench.pages.tool_calls import WishedCall, call_link, call_view, unit_of, wished_call
from gnomon_workbench.scene_choice import choices, open_scene
from gnomon_workbench.tool_call import plugin_of

LISTED = 200  # cameras and places of a scene, in its tables

router = APIRouter(include_in_schema=False)


@page(router, "/ui/tools", "tools.html.j2")
def tool_list() -> View:
    """Which tools there are, by what they need."""
    by_need: dict[Need, list[str]] = {}
    for tool in TOOLS:
        by_need.setdefault(tool.needs, []).append(tool.name)
    # Those on scenes first, those on arguments alone last, the others as the most tools need them.
    needs = sorted(by_need, key=lambda need: (need is None, need is not Scene, -len(by_need[need])))
    groups = [
        {
            "group": (need.heading or f"On {need_words(need)}") if need else "On numbers alone",
            "needs": need_words(need),
            "tools": [{"name": name, "says": TOOLS.summary_of(name)} for name in by_need[need]],
        }
        for need in needs
    ]
    return {
        "title": "Tools",
        "answer": f"{len(TOOLS.working_names())} tools that a model may call; you can call each on its page.",
        "groups": groups,
        "scenes": [{"key": key, "title": title} for key, title in choices(Scene).items()],
    }


@page(router, "/ui/tools/{name}", "tool.html.j2")
def tool_page(request: Request, state: Shared, name: str) -> View:
    """One tool: what it takes and gives, and a call of it."""
    tool = plugin_of(TOOLS, name)
    return _tool_view(state, tool, wished_call(tool, request.query_params))


async def form_fields(request: Request) -> dict[str, str]:
    """The texts of a form."""
    return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}


@router.post("/ui/tools/{name}", response_model=None)
@in_place("calls")
def call_tool_page(
    request: Request, state: Shared, name: str, fields: Annotated[dict[str, str], Depends(form_fields)]
) -> Response:
    """Call the tool with the arguments of the form, and go to the address that says so."""
    if not comes_from_here(request):
        raise HTTPException(403, "the form was not sent from a page of this server")
    tool = plugin_of(TOOLS, name)
    wished = wished_call(tool, fields)
    is_on_scene = fields.get("page") == "scene" and bool(wished.scene)
    base = f"/ui/scenes/{quote(wished.scene or '')}" if is_on_scene else f"/ui/tools/{name}"
    link = call_link(base, wished)
    if link is None:
        return respond(request, "tool.html.j2", _tool_view(state, tool, wished))
    return RedirectResponse(f"{link}&tool={name}" if is_on_scene else link, status_code=303)


@page(router, "/ui/scenes/{key:path}", "scene.html.j2")
def scene_page(request: Request, state: Shared, key: str, tool: str = "") -> View:
    """A scene alone: its layers, what is in it, and a tool to call on it."""
    opened = open_scene(state, key)
    context, scene = opened.context, opened.context.scene
    usable = [item.name for item in TOOLS if item.needs is not None and context.meets(item.needs)]
    call: dict[str, Any] | None = None
    base = f"/ui/scenes/{quote(key)}"
    if tool:
        chosen = plugin_of(TOOLS, tool)
        asked = wished_call(chosen, request.query_params)
        call = call_view(
            state, chosen, WishedCall(scene=key, arguments=asked.arguments), base=base, ident="scene"
        )
    drawing = call["_drawing"] if call else None
    if drawing is None and scene is not EMPTY_SCENE:
        nothing = Layer("", Sketch(), "seen")
        drawing = scene_svg(scene, [nothing], ident="scene", title=f"Map: {opened.title}", view="whole")
    return {
        "title": opened.title[:1].upper() + opened.title[1:],
        "answer": _scene_words(scene),
        "scene": key,
        "job": opened.job,
        "sample": opened.sample,
        "tool": tool,
        "usable": usable,
        "call": call,
        "attribution": scene.attribution,
        "cameras": _cameras(scene),
        "places": _places(scene),
        "_drawing": drawing,
        "_tools": [{"name": name, "is_chosen": name == tool} for name in usable],
    }


def _tool_view(state: State, tool: Tool[Any], wished: WishedCall) -> View:
    parameters = tool.schema()["function"]["parameters"]
    results = tool.result_schema()
    module = sys.modules[tool.run.__module__]
    return {
        "title": tool.name,
        "answer": TOOLS.summary_of(tool.name),
        "description": tool.description,
        "needs": need_words(tool.needs),
        "contract": contract_hash((tool,)),
        "details": paragraphs(TOOLS.details(tool.name)),
        "refusals": tool.refusals(),
        "call": call_view(state, tool, wished, base=f"/ui/tools/{tool.name}", ident="scene"),
        "arguments": field_records(parameters),
        "returns": results.get("description", ""),
        "results": field_records(results),
        "source_file": module.__name__.replace(".", "/") + ".py",
        "_source": inspect.getsource(module),
        "_around": _around(tool.name),
    }


def _around(name: str) -> dict[str, str]:
    names = TOOLS.working_names()
    place = names.index(name)
    return {
        "previous": names[place - 1] if place else "",
        "next": names[place + 1] if place + 1 < len(names) else "",
    }


def paragraphs(text: str) -> list[str]:
    r"""The paragraphs of a docstring; lines within one are joined, lists and code keep theirs.

    >>> paragraphs("One\nline.\n\n- a\n- b")
    ['One line.', '- a\n- b']
    """
    return [part if _keeps_lines(part) else " ".join(part.split()) for part in text.split("\n\n") if part]


def _keeps_lines(part: str) -> bool:
    return part.startswith(("```", "- ", "* ", "|", "    ")) or "\n- " in part


def field_records(schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The fields of a JSON schema, for a table."""
    return [
        {
            "name": field.name,
            "type": field.kind,
            "unit": unit_of(field.name),
            "required": field.is_required,
            "default": field.default,
            "description": field.description,
            "depth": field.depth,
        }
        for field in fields_of(schema)
    ]


def _scene_words(scene: Scene) -> str:
    """What a scene holds, in one sentence."""
    if scene is EMPTY_SCENE:
        return "There is no map here; tools look into what the question brings."
    counts = [
        (len(scene.cameras), "camera"),
        (len(scene.places), "place"),
        (len(scene.roads), "stretch of road"),
        (len(scene.zones), "zone"),
        (len(scene.portals), "passage"),
    ]
    words = [f"{n} {noun if n == 1 else _many(noun)}" for n, noun in counts if n]
    kind = "A street scene" if scene.kind == "outdoor" else "A building"
    return (
        f"{kind} with {', '.join(words[:-1])}{' and ' if words[:-1] else ''}{words[-1]}." if words else kind
    )


def _many(noun: str) -> str:
    return "stretches of road" if noun == "stretch of road" else f"{noun}s"


def _cameras(scene: Scene) -> list[dict[str, Any]]:
    return [
        {
            "id": camera.id,
            "x_m": _metres(camera.xy_m, 0),
            "y_m": _metres(camera.xy_m, 1),
            "floor": camera.floor,
            "heading_deg": camera.heading_deg,
            "fov_deg": camera.fov_deg,
            "range_m": camera.range_m,
            "calibrated": camera.homography is not None,
        }
        for camera in list(scene.cameras.values())[:LISTED]
    ]


def _places(scene: Scene) -> list[dict[str, Any]]:
    return [
        {
            "id": place.id,
            "name": place.name,
            "x_m": _metres(place.xy_m, 0),
            "y_m": _metres(place.xy_m, 1),
            "floor": place.floor,
        }
        for place in list(scene.places.values())[:LISTED]
    ]


def _metres(xy_m: tuple[float, float] | None, axis: int) -> float | None:
    return None if xy_m is None else round(xy_m[axis], 1)
