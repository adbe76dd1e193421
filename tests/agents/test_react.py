import asyncio
import json

import pytest

from gnomon.core.agent import LimitReached
from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.model import Reply
from gnomon_agents.direct import direct
from gnomon_agents.react import react


def echo(word: object = "hi", **more: object) -> dict:
    return {"name": "echo", "arguments": {"word": word}, **more}


class Recorder:
    """Passes requests on to a model and keeps them."""

    def __init__(self, model):
        self.model, self.id, self.requests = model, model.id, []

    async def reply(self, request):
        self.requests.append(request)
        return await self.model.reply(request)

    async def close(self):
        return None


def recorded(context):
    context.model = Recorder(context.model)
    return context.model.requests


async def test_react_calls_a_tool_and_answers_with_what_it_said(new_context):
    context = new_context([{"tool_calls": [echo("hello")]}, "It says hello."])
    requests = recorded(context)
    assert await react.answer(context) == "It says hello."
    tool_turn = requests[1].messages[-1]
    assert tool_turn["role"] == "tool"
    assert json.loads(tool_turn["content"]) == {"said": "hello"}
    assert [step.kind for step in context.trace.steps] == ["reply", "tool", "reply"]


async def test_several_calls_of_one_reply_are_answered_in_their_order(new_context):
    context = new_context([{"tool_calls": [echo("a"), echo("b"), echo("c")]}, "done"])
    requests = recorded(context)
    await react.answer(context)
    assert [json.loads(turn["content"])["said"] for turn in requests[1].messages[2:]] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ({"name": "echo", "arguments": "{bad"}, "bad_json"),
        ({"name": "echo", "arguments": "[1]"}, "bad_arguments"),
        ({"name": "echo", "arguments": {"word": 3}}, "bad_arguments"),
        ({"name": "echo", "arguments": {"word": "x", "loud": True}}, "bad_arguments"),
        ({"name": "shout", "arguments": {}}, "unknown_tool"),
        ({"name": "", "arguments": {}}, "unknown_tool"),
        ({"name": "echo", "arguments": {"word": "hush"}}, "tool_error"),
    ],
)
async def test_a_bad_call_comes_back_as_an_observation_and_is_counted(new_context, call, kind):
    context = new_context([{"tool_calls": [call]}, {"tool_calls": [echo()]}, "fine"])
    requests = recorded(context)
    assert await react.answer(context) == "fine"
    assert [step.error for step in context.trace.tool_steps] == [kind, None]
    assert "error" in json.loads(requests[1].messages[-1]["content"])


async def test_used_up_tool_calls_are_told_and_a_last_answer_is_asked_for(new_context):
    context = new_context([{"tool_calls": [echo("a"), echo("b"), echo("c")]}, "so be it"], max_tool_calls=2)
    requests = recorded(context)
    assert await react.answer(context) == "so be it"
    told = requests[1].messages[-1]
    assert "used up" in told["content"]
    assert told["tool_call_id"] == requests[1].messages[1]["tool_calls"][2]["id"]
    assert requests[1].tool_choice == "none"
    assert len(context.trace.tool_steps) == 2


async def test_a_model_that_calls_on_without_calls_left_ends_at_that_limit(new_context):
    context = new_context([{"tool_calls": [echo()]}], max_tool_calls=3)
    with pytest.raises(LimitReached) as reached:
        await react.answer(context)
    assert reached.value.limit == "max_tool_calls"
    assert len(context.trace.tool_steps) == 3
    assert len(context.trace.replies) == 4


@pytest.mark.parametrize("turns", [1, 2, 24])
async def test_a_model_that_never_answers_ends_at_max_turns(new_context, turns):
    context = new_context([{"tool_calls": [echo()]}], max_turns=turns, max_tool_calls=1000)
    with pytest.raises(LimitReached) as reached:
        await react.answer(context)
    assert reached.value.limit == "max_turns"
    assert len(context.trace.replies) == turns


async def test_max_tokens_ends_the_loop_before_the_next_call(new_context):
    context = new_context([{"tool_calls": [echo()]}], max_tokens=30)
    with pytest.raises(LimitReached) as reached:
        await react.answer(context)
    assert reached.value.limit == "max_tokens"
    assert len(context.trace.replies) == 2  # 15 tokens each


