"""A graph that knows LangGraph alone is an agent like any other."""

import json

import pytest
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition

from gnomon.core.agent import LimitReached
from gnomon_agents.core.graph_agent import GraphAgent, TrialChatModel, call_trial_tools

CALL = {"tool_calls": [{"name": "echo", "arguments": {"word": "hello"}}]}


async def ask(state):
    return {"messages": [await TrialChatModel().ainvoke(state["messages"])]}


@pytest.fixture(scope="module")
def agent():
    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_node("tools", call_trial_tools)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", tools_condition, {"tools": "tools", END: END})
    graph.add_edge("tools", "ask")
    return GraphAgent("mine", "A loop of model and tools.", graph.compile())


async def test_it_calls_the_tools_of_the_arm_and_all_is_in_the_trace(agent, new_context):
    context = new_context([CALL, "It says hello."])
    assert await agent.answer(context) == "It says hello."
    assert [step.kind for step in context.trace.steps] == ["reply", "tool", "reply"]
    assert json.loads(context.trace.tool_steps[0].observation) == {"said": "hello"}


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ({"name": "echo", "arguments": "{bad"}, "bad_json"),
        ({"name": "shout", "arguments": {}}, "unknown_tool"),
    ],
)
async def test_a_bad_call_comes_back_to_the_model_and_is_counted(agent, new_context, call, error):
    context = new_context([{"tool_calls": [call]}, "sorry"])
    assert await agent.answer(context) == "sorry"
    assert [step.error for step in context.trace.tool_steps] == [error]


async def test_the_limits_of_the_arm_hold(agent, new_context):
    context = new_context([CALL], max_tool_calls=2, max_turns=5)
    with pytest.raises(LimitReached):
        await agent.answer(context)
    assert (len(context.trace.tool_steps), len(context.trace.replies)) == (2, 5)


async def test_a_turn_goes_back_with_what_its_provider_put_on_it(agent, new_context):
    context = new_context([CALL, "done"])
    model, turn = context.model, {"dialect": "chat", "body": {"reasoning_content": "hm"}}
    requests = []

    class Thinking:
        id = "thinking"

        async def reply(self, request):
            requests.append(request)
            from dataclasses import replace

            return replace(await model.reply(request), provider_turn=turn)

    context.model = Thinking()
    await agent.answer(context)
    assert requests[1].messages[1]["provider_turn"] == turn


async def test_pictures_of_the_prompt_arrive_as_they_were(agent, new_context):
    context = new_context(["A"])
    picture = {"type": "image", "sha256": "0" * 64, "media_type": "image/png"}
    context.prompt = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]}]
    requests = []

    class Recorder:
        id = "recorder"

        async def reply(self, request):
            requests.append(request)
            return await model.reply(request)

    model, context.model = context.model, Recorder()
    assert await agent.answer(context) == "A"
    assert requests[0].messages == context.prompt
