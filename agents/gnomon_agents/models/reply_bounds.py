"""Cuts and flags replies that are longer than any model writes."""

from collections.abc import Callable
from dataclasses import replace

from gnomon.core.errors import ModelFault
from gnomon.core.message import FunctionCall, ToolCall
from gnomon.core.model import Reply
from gnomon_agents.models.chat_format import MAX_REPLY_CHARS

MAX_CALLS = 1_000
MAX_NAME_CHARS = 1_000
MAX_ID_CHARS = 100_000  # LiteLLM keeps Gemini's signatures in them
MAX_ALL_CHARS = 10 * MAX_REPLY_CHARS  # of all calls together
CUT = "reply_cut"


def bounded(reply: Reply) -> Reply:
    """The reply, or as much of it as is kept, with the flag `reply_cut`. What was cut is not sent back whole
    either: a provider's own turn would name calls that nobody answers.
    """
    calls: list[ToolCall] = []
    size = 0
    for call in reply.tool_calls[:MAX_CALLS]:
        kept = _cut(call)
        size += len(kept["id"]) + len(kept["function"]["name"]) + len(kept["function"]["arguments"])
        if size > MAX_ALL_CHARS:
            break
        calls.append(kept)
    if tuple(calls) != reply.tool_calls:
        return replace(reply, tool_calls=tuple(calls), provider_turn=None, flags=(*reply.flags, CUT))
    texts = [reply.text, reply.reasoning, *(call["function"]["arguments"] for call in calls)]
    if max(map(len, texts)) >= MAX_REPLY_CHARS:  # cut where it was cleaned
        return replace(reply, provider_turn=None, flags=(*reply.flags, CUT))
    return reply


def with_changes(changes: tuple[str, ...], read: Callable[[], Reply]) -> Reply:
    """The reply that is read, or that a fault holds, with what was changed in its request.

    Raises:
        ProviderFault, ModelFault: as `read` raises them.
    """
    try:
        reply = read()
        return reply if reply.request_changes == changes else replace(reply, request_changes=changes)
    except ModelFault as fault:
        if fault.reply is not None:
            fault.reply = replace(fault.reply, request_changes=changes)
        raise


def _cut(call: ToolCall) -> ToolCall:
    name, call_id = call["function"]["name"], call["id"]
    if len(name) <= MAX_NAME_CHARS and len(call_id) <= MAX_ID_CHARS:
        return call
    function: FunctionCall = {"name": name[:MAX_NAME_CHARS], "arguments": call["function"]["arguments"]}
    return {"id": call_id[:MAX_ID_CHARS], "type": "function", "function": function}
