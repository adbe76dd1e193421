"""What the reference model reads of a trip: the prompt's JSON objects, and what tools have told so far."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gnomon.core.message import Message
from gnomon.core.model import Request

MARKS = {"request": "REQUEST:", "facts": "FACTS:", "told": "ALSO:"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TripReading:
    """The request with changes made, what stands beside it, given facts, and results by tool."""

    request: Mapping[str, Any]
    told: Mapping[str, Any]
    facts: Mapping[str, Any]
    text: str
    offered: frozenset[str]
    results: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=tuple)

    def last(self, tool: str) -> Mapping[str, Any] | None:
        """The last result of a tool that did not fail."""
        return next(
            (told for name, _, told in reversed(self.results) if name == tool and "error" not in told), None
        )

    def all(self, tool: str) -> list[Mapping[str, Any]]:
        """Every result of a tool that did not fail."""
        return [told for name, _, told in self.results if name == tool and "error" not in told]

    def called(self, tool: str) -> int:
        """How often a tool was called."""
        return sum(name == tool for name, _, _ in self.results)


def is_trip(messages: Sequence[Message]) -> bool:
    """Whether the messages ask for a trip."""
    return any(_text(message).startswith(MARKS["request"]) for message in messages)


def read_trip(request: Request) -> TripReading | None:
    """The reading; None where the request in the prompt is no JSON object."""
    prompt = "\n".join(_text(message) for message in request.messages if message["role"] == "user")
    found = {name: _after(prompt, mark) for name, mark in MARKS.items()}
    if not found["request"]:
        return None
    change = found["told"].get("change", {})
    return TripReading(
        request={**found["request"], **change},
        told=found["told"],
        facts=found["facts"],
        text=prompt,
        offered=frozenset(
            tool["function"]["name"] for tool in request.tools if request.tool_choice != "none"
        ),
        results=tuple(_results(request.messages)),
    )


def _after(prompt: str, mark: str) -> dict[str, Any]:
    """The JSON object on the line after a mark."""
    _, found, rest = prompt.partition(f"{mark}\n")
    if not found:
        return {}
    try:
        value = json.loads(rest.split("\n", 1)[0])
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _results(messages: Sequence[Message]) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    calls: dict[str, tuple[str, str]] = {}
    found: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = []
    for message in messages:
        for call in message.get("tool_calls", ()):
            calls[call["id"]] = (call["function"]["name"], call["function"]["arguments"])
        name = message.get("tool_call_id")
        if message["role"] == "tool" and name in calls:
            tool, arguments = calls[name]
            found.append((tool, _object(arguments), _object(_text(message))))
    return found


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {"error": text}
    return value if isinstance(value, dict) else {"error": text}


def _text(message: Message) -> str:
    content = message["content"]
    if isinstance(content, list):
        return "\n".join(block["text"] for block in content if block["type"] == "text")
    return content or ""
