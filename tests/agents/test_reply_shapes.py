"""The shapes in which endpoints of OpenAI's protocol send a message: each is read, or costs its one trial."""

from typing import Any

import pytest

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.model import Reply
from gnomon_agents.models.chat_reply import read_completion
from gnomon_agents.models.litellm_errors import Scrubber

CALL = {"id": "a", "type": "function", "function": {"name": "fly", "arguments": "{}"}}


def read(message: Any, **choice: Any) -> Reply:
    return read_completion({"choices": [{"message": message, **choice}]}, Scrubber())[0]


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        ("A", "A", ""),
        (None, "", ""),
        ([], "", ""),
        ([{"type": "text", "text": "A"}, {"type": "text", "text": "B"}], "AB", ""),
        ([{"type": "output_text", "text": "A"}], "A", ""),
        (["A", "B"], "AB", ""),
        ({"type": "text", "text": "A"}, "A", ""),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A"}], "A", "hm"),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}], "", "hm"),
        ([{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "A"}], "A", "hm"),
        ([{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "A"}], "A", ""),
        ([{"type": "text", "text": None}, {"type": "text", "text": 7}, None], "", ""),
        ("<think>hm</think>\n\nA", "A", "hm"),
        ("\n<thinking>hm</thinking>A", "A", "hm"),
        ("<think>cut off", "", "cut off"),
        ("hm</think>\n\nA", "A", "hm"),
        ("<thinking>a </think> b</thinking>A", "A", "a </think> b"),
        ([{"type": "text", "text": "<think>hm</think>"}, {"type": "text", "text": "A"}], "A", "hm"),
        ("A <think>hm</think>", "A <think>hm</think>", ""),
    ],
)
def test_contents_of_every_shape_give_their_words(content: Any, text: str, reasoning: str) -> None:
    reply = read({"content": content})
    assert (reply.text, reply.reasoning) == (text, reasoning)


@pytest.mark.parametrize("content", [7, True, 0.5])
def test_a_content_that_is_no_text_is_a_fault_of_the_provider(content: Any) -> None:
    with pytest.raises(ProviderFault) as caught:
        read({"content": content})
    assert caught.value.cause == "bad_response"


@pytest.mark.parametrize(
    ("message", "name", "arguments"),
    [
        ({"tool_calls": [CALL]}, "fly", "{}"),
        ({"tool_calls": [{"function": {"name": "fly", "arguments": {"far": 1}}}]}, "fly", '{"far": 1}'),
        ({"tool_calls": [{"id": 7, "function": {"name": "fly", "arguments": None}}]}, "fly", "{}"),
        ({"tool_calls": [{"id": None, "function": {"name": None, "arguments": "{"}}]}, "", "{"),
        ({"tool_calls": [{"id": "a", "function": {}}]}, "", "{}"),
        ({"function_call": {"name": "fly", "arguments": "{}"}}, "fly", "{}"),
        ({"function_call": {"name": "fly", "arguments": "{}"}, "tool_calls": None}, "fly", "{}"),
    ],
)
def test_calls_of_every_shape_are_calls(message: dict[str, Any], name: str, arguments: str) -> None:
    (call,) = read({"content": None, **message}).tool_calls
    assert (call["function"]["name"], call["function"]["arguments"]) == (name, arguments)


@pytest.mark.parametrize("calls", [None, [], {}, "", 0])
def test_no_calls_are_no_calls_however_they_are_written(calls: Any) -> None:
    assert read({"content": "A", "tool_calls": calls}).tool_calls == ()


@pytest.mark.parametrize("calls", ["fly", 7, {"function": {}}, ["fly"], [None], [{}], [{"function": "fly"}]])
def test_calls_that_are_none_are_a_fault_of_the_provider(calls: Any) -> None:
    with pytest.raises(ProviderFault) as caught:
        read({"content": "A", "tool_calls": calls})
    assert caught.value.cause == "bad_response"


@pytest.mark.parametrize(
    "body",
    [
        {"choices": None},
        {"choices": {}},
        {"choices": []},
        {"choices": [None]},
        {"choices": ["A"]},
        {"choices": [{}]},
        {"choices": [{"text": "A"}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": "A"}]},
        {"choices": [{"message": ["A"]}, {"message": 7}]},
    ],
)
def test_choices_that_cannot_be_read_are_a_fault_of_the_provider(body: dict[str, Any]) -> None:
    with pytest.raises(ProviderFault) as caught:
        read_completion(body, Scrubber())
    assert caught.value.cause == "bad_response"


def test_of_several_choices_that_which_calls_goes_first_then_that_which_speaks() -> None:
    empty, speaks, calls = {"content": ""}, {"content": "A"}, {"content": None, "tool_calls": [CALL]}
    for messages, text, count in (([empty, speaks], "A", 0), ([speaks, calls], "", 1), ([empty], "", 0)):
        body = {"choices": [{"message": message} for message in messages]}
        reply, _ = read_completion(body, Scrubber())
        assert (reply.text, len(reply.tool_calls)) == (text, count)


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "refusal": "I will not"},
        {"content": [{"type": "refusal", "refusal": "I will not"}]},
        {"content": "", "refusal": "I will not", "tool_calls": []},
    ],
)
def test_a_refusal_of_every_shape_is_told_in_the_models_words(message: dict[str, Any]) -> None:
    with pytest.raises(ModelFault, match="I will not") as caught:
        read(message)
    assert caught.value.cause == "refused"


@pytest.mark.parametrize(
    "message",
    [
        {"content": "A", "refusal": None, "annotations": [], "audio": None, "function_call": None},
        {"content": "A", "tool_calls": None, "reasoning": None, "reasoning_details": []},
        {"content": "", "tool_calls": [{**CALL, "index": 0, "extra_content": None}]},
    ],
)
def test_fields_that_say_nothing_are_not_sent_back(message: dict[str, Any]) -> None:
    assert read(message).provider_turn is None


def test_fields_that_nobody_knows_are_kept_as_they_came() -> None:
    strange = {"content": "A", "new_thing": {"b": [1, None]}, "tool_calls": [{**CALL, "seal": "s"}]}
    turn = read(strange).provider_turn
    assert turn == {
        "dialect": "chat",
        "body": {"new_thing": {"b": [1, None]}, "tool_calls": [{"seal": "s"}]},
    }


def test_a_turn_that_could_not_be_sent_again_is_not_kept() -> None:
    assert read({"content": "A", "reasoning_details": [float("nan")]}).provider_turn is None
    assert read({"content": "A", "reasoning_details": ["x" * 4_000_001]}).provider_turn is None


def test_reasoning_is_cleaned_like_any_text() -> None:
    assert read({"content": "A", "reasoning": "a\ud800b\0c"}).reasoning == "a�b�c"


def test_a_refusal_without_words_is_a_reply_of_nothing() -> None:
    assert read({"content": [{"type": "refusal"}]}).text == ""


@pytest.mark.parametrize(
    "content", ["<think>cut off", "hm</think>A", [{"type": "text", "text": "<think>hm</think>A"}]]
)
def test_a_content_that_thinks_goes_back_as_it_came(content: Any) -> None:
    assert read({"content": content}).provider_turn == {"dialect": "chat", "body": {"content": content}}
