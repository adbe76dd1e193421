"""Agents beside react: a vote over drafts, calls in words, a plan first."""

import json
from contextlib import suppress

import pytest

from gnomon.core.agent import LimitReached
from gnomon.core.words import TOOLS_FIRST
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.code import code
from gnomon_agents.models.scripted import ScriptedModel
from gnomon_agents.plan import plan
from gnomon_agents.text_react import FORBIDDEN, QUESTION, text_react
from gnomon_agents.vote import vote


def act(**arguments):
    return "I look.\nAction: " + json.dumps({"tool": "echo", "arguments": arguments})


class Listening:
    """A scripted model that keeps what it is sent."""

    def __init__(self, replies, tokens=(10, 5)):
        options = {"replies": replies}
        if tokens:
            options |= {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
        self.model, self.id, self.requests = ScriptedModel(ModelSpec(id="scripted", options=options)), "s", []

    async def reply(self, request):
        self.requests.append(request)
        return await self.model.reply(request)

    async def close(self):
        return None


@pytest.fixture
def heard(new_context):
    def make(replies, *, tokens=(10, 5), **arm):
        context = new_context([""], **arm)
        context.model = Listening(replies, tokens)
        return context

    return make


DRAWN = {"draw": {"Paris": 0.5, "Rome": 0.5}}


async def test_drafts_are_drawn_with_seeds_of_their_own_and_the_model_chooses(heard):
    context = heard([DRAWN, "Paris it is"], max_tokens=1000, max_turns=20)
    assert await vote.answer(context) == "Paris it is"
    *drafts, choice = context.model.requests
    assert len({request.seed for request in drafts}) == len(drafts) == 19
    assert all(request.tool_choice == "none" for request in context.model.requests)
    said = choice.messages[1]["content"]
    assert "Draft 1:" in said
    assert "Draft 19:" in said


@pytest.mark.parametrize("budget", [1, 14, 30, 75, 120, 400])
async def test_a_vote_never_spends_more_than_it_may_but_for_its_first_draft(heard, budget):
    context = heard([DRAWN, "Paris"], max_tokens=budget, max_turns=100)
    await vote.answer(context)
    spent = sum(15 for _ in context.trace.replies)
    assert spent <= max(budget, 15)
    assert len(context.trace.replies) > 1 or budget < 60


async def test_drafts_that_agree_are_the_answer_at_once(heard):
    context = heard(["Paris", "never asked"], max_tokens=100)
    assert await vote.answer(context) == "Paris"
    assert all(len(request.messages) == 1 for request in context.model.requests)


async def test_three_drafts_where_nobody_counts_tokens(heard):
    context = heard([DRAWN, "Paris"], tokens=None, max_tokens=10**6)
    context.seed = 4
    await vote.answer(context)
    drafts = [request for request in context.model.requests if len(request.messages) == 1]
    assert len(drafts) == 3


async def test_calls_in_words_are_run_and_told(heard):
    context = heard([act(word="hello"), "It says hello."])
    assert await text_react.answer(context) == "It says hello."
    first, second = context.model.requests
    assert not first.tools
    assert '"name": "echo"' in str(first.messages[0]["content"])
    assert second.messages[1]["content"] == act(word="hello")
    assert '{"said": "hello"}' in str(second.messages[2]["content"])
    assert [step.error for step in context.trace.tool_steps] == [None]


async def test_observations_that_a_model_makes_up_are_cut_off(heard):
    context = heard([act(word="a") + "\nObservation: b\nAnswer: b", "a"])
    assert await text_react.answer(context) == "a"
    assert context.model.requests[1].messages[1]["content"] == act(word="a")


@pytest.mark.parametrize(
    ("action", "error"),
    [
        ("Action: echo(hello)", "unknown_tool"),
        ('Action: {"tool": "shout"}', "unknown_tool"),
        ('Action: ["echo"]', "unknown_tool"),
        ('Action: {"tool": "echo", "arguments": 3}', "bad_arguments"),
        ("Action:", "unknown_tool"),
    ],
)
async def test_a_broken_action_comes_back_as_an_observation(heard, action, error):
    context = heard([action, "fine"])
    assert await text_react.answer(context) == "fine"
    assert [step.error for step in context.trace.tool_steps] == [error]


async def test_used_up_calls_are_told_in_words_and_a_further_one_ends_the_trial(heard):
    context = heard([act(word="a"), "so be it"], max_tool_calls=1)
    assert await text_react.answer(context) == "so be it"
    assert "used up" in str(context.model.requests[1].messages[-1]["content"])
    with pytest.raises(LimitReached, match="max_tool_calls"):
        await text_react.answer(heard([act(word="a")], max_tool_calls=1))


@pytest.mark.parametrize("arm", [{"tool_choice": "none"}, {"max_tool_calls": 0}])
async def test_an_arm_that_forbids_calls_shows_the_tools_in_words_and_runs_none(heard, arm):
    context = heard([act(word="hello")], **arm)
    with suppress(LimitReached):
        assert await text_react.answer(context) == act(word="hello")
    told, asked = (block["text"] for block in context.model.requests[0].messages[0]["content"])
    assert told.startswith(FORBIDDEN)
    assert '"name": "echo"' in told
    assert asked == context.prompt[0]["content"]
    assert not context.trace.tool_steps


@pytest.mark.parametrize("arm", [{"tool_choice": "none"}, {"max_tool_calls": 0}])
@pytest.mark.parametrize("words", [1, 2])
async def test_an_arm_of_earlier_words_that_forbids_calls_tells_of_no_tools(heard, arm, words):
    context = heard(["Paris"], **arm)
    context.words = words
    assert await text_react.answer(context) == "Paris"
    assert context.model.requests[0].messages == context.prompt


@pytest.mark.parametrize("agent", [text_react, code])
async def test_tools_stand_before_the_question_and_in_earlier_words_behind_it(heard, agent):
    later, earlier = heard(["Paris"]), heard(["Paris"])
    later.words, earlier.words = TOOLS_FIRST, 2
    for context in (later, earlier):
        assert await agent.answer(context) == "Paris"
    before, behind = (
        [block["text"] for block in context.model.requests[0].messages[0]["content"]]
        for context in (later, earlier)
    )
    assert behind[0] == before[1] == later.prompt[0]["content"]
    assert before[0] == f"{behind[1]}\n{QUESTION}"


async def test_a_plan_comes_first_without_calls_and_stays_in_the_conversation(heard):
    call = {"tool_calls": [{"name": "echo", "arguments": {"word": "hello"}}]}
    context = heard(["1. ask echo", call, "hello"], tool_choice="required")
    assert await plan.answer(context) == "hello"
    planning, acting, last = context.model.requests
    assert [one.tool_choice for one in context.model.requests] == ["none", "required", "auto"]
    assert planning.tools == acting.tools
    assert acting.messages[1] == {"role": "assistant", "content": "1. ask echo"}
    assert [message["role"] for message in last.messages] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "tool",
    ]
