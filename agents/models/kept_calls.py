"""Calls of a provider's turn: read as they came, and matched with those that an agent kept of them."""

from collections import deque
from collections.abc import Sequence

from agents.models import chat_format as wire
from gnomon.core.message import ToolCall


def call_of(call_id: object, name: object, arguments: object) -> ToolCall:
    """A call as it was written; nothing is repaired.

    Raises:
        TypeError: its id or name is no text: its turn could not go back.
    """
    for said in (call_id, name):
        if not isinstance(said, str):
            raise TypeError(f"{said!r} is no id or name of a call")
    return wire.parse_tool_call(call_id, name, arguments)


def kept_calls(came: Sequence[str], calls: Sequence[ToolCall]) -> list[ToolCall | None]:
    """For each id that came, the call that the agent made of it; None where it dropped that one.

    Those whose ids are known go by them, renamed ones by their place.

    >>> call = {"id": "b", "type": "function", "function": {"name": "fly", "arguments": "{}"}}
    >>> kept_calls(["a", "b"], [call]) == [None, call], kept_calls(["x", "y"], [call]) == [call, None]
    (True, True)
    >>> kept_calls(["b", "b"], [call]) == [call, None]
    True
    """
    by_id: dict[str, deque[ToolCall]] = {}
    for call in calls:
        by_id.setdefault(call["id"], deque()).append(call)
    if len(calls) < len(came) and by_id.keys() <= set(came):
        return [found.popleft() if (found := by_id.get(name)) else None for name in came]
    return [*calls[: len(came)], *[None] * (len(came) - len(calls))]
