"""What became of a reply is one of a closed list, by how it ended and what was read of it."""

from dataclasses import replace

import pytest

from gnomon.core.message import ToolCall
from gnomon.core.reply_state import UNKNOWN_STATES, ReplyState, reply_state
from gnomon.core.score import Outcome
from gnomon.core.trace import ReplyStep, ToolStep, Trace


def trace_of(response: str, *, reason: str = "stop", has_reasoning: bool = False) -> Trace:
    step = ReplyStep(
        text=response,
        tool_calls=(),
        finish_reason=reason,
        prompt_tokens=None,
        completion_tokens=None,
        usd=None,
        cached=False,
        wall_s=0.0,
        tries=1,
        has_reasoning=has_reasoning,
    )
    return Trace(steps=[step], response=response)


@pytest.mark.parametrize(
    ("response", "reason", "answer", "read_by", "state"),
    [
        ("Answer: B", "stop", "B", "asked_form", "read"),
        ("Answer: B. For", "length", "B", "asked_form", "read_cut"),
        ("First the van", "max_tokens", None, "", "cut"),
        ("Distance = 8", "length", "8 km", "last_line", "cut"),  # what was written when it was cut
        ("It went over 9 m and then", "MAX_TOKENS", "9 m", "only_mention", "cut"),
        ('<tool_call>{"name": "speed", "arguments": {}}</tool_call>', "stop", None, "", "call_in_text"),
        ("<think>B?</think>", "stop", None, "", "thought_only"),
        ("The van turned.", "stop", None, "", "unreadable"),
        ("", "stop", None, "", "empty"),
        ("I may not.", "content_filter", None, "", "refused"),
    ],
)
def test_the_state_of_a_reply(response: str, reason: str, answer: str, read_by: str, state: str) -> None:
    outcome = Outcome.SCORED if answer else Outcome.MODEL_FAILED
    trace = trace_of(response, reason=reason)
    assert reply_state(outcome, "answered", answer, trace, read_by=read_by) == state


@pytest.mark.parametrize(
    ("outcome", "stop_reason", "state"),
    [
        (Outcome.INFRA_MISSING, "provider:timeout", "missing"),
        (Outcome.MODEL_FAILED, "max_tool_calls", "limit"),
        (Outcome.MODEL_FAILED, "model:refused", "refused"),
        (Outcome.MODEL_FAILED, "model:malformed_call", "unreadable"),
    ],
)
def test_a_trial_without_a_response_has_a_state_too(outcome: Outcome, stop_reason: str, state: str) -> None:
    assert reply_state(outcome, stop_reason, None, Trace()) == state


def test_a_trial_that_a_limit_ended_at_repeated_calls_is_spent_on_them() -> None:
    call = ToolStep(name="speed", arguments="{}", observation="3", error=None, wall_s=0.0)
    trace = Trace(steps=[call, call])
    state = reply_state(Outcome.MODEL_FAILED, "max_tool_calls", None, trace)
    assert state == ReplyState.REPEATED
    assert state in UNKNOWN_STATES
    assert reply_state(Outcome.MODEL_FAILED, "max_tool_calls", None, Trace(steps=[call])) == ReplyState.LIMIT
    assert reply_state(Outcome.MODEL_FAILED, "model:refused", None, trace) == ReplyState.REFUSED


def test_reasoning_beside_an_empty_reply_is_thought_only() -> None:
    trace = trace_of("", has_reasoning=True)
    assert reply_state(Outcome.MODEL_FAILED, "no_answer", None, trace) == ReplyState.THOUGHT_ONLY


def test_a_call_where_no_tool_was_offered_is_unreadable_and_not_empty() -> None:
    trace = trace_of("", has_reasoning=True)
    [reply] = trace.replies
    call: ToolCall = {"id": "1", "type": "function", "function": {"name": "speed", "arguments": "{}"}}
    trace = Trace(steps=[replace(reply, tool_calls=(call,))], response="")
    assert reply_state(Outcome.MODEL_FAILED, "no_answer", None, trace) == ReplyState.UNREADABLE
