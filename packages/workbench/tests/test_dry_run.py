"""What a model would get, and one trial as it happens."""

import io
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gnomon.core.agent import AGENTS
from gnomon.core.errors import NotFound, SpecError
from gnomon.core.trace import ReplyStep
from gnomon.spec.rules import parse_spec
from gnomon_workbench.dry_run import run
from gnomon_workbench.trace_text import print_step
from gnomon_workers.open_job import OpenJob, media_of, open_spec

SPEC: dict[str, Any] = {
    "benchmark": "worlds",
    "select": {"limit": 1, "seed": 5},
    "models": [{"id": "scripted", "options": {"replies": ['\x1b[2J {"answer": "A"}']}}],
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": ["distance"]}],
}


SHOWS, TRIES = "show", "try"


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., OpenJob]:
    def open_job(**changes: Any) -> OpenJob:
        return open_spec(parse_spec({**SPEC, **changes}, agents=AGENTS.names()), media_of(tmp_path))

    return open_job


def first_sample(job: OpenJob) -> str:
    return job.samples.refs[0].sample_id


def preview(verb: str, job: OpenJob, arm: str, *, as_json: bool = False) -> int:
    return run(verb, job, sample_id=first_sample(job), arm=arm, model=None, as_json=as_json)


def test_show_prints_messages_tools_and_pictures(
    opened: Callable[..., OpenJob], capsys: pytest.CaptureFixture[str]
) -> None:
    job = opened()
    assert preview(SHOWS, job, "tools", as_json=True) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["messages"][0]["role"] == "user"
    assert [tool["function"]["name"] for tool in found["tools"]] == ["distance"]
    assert found["images"] == [block for block in found["messages"][0]["content"] if block["type"] == "image"]
    assert preview(SHOWS, job, "raw") == 0
    printed = capsys.readouterr().out
    assert "Question" in printed
    assert "decoding: provider defaults" in printed
    assert "0 tools" in printed


def test_show_holds_what_the_agent_itself_adds(
    opened: Callable[..., OpenJob], capsys: pytest.CaptureFixture[str]
) -> None:
    job = opened(
        arms=[
            {"name": "words", "agent": "text-react", "tools": ["distance"], "instructions": "Measure first."},
            {"name": "plan", "agent": "plan", "tools": ["distance"], "show": ["media", "facts"]},
        ]
    )

    def shown(arm: str) -> dict[str, Any]:
        assert preview(SHOWS, job, arm, as_json=True) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    words, plan = shown("words"), shown("plan")
    assert words["tools"] == []
    assert '"name": "distance"' in words["messages"][0]["content"][0]["text"]
    assert words["messages"][0]["content"][1]["text"].strip() == "Measure first."
    assert plan["tool_choice"] == "none"
    assert plan["messages"][0]["content"][0]["text"].startswith("Facts about the scene")
    assert "plan" in plan["messages"][0]["content"][-1]["text"]


def test_show_names_the_retry_policy_where_the_spec_sets_one(
    opened: Callable[..., OpenJob], capsys: pytest.CaptureFixture[str]
) -> None:
    assert preview(SHOWS, opened(), "raw") == 0
    assert "retry" not in capsys.readouterr().out
    assert preview(SHOWS, opened(retry={"cap_s": 5}), "raw") == 0
    assert "retry: cap_s 5.0" in capsys.readouterr().out


def test_try_prints_each_step_and_no_control_characters(
    opened: Callable[..., OpenJob], capsys: pytest.CaptureFixture[str]
) -> None:
    job = opened()
    assert preview(TRIES, job, "raw") == 0
    printed = capsys.readouterr().out
    assert "\x1b[2J" not in printed
    assert "reply" in printed
    assert preview(TRIES, job, "raw", as_json=True) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["row"]["sample_id"] == first_sample(job)
    assert len(found["trace"]["steps"]) == 1


def test_a_trial_that_ends_for_no_fault_of_the_model_exits_with_1(opened: Callable[..., OpenJob]) -> None:
    down = {"fault": "refused", "transient": False}
    job = opened(models=[{"id": "scripted", "options": {"replies": [down]}}])
    assert preview(TRIES, job, "raw") == 1


def test_what_is_not_in_the_spec_is_refused_with_what_is(opened: Callable[..., OpenJob]) -> None:
    job = opened()
    with pytest.raises(SpecError, match="there are: raw, tools"):
        preview(SHOWS, job, "nothing")
    with pytest.raises(NotFound, match="selected, such as"):
        run(SHOWS, job, sample_id="x", arm="raw", model=None, as_json=False)


def test_a_reply_is_printed_with_its_reasoning_and_what_the_adapter_changed() -> None:
    reply = ReplyStep(
        text="A",
        tool_calls=(),
        finish_reason="stop",
        prompt_tokens=1,
        completion_tokens=2,
        usd=None,
        cached=False,
        wall_s=0.1,
        tries=1,
        reasoning="first [bold]the\x1b cameras",
        request_changes=("tool_choice: required → absent",),
    )
    console = Console(file=io.StringIO(), width=100)
    print_step(1, asdict(reply), console, full=True)
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "first [bold]the cameras" in printed
    assert "reply  0.10 s, 1 + 2 tokens" in printed
    assert "changed by the adapter: tool_choice: required → absent" in printed


def test_tokens_that_the_provider_does_not_count_are_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    reply = ReplyStep(
        text="A",
        tool_calls=(),
        finish_reason="stop",
        prompt_tokens=None,
        completion_tokens=None,
        usd=None,
        cached=False,
        wall_s=0.1,
        tries=1,
    )
    print_step(1, asdict(reply), Console(width=100), full=True)
    assert "reply  0.10 s, ? + ? tokens" in capsys.readouterr().out


def test_show_prints_what_is_said_after_each_answer(
    opened: Callable[..., OpenJob], capsys: pytest.CaptureFixture[str]
) -> None:
    trips: dict[str, Any] = {
        "benchmark": "itinerary",
        "select": {"tasks": ["changed-mind"], "limit": 1},
        "arms": [{"name": "raw", "agent": "direct"}],
    }
    job = opened(**trips)
    assert preview(SHOWS, job, "raw", as_json=True) == 0
    shown = json.loads(capsys.readouterr().out)
    said = [turn.message() for turn in job.samples.get(first_sample(job)).follow_ups]
    assert shown["follow_ups"] == said
    assert preview(SHOWS, job, "raw") == 0
    assert "The traveller writes: " in capsys.readouterr().out
