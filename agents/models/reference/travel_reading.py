"""Reads a query for a trip in TravelPlanner's form, and what tools have said of it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agents.models.reference.tool_results import Call, Need
from gnomon.core.message import Message
from gnomon.core.model import Request

OPENINGS = ("What counts as a plan:", "You plan trips.")

Result = Mapping[str, Any]


def is_travel_query(messages: Sequence[Message]) -> bool:
    """Whether the messages ask for a trip in TravelPlanner's form."""
    return any(text.startswith(OPENINGS) for text in texts_of(messages))


class TravelEvidence:
    """The results of the conversation's calls, and the tools that may be called."""

    def __init__(self, request: Request) -> None:
        is_free = request.tool_choice != "none"
        self.offered = {tool["function"]["name"] for tool in request.tools} if is_free else set[str]()
        results = {
            message["tool_call_id"]: message["content"]
            for message in request.messages
            if message["role"] == "tool"
        }
        self._answers: dict[str, Result | None] = {}
        for message in request.messages:
            for call in message.get("tool_calls", ()):
                name, arguments = call["function"]["name"], _object(call["function"]["arguments"])
                result = _object(results.get(call["id"]))
                failed = result is None or "error" in result
                self._answers[Call(name, arguments or {}).key] = None if failed else result

    def ask(self, calls: Sequence[Call], why: str) -> list[Result | None]:
        """The result of each call, None where it failed or cannot be made.

        Raises:
            Need: some are still to be made.
        """
        fresh = [call for call in calls if call.key not in self._answers and call.tool in self.offered]
        if fresh:
            raise Need(fresh, why)
        return [self._answers.get(call.key) for call in calls]


def _object(text: object) -> dict[str, Any] | None:
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def texts_of(messages: Sequence[Message]) -> list[str]:
    """The texts of the user's turns, block by block."""
    texts: list[str] = []
    for message in messages:
        if message["role"] == "user":
            content = message["content"]
            if isinstance(content, list):
                texts += [block["text"] for block in content if block["type"] == "text"]
            else:
                texts.append(content or "")
    return texts
