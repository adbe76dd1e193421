"""Writes a trial as one line of chat JSONL, the form in which models are tuned."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from gnomon.core.row import Row


def chat_of(row: Row, trace: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The conversation in the shape of OpenAI's messages, with sample, model and arm; None without a reply.

    Pictures stay hashes, as the trace has them. Calls keep the arguments as the model wrote them. A call that
    was not run, and a tool that the agent called by itself, are left out: each call has its result.
    """
    steps = (trace or {}).get("steps") or ()
    if trace is None or not any(step.get("kind") == "reply" for step in steps):
        return None
    messages: list[Any] = list(trace.get("prompt") or ())
    for at, step in enumerate(steps):
        if step.get("kind") == "reply":
            messages += _turn(step, steps[at + 1 :])
    facts = {"sample_id": row.sample_id, "model": row.model, "arm": row.arm, "repeat": row.repeat}
    return {"messages": messages, **facts, "score": row.score}


def _turn(reply: Mapping[str, Any], later: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """A reply with those of its calls that were run, then their results."""
    until_next = takewhile(lambda step: step.get("kind") != "reply", later)
    results = [step for step in until_next if step.get("kind") == "tool"]
    pairs = zip(reply.get("tool_calls") or (), results, strict=False)
    run = list(takewhile(lambda pair: pair[0]["function"]["name"] == pair[1].get("name"), pairs))
    message: dict[str, Any] = {"role": "assistant", "content": reply.get("text") or ""}
    if reply.get("reasoning"):
        message["reasoning_content"] = reply["reasoning"]
    yield {**message, "tool_calls": [call for call, _ in run]} if run else message
    for call, result in run:
        yield {"role": "tool", "tool_call_id": call.get("id"), "content": result.get("observation") or ""}
