"""Reads a stored trace in turns: what the model said, what it called, and what came back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

StoredTrace = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a tool; `step` is its place among the trace's steps, from 0."""

    step: int
    name: str
    arguments: str
    observation: str
    error: str | None
    wall_s: float
    injected: str | None
    pictures: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Turn:
    """A reply with its calls and the notes that followed; numbered from 1 as people count.

    Turn 0 holds what came before the first reply. Tokens and dollars are None where unknown.
    """

    number: int
    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    usd: float | None = None
    is_cached: bool = False
    wall_s: float = 0.0
    tries: int = 1
    flags: tuple[str, ...] = ()
    request_changes: tuple[str, ...] = ()
    wishes: tuple[tuple[str, str], ...] = ()  # calls that the reply asked for: name, arguments
    calls: list[Call] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def total_s(self) -> float:
        """Seconds of the reply and of its calls."""
        return self.wall_s + sum(call.wall_s for call in self.calls)


def read_turns(trace: StoredTrace) -> tuple[Turn, ...]:
    """The turns of a stored trace; what cannot be read of it is left out."""
    turns: list[Turn] = []
    for place, step in _steps(trace):
        if step.get("kind") == "reply":
            number = turns[-1].number + 1 if turns else 1
            turns.append(_turn(step, number))
            continue
        if not turns:
            turns.append(Turn(number=0))
        if step.get("kind") == "tool":
            turns[-1].calls.append(_call(step, place))
        else:
            turns[-1].notes.append(_text(step.get("text")))
    return tuple(turns)


def prompt_texts(trace: StoredTrace) -> list[str]:
    """The texts of the prompt, one for each block; pictures and videos by their hash."""
    return [
        _text(block.get("text"))
        if block.get("type") == "text"
        else f"[{_shown(block)} {block.get('sha256')}]"
        for block in _blocks(trace)
    ]


def prompt_pictures(trace: StoredTrace) -> list[str]:
    """The hashes of the prompt's pictures, in order."""
    return [
        str(block["sha256"]) for block in _blocks(trace) if "sha256" in block and _shown(block) == "picture"
    ]


def _shown(block: Mapping[str, Any]) -> str:
    return "video" if block.get("type") == "video" else "picture"


def _blocks(trace: StoredTrace) -> Iterator[Mapping[str, Any]]:
    """The prompt's stretches of text and its pictures."""
    for message in trace.get("prompt") or ():
        content = message.get("content")
        yield from content if isinstance(content, list) else [{"type": "text", "text": content}]


def _steps(trace: StoredTrace) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for place, step in enumerate(trace.get("steps") or ()):
        if isinstance(step, Mapping):
            yield place, step


def _turn(step: Mapping[str, Any], number: int) -> Turn:
    functions = [call.get("function") or {} for call in step.get("tool_calls") or ()]
    return Turn(
        number=number,
        text=_text(step.get("text")),
        reasoning=_text(step.get("reasoning")),
        finish_reason=_text(step.get("finish_reason")),
        prompt_tokens=step.get("prompt_tokens"),
        completion_tokens=step.get("completion_tokens"),
        reasoning_tokens=step.get("reasoning_tokens"),
        usd=step.get("usd"),
        is_cached=bool(step.get("cached")),
        wall_s=float(step.get("wall_s") or 0.0),
        tries=int(step.get("tries") or 1),
        flags=_names(step.get("flags")),
        request_changes=_names(step.get("request_changes")),
        wishes=tuple((_text(call.get("name")), _text(call.get("arguments"))) for call in functions),
    )


def _call(step: Mapping[str, Any], place: int) -> Call:
    return Call(
        step=place,
        name=_text(step.get("name")),
        arguments=_text(step.get("arguments")),
        observation=_text(step.get("observation")),
        error=step.get("error"),
        wall_s=float(step.get("wall_s") or 0.0),
        injected=step.get("injected"),
        pictures=_names(step.get("pictures")),
    )


def _names(values: Sequence[object] | None) -> tuple[str, ...]:
    return tuple(str(value) for value in values or ())


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)
