"""The planning agent as a LangGraph graph.

intake → ground → select → gather ⇄ tools → draft → recommend → schedule → verify → repair → gather … → guide
→ finalize

A node acts through the tools of the arm alone: without `order_visits` nothing is scheduled, without
`check_plan` nothing is verified or repaired. LangGraph is imported when the first trip is planned.
"""

import asyncio
import functools
import json
import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from gnomon.core.agent import AgentContext, LimitReached
from gnomon.core.message import Message, ToolCall
from gnomon.core.trace import NoteStep
from gnomon.core.words import TOOLS_FIRST
from gnomon_agents.core.langgraph_runtime import run_graph, trial_context
from gnomon_agents.core.messages import with_user_turn
from gnomon_agents.core.tool_turn import run_call, run_calls, tool_choice_now, with_unique_ids
from gnomon_trips.agents.itinerary.draft_text import Drafted, draft_in
from gnomon_trips.agents.itinerary.guide import write_guide
from gnomon_trips.agents.itinerary.intake import (
    asked_for,
    film_shown,
    is_brief,
    lost_names,
    must_visit,
    understand,
)
from gnomon_trips.agents.itinerary.recommendation import placed, recommend, with_picks
from gnomon_trips.agents.itinerary.scheduling import as_searched, scheduled_draft
from gnomon_trips.agents.itinerary.selection import bound_to, select
from gnomon_trips.benchmarks.itinerary.brief import request_task
from gnomon_trips.itinerary.trip import Trip

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

MAX_REPAIRS = 3


class State(TypedDict):
    """The conversation and the best draft so far.

    `request` is what a model made of free words or a film; None where the request was given as it is.
    `selected` are the places that were chosen where there is room for fewer than there are, told to the model
    behind the first `told_after` messages; `recommended` is where to eat and sleep.
    """

    request: dict[str, Any] | None
    messages: Annotated[list[Message], operator.add]
    draft: Drafted | None
    faults: list[dict[str, Any]] | None  # None: not verified
    best: tuple[int, Drafted] | None  # fewest faults so far
    repairs: int
    selected: list[str] | None
    told_after: int
    recommended: list[dict[str, Any]] | None
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
        "selected": None,
        "told_after": 0,
        "recommended": None,
        "answer": "",
    }
    limit = 3 * context.arm.max_turns + 7 * MAX_REPAIRS + 20
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
        context.toolbox.learn(task.trip)


@functools.cache
def _graph() -> "CompiledStateGraph[State, AgentContext, Any, Any]":
    from langgraph.graph import END, START, StateGraph  # late: takes a second

    graph = StateGraph(State, context_schema=AgentContext)
    for name, node in (
        ("intake", _intake),
        ("ground", _ground),
        ("select", _select),
        ("gather", _gather),
        ("tools", _tools),
        ("draft", _draft),
        ("recommend", _recommend),
        ("schedule", _schedule),
        ("verify", _verify),
        ("repair", _repair),
        ("guide", _guide),
        ("finalize", _finalize),
    ):
        graph.add_node(name, node)
    graph.add_edge(START, "intake")
    graph.add_edge("intake", "ground")
    graph.add_conditional_edges("ground", _after_ground, {"select": "select", "refuse": "finalize"})
    graph.add_edge("select", "gather")
    graph.add_conditional_edges("gather", _after_gather, {"tools": "tools", "draft": "draft"})
    graph.add_edge("tools", "gather")
    graph.add_edge("draft", "recommend")
    graph.add_edge("recommend", "schedule")
    graph.add_edge("schedule", "verify")
    graph.add_conditional_edges("verify", _after_verify, {"repair": "repair", "guide": "guide"})
    graph.add_edge("repair", "gather")
    graph.add_edge("guide", "finalize")
    graph.add_edge("finalize", END)
    return graph.compile()


async def _intake(state: State) -> dict[str, Any]:
    """The request as the prompt has it; free words and films are put into fields by the model first."""
    if not is_brief(state["messages"]):
        request = asked_for(state["messages"])
        _note(f"intake: {'a request for ' + str(request.get('area')) if request else 'free words'}")
        return {}
    if shown := film_shown(state["messages"]):
        _note(f"intake: {shown}")
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
    return "refuse" if state["draft"] else "select"


async def _select(state: State) -> dict[str, Any]:
    """Where there is room for fewer places than there are, the model chooses."""
    context = trial_context()
    trip = context.toolbox.find(Trip)
    selected = await select(context, trip) if trip else None
    if selected is None:
        return {}
    _note(f"select: {selected.word}")
    return {"selected": selected.names, "told_after": len(state["messages"])}


