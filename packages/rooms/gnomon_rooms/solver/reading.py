"""Reads a question about a room from the messages, and its evidence from the prompt or from tool results."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gnomon.core.message import Message
from gnomon.core.model import Request
from gnomon_agents.models.reference.tool_results import Call, answers_in, offered_in, results_of, texts_of
from gnomon_rooms.wording import OPENING, RELEASED_LETTER, RELEASED_NUMBER
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.scene.boxes import HEADER, XYZ, Box, Boxes

_QUESTION = re.compile(r"^Question: (.*)$", re.MULTILINE)
_OPTION = re.compile(r"^([A-Z])\. (.+)$", re.MULTILINE)
_QUOTED = re.compile(r'"([^"]+)"')
_BOX = re.compile(
    r"^(.+): centre ([-\d. ]+); edges ([\d. ]+); axes ([-\d. ]+), ([-\d. ]+), ([-\d. ]+)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomReading:
    """The question, what it quotes, and its options by letter; `is_released`: one word is asked for."""

    text: str
    quoted: tuple[str, ...]
    options: Mapping[str, str]
    is_released: bool

    def letter(self, option: str) -> str | None:
        """The letter of an option."""
        return next((letter for letter, words in self.options.items() if words == option), None)

    def reply(self, answer: str, why: str) -> str:
        """The answer in the form that the prompt asks for."""
        return answer if self.is_released else f"{why}\n{json.dumps({'answer': answer}, ensure_ascii=False)}"


def is_room_question(messages: Sequence[Message]) -> bool:
    """Whether the messages ask a question about a room."""
    return any(text.startswith(OPENING) and _QUESTION.search(text) for text in texts_of(messages))


def read_room_question(messages: Sequence[Message]) -> RoomReading:
    """The question of such messages."""
    text = next(text for text in texts_of(messages) if text.startswith(OPENING))
    match = _QUESTION.search(text)
    asked = match[1] if match else ""
    return RoomReading(
        text=asked,
        quoted=tuple(_QUOTED.findall(asked)),
        options={letter: words.strip() for letter, words in _OPTION.findall(text)},
        is_released=text.rstrip().endswith((RELEASED_LETTER, RELEASED_NUMBER)),
    )


class BoxEvidence:
    """Answers to calls: from the boxes in the prompt where there are any, else from the conversation."""

    def __init__(self, request: Request) -> None:
        self._answers = answers_in(request.messages)
        self._offered = offered_in(request)
        self._told = next((text for text in texts_of(request.messages) if text.startswith(HEADER)), None)

    def ask(self, tool: str, why: str, **arguments: Any) -> Mapping[str, Any]:
        """The result of one call.

        Raises:
            Need: it is still to be made.
            LookupError: it failed, or cannot be made.
        """
        call = Call(tool, arguments)
        if self._told is None:
            result = results_of([call], why, answers=self._answers, offered=self._offered)[0]
        else:
            seen = self._toolbox.call(call.tool, json.dumps(call.arguments))
            result = None if seen.error else json.loads(seen.content)
        if result is None:
            raise LookupError(tool)
        return result

    @cached_property
    def _toolbox(self) -> Toolbox:
        """The same tools on the boxes that the prompt tells."""
        tools = [tool for tool in TOOLS.own() if tool.needs is Boxes]
        return Toolbox(tools, ToolContext(inputs=held(Boxes(by_name=told_boxes(self._told or "")))))


def told_boxes(text: str) -> dict[str, Box]:
    """The boxes of a listing; their rounded axes are put at right angles again."""
    boxes = {}
    for name, centre, edges, *axes in _BOX.findall(text):
        left, _, right = np.linalg.svd(np.array([_numbers(axis) for axis in axes]))
        x_axis, y_axis, z_axis = ((float(x), float(y), float(z)) for x, y, z in (left @ right).tolist())
        kind = re.sub(r" \d+$", "", name)
        boxes[name] = Box(
            name=name,
            kind=kind,
            centre_m=_numbers(centre),
            lengths_m=_numbers(edges),
            axes=(x_axis, y_axis, z_axis),
        )
    return boxes


def _numbers(text: str) -> XYZ:
    x, y, z = map(float, text.split())
    return x, y, z
