"""Chat: a trial as one line of chat JSONL, the form in which models are tuned."""

from collections.abc import Mapping
from typing import Any

from gnomon.row import Row


def chat_of(row: Row, trace: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The conversation in the shape of OpenAI's messages, and whose it was; None where nothing was said.

    Pictures stay hashes, as the trace has them. Calls keep the arguments as the model wrote them.
    """
    steps = (trace or {}).get("steps") or ()
    if trace is None or not any(step.get("kind") == "reply" for step in steps):
        return None
    messages: list[Any] = list(trace.get("prompt") or ())
    waiting: list[Mapping[str, Any]] = []
    for step in steps:
        if step.get("kind") == "reply":
            waiting = list(step.get("tool_calls") or ())
            message: dict[str, Any] = {"role": "assistant", "content": step.get("text") or ""}
            messages.append({**message, "tool_calls": list(waiting)} if waiting else message)
        elif step.get("kind") == "tool":
            call = waiting.pop(0) if waiting else {}
            told = {"role": "tool", "tool_call_id": call.get("id"), "content": step.get("observation") or ""}
            messages.append(told)
    facts = {"sample_id": row.sample_id, "model": row.model, "arm": row.arm, "repeat": row.repeat}
    return {"messages": messages, **facts, "score": row.score}
