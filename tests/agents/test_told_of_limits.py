"""What `react` tells a model of repeated calls and of used up ones, in each version of the words."""

import json

import pytest

from gnomon.core.words import FIRST_WORDS, LATEST_WORDS, WordsVersion
from gnomon_agents.core.tool_turn import NO_CALLS_LEFT, SAME_RESULT
from gnomon_agents.react import react

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


async def test_the_last_result_says_that_no_call_is_left(new_context):
    first, last = await told(new_context, ECHO, OTHER, words=LATEST_WORDS, most=2)
    assert NO_CALLS_LEFT not in first
    assert last.endswith(f"\n{NO_CALLS_LEFT}")


async def test_a_job_of_the_first_words_is_told_results_alone(new_context):
    results = await told(new_context, ECHO, ECHO, words=FIRST_WORDS, most=2)
    assert [json.loads(result) for result in results] == [{"said": "hi"}] * 2


@pytest.mark.parametrize("words", [FIRST_WORDS, LATEST_WORDS])
async def test_calls_beyond_the_limit_are_answered_and_not_run(new_context, words):
    context = new_context([{"tool_calls": [ECHO, OTHER]}, "done"], max_tool_calls=1)
    context.words = words
    assert await react.answer(context) == "done"
    assert len(context.trace.tool_steps) == 1
