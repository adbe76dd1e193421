"""What agents tell a model of repeated calls and of limits, in each version of the words."""

import json

import pytest

from gnomon.core.words import FIRST_WORDS, LATEST_WORDS, WordsVersion
from gnomon_agents.code import code
from gnomon_agents.core.tool_turn import LAST_TURN, NO_CALLS_LEFT, SAME_RESULT, USE_IT
from gnomon_agents.plan import plan
from gnomon_agents.react import react
from gnomon_agents.text_react import USED_UP, text_react

ECHO = {"name": "echo", "arguments": {"word": "hi"}}
OTHER = {"name": "echo", "arguments": {"word": "ho"}}


async def told(new_context, *calls: dict, words: WordsVersion, most: int = 9) -> list[str]:
    """What the model is told of each call, made one a turn."""
    context = new_context([*({"tool_calls": [call]} for call in calls), "done"], max_tool_calls=most)
    context.words = words
    seen: list = []
    reply = context.model.reply

    async def noted(request):
        seen[:] = request.messages
        return await reply(request)

    context.model.reply = noted
    assert await react.answer(context) == "done"
    return [message["content"] for message in seen if message["role"] == "tool"]


async def test_a_call_that_repeats_an_earlier_one_is_told_so_with_its_result(new_context):
    first, other, again = await told(new_context, ECHO, OTHER, ECHO, words=LATEST_WORDS)
    assert (json.loads(first), json.loads(other)) == ({"said": "hi"}, {"said": "ho"})
    assert again == f"{first}\n{SAME_RESULT}"


async def test_a_job_of_earlier_words_is_told_to_use_the_result(new_context):
    first, again = await told(new_context, ECHO, ECHO, words=6)
    assert again == f"{first}\n{USE_IT}"


async def test_the_last_result_says_that_no_call_is_left(new_context):
    first, last = await told(new_context, ECHO, OTHER, words=LATEST_WORDS, most=2)
    assert NO_CALLS_LEFT not in first
    assert last.endswith(f"\n{NO_CALLS_LEFT}")


async def test_a_job_of_the_first_words_is_told_results_alone(new_context):
    results = await told(new_context, ECHO, ECHO, words=FIRST_WORDS, most=2)
    assert [json.loads(result) for result in results] == [{"said": "hi"}] * 2


WRITTEN = (
    f"Action: {json.dumps({'tool': 'echo', 'arguments': ECHO['arguments']})}\n```python\necho('hi')\n```"
)
CALL = {"text": WRITTEN, "tool_calls": [ECHO]}  # as each of the agents takes it
FORM = "in the form that the question asks for."


async def heard(new_context, agent, script: list, *, words: WordsVersion = LATEST_WORDS, **arm) -> list[str]:
    """What the model is sent before each of its turns, as texts."""
    context = new_context([*script, "done"], **arm)
    context.words = words
    sent: list[str] = []
    reply = context.model.reply

    async def noted(request):
        sent.append(json.dumps(request.messages[-1]))
        return await reply(request)

    context.model.reply = noted
    assert await agent.answer(context) == "done"
    return sent


@pytest.mark.parametrize("agent", [react, text_react, code, plan])
class TestEveryAgentThatCalls:
    async def test_tells_before_the_last_turn_that_calls_are_used_up(self, new_context, agent):
        script = [*(["the plan"] if agent is plan else []), CALL, CALL]
        *before, last = await heard(new_context, agent, script, max_tool_calls=2)
        assert "used up" in last
        assert FORM in last
        assert not any("used up" in sent for sent in before)

    async def test_tells_that_it_is_the_last_turn(self, new_context, agent):
        script = [*(["the plan"] if agent is plan else []), CALL]
        *before, last = await heard(new_context, agent, script, max_turns=len(script) + 1)
        assert LAST_TURN in last
        assert not any(LAST_TURN in sent for sent in before)

    async def test_tells_that_a_result_is_the_same_as_before(self, new_context, agent):
        script = [*(["the plan"] if agent is plan else []), CALL, CALL]
        *before, last = await heard(new_context, agent, script)
        assert "before" in last
        assert "same result" in last
        assert not any("same result" in sent for sent in before)


async def test_calls_in_words_of_earlier_jobs_are_told_as_then(new_context):
    _, again, last = await heard(new_context, text_react, [CALL, CALL], words=2, max_tool_calls=2)
    assert SAME_RESULT not in last
    assert USED_UP not in again
    assert USED_UP in last


@pytest.mark.parametrize("words", [FIRST_WORDS, LATEST_WORDS])
async def test_calls_beyond_the_limit_are_answered_and_not_run(new_context, words):
    context = new_context([{"tool_calls": [ECHO, OTHER]}, "done"], max_tool_calls=1)
    context.words = words
    assert await react.answer(context) == "done"
    assert len(context.trace.tool_steps) == 1
