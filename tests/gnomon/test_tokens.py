"""How many tokens a request is said to have: what is sent once is counted once."""

from typing import Any

import pytest

from gnomon.core.message import Message
from gnomon.core.model import Request
from gnomon.tokens import TokenEstimator

ARGUMENTS = '{"far": "' + "x" * 1_000 + '"}'
TEXT = "y" * 2_000
CALL: Any = {"id": "a", "type": "function", "function": {"name": "fly", "arguments": ARGUMENTS}}
ANTHROPIC = [
    {"type": "text", "text": TEXT},
    {"type": "tool_use", "id": "a", "name": "fly", "input": ARGUMENTS},
]
RESPONSES = [
    {"type": "message", "content": [{"type": "output_text", "text": TEXT}]},
    {"type": "function_call", "call_id": "a", "name": "fly", "arguments": ARGUMENTS},
]


def at_most(dialect: Any = None, body: Any = None) -> int:
    turn: Message = {"role": "assistant", "content": TEXT, "tool_calls": [CALL]}
    if dialect:
        turn["provider_turn"] = {"dialect": dialect, "body": body}
    return TokenEstimator().prompt_at_most(Request(messages=[turn], tools=[]))


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("anthropic", ANTHROPIC),
        ("responses", RESPONSES),
        ("chat", {"content": f"<think>hm</think>{TEXT}"}),
    ],
)
def test_text_and_calls_of_a_turn_that_goes_back_whole_are_counted_once(dialect: str, body: Any) -> None:
    assert at_most() <= at_most(dialect, body) < at_most() + 300


def test_reasoning_beside_text_and_calls_is_counted_on_top() -> None:
    assert at_most("chat", {"reasoning": "z" * 5_000}) > at_most() + 5_000


def test_a_picture_counts_as_a_note_where_the_model_takes_text_only() -> None:
    picture: Any = {"type": "image", "digest": "a" * 64, "media_type": "image/png"}
    ask = Request(messages=[{"role": "user", "content": [picture]}], tools=[])
    shown, left_out = (TokenEstimator(pictures=pictures).prompt(ask) for pictures in (True, False))
    assert (shown, left_out) == (1_105, 17)
