"""Reads the tool results so far from the conversation."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gnomon.core.message import Message
from gnomon.core.model import Request

MAX_CALLS = 12  # an arm's usual limit; what would exceed it is done without

Result = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A question to a tool."""

    tool: str
    arguments: Mapping[str, Any]

    @property
    def key(self) -> str:
        return f"{self.tool} {json.dumps(self.arguments, sort_keys=True)}"


class Need(Exception):
    """These calls must be answered before the solver can go on; `why` tells the reader."""

    def __init__(self, calls: Sequence[Call], why: str) -> None:
        super().__init__(why)
        self.calls, self.why = calls, why


class Evidence:
    """The answers to calls, by call.

    A solver is plain code that asks as it goes. Where an answer is not in the conversation yet, `ask`
    raises Need, the model calls the tool, and with the next request the solver runs again from its
    beginning, now further: so the model keeps no state.
    """

    def __init__(self, answers: Mapping[str, Result | None], offered: Collection[str]) -> None:
        """`answers` holds None for a failed call; `offered` names the tools that may be called now."""
        self._answers, self.offered = answers, offered

    def ask(self, calls: Sequence[Call], why: str) -> list[Result | None]:
        """The result of each call, None where it failed or cannot be made.

        Raises:
            Need: some are still to be made.
        """
        return results_of(calls, why, answers=self._answers, offered=self.offered)


def results_of(
    calls: Sequence[Call],
    why: str,
    *,
    answers: Mapping[str, Result | None],
    offered: Collection[str],
) -> list[Result | None]:
    """The result of each call among the answers so far, None where it failed or cannot be made.

    Raises:
        Need: some are still to be made.
    """
    fresh = {call.key: call for call in calls if call.key not in answers}
    callable_now = [call for call in fresh.values() if call.tool in offered]
    room = MAX_CALLS - len(answers)
    if callable_now and room > 0:
        raise Need(callable_now[:room], why)
    return [answers.get(call.key) for call in calls]


def read_evidence(request: Request) -> Evidence:
    """The conversation's calls and their results, and the tools that may be called now."""
    return Evidence(answers_in(request.messages), offered_in(request))


def answers_in(messages: Sequence[Message]) -> dict[str, Result | None]:
    """The results of the conversation's calls; one with an `error`, or a null `result`, told nothing."""
    results = {
        message["tool_call_id"]: message["content"] for message in messages if message["role"] == "tool"
    }
    answers: dict[str, Result | None] = {}
    for message in messages:
        for call in message.get("tool_calls", ()):
            arguments = object_in(call["function"]["arguments"])
            result = object_in(results.get(call["id"]))
            key = Call(call["function"]["name"], arguments or {}).key
            says_nothing = result is None or "error" in result or result.get("result", "") is None
            answers[key] = None if says_nothing else result
    return answers


def offered_in(request: Request) -> list[str]:
    """The tools that may be called now."""
    return [] if request.tool_choice == "none" else [tool["function"]["name"] for tool in request.tools]


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


def object_in(text: object) -> dict[str, Any] | None:
    """The object that a text begins with; a word of the agent's may stand behind it."""
    try:
        value = json.JSONDecoder().raw_decode(text)[0] if isinstance(text, str) else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
