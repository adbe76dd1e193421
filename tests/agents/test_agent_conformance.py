"""Every agent that the registry finds keeps the Agent protocol."""

import json

import pytest

from gnomon.core.agent import AGENTS, LimitReached, model_calls


def test_the_registry_finds_the_agents():
    assert {"direct", "plan", "react", "text-react", "vote"} <= set(AGENTS.names())


@pytest.mark.parametrize("name", AGENTS.names())
class TestAgent:
    def test_it_says_what_it_is(self, name):
        agent = AGENTS.get(name)
        assert agent.name == name
        assert isinstance(agent.uses_tools, bool)
        assert agent.description.endswith(".")
        assert AGENTS.summary(name)

    async def test_it_hands_back_the_text_of_the_model(self, name, new_context):
        assert await AGENTS.get(name).answer(new_context(["Paris"])) == "Paris"

    async def test_it_ends_with_a_model_that_only_ever_calls_tools(self, name, new_context):
        call = {"tool_calls": [{"name": "echo", "arguments": {"word": "on"}}]}
        context = new_context([call], max_tool_calls=2, max_turns=5)
        try:
            answer = await AGENTS.get(name).answer(context)
        except LimitReached as reached:
            answer = reached.limit
        assert answer in ("", "max_tool_calls", "max_turns")
        assert len(context.trace.tool_steps) <= 2
        assert len(context.trace.replies) <= 5

    async def test_it_calls_the_model_as_often_as_it_says(self, name, new_context):
        context = new_context(["Paris"])
        least, most = model_calls(context.arm.model_copy(update={"agent": name}))
        await AGENTS.get(name).answer(context)
        assert least <= len(context.trace.replies) <= most

    async def test_it_runs_tools_only_if_it_says_so(self, name, new_context):
        agent = AGENTS.get(name)
        call = {"name": "echo", "arguments": {"word": "on"}}
        said = f"```python\necho('on')\n```\nAction: {json.dumps({**call, 'tool': 'echo'})}"
        acts = {"text": said, "tool_calls": [call]}
        await agent.answer(context := new_context([acts, acts, "end"]))
        assert bool(context.trace.tool_steps) == agent.uses_tools
