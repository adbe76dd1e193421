"""The ReAct loop as a LangGraph graph of one node, `turn`, to which its channel `talk` leads back until the
model has answered.

It is made of the parts that LangGraph's StateGraph is made of. A state of several channels and a node that is
a plain function would add a half to what the graph costs a trial, a second node for the tools a third.

LangGraph is imported when the first trial calls a tool, so that whoever lists the agents need not load it.
"""

import functools
import json
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

    The first turn is taken before the graph is entered: where the model answers at once, nothing is walked
    and LangGraph is not loaded. Every further turn is one step of the graph, and the recursion limit stands
    just above `max_turns`, which ends the walk first. Tracing to LangSmith is switched off for this walk,
    whatever the environment says.
    """
    said = await _turn(Talk(context=context, messages=list(messages or context.prompt)))
    if isinstance(said, str):
        return said
    from langsmith import tracing_context

    with tracing_context(enabled=False):
        return str(await _graph().ainvoke(said, {"recursion_limit": context.arm.max_turns + 3}))


@functools.cache
def _graph() -> "Pregel[Any, Any, Any, Any]":
    from langchain_core.runnables import Runnable, RunnableConfig
    from langgraph.channels import LastValue
    from langgraph.pregel import Pregel
    from langgraph.pregel._read import PregelNode
    from langgraph.pregel._write import ChannelWrite, ChannelWriteEntry

    class Turn(Runnable[Talk, None]):
        """One turn, which writes what follows from it. A plain function, or a node with writers beside it,
        would be a chain of traced runs: five rounds of the event loop more for each turn.
        """

        def invoke(self, *_: Any, **__: Any) -> None:
            raise TypeError("a turn is asynchronous")

        async def ainvoke(
            self,
            input: Talk,  # noqa: A002 (LangChain's name)
            config: RunnableConfig | None = None,
            **_: Any,
        ) -> None:
            said = await _turn(input)
            channel = "talk" if isinstance(said, Talk) else "answer"
            ChannelWrite.do_write(config or {}, [ChannelWriteEntry(channel, said)])

    turn = PregelNode(channels="talk", triggers=["talk"], bound=Turn())
    channels: dict[str, Any] = {"talk": LastValue(Talk), "answer": LastValue(str)}
    return Pregel(nodes={"turn": turn}, channels=channels, input_channels="talk", output_channels="answer")


async def _turn(talk: Talk) -> Talk | str:
    context, messages = talk.context, talk.messages
    choice = _choice(context)
    reply = await context.ask(messages, tool_choice=choice)
    if reply.tool_calls and choice == "none" and context.arm.tool_choice != "none":
        raise LimitReached("max_tool_calls")
    if not reply.tool_calls or choice == "none":  # where the arm forbids calls, only what it said counts
        return reply.text
    turn = reply.message(calls=_distinct(reply.tool_calls, messages))
    seen = [_observe(context, call) for call in turn["tool_calls"]]
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
