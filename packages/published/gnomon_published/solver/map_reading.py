"""Reads a question about places from the messages, and its evidence from the prompt or from tool results."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gnomon.core.message import Message
from gnomon.core.model import Request
from gnomon_agents.models.reference.tool_results import Call, answers_in, offered_in, results_of, texts_of
from gnomon_published.map_record.record import MapRecord
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox

_FACTS = re.compile(r"\A(?:Map data|Context):\n", re.MULTILINE)
_QUESTION = re.compile(
    r"^Question: (.*?)^Options:\n(.*?)^(Answer with|End your last|Choose the option)",
    re.MULTILINE | re.DOTALL,
)
_OPTION = re.compile(r"^(?:Option(\d+): |([A-Z])\. )(.*)$")
OPENING = "A question about places"
NUMBERED = "option_no"
CANNOT_BE_TOLD = "the map data do not answer this."


@dataclass(frozen=True, slots=True, kw_only=True)
class MapReading:
    """The question, its options by letter or number, and the name of the one that says unanswerable."""

    text: str
    options: Mapping[str, str]
    unanswerable: str
    is_numbered: bool

    def reply(self, choice: str, why: str) -> str:
        """The answer in the form that the prompt asks for."""
        if self.is_numbered:
            return json.dumps({"option_no": int(choice), "explanation": why}, ensure_ascii=False)
        return f"{why}\n{json.dumps({'answer': choice})}"


class MapEvidence:
    """Answers to calls: from the facts in the prompt where there are any, else from the conversation."""

    def __init__(self, request: Request) -> None:
        self._answers = answers_in(request.messages)
        self._offered = offered_in(request)
        self._facts = next(
            (_FACTS.sub("", text) for text in texts_of(request.messages) if _FACTS.match(text)), None
        )

    @property
    def is_there(self) -> bool:
        return self._facts is not None or "map_contents" in self._offered or bool(self._answers)

    def ask(self, tool: str, why: str, **arguments: Any) -> Mapping[str, Any] | None:
        """The result of one call; None where it failed or cannot be made."""
        return self.ask_all([Call(tool, arguments)], why)[0]

    def ask_all(self, calls: Sequence[Call], why: str) -> list[Mapping[str, Any] | None]:
        """The result of each call.

        Raises:
            Need: some are still to be made.
        """
        if self._facts is not None:
            return [self._look_up(call) for call in calls]
        return results_of(calls, why, answers=self._answers, offered=self._offered)

    @cached_property
    def _toolbox(self) -> Toolbox:
        """The same tools on the facts that the prompt shows."""
        from gnomon_published.map_record.context import read_context  # late: few jobs ask such questions

        record = read_context(self._facts or "").record
        tools = [tool for tool in TOOLS.own() if tool.needs is MapRecord]
        return Toolbox(tools, ToolContext(inputs=held(record)))

    def _look_up(self, call: Call) -> Mapping[str, Any] | None:
        observation = self._toolbox.call(call.tool, json.dumps(call.arguments))
        return None if observation.error else json.loads(observation.content)


def is_map_question(messages: Sequence[Message]) -> bool:
    """Whether the messages ask a question about places in one of the two forms."""
    return any(
        _QUESTION.search(text) and (text.startswith(OPENING) or NUMBERED in text)
        for text in texts_of(messages)
    )


def read_map_question(messages: Sequence[Message]) -> MapReading:
    """The question of such messages."""
    match = next(match for text in texts_of(messages) if (match := _QUESTION.search(text)))
    lines = [_OPTION.match(line) for line in match[2].splitlines()]
    options = {(line[1] or line[2]): line[3].strip() for line in lines if line}
    is_numbered = match[3] == "Choose the option"
    texts = {text.casefold(): name for name, text in options.items()}
    unanswerable = "0" if is_numbered else texts.get(CANNOT_BE_TOLD, "")
    return MapReading(
        text=" ".join(match[1].split()),
        options={name: text for name, text in options.items() if name != unanswerable and text},
        unanswerable=unanswerable,
        is_numbered=is_numbered,
    )
