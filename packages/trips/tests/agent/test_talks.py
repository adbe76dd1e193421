"""Every agent is asked again when the traveller changes their mind, with the conversation so far."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.agent import AGENTS
from gnomon.core.answers import answers_of
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.core.trace import NoteStep, Trace
from gnomon.media import MediaStore
from gnomon.spec.rules import parse_spec
from gnomon.trials import checkpoint
from gnomon.trials.checkpoint import SavedTrial, TrialCheckpoints
from gnomon.trials.job_context import JobContext
from gnomon.trials.recorded_steps import recorded_until
from gnomon.trials.rescore import rescored
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import expand_trials
from gnomon_agents.models.catalog import open_model

LOOK = ["find_place", "place_details", "travel", "travel_table"]
ARMS: dict[str, dict[str, Any]] = {
    "told": {"agent": "direct", "show": ["facts"]},
    "fetched": {"agent": "react", "tools": LOOK},
    "planned": {"agent": "plan", "tools": [*LOOK, "plan_trip"]},
    "voted": {"agent": "vote", "show": ["facts"]},
    "checked": {"agent": "planner", "tools": [*LOOK, "check_plan"]},
    "scheduled": {"agent": "planner", "tools": [*LOOK, "check_plan", "order_visits"]},
}
REFERENCE = {"id": "reference"}


class Asked:
    """A model that keeps what it was asked."""

    def __init__(self, model: Any) -> None:
        self.id, self._model, self.requests = model.id, model, list[Any]()

    async def reply(self, request: Any) -> Any:
        self.requests.append(request)
        return await self._model.reply(request)

    async def close(self) -> None:
        await self._model.close()


class Talk:
    """Trials of one talk: that of number `k`."""

    def __init__(
        self, folder: Path, arm: dict[str, Any], *, model: dict[str, Any] = REFERENCE, k: int = 3
    ) -> None:
        given = {
            "benchmark": "itinerary",
            "select": {"tasks": ["changed-mind"], "limit": k + 1},
            "models": [model],
            "arms": [{"name": "arm", "max_tool_calls": 60, "max_turns": 60, **arm}],
        }
        self.spec = parse_spec(given, agents=AGENTS.names())
        self.media = MediaStore(folder)
        self.samples = self.spec.plugin().open(
            data=None, select=self.spec.select, protocol="guarded", media=self.media
        )
        self.ref = self.samples.refs[k]
        self.bench = JobContext(spec=self.spec, benchmark=self.spec.plugin(), media=self.media)
        self.kept: list[bytes] = []

    @property
    def sample(self) -> Any:
        return self.samples.get(self.ref.sample_id)

    async def run(self, saved: SavedTrial | None = None, **more: Any) -> tuple[Row, Trace, Asked]:
        async def save(body: bytes, _trace: Trace) -> None:
            self.kept.append(body)

        asked = Asked(open_model(self.spec.models[0], self.media))
        trial = next(trial for trial in expand_trials("j", self.spec, [self.ref]))
        row, trace = await run_trial(
            trial,
            bench=self.bench,
            sample=lambda: self.sample,
            agent=AGENTS.get(self.spec.arms[0].agent),
            model=asked,
            checkpoints=TrialCheckpoints(worker="w2", save=save, saved=saved),
            **more,
        )
        return row, trace, asked


@pytest.mark.parametrize("name", ARMS)
async def test_every_agent_answers_every_turn(tmp_path: Path, name: str) -> None:
    talk = Talk(tmp_path, ARMS[name], k=1)
    row, trace, _ = await talk.run()
    assert (row.outcome, row.score) == (Outcome.SCORED, 1.0)
    assert (row.metrics["first_holds"], row.metrics["forgets_earlier"]) == (1.0, 0.0)
    assert len(answers_of(trace.response or "")) == len(talk.sample.follow_ups) + 1
    said = [step.text for step in trace.steps if isinstance(step, NoteStep) and step.text.startswith("turn ")]
    assert said == [f"turn {n}: {turn.said}" for n, turn in enumerate(talk.sample.follow_ups, 2)]


async def test_an_agent_sees_what_was_said_and_answered_and_no_calls_of_earlier_turns(tmp_path: Path) -> None:
    talk = Talk(tmp_path, ARMS["fetched"], k=3)
    _, trace, asked = await talk.run()
    answers, last = answers_of(trace.response or ""), asked.requests[-1].messages
    talked = [message for message in last if message["role"] in ("user", "assistant")]
    said = [message for message in talked if not message.get("tool_calls")]
    assert [message["role"] for message in said] == ["user", "assistant"] * len(talk.sample.follow_ups) + [
        "user"
    ]
    assert [message["content"] for message in said if message["role"] == "assistant"] == answers[:-1]


async def test_limits_are_those_of_the_whole_trial(tmp_path: Path) -> None:
    row, trace, _ = await Talk(tmp_path, {**ARMS["told"], "max_turns": 2}, k=3).run()
    assert (row.stop_reason, len(trace.replies)) == ("max_turns", 2)


async def test_stored_answers_are_scored_again_alike(tmp_path: Path) -> None:
    talk = Talk(tmp_path, ARMS["told"], k=3)
    row, trace, _ = await talk.run()
    assert rescored(row, trace.response or "", bench=talk.bench, sample=talk.sample) == row


async def test_stated_confidences_are_read_off_every_answer(tmp_path: Path) -> None:
    refusal = '{"status": "refused", "conflict": ["window"]}\nConfidence: 70'
    model = {"id": "scripted", "options": {"replies": [refusal]}}
    row, trace, _ = await Talk(tmp_path, {**ARMS["told"], "confidence": True}, model=model, k=3).run()
    assert (row.metrics["confidence"], row.metrics["delivered"]) == (0.7, 1.0)
    assert (trace.response or "").count("Confidence: 70") == len(answers_of(trace.response or ""))


async def test_recorded_steps_are_given_again_turn_by_turn(tmp_path: Path) -> None:
    talk = Talk(tmp_path, ARMS["fetched"], k=3)
    row, trace, asked = await talk.run()
    calls = len(trace.steps) - 1
    recorded = recorded_until(json.loads(json.dumps(trace.to_json())), calls)
    again, _, live = await talk.run(recorded=recorded)
    assert (again.answer, again.score) == (row.answer, row.score)
    assert len(live.requests) < len(asked.requests)


@pytest.mark.parametrize("name", ["fetched", "scheduled"])
async def test_a_talk_goes_on_in_the_turn_in_which_it_was_broken_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(checkpoint, "WORTH_S", 0.0)
    talk = Talk(tmp_path, ARMS[name], k=3)
    row, trace, asked = await talk.run()
    kept, turns = talk.kept[:: max(1, len(talk.kept) // 3)], set()
    for body in kept:
        saved = SavedTrial.from_bytes(body)
        turns.add(len(saved.answers))
        again, resumed, live = await talk.run(saved)
        assert (again.answer, again.model_calls, again.tool_calls) == (
            row.answer,
            row.model_calls,
            row.tool_calls,
        )
        before = sum(step.kind == "reply" for step in saved.steps)
        assert len(live.requests) == len(asked.requests) - before
        plain = [replace(s, wall_s=0.0) for s in resumed.steps if not isinstance(s, NoteStep)]
        assert plain == [replace(s, wall_s=0.0) for s in trace.steps if not isinstance(s, NoteStep)]
        said = [s.text for s in resumed.steps if isinstance(s, NoteStep) and s.text.startswith("turn ")]
        assert len(said) == len(talk.sample.follow_ups)
    assert len(turns) > 2


async def test_a_state_that_cannot_be_read_begins_its_turn_anew_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "WORTH_S", 0.0)
    talk = Talk(tmp_path, ARMS["fetched"], k=3)
    row, _, _ = await talk.run()
    saved = next(one for body in talk.kept if len((one := SavedTrial.from_bytes(body)).answers) == 1)
    again, resumed, live = await talk.run(replace(saved, state=b"none"))
    assert (again.answer, again.model_calls, again.tool_calls) == (
        row.answer,
        row.model_calls,
        row.tool_calls,
    )
    first = saved.steps[: saved.turn_began]
    assert tuple(resumed.steps[: saved.turn_began]) == first
    assert len(live.requests) == row.model_calls - sum(step.kind == "reply" for step in first)
