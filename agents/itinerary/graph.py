"""The planning agent as a LangGraph graph.

intake → ground → gather ⇄ tools → draft → schedule → verify → repair → gather … → finalize

A node acts through the tools of the arm alone: without `order_visits` nothing is scheduled, without
`check_plan` nothing is verified or repaired. LangGraph is imported when the first trip is planned.
"""

import asyncio
import functools
import json
import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from agents.core.langgraph_runtime import run_graph, trial_context
from agents.core.tool_turn import run_call, tool_choice_now, with_unique_ids
from agents.itinerary.draft_text import Drafted, draft_in
from agents.itinerary.intake import asked_for, is_brief, lost_names, must_visit, understand
from agents.itinerary.scheduling import as_searched, scheduled_draft
from gnomon.benchmarks.itinerary.brief import request_task
from gnomon.core.agent import AgentContext, LimitReached
from gnomon.core.message import Message, ToolCall
from gnomon.core.trace import NoteStep

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

MAX_REPAIRS = 3


class State(TypedDict):
    """The conversation and the best draft so far.

    `request` is what a model made of free words or a film; None where the request was given as it is.
    """

    request: dict[str, Any] | None
    messages: Annotated[list[Message], operator.add]
    draft: Drafted | None
    faults: list[dict[str, Any]] | None  # None: not verified
    best: tuple[int, Drafted] | None  # fewest faults so far
    repairs: int
    answer: str


async def run(context: AgentContext) -> str:
    """Walk the graph to its end; the answer as JSON text.

    A limit of the arm that is reached after a draft was made ends with that draft: it is what there is.

    Raises:
        LimitReached: a limit was reached before there was a draft.
    """
    start: State = {
        "request": None,
        "messages": list(context.prompt),
        "draft": None,
        "faults": None,
        "best": None,
        "repairs": 0,
        "answer": "",
    }
    limit = 3 * context.arm.max_turns + 6 * MAX_REPAIRS + 20
    end = await run_graph(
        _graph(),
        start,
        context,
        max_steps=limit,
        is_whole=True,
        state_types=(Drafted,),
        on_resume=functools.partial(_bind_tools, context),
    )
    return str(end["answer"])


async def _bind_tools(context: AgentContext, values: dict[str, Any]) -> None:
    """Bind the tools to the trip that an earlier attempt made of free words or a film."""
    if values.get("request"):
        task = await asyncio.to_thread(request_task, values["request"])
        context.toolbox.on_trip(task.trip)


@functools.cache
def _graph() -> "CompiledStateGraph[State, AgentContext, Any, Any]":
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(State, context_schema=AgentContext)
    for name, node in (
        ("intake", _intake),
        ("ground", _ground),
        ("gather", _gather),
        ("tools", _tools),
        ("draft", _draft),
        ("schedule", _schedule),
        ("verify", _verify),
        ("repair", _repair),
        ("finalize", _finalize),
    ):
        graph.add_node(name, node)
    graph.add_edge(START, "intake")
    graph.add_edge("intake", "ground")
    graph.add_conditional_edges("ground", _after_ground, {"gather": "gather", "refuse": "finalize"})
    graph.add_conditional_edges("gather", _after_gather, {"tools": "tools", "draft": "draft"})
    graph.add_edge("tools", "gather")
    graph.add_edge("draft", "schedule")
    graph.add_edge("schedule", "verify")
    graph.add_conditional_edges("verify", _after_verify, {"repair": "repair", "finalize": "finalize"})
    graph.add_edge("repair", "gather")
    graph.add_edge("finalize", END)
    return graph.compile()


async def _intake(state: State) -> dict[str, Any]:
    """The request as the prompt has it; free words and films are put into fields by the model first."""
    if not is_brief(state["messages"]):
        request = asked_for(state["messages"])
        _note(f"intake: {'a request for ' + str(request.get('area')) if request else 'free words'}")
        return {}
    understood = await understand(trial_context())
    _note(f"intake: {understood.word}")
    if understood.request is None:
        plan = {"status": "refused", "conflict": ["request"]}
        return {"messages": understood.messages, "request": {}, "draft": Drafted(plan=plan)}
    return {"messages": understood.messages, "request": understood.request}


async def _ground(state: State) -> dict[str, Any]:
    """Names that mean nothing here cannot be planned for: say so instead of inventing them."""
    lost = lost_names(state["messages"])
    if not lost:
        return {}
    conflict = [f"place:{name}" for name in lost]
    _note(f"ground: not found: {', '.join(lost)}")
    return {"draft": Drafted(plan={"status": "refused", "conflict": conflict})}


def _after_ground(state: State) -> str:
    return "refuse" if state["draft"] else "gather"