async def test_without_tool_calls_allowed_the_first_request_forbids_them(new_context):
    context = new_context(["plain"], max_tool_calls=0)
    requests = recorded(context)
    assert await react.answer(context) == "plain"
    assert requests[0].tool_choice == "none"
    assert requests[0].tools


async def test_required_holds_for_the_first_turn_only(new_context):
    context = new_context([{"tool_calls": [echo()]}, {"tool_calls": [echo()]}, "end"], tool_choice="required")
    requests = recorded(context)
    await react.answer(context)
    assert [request.tool_choice for request in requests] == ["required", "auto", "auto"]


async def test_an_arm_that_forbids_calls_counts_only_what_was_said(new_context):
    context = new_context([{"text": "my answer", "tool_calls": [echo()]}], tool_choice="none")
    assert await react.answer(context) == "my answer"
    assert not context.trace.tool_steps


async def test_missing_and_repeated_call_ids_are_told_apart(new_context):
    calls = [echo("a", id=""), echo("b", id="x"), echo("c", id="x")]
    context = new_context([{"tool_calls": calls}, {"tool_calls": [echo("d", id="x")]}, "end"])
    requests = recorded(context)
    await react.answer(context)
    turns = requests[2].messages
    asked = [call["id"] for turn in turns for call in turn.get("tool_calls", ())]
    answered = [turn["tool_call_id"] for turn in turns if turn["role"] == "tool"]
    assert asked == answered
    assert len(set(asked)) == 4
    assert asked[1] == "x"
    assert [json.loads(turn["content"])["said"] for turn in turns if turn["role"] == "tool"] == list("abcd")


async def test_a_transient_fault_is_tried_again_and_a_permanent_one_is_not(new_context):
    for transient, tries in ((True, 4), (False, 1)):
        context = new_context([{"fault": "server_error", "transient": transient}])
        with pytest.raises(ProviderFault):
            await react.answer(context)
        assert len(context.trace.steps) == tries


async def test_a_model_fault_passes_through(new_context):
    context = new_context([{"model_fault": "refused"}])
    with pytest.raises(ModelFault):
        await react.answer(context)


async def test_react_without_tools_is_one_call(new_context):
    context = new_context(["plain"], tools=False)
    assert await react.answer(context) == "plain"
    assert len(context.trace.replies) == 1


async def test_the_prompt_is_left_as_it_was(new_context):
    context = new_context([{"tool_calls": [echo()]}, "end"])
    await react.answer(context)
    assert context.prompt == [{"role": "user", "content": "What does it say?"}]


async def test_direct_asks_once_and_runs_no_tool(new_context):
    context = new_context([{"text": "I would call", "tool_calls": [echo()]}])
    requests = recorded(context)
    assert await direct.answer(context) == "I would call"
    assert requests[0].tool_choice == "none"
    assert requests[0].tools, "the tools are shown all the same"
    assert not context.trace.tool_steps


async def test_an_empty_reply_is_an_empty_answer(new_context):
    assert await react.answer(new_context([""])) == ""
    assert Reply(text="").message()["content"] == ""


async def test_of_trials_that_run_at_once_one_that_fails_or_is_cancelled_ends_alone(new_context):
    all_asked, release, asked = asyncio.Event(), asyncio.Event(), []

    class Waiting:
        id = "scripted/waiting"

        async def reply(self, request):
            asked.append(request)
            if len(asked) == 3:
                all_asked.set()
            await release.wait()
            return Reply(text="done", finish_reason="stop")

        async def close(self):
            return None

    contexts = [new_context(["unused"]) for _ in range(3)]
    for context in contexts:
        context.model = Waiting()
    cancelled, *others = [asyncio.create_task(react.answer(context)) for context in contexts]
    failing = asyncio.create_task(react.answer(new_context([{"tool_calls": [echo()]}], max_turns=1)))
    await all_asked.wait()
    cancelled.cancel()
    with pytest.raises(LimitReached):
        await failing
    release.set()
    assert await asyncio.gather(*others) == ["done", "done"]
    assert cancelled.cancelled()
