"""A trial that is broken off anywhere goes on from its last checkpoint: the same calls, each once."""

import json
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition

from gnomon.core.agent import AGENTS, Agent, AgentContext
from gnomon.core.row import Row
from gnomon.core.trace import NoteStep, Trace
from gnomon.media import MediaStore
from gnomon.spec.rules import parse_spec
from gnomon.trials import checkpoint
from gnomon.trials.checkpoint import SavedTrial, TrialCheckpoints
from gnomon.trials.job_context import JobContext
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import expand_trials
from gnomon_agents.core.checkpointer import TrialSaver
from gnomon_agents.core.graph_agent import GraphAgent, TrialChatModel, call_trial_tools
from gnomon_agents.core.langgraph_runtime import run_graph
from gnomon_agents.models.catalog import open_model
from gnomon_trips.itinerary.effort import Effort

TOOLS = ["check_plan", "place_details", "find_place", "plan_trip"]
REQUEST = {
    "area": "helsinki",
    "start_date": "2026-06-10",
    "hotel": "Hotelli Torni",
    "places": ["Kiasma", "Ateneum"],
}
FIND = {"tool_calls": [{"name": "find_place", "arguments": {"name": "Kiasma"}}]}
ASK = {"tool_calls": [{"name": "plan_trip", "arguments": {}}]}
EARLY = {"days": [{"visits": [{"place": "Kiasma", "arrive": "09:00", "leave": "09:10"}]}]}
LOOP = [FIND, ASK, "There is no plan."]
HEADER: dict[str, Any] = {
    "format": checkpoint.FORMAT, "digest": "d", "after": "gather", "seconds": 1.0, "tools_offered": 1,
    "turn_began": 0, "answers": [], "steps": [],
}  # fmt: skip


async def ask(state: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [await TrialChatModel().ainvoke(state["messages"])]}


def looped() -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_node("tools", call_trial_tools)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", tools_condition, {"tools": "tools", END: END})
    graph.add_edge("tools", "ask")
    return graph.compile()


def own_graph() -> Agent:
    return GraphAgent("planner", "A loop of model and tools.", looped())


class TwoLoops:
    """An agent with two graphs, one after the other: neither is all that it does."""

    name, description, uses_tools = "planner", "Two loops of model and tools.", True

    async def answer(self, context: AgentContext) -> str:
        first = await run_graph(looped(), {"messages": context.prompt}, context)
        again = {"messages": [*first["messages"], {"role": "user", "content": "Are you sure?"}]}
        return str((await run_graph(looped(), again, context))["messages"][-1].text)


PLANNER = [FIND, json.dumps(EARLY), FIND, json.dumps(EARLY)]
PLAYS = {
    "planner": (lambda: AGENTS.get("planner"), PLANNER),
    "react": (lambda: AGENTS.get("react"), LOOP),
    "own graph": (own_graph, LOOP),
    "two loops": (TwoLoops, [*LOOP, FIND, "Yes."]),
}


@dataclass
class Play:
    """Trials of one agent over one request, begun or gone on with."""

    folder: Path
    agent: Agent
    replies: list[Any]
    request: dict[str, Any]

    async def run(
        self, saved: SavedTrial | None = None, **arm: Any
    ) -> tuple[Row, Trace, list[tuple[bytes, int]], int]:
        """The row, the trace, each checkpoint with the calls before it, and the live calls of the model."""
        given = {
            "benchmark": "itinerary",
            "select": {"request": self.request},
            "models": [{"id": "scripted", "options": {"replies": self.replies, "usd": 0.25}}],
            "arms": [{"name": "plan", "agent": self.agent.name, "tools": TOOLS, "max_tool_calls": 20, **arm}],
        }
        spec = parse_spec(given, agents=AGENTS.names())
        media = MediaStore(self.folder)
        samples = spec.plugin().open(data=None, select=spec.select, protocol="guarded", media=media)
        kept: list[tuple[bytes, int]] = []

        async def save(body: bytes, trace: Trace) -> None:
            kept.append((body, len(calls(trace))))

        model = Counted(open_model(spec.models[0], media))
        row, trace = await run_trial(
            next(iter(expand_trials("j", spec, samples.refs))),
            bench=JobContext(spec=spec, benchmark=spec.plugin(), media=media),
            sample=lambda: samples.get("request"),
            agent=self.agent,
            model=model,
            checkpoints=TrialCheckpoints(worker="w2", save=save, saved=saved),
        )
        return row, trace, kept, model.calls


