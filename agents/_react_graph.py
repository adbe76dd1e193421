"""The ReAct loop as a LangGraph graph of one node, `turn`, to which its channel `talk` leads back until the
model has answered.

It is made of the parts that LangGraph's StateGraph is made of. A state of several channels and a node that is
a plain function would add a half to what the graph costs a trial, a second node for the tools a third.

LangGraph is imported when the first trial runs, so that whoever lists the agents need not load it.
"""

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gnomon.agent import AgentContext, LimitReached
from gnomon.message import Message, ToolCall, ToolChoice

if TYPE_CHECKING:
    from langgraph.pregel import Pregel


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """The conversation so far, in plain OpenAI-shaped dicts; the trial's context rides along unchanged."""

    context: AgentContext
    messages: list[Message]


async def run(context: AgentContext, messages: list[Message] | None = None) -> str:
    """Walk the graph to its end, from `messages` or else from the prompt; the text of the last reply.

    A turn is one step of the graph, and the recursion limit stands just above `max_turns`, which ends
    the walk first. Tracing to LangSmith is switched off for this walk, whatever the environment says.
    """
    from langsmith import tracing_context

    start = Talk(context=context, messages=list(messages or context.prompt))
    with tracing_context(enabled=False):
        return str(await _graph().ainvoke(start, {"recursion_limit": context.arm.max_turns + 3}))


@functools.cache
def _graph() -> "Pregel[Any, Any, Any, Any]":
    from langchain_core.runnables import Runnable
    from langgraph.channels import LastValue
    from langgraph.pregel import NodeBuilder, Pregel
    from langgraph.pregel._write import ChannelWriteEntry  # Pregel's own documentation has it write so

    class Turn(Runnable[Talk, Talk | str]):
        """One turn. Each call of a plain function would be a traced run of its own."""

        def invoke(self, *_: Any, **__: Any) -> Talk | str:
            raise TypeError("a turn is asynchronous")

        async def ainvoke(self, input: Talk, *_: Any, **__: Any) -> Talk | str:  # noqa: A002 (LangChain's name)
            return await _turn(input)

    def only(kind: type) -> Callable[[Talk | str], Talk | str | None]:
        return lambda said: said if isinstance(said, kind) else None

    turn = NodeBuilder().subscribe_only("talk").do(Turn())
    for name, kind in (kinds := {"talk": Talk, "answer": str}).items():
        turn.write_to(ChannelWriteEntry(name, mapper=only(kind), skip_none=True))
    channels: dict[str, Any] = {name: LastValue(kind) for name, kind in kinds.items()}
    return Pregel(nodes={"turn": turn}, channels=channels, input_channels="talk", output_channels="answer")


async def _turn(talk: Talk) -> Talk | str:
    context, messages = talk.context, talk.messages
    choice = _choice(context)
    reply = await context.ask(messages, tool_choice=choice)
    turn = reply.message()
    if reply.tool_calls and choice == "none":
        if context.arm.tool_choice != "none":
            raise LimitReached("max_tool_calls")
        del turn["tool_calls"]  # the arm forbids calls: only what it said counts
    elif reply.tool_calls:
        turn["tool_calls"] = _distinct(reply.tool_calls, messages)
    calls = turn.get("tool_calls", ())
    if not calls:
        return reply.text
    seen = [_observe(context, call) for call in calls]
    return Talk(context=context, messages=[*messages, turn, *seen])


def _choice(context: AgentContext) -> ToolChoice:
    if context.tool_calls_left <= 0:
        return "none"
    if context.arm.tool_choice == "required" and any(reply.tool_calls for reply in context.trace.replies):
        return "auto"
    return context.arm.tool_choice


def _distinct(calls: tuple[ToolCall, ...], messages: list[Message]) -> list[ToolCall]:
    """The calls with an id each that the conversation does not know yet; good ids are kept."""
    taken = {call["id"] for message in messages for call in message.get("tool_calls", ())}
    distinct: list[ToolCall] = []
    for call in calls:
        name = call["id"]
        if not name or name in taken:
            name = next(new for number in range(len(taken) + 1) if (new := f"call_{number}") not in taken)
        taken.add(name)
        distinct.append({**call, "id": name})
    return distinct


def _observe(context: AgentContext, call: ToolCall) -> Message:
    if context.tool_calls_left > 0:
        return context.use(call)
    error = f"All {context.arm.max_tool_calls} tool calls are used up; this one was not run. Answer now."
    return {"role": "tool", "tool_call_id": call["id"], "content": json.dumps({"error": error})}
