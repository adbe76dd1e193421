"""What a provider hung on its turn stays with it through every agent that says the turn again unchanged."""

from typing import Any

import pytest

from gnomon.core.agent import AgentContext
from gnomon.core.arm import Arm
from gnomon.core.message import Message, ProviderTurn
from gnomon.core.model import Reply, Request
from gnomon.core.trace import Trace
from gnomon_agents.in_steps import in_steps
from gnomon_agents.plan import plan
from gnomon_agents.react import react
from gnomon_agents.text_react import text_react
from gnomon_agents.vote import vote
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import Toolbox
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene
from tests.agents.conftest import ECHO

CALL: Any = {"id": "", "type": "function", "function": {"name": "echo", "arguments": '{"word": "hi"}'}}
STEPS: Message = {"role": "user", "content": "## Step 1\nLook.\n## Step 2\nAnswer."}


class Thinker:
    """Says what it is told to say, each turn with a body of its own, and keeps what it was asked."""

    id = "thinker"

    def __init__(self, *replies: Reply) -> None:
        self.replies, self.requests = list(replies), list[Request]()

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        return self.replies[min(len(self.requests), len(self.replies)) - 1]

    async def close(self) -> None:
        return None


def said(text: str, number: int, *calls: Any) -> Reply:
    turn: ProviderTurn = {"dialect": "chat", "body": {"reasoning": f"thought {number}"}}
    return Reply(text=text, tool_calls=calls, provider_turn=turn)


def thoughts(request: Request) -> list[str | None]:
    turns = [message for message in request.messages if message["role"] == "assistant"]
    return [turn["provider_turn"]["body"]["reasoning"] if "provider_turn" in turn else None for turn in turns]


def context(model: Thinker, prompt: Message | None = None) -> AgentContext:
    tools = ToolContext(inputs=held(Scene(id="s", frame=Frame(), kind="outdoor")))
    return AgentContext(
        prompt=[prompt or {"role": "user", "content": "?"}],
        arm=Arm(name="a", agent="react"),
        model=model,
        toolbox=Toolbox((ECHO,), tools),
        trace=Trace(),
        seed=1,
    )


async def test_react_keeps_it_on_turns_whose_calls_get_other_ids() -> None:
    model = Thinker(said("", 0, CALL), said("", 1, CALL, CALL), said("Paris", 2))
    assert await react.answer(context(model)) == "Paris"
    assert thoughts(model.requests[-1]) == ["thought 0", "thought 1"]


async def test_a_plan_and_the_steps_of_a_prompt_keep_it() -> None:
    model = Thinker(said("First I look.", 0), said("Paris", 1))
    await plan.answer(context(model))
    assert thoughts(model.requests[-1]) == ["thought 0"]
    model = Thinker(said("I looked.", 0, CALL), said("Paris", 1))
    await in_steps.answer(context(model, STEPS))
    assert thoughts(model.requests[-1]) == ["thought 0"]
    assert "tool_calls" not in model.requests[-1].messages[1]


@pytest.mark.parametrize(("rest", "kept"), [("", ["thought 0"]), ("\nObservation: made up", [None])])
async def test_text_react_keeps_it_on_turns_that_it_did_not_cut(rest: str, kept: list[str | None]) -> None:
    action = 'Action: {"tool": "echo", "arguments": {"word": "hi"}}'
    model = Thinker(said(action + rest, 0), said("Paris", 1))
    assert await text_react.answer(context(model)) == "Paris"
    assert thoughts(model.requests[-1]) == kept


async def test_drafts_told_together_are_nobodys_turn() -> None:
    model = Thinker(said("Paris", 0), said("Rome", 1), said("Paris", 2))
    await vote.answer(context(model))
    assert thoughts(model.requests[-1]) == [None]