class Counted:
    """A model that counts its live calls."""

    def __init__(self, model: Any) -> None:
        self.id, self._model, self.calls = model.id, model, 0

    async def reply(self, request: Any) -> Any:
        self.calls += 1
        return await self._model.reply(request)

    async def close(self) -> None:
        await self._model.close()


def calls(trace: Trace) -> list[Any]:
    """The replies and results of a trace, without their times."""
    return [replace(step, wall_s=0.0) for step in trace.steps if not isinstance(step, NoteStep)]


def notes(trace: Trace) -> list[str]:
    return [step.text for step in trace.steps if isinstance(step, NoteStep)]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Play]:
    """With every call worth a checkpoint, and plans that say the same of how long they took."""
    monkeypatch.setattr(checkpoint, "WORTH_S", 0.0)
    monkeypatch.setattr(Effort, "spent_s", 0.5)

    def of(name: str, request: dict[str, Any] = REQUEST, replies: list[Any] | None = None) -> Play:
        agent, script = PLAYS[name]
        return Play(tmp_path, agent(), replies or script, request)

    return of


@pytest.mark.parametrize("name", ["planner", "react", "own graph"])
async def test_a_trial_goes_on_after_each_of_its_checkpoints_as_if_nothing_had_happened(
    play: Callable[..., Play], name: str
) -> None:
    trial = play(name)
    row, trace, kept, live = await trial.run()
    assert len(kept) >= len(trace.replies) >= 3
    for body, before in kept:
        saved = SavedTrial.from_bytes(body)
        again, resumed, _, live_again = await trial.run(saved)
        assert calls(resumed) == calls(trace)
        asked_before = sum(step.kind == "reply" for step in calls(trace)[:before])
        assert (live_again, live) == (live - asked_before, len(trace.replies))
        assert (again.answer, again.score, again.usd) == (row.answer, row.score, row.usd)
        assert (again.model_calls, again.tool_calls) == (row.model_calls, row.tool_calls)
        assert any(note.startswith("resumed after ") and note.endswith(" by w2") for note in notes(resumed))
        assert again.wall_s >= saved.seconds


async def test_graphs_that_are_a_part_of_what_an_agent_does_keep_no_checkpoints(
    play: Callable[..., Play],
) -> None:
    _, trace, kept, live = await play("two loops").run()
    assert (len(trace.replies), live, kept) == (5, 5, [])


async def test_a_planner_says_after_which_node_it_goes_on(play: Callable[..., Play]) -> None:
    trial = play("planner")
    _, _, kept, _ = await trial.run()
    assert {SavedTrial.from_bytes(body).after for body, _ in kept} == {"gather", "tools", "verify"}


async def test_a_loop_says_after_what_it_goes_on(play: Callable[..., Play]) -> None:
    _, _, kept, _ = await play("react").run()
    assert {SavedTrial.from_bytes(body).after for body, _ in kept} == {"the model", "its calls"}


async def test_what_free_words_became_is_bound_to_the_tools_again(play: Callable[..., Play]) -> None:
    words = {"area": "helsinki", "start_date": "2026-06-10", "text": "Kiasma and Ateneum"}
    understood = json.dumps({"request": {"hotel": "Hotelli Torni", "places": ["Kiasma", "Ateneum"]}})
    trial = play("planner", words, [understood, ASK, "{}"])
    row, trace, kept, _ = await trial.run()
    assert trace.tool_steps[0].error is None
    for body, _ in kept:
        again, resumed, _, _ = await trial.run(SavedTrial.from_bytes(body))
        assert calls(resumed) == calls(trace)
        assert again.answer == row.answer


