"""Finds which calls of a provider's turn an agent kept, and in which form."""

from collections import deque
from collections.abc import Sequence

from gnomon.core.message import ToolCall


def kept_calls(call_ids: Sequence[str], calls: Sequence[ToolCall]) -> list[ToolCall | None]:
    """By the id of each call that came, the call that the agent kept in its place; None if it dropped it.

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
    if len(calls) < len(call_ids) and by_id.keys() <= set(call_ids):
        return [same_id.popleft() if (same_id := by_id.get(name)) else None for name in call_ids]
    return [*calls[: len(call_ids)], *[None] * (len(call_ids) - len(calls))]
