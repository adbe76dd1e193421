"""Matches the calls of a provider's turn with those that an agent kept of them."""

from collections import deque
from collections.abc import Sequence

from gnomon.core.message import ToolCall


def kept_calls(call_ids: Sequence[str], calls: Sequence[ToolCall]) -> list[ToolCall | None]:
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
    if len(calls) < len(call_ids) and by_id.keys() <= set(call_ids):
        return [same_id.popleft() if (same_id := by_id.get(name)) else None for name in call_ids]
    return [*calls[: len(call_ids)], *[None] * (len(call_ids) - len(calls))]
