"""The ReAct loop as a LangGraph graph of one node, `turn`, which leads to itself until the model answers.

A second node for the tools would cost a trial of three calls a third more of what the graph costs.

LangGraph is imported when the first trial runs, so that whoever lists the agents need not load it.
"""

import functools
import json
import operator
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from gnomon.agent import AgentContext, LimitReached
from gnomon.message import Message, ToolCall, ToolChoice

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import Command


class State(TypedDict):
    """The conversation, in plain OpenAI-shaped dicts; nodes add to it. The context rides along unchanged."""

    context: AgentContext
    messages: Annotated[list[Message], operator.add]


async def run(context: AgentContext, messages: list[Message] | None = None) -> str:
    """Walk the graph to its end, from `messages` or else from the prompt; the text of the last reply.

    A turn is one step of the graph, and the recursion limit stands just above `max_turns`, which ends
    the walk first. Tracing to LangSmith is switched off for this walk, whatever the environment says.
    """
    from langsmith import tracing_context

    start: State = {"context": context, "messages": list(messages or context.prompt)}
    with tracing_context(enabled=False):
        end = await _graph().ainvoke(start, {"recursion_limit": context.arm.max_turns + 3})
    answer = end["messages"][-1]["content"]
    return answer if isinstance(answer, str) else ""


@functools.cache
def _graph() -> "CompiledStateGraph[State, Any, Any, Any]":
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(State)
    # The node says itself where to go: a conditional edge costs a tenth of a millisecond a turn.
    graph.add_node("turn", _turn, destinations=("turn", END))
    graph.add_edge(START, "turn")
    return graph.compile()


async def _turn(state: State) -> "Command[str]":
    from langgraph.types import Command

    context, messages = state["context"], state["messages"]
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
    said = [turn, *(_observe(context, call) for call in calls)]
    return Command(goto="turn" if calls else "__end__", update={"messages": said})


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
