"""Reads a trip from the messages: the prompt's JSON objects, and the tool results so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gnomon.core.message import Message, text_of
from gnomon.core.model import Request
from gnomon_agents.models.reference.tool_results import object_in
from gnomon_tools.core.json_text import json_object

MARKS = {"request": "REQUEST:", "facts": "FACTS:", "also": "ALSO:"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TripReading:
    """The request with changes made, what stands beside it, given facts, and results by tool."""

    request: Mapping[str, Any]
    also: Mapping[str, Any]
    facts: Mapping[str, Any]
    text: str
    offered: frozenset[str]
    results: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=tuple)

    def last(self, tool: str) -> Mapping[str, Any] | None:
        """The last result of a tool that did not fail."""
        return next(
            (result for name, _, result in reversed(self.results) if name == tool and "error" not in result),
            None,
        )

    def all(self, tool: str) -> list[Mapping[str, Any]]:
        """Every result of a tool that did not fail."""
        return [result for name, _, result in self.results if name == tool and "error" not in result]

    def called(self, tool: str) -> int:
        return sum(name == tool for name, _, _ in self.results)


STEPS = ("SELECT:", "RECOMMEND:", "GUIDE:")
"""The first lines of what the steps of the planning agent ask beside the plan."""


def step_of(messages: Sequence[Message]) -> str | None:
    """The mark of the question that the first message is, if it is one of a step."""
    first = text_of(messages[0]).partition("\n")[0] if messages else ""
    return first if first in STEPS else None


def is_trip(messages: Sequence[Message]) -> bool:
    """Whether the messages ask for a trip."""
    return any(text_of(message).startswith(MARKS["request"]) for message in messages)


def read_trip(request: Request) -> TripReading | None:
    """The reading; None where the request in the prompt is no JSON object."""
    prompt = "\n".join(text_of(message) for message in request.messages if message["role"] == "user")
    by_name = {name: _after(prompt, mark) for name, mark in MARKS.items()}
    if not by_name["request"]:
        return None
    from gnomon_trips.benchmarks.itinerary.sayings import request_now  # late: with all of trips

    change = by_name["also"].get("change", {})
    said = [text_of(message) for message in request.messages if message["role"] == "user"]
    newest = [facts for text in said[1:] if (facts := _after(text, MARKS["facts"]))]
    return TripReading(
        request=request_now({**by_name["request"], **change}, said[1:]),
        also=by_name["also"],
        facts=newest[-1] if newest else by_name["facts"],
        text=prompt,
        offered=frozenset(
            tool["function"]["name"] for tool in request.tools if request.tool_choice != "none"
        ),
        results=tuple(_results(request.messages)),
    )


def _after(prompt: str, mark: str) -> dict[str, Any]:
    """The JSON object on the line after a mark."""
    return json_object(prompt.partition(f"{mark}\n")[2].split("\n", 1)[0])


def _results(messages: Sequence[Message]) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    calls: dict[str, tuple[str, str]] = {}
    results: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = []
    for message in messages:
        for call in message.get("tool_calls", ()):
            calls[call["id"]] = (call["function"]["name"], call["function"]["arguments"])
        name = message.get("tool_call_id")
        if message["role"] == "tool" and name in calls:
            tool, arguments = calls[name]
            results.append((tool, _object(arguments), _object(text_of(message))))
    return results


def _object(text: str) -> dict[str, Any]:
    value = object_in(text)
    return {"error": text} if value is None else value