async def test_the_prompt_is_not_kept_in_the_state(play: Callable[..., Play]) -> None:
    _, trace, kept, _ = await play("planner").run()
    words = max((block["text"] for block in trace.prompt[0]["content"]), key=len)[:60]
    assert all(words.encode() not in SavedTrial.from_bytes(body).state for body, _ in kept)
    assert all(b"gnomon_prompt" in SavedTrial.from_bytes(body).state for body, _ in kept)


async def test_limits_hold_over_both_attempts(play: Callable[..., Play]) -> None:
    trial = play("planner", replies=[FIND])
    row, _, kept, _ = await trial.run(max_turns=3)
    again, _, _, live = await trial.run(SavedTrial.from_bytes(kept[0][0]), max_turns=3)
    assert (again.stop_reason, again.model_calls, live) == (row.stop_reason, 3, 2)
    assert again.stop_reason == "max_turns"


async def test_a_checkpoint_of_another_question_is_not_gone_on_with(play: Callable[..., Play]) -> None:
    _, _, kept, _ = await play("planner").run()
    other = play("planner", {**REQUEST, "start_date": "2026-06-11"})
    _, begun, _, live_again = await other.run(SavedTrial.from_bytes(kept[-1][0]))
    assert live_again == len(begun.replies) > 0
    assert not any(note.startswith("resumed") for note in notes(begun))


@pytest.mark.parametrize("state", [b"\xc1", b"\x90", b"\x05"])
async def test_a_state_that_cannot_be_read_begins_the_trial_anew(
    play: Callable[..., Play], state: bytes
) -> None:
    trial = play("planner")
    _, trace, kept, live = await trial.run()
    broken = replace(SavedTrial.from_bytes(kept[1][0]), state=state)
    _, again, _, live_again = await trial.run(broken)
    assert (calls(again), live_again) == (calls(trace), live)
    assert len(again.replies) == live


def test_bytes_of_a_checkpoint_name_no_code_to_run(tmp_path: Path) -> None:
    class Evil:
        state: bytes | None = None
        reason = ""

        def keep(self, state: Callable[[], bytes], *, after: str) -> Awaitable[None]:
            raise AssertionError("not used here")

        def begin_anew(self, reason: str) -> None:
            self.reason = reason

    evil, here = Evil(), tmp_path / "made"
    call = ormsgpack.Ext(0, ormsgpack.packb(["os", "mkdir", str(here)]))
    evil.state = ormsgpack.packb([["", {"channel_values": {"x": call}}, {}, []]])
    assert not TrialSaver(evil, []).load()
    assert "not allowed" in evil.reason
    assert not here.exists()


async def test_only_calls_that_took_long_or_were_paid_for_are_written(
    play: Callable[..., Play], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "WORTH_S", 1_000.0)
    _, _, kept, _ = await play("react").run()
    assert [SavedTrial.from_bytes(body).after for body, _ in kept] == ["the model", "the model"]
    monkeypatch.setattr(checkpoint, "WORTH_USD", 1_000.0)
    assert (await play("react").run())[2] == []


@pytest.mark.parametrize(
    "header",
    [
        *("[]", "5", "[" * 100_000, "{}", '{"format": 0}'),
        *(json.dumps({**HEADER, "steps": steps}) for steps in ([[]], [5], 5, [{"kind": "none"}])),
        json.dumps({**HEADER, "seconds": "soon"}),
    ],
)
def test_bytes_that_are_no_checkpoint_are_told_apart(header: str) -> None:
    with pytest.raises(ValueError):
        SavedTrial.from_bytes(zlib.compress(header.encode() + b"\nstate"))


def test_a_checkpoint_that_was_cut_off_is_none() -> None:
    body = zlib.compress(json.dumps(HEADER).encode() + b"\n" + bytes(range(256)) * 40)
    assert SavedTrial.from_bytes(body).state
    for end in (1, 5, len(body) // 2):
        with pytest.raises(ValueError, match=r"checkpoint|cut off|JSON|Expecting|Unterminated"):
            SavedTrial.from_bytes(body[:-end])
