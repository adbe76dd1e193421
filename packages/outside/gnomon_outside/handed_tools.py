"""Hands the tools of a trial to an outside agent, by an MCP server on loopback for as long as it is asked.

Calls run through the trial's context: recorded, counted, limited and perturbed as those of any agent's. When
the arm's calls are used up, each further one is answered with an error that says so.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from gnomon.core.agent import AgentContext, LimitReached
from gnomon.core.message import Message, ToolCall, text_of
from gnomon_outside.question import ToolServer
from gnomon_tools.core.json_text import json_value

if TYPE_CHECKING:
    from gnomon_workbench.mcp_server.serve import ServedAnswer

USED_UP = "No more calls: this question allows no further tool calls. Answer with what you know."


@asynccontextmanager
async def handed_tools(context: AgentContext) -> AsyncIterator[ToolServer]:
    """Within, the tools of the context are served over streamable HTTP with a token of their own."""
    # late: it takes a second, and few jobs hand out tools
    from gnomon_workbench.mcp_server.serve import Offer, ServedTool, served_over_http

    offered = [
        ServedTool(schema=schema, call=partial(_call, context, schema["function"]["name"]))
        for schema in context.toolbox.schemas
    ]
    offer = Offer(tools=offered, unknown=partial(_call, context))
    async with served_over_http(offer) as endpoint:
        yield ToolServer(url=endpoint.url, token=endpoint.token or "")


async def _call(context: AgentContext, name: str, arguments: dict[str, Any]) -> "ServedAnswer":
    from gnomon_workbench.mcp_server.serve import ServedAnswer

    trace = context.trace
    number = len(trace.tool_steps)
    call: ToolCall = {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
    }
    try:
        message = await context.call_tool(call)
    except LimitReached:
        return ServedAnswer(text=json.dumps({"error": USED_UP}), is_error=True)
    answer = _served(context, message)
    # Other calls may have ended meanwhile: the step is known by what was observed.
    steps = (step for step in reversed(trace.tool_steps) if step.observation == answer.text)
    is_error = any(step.error is not None for step in islice(steps, 1))
    return replace(answer, is_error=is_error)


def _served(context: AgentContext, message: Message) -> "ServedAnswer":
    from gnomon_workbench.mcp_server.serve import ServedAnswer, ServedPicture

    content = message["content"]
    blocks = content if isinstance(content, list) else []
    text = text_of(message)
    pictures = [
        ServedPicture(data=context.media.read(block["sha256"]), media_type=block["media_type"])
        for block in blocks
        if block["type"] == "image" and context.media is not None
    ]
    value = json_value(text)
    return ServedAnswer(text=text, value=value if isinstance(value, dict) else None, pictures=pictures)