async def _gather(state: State) -> dict[str, Any]:
    context, messages = trial_context(), state["messages"]
    choice = tool_choice_now(context)
    try:
        reply = await context.generate(messages, tool_choice=choice)
    except LimitReached as reached:
        if state["best"] is None:
            raise
        _note(f"gather: {reached}; the best draft so far stands")
        return {"messages": [{"role": "assistant", "content": state["best"][1].text}], "repairs": MAX_REPAIRS}
    calls = [] if choice == "none" else with_unique_ids(reply.tool_calls, messages)
    return {"messages": [reply.message(calls=calls)]}


def _after_gather(state: State) -> str:
    return "tools" if state["messages"][-1].get("tool_calls") else "draft"


async def _tools(state: State) -> dict[str, Any]:
    """The calls of a turn, one after the other in a thread: a provider may be far away."""
    context = trial_context()
    calls = state["messages"][-1]["tool_calls"]
    return {"messages": [await asyncio.to_thread(run_call, context, call) for call in calls]}


async def _draft(state: State) -> dict[str, Any]:
    content = state["messages"][-1]["content"]
    draft = draft_in(content if isinstance(content, str) else "")
    return {"draft": as_searched(draft, _results_of("plan_trip", state["messages"])), "faults": None}


def _results_of(tool: str, messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What a tool has answered in this trial, the last answer first."""
    calls = {
        call["id"]
        for message in messages
        for call in message.get("tool_calls") or ()
        if call["function"]["name"] == tool
    }
    texts = [message.get("content") for message in messages if message.get("tool_call_id") in calls]
    values = [json.loads(text) for text in reversed(texts) if isinstance(text, str) and text[:1] == "{"]
    return [value for value in values if isinstance(value, Mapping)]


async def _schedule(state: State) -> dict[str, Any]:
    """Give a draft its best order and times; refuse what the scheduler proves that nobody can plan."""
    draft, context = state["draft"], trial_context()
    if draft is None or draft.plan is None or not _has(context, "order_visits"):
        return {}
    ask = functools.partial(_ask_tool, context, "order_visits")
    plan = functools.partial(_ask_tool, context, "plan_trip") if _has(context, "plan_trip") else None
    scheduled, word = await scheduled_draft(draft, must_visit(state["messages"]), ask, plan)
    _note(f"schedule: {word}")
    return {"draft": scheduled}


async def _verify(state: State) -> dict[str, Any]:
    draft, context = state["draft"], trial_context()
    if draft is None or not _has(context, "check_plan"):
        return {}
    if draft.plan is None:
        faults = [{"code": "SCHEMA", "severity": "error", "path": "plan", "found": draft.problem}]
    else:
        checked = await _ask_tool(context, "check_plan", {"plan": draft.plan})
        if "faults" not in checked:
            _note(f"verify: not checked: {checked.get('error', 'no answer')}")
            return {}
        faults = [fault for fault in checked["faults"] if fault["severity"] == "error"]
    best = state["best"]
    if draft.plan is not None and (best is None or len(faults) < best[0]):
        best = (len(faults), draft)
    return {"faults": faults, "best": best}


def _after_verify(state: State) -> str:
    return "repair" if state["faults"] and state["repairs"] < MAX_REPAIRS else "finalize"


async def _repair(state: State) -> dict[str, Any]:
    """The model gets the list of faults and nothing else."""
    faults = json.dumps(state["faults"], ensure_ascii=False)
    text = (
        f"The plan has these faults: {faults}\nAnswer with the whole plan again, mended, as one JSON object."
    )
    return {"messages": [{"role": "user", "content": text}], "repairs": state["repairs"] + 1}


async def _finalize(state: State) -> dict[str, Any]:
    """The best draft; an answer that could not be read goes out as it is, for the scorer to judge."""
    draft = state["best"][1] if state["best"] else state["draft"]
    if draft is None or state["request"] is None:
        return {"answer": draft.text if draft else ""}
    return {"answer": json.dumps({"request": state["request"], **(draft.plan or {})}, ensure_ascii=False)}


def _has(context: AgentContext, tool: str) -> bool:
    return context.tool_calls_left > 0 and any(
        schema["function"]["name"] == tool for schema in context.toolbox.schemas
    )


async def _ask_tool(context: AgentContext, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A tool called by the graph itself: traced and counted like any other call."""
    if context.tool_calls_left <= 0:
        return {"error": "all tool calls are used up"}
    text = json.dumps(arguments, ensure_ascii=False)
    call: ToolCall = {
        "id": f"graph_{tool}",
        "type": "function",
        "function": {"name": tool, "arguments": text},
    }
    result = json.loads(str((await asyncio.to_thread(context.call_tool, call))["content"]))
    return result if isinstance(result, dict) else {}


def _note(text: str) -> None:
    trial_context().trace.add(NoteStep(text=text))
