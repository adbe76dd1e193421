"""Finds the tools that the reference knows under whatever names a request shows them.

A tool is known by its description, which says what it does; where that is another, by the names of its
arguments, if no other tool has the same.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from gnomon.core.message import Message, ToolCall
from gnomon.core.model import Reply, Request
from gnomon_tools.core.toolbox import TOOLS


def known_names(request: Request) -> dict[str, str]:
    """By the name that the request shows, the tool's own, where that is another."""
    own = set(TOOLS.names())
    names: dict[str, str] = {}
    for schema in request.tools:
        function = schema["function"]
        if function["name"] not in own:
            by_description, by_arguments = _marks()
            own_name = by_description.get(function["description"]) or by_arguments.get(_arguments(function))
            if own_name is not None:
                names[function["name"]] = own_name
    return names


def in_own_names(request: Request, names: Mapping[str, str]) -> Request:
    """The request with tools and calls under the tools' own names."""
    tools = [
        {**schema, "function": {**schema["function"], "name": _of(schema["function"]["name"], names)}}
        for schema in request.tools
    ]
    return replace(request, tools=tools, messages=[_message(message, names) for message in request.messages])


def in_shown_names(reply: Reply, names: Mapping[str, str]) -> Reply:
    """The reply with its calls under the names that the request shows."""
    shown = {own: name for name, own in names.items()}
    return replace(reply, tool_calls=tuple(_call(call, shown) for call in reply.tool_calls))


def _message(message: Message, names: Mapping[str, str]) -> Message:
    if not message.get("tool_calls"):
        return message
    return {**message, "tool_calls": [_call(call, names) for call in message["tool_calls"]]}


def _call(call: ToolCall, names: Mapping[str, str]) -> ToolCall:
    function = call["function"]
    return {**call, "function": {**function, "name": _of(function["name"], names)}}


def _of(name: str, names: Mapping[str, str]) -> str:
    return names.get(name, name)


def _arguments(function: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(function["parameters"].get("properties", {}))


@lru_cache(1)
def _marks() -> tuple[dict[str, str], dict[frozenset[str], str]]:
    """Tools by description, and by the names of their arguments where those are one tool's alone."""
    functions = [tool.schema()["function"] for tool in TOOLS.own()]
    alike = Counter(_arguments(function) for function in functions)
    by_description = {function["description"]: function["name"] for function in functions}
    by_arguments = {
        _arguments(function): function["name"] for function in functions if alike[_arguments(function)] == 1
    }
    return by_description, by_arguments
