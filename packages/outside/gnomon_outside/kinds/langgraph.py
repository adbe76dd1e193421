"""A compiled LangGraph graph, by import path: asked with `messages`, its last message is the answer.

The messages that it adds are its steps. The module is looked for where Python looks, then in the current
folder.
"""

import asyncio
import importlib
import inspect
import json
import sys
import threading
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

from gnomon.core.agent import LimitReached
from gnomon.core.errors import AgentFault
from gnomon.core.outside_agent import OutsideAgent
from gnomon_outside.asked_agent import AskedAgent
from gnomon_outside.contract import reply_of
from gnomon_outside.question import AgentReply, Question, Subject, chat_messages

_IMPORTING = threading.Lock()  # the path is one for the whole process


class _Graph(Subject):
    """Runs one graph."""

    def __init__(self, spec: OutsideAgent) -> None:
        super().__init__(spec.label)
        self._path = str(spec.langgraph)
        self._graph: Any = None

    async def ask(self, question: Question) -> AgentReply:
        from langgraph.errors import GraphRecursionError

        if self._graph is None:
            self._graph = graph_at(self._path)
        sent = chat_messages(question)
        try:
            async with asyncio.timeout(question.timeout_s):
                result = await self._graph.ainvoke({"messages": sent}, config=_config(question))
        except TimeoutError as error:
            raise AgentFault(f"no answer within {question.timeout_s:g} s", cause="timeout") from error
        except GraphRecursionError:
            raise LimitReached("max_turns") from None
        except LimitReached:
            raise
        except Exception as error:  # whatever a graph of somebody's raises is its own fault
            raise AgentFault(f"{type(error).__name__}: {error}", cause="crash") from error
        return _reply(result, len(sent), question)


def graph_at(path: str) -> Any:
    """The graph at `module:name`; a function there is called for it.

    Raises:
        AgentFault: `start`: there is none.
    """
    module_name, _, name = path.partition(":")
    try:
        graph: Any = attrgetter(name)(_imported(module_name))
        if not hasattr(graph, "ainvoke") and inspect.isfunction(graph):
            graph = graph()
    except Exception as error:
        raise AgentFault(f"{path}: {type(error).__name__}: {error}", cause="start") from error
    if not hasattr(graph, "ainvoke"):
        message = f"{path} is a {type(graph).__name__}, not a compiled graph"
        raise AgentFault(message, cause="start")
    return graph


def _imported(name: str) -> Any:
    """A module, if need be from the current folder, which is on no worker's path."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
    here = str(Path.cwd())
    with _IMPORTING:
        sys.path.append(here)
        try:
            importlib.invalidate_caches()
            return importlib.import_module(name)
        finally:
            sys.path.remove(here)


def _config(question: Question) -> dict[str, Any]:
    server = question.tool_server
    return {
        # A turn is a step of the model and one of its tools.
        "recursion_limit": 2 * int(question.limits["max_turns"]) + 1,
        "configurable": {
            "thread_id": f"{question.sample_id}/{question.seed}",
            "model": question.model_id,
            "seed": question.seed,
            "sample_id": question.sample_id,
            "mcp": server.as_json() if server else None,
        },
    }


def _reply(result: Any, sent: int, question: Question) -> AgentReply:
    """The reply in a graph's final state.

    Raises:
        AgentFault: `bad_shape`: it holds neither messages nor an answer.
    """
    if isinstance(result, str):
        return reply_of(result, None, None, question)
    if not isinstance(result, Mapping):
        raise AgentFault(f"the graph gave a {type(result).__name__}, not its state", cause="bad_shape")
    messages = result.get("messages")
    added = list(messages)[sent:] if isinstance(messages, list | tuple) else []
    arguments = {
        call.get("id"): call["args"]
        for message in added
        for call in getattr(message, "tool_calls", None) or ()
    }
    steps = [step for message in added if (step := _step(message, arguments)) is not None]
    answer = result.get("answer")
    if isinstance(answer, str | int | float) and not isinstance(answer, bool):
        return reply_of(str(answer), steps if added else None, None, question)
    if not added:
        raise AgentFault("the graph's state has no new `messages` and no `answer`", cause="bad_shape")
    return reply_of(_text(getattr(added[-1], "content", "")), steps, None, question)


def _step(message: Any, arguments: Mapping[Any, Any]) -> dict[str, Any] | None:
    """A message that the graph has added as a step that is told."""
    kind = getattr(message, "type", "")
    if kind == "ai":
        usage = getattr(message, "usage_metadata", None)
        calls = [
            {"id": call.get("id"), "function": {"name": call["name"], "arguments": json.dumps(call["args"])}}
            for call in getattr(message, "tool_calls", None) or ()
        ]
        return {
            "kind": "reply",
            "text": _text(message.content),
            "tool_calls": calls,
            "usage": dict(usage) if usage else {},
        }
    if kind == "tool":
        is_error = getattr(message, "status", "") == "error"
        name = getattr(message, "name", None) or "tool"
        return {
            "kind": "tool",
            "name": name,
            "arguments": arguments.get(getattr(message, "tool_call_id", None), {}),
            "result": _text(message.content),
            "is_error": is_error,
        }
    return None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [part if isinstance(part, str) else part.get("text", "") for part in content]
    return "".join(part for part in parts if isinstance(part, str))


def langgraph(spec: OutsideAgent) -> AskedAgent:
    """The graph at an import path."""
    return AskedAgent(spec, _Graph(spec))
