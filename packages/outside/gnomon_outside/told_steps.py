"""Reads the steps that an outside agent tells of: replies of its model, calls of its tools, and notes.

Agents write them in many forms: ours, OpenAI's messages, pairs of name and result. What can be read is kept
as a step, anything else as a note; nothing that is told here ends a trial.
"""

import json
import sys
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from gnomon.core.message import ToolCall
from gnomon.core.row import MAX_TOKENS
from gnomon.core.trace import NoteStep, ReplyStep, Step, ToolStep
from gnomon_agents.models.chat_format import parse_tool_call, sanitize

MAX_STEPS, MAX_TEXT = 500, 50_000
TOLD_ERROR = "tool_error"  # the kind of failure of a call that the agent says has failed
# Names under which agents report what they used, ours first.
TOKEN_NAMES: Mapping[str, tuple[str, ...]] = {
    "model_calls": ("model_calls",),
    "prompt_tokens": ("prompt_tokens", "input_tokens"),
    "completion_tokens": ("completion_tokens", "output_tokens"),
    "cached_tokens": ("cached_tokens",),
    "reasoning_tokens": ("reasoning_tokens",),
}
_TOOL_KINDS = ("tool", "tool_call", "tool_result", "function", "action", "call")
_REPLY_KINDS = ("reply", "message", "model", "assistant", "llm", "ai", "thought", "answer")
_NAMES = ("name", "tool", "tool_name", "function")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "tool_input")
_RESULTS = ("observation", "result", "output", "content", "response")
_TEXTS = ("text", "content", "message", "thought", "output")


def read_steps(plain_steps: Iterable[Any], *, but_tools: Collection[str] = ()) -> tuple[Step, ...]:
    """Steps in their order; calls of `but_tools` are left out, as they were recorded where they were run.

    >>> [type(step).__name__ for step in read_steps([{"text": "hm"}, {"tool": "add", "result": 3}, 7])]
    ['ReplyStep', 'ToolStep', 'NoteStep']
    """
    steps: list[Step] = []
    for count, step in enumerate(plain_steps):
        if count >= MAX_STEPS:
            steps.append(NoteStep(text=f"steps after the first {MAX_STEPS} are left out"))
            break
        read = _read(step)
        if not (isinstance(read, ToolStep) and _is_of(read.name, but_tools)):
            steps.append(read)
    return tuple(steps)


def _is_of(name: str, tools: Collection[str]) -> bool:
    """Whether a name means one of these tools: clients of MCP put the server's name before it."""
    return any(name == tool or name.endswith((f"__{tool}", f".{tool}", f"/{tool}")) for tool in tools)


def _read(step: Any) -> Step:
    if isinstance(step, str):
        return NoteStep(text=_text(step))
    if not isinstance(step, Mapping):
        return NoteStep(text=f"a step of an unknown form: {_text(step)}")
    kind = str(step.get("kind") or step.get("type") or step.get("role") or "").lower()
    name = next((step[key] for key in _NAMES if isinstance(step.get(key), str) and step[key]), None)
    if name is not None and kind not in _REPLY_KINDS and kind != "note":
        return _tool_step(name, step)
    if kind == "note" or kind in _TOOL_KINDS:  # a call without a name
        return NoteStep(text=_text(step.get("text", step)))
    text = next((step[key] for key in _TEXTS if isinstance(step.get(key), str)), None)
    calls = _calls(step.get("tool_calls"))
    if text is None and not calls:
        return NoteStep(text=f"a step of an unknown form: {_text(step)}")
    usage = step.get("usage") if isinstance(step.get("usage"), Mapping) else step
    return ReplyStep(
        text=_text(text or ""),
        tool_calls=calls,
        finish_reason="tool_calls" if calls else "stop",
        prompt_tokens=token_count(usage, "prompt_tokens"),
        completion_tokens=token_count(usage, "completion_tokens"),
        usd=None,
        cached=False,
        wall_s=_seconds(step.get("seconds", step.get("wall_s"))),
        tries=1,
        reasoning=_text(step["reasoning"]) if isinstance(step.get("reasoning"), str) else "",
    )


def _tool_step(name: str, step: Mapping[str, Any]) -> ToolStep:
    arguments: Any = next((step[key] for key in _ARGUMENTS if key in step), {})
    result = next((step[key] for key in _RESULTS if key in step), "")
    error = step.get("error") or (step.get("is_error") is True)
    if isinstance(error, str) and result == "":
        result = error
    return ToolStep(
        name=sanitize(name)[:200],
        arguments=_text(arguments),
        observation=_text(result),
        error=TOLD_ERROR if error else None,
        wall_s=_seconds(step.get("seconds", step.get("wall_s"))),
    )


def _calls(calls: Any) -> tuple[ToolCall, ...]:
    read = []
    for call in calls[:MAX_STEPS] if isinstance(calls, list) else ():
        function = call.get("function", call) if isinstance(call, Mapping) else None
        if isinstance(function, Mapping) and function.get("name"):
            arguments = function.get("arguments", function.get("args"))
            read.append(parse_tool_call(call.get("id"), function["name"], arguments))
    return tuple(read)


def _text(value: Any) -> str:
    """Text as it is, anything else as JSON; shortened."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return sanitize(text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}… ({len(text):,} characters)")


def token_count(usage: Any, name: str) -> int | None:
    """A count under any of the names that agents give it; None: it is unknown, as is one of nonsense."""
    counts = (_count(usage.get(key)) for key in TOKEN_NAMES[name])
    return next((count for count in counts if count is not None), None)


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_TOKENS:
        return None
    return int(value) if value == int(value) else None


def _seconds(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= sys.float_info.max else 0.0
