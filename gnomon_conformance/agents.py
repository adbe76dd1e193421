"""What every agent keeps."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from gnomon.core.agent import Agent, AgentContext, CountsModelCalls, LimitReached
from gnomon.core.arm import Arm
from gnomon.core.message import ToolCall
from gnomon.core.model import Reply, Request
from gnomon.core.retry import RetryPolicy
from gnomon.core.trace import Trace
from gnomon_conformance.check import ensure
from gnomon_tools.core.inputs import held
from gnomon_tools.core.registry import ALLOWED_NAME, NAME
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.core.toolbox import Toolbox
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene

CALL = {"name": "echo", "arguments": {"word": "on"}}
ENDS = ("", "max_tool_calls", "max_turns")


class EchoArgs(ToolArgs):
    """A word."""

    word: str


class EchoResult(ToolResult):
    """The same word."""

    said: str


def _echo(_: ToolContext, args: EchoArgs) -> EchoResult:
    return EchoResult(said=args.word)


ECHO = Tool(name="echo", description="Says a word again.", args=EchoArgs, run=_echo)


class Replies:
    """A model that plays its replies: as many turns as it has had, so many replies are over.

    A reply is a text, or `{text, tool_calls: [{name, arguments}]}`. Where the request forbids calls, or
    demands one, it goes on to the next reply without, or with, a call, where there is one.
    """

    id = "replies"

    def __init__(self, replies: Sequence[str | dict[str, Any]]) -> None:
        self._replies = [{"text": reply} if isinstance(reply, str) else reply for reply in replies]

    async def reply(self, request: Request) -> Reply:
        """The next reply."""
        turn = sum(message["role"] == "assistant" for message in request.messages)
        left = self._replies[min(turn, len(self._replies) - 1) :]
        chosen = left[0]
        if request.tools and request.tool_choice != "auto":
            must = request.tool_choice == "required"
            chosen = next((reply for reply in left if bool(reply.get("tool_calls")) == must), left[0])
        calls = [_call(call, turn, at) for at, call in enumerate(chosen.get("tool_calls", ()))]
        return Reply(
            text=chosen.get("text", ""), tool_calls=tuple(calls), prompt_tokens=10, completion_tokens=5
        )

    async def close(self) -> None:
        """Nothing is open."""


def _call(call: dict[str, Any], turn: int, at: int) -> ToolCall:
    function = {"name": str(call["name"]), "arguments": json.dumps(call["arguments"])}
    return {"id": f"call_{turn}_{at}", "type": "function", "function": function}  # type: ignore[typeddict-item]


def agent_context(
    agent: str, replies: Sequence[str | dict[str, Any]], *, tools: bool = True, **arm: Any
) -> AgentContext:
    """A context for an agent: a short question, a model that plays `replies`, the tool `echo`; `arm` sets
    fields of the arm, such as `max_turns`.
    """
    scene = Scene(id="s", frame=Frame(), kind="outdoor")
    return AgentContext(
        prompt=[{"role": "user", "content": "What does it say?"}],
        arm=Arm(name="a", agent=agent, **arm),
        model=Replies(replies),
        toolbox=Toolbox((ECHO,) if tools else (), ToolContext(inputs=held(scene))),
        trace=Trace(),
        seed=1,
        retry=RetryPolicy(base_s=0.0),
    )


class AgentSuite:
    """An agent hands back what the model says, ends, and does what it says of itself."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def says_what_it_is(self) -> None:
        """A name that is allowed, a description that ends with a full stop."""
        agent = self._agent
        ensure(NAME.fullmatch(agent.name), f"name {agent.name!r}; allowed: {ALLOWED_NAME}")
        ensure(isinstance(agent.uses_tools, bool), "uses_tools: True or False")
        ensure(agent.description.endswith("."), "description: ends with a full stop")

    def hands_back_the_text_of_the_model(self) -> None:
        """A model that only ever says Paris: the answer is Paris."""
        answer = self._run(agent_context(self._agent.name, ["Paris"]))
        ensure(answer == "Paris", f"the model said 'Paris', the agent {answer!r}")

    def ends_with_a_model_that_only_ever_calls_tools(self) -> None:
        """It stops at the arm's limits: let LimitReached pass."""
        context = agent_context(self._agent.name, [{"tool_calls": [CALL]}], max_tool_calls=2, max_turns=5)
        try:
            answer = self._run(context)
        except LimitReached as reached:
            answer = reached.limit
        ensure(answer in ENDS, f"the model never answered, the agent said {answer!r}")
        ensure(len(context.trace.tool_steps) <= 2, "max_tool_calls: 2, and more were run")
        ensure(len(context.trace.replies) <= 5, "max_turns: 5, and the model was asked more often")

    def calls_the_model_as_often_as_it_says(self) -> None:
        """`model_calls`, where it has that, holds; without it the calls are at most the arm's turns."""
        context = agent_context(self._agent.name, ["Paris"])
        counts = self._agent.model_calls(context.arm) if isinstance(self._agent, CountsModelCalls) else None
        least, most = counts or (1, context.arm.max_turns)
        self._run(context)
        calls = len(context.trace.replies)
        ensure(least <= calls <= most, f"model_calls says {least} to {most}, and there were {calls}")

    def runs_tools_only_if_it_says_so(self) -> None:
        """A model calls a tool, natively, in words and in code: it is run if `uses_tools` is true."""
        in_words = f"```python\necho('on')\n```\nAction: {json.dumps({**CALL, 'tool': 'echo'})}"
        acts = {"text": in_words, "tool_calls": [CALL]}
        self._run(context := agent_context(self._agent.name, [acts, acts, "end"]))
        ran, uses = bool(context.trace.tool_steps), self._agent.uses_tools
        ensure(ran == uses, f"uses_tools is {uses}, and the model's call was {'run' if ran else 'not run'}")

    def _run(self, context: AgentContext) -> str:
        answer = asyncio.run(self._agent.answer(context))
        ensure(isinstance(answer, str), f"answer: a text, not {type(answer).__name__}")
        return answer
