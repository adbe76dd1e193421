"""An MCP server over functions: schemas in the form that models get, answers as text, values and pictures.

Speaks the revision of 2026-07-28 and every earlier one; a client's first request decides. A tool that fails
is a result with `isError`, so that the model reads why; nothing that a tool does ends the server.
"""

import base64
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

logger = logging.getLogger(__name__)

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedPicture:
    """A picture of an answer: its bytes and their media type."""

    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedAnswer:
    """What a call gives back: text for the model, the same as a value if it is one, pictures in order.

    `is_error` says that the tool could not answer; the text then says why.
    """

    text: str
    value: Mapping[str, Any] | None = None
    pictures: Sequence[ServedPicture] = ()
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedTool:
    """A tool as it is served: its function schema as models get it, and the call.

    `schema` is an OpenAI-style function schema (`{"type": "function", "function": {…}}`). `call` is passed
    the arguments as the client sent them, unchecked; calls of one client may overlap.
    """

    schema: Schema
    call: Callable[[dict[str, Any]], Awaitable[ServedAnswer]]
    output_schema: Schema | None = None

    @property
    def name(self) -> str:
        return str(self.schema["function"]["name"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedResource:
    """A text that clients may read under a URI."""

    uri: str
    name: str
    text: Callable[[], str]
    description: str = ""
    media_type: str = "text/plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What one server offers, and who it says it is.

    `unknown` answers calls of tools that are not offered, where they are to be counted as well.
    """

    tools: Sequence[ServedTool]
    resources: Sequence[ServedResource] = ()
    name: str = "gnomon"
    version: str = ""
    instructions: str | None = None
    unknown: Callable[[str, dict[str, Any]], Awaitable[ServedAnswer]] | None = field(default=None)


_READ_ONLY = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_NO_SUCH_RESOURCE = -32002


def server_of(offer: Offer) -> Server[Any]:
    """A protocol server for an offer; it has no state, so one serves any number of connections."""
    tools = {tool.name: tool for tool in offer.tools}
    resources = {resource.uri: resource for resource in offer.resources}
    listed = types.ListToolsResult(tools=[_listed(tool) for tool in offer.tools])

    async def list_tools(
        _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return listed

    async def call_tool(
        _: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return _result(await _answer(offer, tools, params.name, params.arguments or {}))

    async def list_resources(
        _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=resource.uri,
                    name=resource.name,
                    description=resource.description or None,
                    mime_type=resource.media_type,
                )
                for resource in resources.values()
            ]
        )

    async def read_resource(
        _: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        resource = resources.get(params.uri)
        if resource is None:
            raise MCPError(_NO_SUCH_RESOURCE, f"no resource {params.uri}; there are: {', '.join(resources)}")
        contents = types.TextResourceContents(
            uri=resource.uri, mime_type=resource.media_type, text=resource.text()
        )
        return types.ReadResourceResult(contents=[contents])

    return Server(
        offer.name,
        version=offer.version,
        instructions=offer.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources if resources else None,
        on_read_resource=read_resource if resources else None,
    )


def _listed(tool: ServedTool) -> types.Tool:
    function = tool.schema["function"]
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    return types.Tool(
        name=tool.name,
        description=function.get("description"),
        input_schema=dict(parameters),
        output_schema=None if tool.output_schema is None else dict(tool.output_schema),
        annotations=_READ_ONLY,
    )


async def _answer(
    offer: Offer, tools: Mapping[str, ServedTool], name: str, arguments: dict[str, Any]
) -> ServedAnswer:
    tool = tools.get(name)
    try:
        if tool is not None:
            return await tool.call(arguments)
        if offer.unknown is not None:
            return await offer.unknown(name, arguments)
    except Exception as error:
        logger.exception("the tool %s failed inside", name)
        words = f"The tool failed inside: {type(error).__name__}."
        return ServedAnswer(text=json.dumps({"error": words}), is_error=True)
    message = f"There is no tool {name!r}. Tools: {', '.join(tools) or 'none'}."
    return ServedAnswer(text=json.dumps({"error": message}, ensure_ascii=False), is_error=True)


def _result(answer: ServedAnswer) -> types.CallToolResult:
    pictures = [
        types.ImageContent(data=base64.b64encode(picture.data).decode(), mime_type=picture.media_type)
        for picture in answer.pictures
    ]
    return types.CallToolResult(
        content=[types.TextContent(text=answer.text), *pictures],
        structured_content=None if answer.value is None or answer.is_error else dict(answer.value),
        is_error=answer.is_error,
    )
