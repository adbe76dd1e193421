"""The strict servers refuse what the providers refuse: what passes there is no accident."""

from typing import Any

import pytest

from tests.agents.conformance.anthropic import AnthropicDialect
from tests.agents.conformance.responses import ResponsesDialect
from tests.agents.conformance.server import Refusal

CLAUDE, O3 = AnthropicDialect(), ResponsesDialect()
TOOL = {"name": "list_cameras", "input_schema": {"type": "object"}}
KEYS = {"x-api-key": "k", "anthropic-version": "2023-06-01", "authorization": "Bearer k"}
THINKS = {"type": "enabled", "budget_tokens": 10}


def message(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def result(name: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": "{}"}


TEXT = {"type": "text", "text": "hi"}
FIRST, SECOND = CLAUDE.content(0), CLAUDE.content(1)
RESULTS = message("user", result("toolu_10"), result("toolu_11"))


def claude(*turns: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {"model": "m", "max_tokens": 99, "thinking": THINKS, "tools": [TOOL], **more}
    return {**body, "messages": [message("user", TEXT), *turns]}


def second(*blocks: Any, results: Any = RESULTS) -> dict[str, Any]:
    return claude(
        message("assistant", *FIRST),
        message("user", result("toolu_00")),
        message("assistant", *blocks),
        results,
    )


THOUGHT, CALL, SEALED, AGAIN, OTHER = SECOND
MARKED = {**TEXT, "cache_control": {"type": "ephemeral"}}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (second(CALL, OTHER), "Expected `thinking` or `redacted_thinking`, but found `tool_use`"),
        (second(THOUGHT, SEALED, AGAIN, CALL, OTHER), "cannot be modified"),
        (second(THOUGHT, CALL, AGAIN, OTHER), "cannot be modified"),
        (second(THOUGHT, CALL, AGAIN, SEALED, OTHER), "cannot be modified"),
        (second({**THOUGHT, "thinking": "mine"}, *SECOND[1:]), "Invalid `signature`"),
        (second({**THOUGHT, "cache_control": {}}, *SECOND[1:]), "cache_control: Extra inputs"),
        (second(*SECOND, results=message("user", result("toolu_10"))), "without `tool_result`"),
        (second(*SECOND, results=message("user", TEXT, *RESULTS["content"])), "come first"),
        (
            second(*SECOND, results=message("user", *RESULTS["content"], result("x"))),
            "unexpected `tool_use_id`",
        ),
        (claude(tool_choice={"type": "any"}), "Thinking may not be enabled when tool_choice forces"),
        (claude(temperature=0.5), "`temperature` may only be set to 1"),
        (claude(max_tokens=10), "must be greater than `thinking.budget_tokens`"),
        (claude(max_tokens=None), "max_tokens: Field required"),
        (claude(seed=1), "seed: Extra inputs are not permitted"),
        (claude(message("user", {"type": "text", "text": " "})), "non-whitespace"),
        (claude(message("user", *[MARKED] * 5)), "A maximum of 4 blocks"),
        (claude(tools=[{"type": "function", "function": {}}]), "tools.0.custom.function: Extra inputs"),
    ],
)
def test_anthropic_refuses(body, words):
    with pytest.raises(Refusal) as caught:
        CLAUDE.answer(body, KEYS, CLAUDE.path)
    assert caught.value.status == 400
    assert words in str(caught.value.body)


def test_anthropic_takes_what_it_gave_in_the_order_it_gave_it():
    answer = CLAUDE.answer(second(*SECOND), KEYS, CLAUDE.path)
    assert answer["content"][-1] == {"type": "text", "text": "Paris"}


def output(name: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": name, "output": "{}"}


RS0, FC0, RS1, FC1 = O3.output(1)
OUTPUTS = (output("call_10"), output("call_11"))


def o3(*items: Any, **more: Any) -> dict[str, Any]:
    flat = {"type": "function", "name": "list_cameras", "parameters": {}}
    body = {"model": "o", "store": False, "include": ["reasoning.encrypted_content"], "tools": [flat]}
    return {**body, **more, "input": [{"role": "user", "content": "hi"}, *items]}


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (
            o3(FC0, RS1, FC1, *OUTPUTS),
            400,
            "'fc_10' of type 'function_call' was provided without its required",
        ),
        (
            o3(RS0, RS1, FC0, FC1, *OUTPUTS),
            400,
            "'rs_10' of type 'reasoning' was provided without its required",
        ),
        (o3(RS0, FC0, FC1, *OUTPUTS), 400, "'fc_11' of type 'function_call' was provided without its"),
        (o3(RS0, FC0, RS1, output("call_10")), 400, "'rs_11' of type 'reasoning' was provided without its"),
        (o3({**RS0, "encrypted_content": None}, FC0, output("call_10")), 404, "Items are not persisted when"),
        (o3({**RS0, "encrypted_content": "x"}, FC0, output("call_10")), 400, "could not be verified"),
        (o3(RS0, FC0), 400, "No tool output found for function call call_10"),
        (o3(output("call_x")), 400, "No tool call found for function call output with call_id call_x"),
        (o3(seed=1), 400, "Unknown parameter: 'seed'"),
        (o3(temperature=0), 400, "'temperature' is not supported with this model"),
        (
            o3(tools=[{"type": "function", "function": {}}]),
            400,
            "Missing required parameter: 'tools[0].name'",
        ),
        (o3({"role": "user", "content": [TEXT]}), 400, "Invalid value: 'text'"),
    ],
)
def test_responses_refuses(body, status, words):
    with pytest.raises(Refusal) as caught:
        O3.answer(body, KEYS, O3.path)
    assert caught.value.status == status
    assert words in str(caught.value.body)


def test_responses_takes_what_it_gave_in_the_order_it_gave_it():
    answer = O3.answer(o3(RS0, FC0, RS1, FC1, *OUTPUTS), KEYS, O3.path)
    assert answer["output"][-1]["content"][0]["text"] == "Paris"
