"""The reference model where no package knows the question."""

import json

import pytest

from gnomon.core.model import Request
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.reference.guessing import guess
from gnomon_agents.models.reference.model import ReferenceModel
from gnomon_agents.models.reference.tool_results import MAX_CALLS, Call, Evidence, Need, read_evidence
from gnomon_tools.core.toolbox import TOOLS


async def test_a_required_call_is_made_even_where_none_is_needed():
    tools = [TOOLS.get(name).schema() for name in ("distance", "list_cameras")]
    asked = [{"role": "user", "content": "What is the capital of France?"}]
    for choice, called in (("auto", []), ("required", ["list_cameras"])):
        reply = await ReferenceModel(ModelSpec(id="reference")).reply(
            Request(messages=asked, tools=tools, tool_choice=choice)
        )
        assert [call["function"]["name"] for call in reply.tool_calls] == called


def test_a_guess_answers_by_the_text_alone_and_spreads_over_the_letters():
    said = []
    for number in range(400):
        text = f"{number}\nQuestion: Which?\nOptions:\nA. one\nB. two\nC. three\nD. four"
        reply = guess([{"role": "user", "content": text}], "So.")
        assert reply == guess([{"role": "user", "content": text}], "So.")
        said.append(json.loads(reply.splitlines()[-1])["answer"])
    assert all(60 < said.count(letter) < 140 for letter in "ABCD")  # 100 expected, deviation 9


def conversation(*answered, offered=("distance",), **more):
    messages = [{"role": "user", "content": "q"}]
    for i, (arguments, content) in enumerate(answered):
        call = {"id": f"x{i}", "type": "function", "function": {"name": "distance", "arguments": arguments}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"x{i}", "content": content})
    tools = [{"type": "function", "function": {"name": name}} for name in offered]
    return Request(messages=messages, tools=tools, **more)


def test_an_answered_call_is_not_asked_again():
    evidence = read_evidence(conversation(('{"b": 1, "a": 2}', '{"path_m": 5}')))
    assert evidence.ask([Call("distance", {"a": 2, "b": 1})], "") == [{"path_m": 5}]


def test_an_open_call_is_needed_with_its_reason():
    with pytest.raises(Need) as need:
        read_evidence(conversation()).ask([Call("distance", {})], "because")
    assert need.value.why == "because"
    assert need.value.calls == [Call("distance", {})]


@pytest.mark.parametrize(
    "content", ['{"error": "no way"}', '{"result": null, "note": "nothing"}', "not JSON", "[]"]
)
def test_a_failed_call_is_known_to_have_failed(content):
    assert read_evidence(conversation(("{}", content))).ask([Call("distance", {})], "") == [None]


def test_what_is_not_offered_is_done_without():
    assert read_evidence(conversation()).ask([Call("bearing", {})], "") == [None]
    closed = read_evidence(conversation(tool_choice="none"))
    assert closed.ask([Call("distance", {})], "") == [None]


def test_no_more_calls_are_wanted_than_an_arm_allows():
    calls = [Call("distance", {"n": n}) for n in range(MAX_CALLS + 5)]
    with pytest.raises(Need) as need:
        Evidence({}, {"distance"}).ask(calls, "")
    assert len(need.value.calls) == MAX_CALLS
    full = Evidence({call.key: None for call in calls[:MAX_CALLS]}, {"distance"})
    assert full.ask(calls, "") == [None] * len(calls)
