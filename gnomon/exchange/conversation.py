"""Reads a trace as a conversation: each reply beside the results of its calls, and what else happened.

Other formats name less of a step than a trace does. What they do not name travels in a mark of ours beside
it (`kept_of`), from which a reader makes the step as it was (`step_of`); a step of another program has no
mark, and what that program did not say stays absent.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

from gnomon.core.trace import TOLD

T = TypeVar("T")
Json = Mapping[str, Any]

MARK = "gnomon"  # the key under which formats with room for metadata carry what is ours
PLACE = "step"  # in a mark: the step's place in its trace, from 0
DEFAULTS: Mapping[str, Json] = {
    "reply": {
        "text": "",
        "tool_calls": [],
        "finish_reason": "",
        "prompt_tokens": None,
        "completion_tokens": None,
        "usd": None,
        "cached": False,
        "wall_s": 0.0,
        "tries": 1,
        "cached_tokens": None,
        "cache_write_tokens": None,
        "reasoning_tokens": None,
        "reasoning": "",
        "request_changes": [],
        "flags": [],
        "model_version": "",
        "has_reasoning": False,
    },
    "tool": {
        "name": "",
        "arguments": "",
        "observation": "",
        "error": None,
        "wall_s": 0.0,
        "injected": None,
        "pictures": [],
    },
    "note": {"text": ""},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A call and what came back. `wish` is None where the agent called the tool by itself, `step` where the
    call was not run; `place` is the step's place in the trace, or the reply's.
    """

    place: int
    wish: Json | None
    step: Json | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A reply with its calls in their order."""

    place: int
    step: Json
    calls: tuple[Ran, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A note."""

    place: int
    step: Json


Entry = Said | Ran | Noted


def conversation(trace: Json | None) -> Iterator[Entry]:
    """The entries of a stored trace, each reply followed by what else came before the next.

    A result belongs to the next call of that name which its reply made; one without such a call is an entry
    of its own.
    """
    steps = [step for step in (trace or {}).get("steps") or () if isinstance(step, Mapping)]
    starts = [place for place, step in enumerate(steps) if step.get("kind") == "reply"]
    yield from _others(steps, range(starts[0] if starts else len(steps)))
    for start, end in pairwise([*starts, len(steps)]):
        wishes = [wish for wish in steps[start].get("tool_calls") or () if isinstance(wish, Mapping)]
        places = _places(steps, range(start + 1, end), wishes)
        calls = tuple(
            Ran(place=places.get(at, start), wish=wish, step=steps[places[at]] if at in places else None)
            for at, wish in enumerate(wishes)
        )
        yield Said(place=start, step=steps[start], calls=calls)
        taken = set(places.values())
        yield from _others(steps, [place for place in range(start + 1, end) if place not in taken])


def in_turn(trace: Json | None) -> Iterator[Entry]:
    """The entries of a stored trace, and after each reply those of its calls that were run."""
    for entry in conversation(trace):
        yield entry
        if isinstance(entry, Said):
            yield from (call for call in entry.calls if call.step is not None)


def prompt_of(trace: Json | None) -> Sequence[Json]:
    """The messages that the model was asked with; none without a trace."""
    return (trace or {}).get("prompt") or ()


def _places(steps: Sequence[Json], later: range, wishes: Sequence[Json]) -> dict[int, int]:
    """By the number of a wish, the place of its result."""
    places: dict[int, int] = {}
    following = 0
    for place in later:
        if steps[place].get("kind") != "tool":
            continue
        name = steps[place].get("name")
        match = next((at for at in range(following, len(wishes)) if name_of(wishes[at]) == name), None)
        if match is not None:
            places[match], following = place, match + 1
    return places


def _others(steps: Sequence[Json], places: Sequence[int]) -> Iterator[Ran | Noted]:
    for place in places:
        if steps[place].get("kind") == "tool":
            yield Ran(place=place, wish=None, step=steps[place])
        else:
            yield Noted(place=place, step=steps[place])


def name_of(wish: Json) -> str:
    """The tool that a call names."""
    return str((wish.get("function") or {}).get("name") or "")


def arguments_of(wish: Json) -> str:
    """A call's arguments as the model wrote them."""
    return str((wish.get("function") or {}).get("arguments") or "")


def without_none(fields: Mapping[str, T | None]) -> dict[str, T]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def wish_of(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """A call in the shape that a trace has."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def kept_of(step: Json, place: int, *, shown: Sequence[str]) -> dict[str, Any]:
    """The mark of a step: its place, and those of its fields that the format does not show.

    >>> kept_of({"kind": "tool", "name": "speed", "error": "timeout"}, 3, shown=("name",))
    {'step': 3, 'error': 'timeout'}
    """
    defaults = DEFAULTS[str(step.get("kind"))]
    rest = {
        name: value
        for name, value in step.items()
        if name not in shown and name in defaults and value != defaults[name]
    }
    return {PLACE: place, **rest}


def step_of(kind: str, shown: Json, mark: object = None) -> dict[str, Any]:
    """A step, from what a format shows and from its mark; wrong values in the mark are left out.

    >>> step_of("note", {"text": "waited"})
    {'kind': 'note', 'text': 'waited'}
    """
    if not isinstance(mark, Mapping):
        return {"kind": kind, **shown}
    defaults = DEFAULTS[kind]
    kept = {
        name: value
        for name, value in mark.items()
        if name in defaults and name not in shown and _fits(value, defaults[name])
    }
    fields = {**defaults, **shown, **kept, "kind": kind}
    return {name: value for name, value in fields.items() if value or name not in TOLD}


def _fits(value: object, default: object) -> bool:
    """Whether a value from outside is of the kind that the field holds."""
    if isinstance(default, list):
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if isinstance(default, str):
        return isinstance(value, str)
    if isinstance(default, bool):
        return isinstance(value, bool)
    if default is None and (value is None or isinstance(value, str)):
        return True
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value) and value >= 0


def in_order(steps: Sequence[tuple[object, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The steps in the order of their marks; in the order given if any step has no mark."""
    numbered = [(place, step) for place, step in steps if isinstance(place, int)]
    if len(numbered) != len(steps):
        return [step for _, step in steps]
    return [step for _, step in sorted(numbered, key=lambda item: item[0])]


def place_in(mark: object) -> object:
    """The place that a mark names; None without one."""
    return mark.get(PLACE) if isinstance(mark, Mapping) else None
