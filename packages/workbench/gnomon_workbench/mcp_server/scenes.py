"""Our tools as an MCP server offers them: each with an argument that says which scene to look at.

A client reads what there is under `scene://NAME` and names one in the argument `scene`, which may be left out
where only one scene fits the tool. Tools that need something none of the scenes has are not offered.
"""

import asyncio
import copy
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from gnomon_tools.core.json_schema import NULL
from gnomon_tools.core.tool import Tool, ToolContext, ToolResult
from gnomon_tools.core.toolbox import Observation, Toolbox
from gnomon_workbench.mcp_server.offer import ServedAnswer, ServedPicture, ServedResource, ServedTool

ARGUMENT = "scene"
SCHEME = "scene://"
NOWHERE = ToolContext(is_free=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedScene:
    """What tools can look at: its name, its context, and the text that clients read of it."""

    name: str
    title: str
    context: ToolContext
    text: Callable[[], str]
    media_type: str = "application/geo+json"


def scene_resources(scenes: Iterable[ServedScene]) -> list[ServedResource]:
    """The scenes as resources `scene://NAME`."""
    return [
        ServedResource(
            uri=f"{SCHEME}{scene.name}",
            name=scene.name,
            description=scene.title,
            text=scene.text,
            media_type=scene.media_type,
        )
        for scene in scenes
    ]


def scene_tools(tools: Iterable[Tool[Any]], scenes: Iterable[ServedScene]) -> list[ServedTool]:
    """The tools that can work on a scene, or without any."""
    contexts = {scene.name: scene.context for scene in scenes}
    served = []
    for tool in tools:
        if NOWHERE.meets(tool.needs):
            served.append(_served(tool, {}))
        elif fitting := {name: context for name, context in contexts.items() if context.meets(tool.needs)}:
            served.append(_served(tool, fitting))
    return served


def _served(tool: Tool[Any], contexts: Mapping[str, ToolContext]) -> ServedTool:
    schema = copy.deepcopy(tool.schema())
    if contexts:
        _add_argument(schema["function"]["parameters"], list(contexts))

    async def call(arguments: dict[str, Any]) -> ServedAnswer:
        rest = dict(arguments)
        context = NOWHERE
        if contexts:
            name = rest.pop(ARGUMENT, next(iter(contexts)) if len(contexts) == 1 else None)
            if not isinstance(name, str) or name not in contexts:
                return failed(f"{ARGUMENT}: must be one of {', '.join(contexts)}")
            context = contexts[name]
        # In a thread: another client's call need not wait for a long one.
        observation = await asyncio.to_thread(Toolbox([tool], context).call, tool.name, json.dumps(rest))
        return await asyncio.to_thread(answer_of, observation, context)

    return ServedTool(schema=schema, call=call, output_schema=_output_schema(tool))


def _output_schema(tool: Tool[Any]) -> dict[str, Any]:
    """What clients check results by; a field that may have no value is then left out, so is not required."""
    result: type[ToolResult] = get_type_hints(tool.run)["return"]
    schema = result.model_json_schema(mode="serialization")
    for fields in (schema, *schema.get("$defs", {}).values()):
        properties = fields.get("properties", {})
        fields["required"] = [
            name for name in fields.get("required", ()) if NULL not in properties[name].get("anyOf", ())
        ]
    return schema


def _add_argument(parameters: dict[str, Any], names: list[str]) -> None:
    field: dict[str, Any] = {
        "type": "string",
        "enum": names,
        "description": f"which scene to look at: the name of a resource {SCHEME}NAME",
    }
    if len(names) == 1:
        field["default"] = names[0]
    else:
        parameters["required"] = [ARGUMENT, *parameters.get("required", ())]
    parameters["properties"] = {ARGUMENT: field, **parameters.get("properties", {})}


def answer_of(observation: Observation, context: ToolContext | None) -> ServedAnswer:
    """What a call of a tool gave back, as it is served: pictures as bytes, a failure as an error."""
    value = None if observation.error else json.loads(observation.content)
    media = context.media if context else None
    pictures = [
        ServedPicture(data=media.read(picture.sha256), media_type=picture.media_type)
        for picture in observation.pictures
        if media is not None
    ]
    return ServedAnswer(
        text=observation.content,
        value=value if isinstance(value, dict) else None,
        pictures=pictures,
        is_error=observation.error is not None,
    )


def failed(message: str) -> ServedAnswer:
    """An answer that says why there is none."""
    return ServedAnswer(text=json.dumps({"error": message}, ensure_ascii=False), is_error=True)