async def _gather(state: State) -> dict[str, Any]:
    context, messages = trial_context(), _conversation(state)
    bound_to(context, state["selected"])
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
    context = trial_context()
    calls = state["messages"][-1]["tool_calls"]
    if context.words >= TOOLS_FIRST:
        return {"messages": await run_calls(context, calls)}
    return {"messages": [await run_call(context, call) for call in calls]}


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
    read = json.JSONDecoder().raw_decode  # what the model is told of limits stands behind a result
    values = [read(text)[0] for text in reversed(texts) if isinstance(text, str) and text[:1] == "{"]
    return [value for value in values if isinstance(value, Mapping)]


async def _recommend(state: State) -> dict[str, Any]:
    draft, context = state["draft"], trial_context()
    trip = _trip(state)
    is_wanted = trip is not None and trip.request.recommend and _has(context, "places_near")
    if draft is None or trip is None or not is_wanted:
        return {}
    if state["recommended"] is not None:  # a draft after a repair
        added = [pick for pick in state["recommended"] if pick["is_added"]]
        return {"draft": with_picks(draft, added, trip)} if draft.is_plan else {}
    ask = functools.partial(_ask_tool, context)
    draft, recommended, word = await recommend(context, draft, trip, ask)
    _note(f"recommend: {word}")
    return {"draft": draft, "recommended": recommended}


async def _schedule(state: State) -> dict[str, Any]:
    """Give a draft its best order and times; refuse what the scheduler proves that nobody can plan."""
    draft, context = state["draft"], trial_context()
    if draft is None or draft.plan is None or not _has(context, "order_visits"):
        return {}
    ask = functools.partial(_ask_tool, context, "order_visits")
    plan = functools.partial(_ask_tool, context, "plan_trip") if _has(context, "plan_trip") else None
    _trip(state)
    must = must_visit(state["messages"]) if state["selected"] is None else state["selected"]
    scheduled, word = await scheduled_draft(draft, must, ask, plan)
    _note(f"schedule: {word}")
    return {"draft": scheduled}


async def _verify(state: State) -> dict[str, Any]:
    draft, context = state["draft"], trial_context()
    if draft is None or not _has(context, "check_plan"):
        return {}
    if draft.plan is None:
        faults = [{"code": "SCHEMA", "severity": "error", "path": "plan", "found": draft.problem}]
    else:
        _trip(state)
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
    return "repair" if state["faults"] and state["repairs"] < MAX_REPAIRS else "guide"


async def _repair(state: State) -> dict[str, Any]:
    """The model gets the list of faults and nothing else."""
    faults = json.dumps(state["faults"], ensure_ascii=False)
    text = (
        f"The plan has these faults: {faults}\nAnswer with the whole plan again, mended, as one JSON object."
    )
    return {"messages": [{"role": "user", "content": text}], "repairs": state["repairs"] + 1}


async def _guide(state: State) -> dict[str, Any]:
    draft, context, trip = _best(state), trial_context(), _trip(state)
    if draft is None or not draft.is_plan or trip is None or not trip.request.guide:
        return {}
    has_check = _has(context, "check_plan")

    async def check(plan: dict[str, Any]) -> Mapping[str, Any]:
        return await _ask_tool(context, "check_plan", {"plan": plan})

    guided, word = await write_guide(context, draft, trip, check if has_check else None)
    _note(f"guide: {word}")
    return {"draft": guided, "best": None}


async def _finalize(state: State) -> dict[str, Any]:
    """The best draft; an answer that could not be read goes out as it is, for the scorer to judge."""
    draft = _best(state)
    if draft is not None and draft.plan is not None and state["recommended"]:
        rows = placed(state["recommended"], draft.plan)
        draft = Drafted(plan={**draft.plan, "recommended": rows}, words=draft.words)
    if draft is None or state["request"] is None:
        return {"answer": draft.text if draft else ""}
    return {"answer": json.dumps({"request": state["request"], **(draft.plan or {})}, ensure_ascii=False)}


def _best(state: State) -> Drafted | None:
    return state["best"][1] if state["best"] else state["draft"]


def _trip(state: State) -> Trip | None:
    """The trip of the tools, with the places that were chosen."""
    context = trial_context()
    bound_to(context, state["selected"])
    return context.toolbox.find(Trip)


def _conversation(state: State) -> list[Message]:
    """The messages so far; behind the prompt the model is told which places were chosen."""
    messages, selected, at = state["messages"], state["selected"], state["told_after"]
    if selected is None:
        return messages
    words = (
        f"Chosen, for there is room for no more: {json.dumps(selected, ensure_ascii=False)}. Plan with these."
    )
    return [*with_user_turn(messages[:at], words), *messages[at:]]


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
    result = json.loads(str((await context.call_tool(call))["content"]))
    return result if isinstance(result, dict) else {}


def _note(text: str) -> None:
    trial_context().trace.add(NoteStep(text=text))
