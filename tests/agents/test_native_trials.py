"""Whole trials on servers as strict as Anthropic's Messages API and OpenAI's Responses API."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.agent import AGENTS
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.job_context import JobContext
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import expand_trials
from gnomon_agents.models.catalog import open_model
from tests.agents.conformance.anthropic import STARTS, UNCHANGED, AnthropicDialect
from tests.agents.conformance.responses import ResponsesDialect
from tests.agents.conformance.server import ConformanceServer, conforming
from tests.agents.conftest import QUIZ, Quiz

MANUAL = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
ADAPTIVE = {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}
CLAUDE = {"id": "anthropic/claude-sonnet-4-5"}
O3 = {"id": "openai/o3", "api": "responses"}
SCORED = Counter({("scored", 1.0): 6})


@pytest.fixture
def six(tmp_path: Path) -> Callable[..., Any]:
    """Six trials of one arm: how they ended, and the rows."""

    async def trials(server: ConformanceServer, arm: str, model: dict[str, Any], **more: Any) -> Any:
        spec = {
            "benchmark": "quiz",
            "models": [{"api_base": server.root + server.dialect.base, **model}],
            "arms": [
                {"name": "raw", "agent": "direct"},
                {"name": "tools", "agent": "react", "tools": "all"},
                {"name": "forced", "agent": "react", "tools": "all", "tool_choice": "required"},
            ],
            "repeats": 6,
            "limits": {"trial_seconds": 60},
            **more,
        }
        job = JobSpec.model_validate(spec)
        media = MediaStore(tmp_path / "media")
        opened = open_model(job.models[0], media)
        done = [
            await run_trial(
                trial,
                bench=JobContext(spec=job, benchmark=Quiz(), media=media),
                sample=lambda: QUIZ,
                agent=AGENTS.get(job.arm(arm).agent),
                model=opened,
            )
            for trial in expand_trials("j", job, [QUIZ.ref])
            if trial.arm == arm
        ]
        await opened.close()
        return Counter((row.outcome, row.score) for row, _ in done), done

    return trials


@pytest.mark.parametrize("options", [{}, MANUAL, ADAPTIVE], ids=["no thinking", "budget", "adaptive"])
@pytest.mark.parametrize("arm", ["raw", "tools", "forced"])
async def test_anthropic_scores_every_arm_in_full_with_its_thinking_between_its_calls(six, arm, options):
    dialect = AnthropicDialect()
    with conforming(dialect) as server:
        ends, done = await six(server, arm, {**CLAUDE, "options": options})
    assert ends == SCORED
    assert not server.refusals
    assert dialect.without_thinking == 0
    assert len(server.requests) == 6 * (1 if arm == "raw" else 3)
    row, trace = done[0]
    assert row.prompt_tokens == 310 * len(trace.replies)
    assert trace.replies[-1].reasoning_tokens == 40
    assert trace.replies[-1].cached_tokens == 200
    assert trace.replies[-1].cache_write_tokens == 100
    assert trace.replies[-1].reasoning == ("2: done" if options else "")


@pytest.mark.parametrize("history", ["auto", "all", "last", "none"])
@pytest.mark.parametrize("arm", ["raw", "tools"])
async def test_responses_scores_every_arm_in_full_with_two_reasoning_items_in_a_turn(six, arm, history):
    with conforming(ResponsesDialect()) as server:
        ends, done = await six(server, arm, {**O3, "reasoning_history": history})
    assert ends == SCORED
    assert not server.refusals
    assert done[0][1].replies[-1].reasoning == "thought 20"
    assert done[0][1].replies[-1].reasoning_tokens == 40
    kinds = [item.get("type") for item in server.requests[-1]["input"]]
    assert kinds.count("reasoning") == (0 if history == "none" or arm == "raw" else 3)


@pytest.mark.parametrize("arm", ["raw", "tools"])
async def test_a_model_that_does_not_reason_is_not_asked_for_sealed_reasoning(six, arm):
    with conforming(ResponsesDialect(reasons=False)) as server:
        ends, _ = await six(server, arm, {"id": "openai/gpt-4o", "api": "responses", "temperature": 0.2})
    assert ends == SCORED
    assert not server.refusals


async def test_a_model_that_litellm_would_call_by_the_responses_api_is_not_called(six):
    model = {"id": "openai/responses/o3", "client": "litellm", "options": {"store": False}}
    with conforming(ResponsesDialect()) as server:
        _, done = await six(server, "tools", model)
    assert not server.requests
    assert all("bounds neither redirects nor replies" in (row.error or "") for row, _ in done)


async def test_a_model_of_the_responses_api_alone_is_called_there_unasked(six):
    for model_id in ("openai/o3-pro", "openai/responses/o3"):
        with conforming(ResponsesDialect()) as server:
            ends, done = await six(server, "tools", {"id": model_id})
        assert ends == SCORED
        assert done[0][0].flags == ("repeated_calls",)
        kinds = [item.get("type") for item in server.requests[-1]["input"]]
        assert kinds.count("reasoning") == 3


async def test_a_forced_call_is_left_free_where_thinking_refuses_it_and_the_trace_says_so(six):
    with conforming(AnthropicDialect()) as server:
        _, done = await six(server, "forced", {**CLAUDE, "options": MANUAL})
    assert server.requests[0]["tool_choice"] == {"type": "auto"}
    assert done[0][1].replies[0].request_changes == ("tool_choice: required → auto",)


async def test_what_a_protocol_draws_is_left_out_where_the_model_refuses_it(six):
    decoding = {"decoding": {"all": {"temperature": 0, "top_p": 1, "max_tokens": 2000}}}
    with conforming(AnthropicDialect()) as server:
        ends, done = await six(server, "tools", {**CLAUDE, "options": MANUAL}, **decoding)
    assert ends == SCORED
    assert done[0][1].replies[0].request_changes == ("temperature: 0.0 → absent", "top_p: 1.0 → absent")
    with conforming(ResponsesDialect()) as server:
        ends, done = await six(server, "tools", O3, **decoding)
    assert ends == SCORED
    assert done[0][1].replies[0].request_changes == ("temperature: 0.0 → absent", "top_p: 1.0 → absent")
    assert {request["max_output_tokens"] for request in server.requests} == {2000}


async def test_thinking_left_out_of_the_history_is_refused_with_a_budget_and_lost_without(six):
    model = {**CLAUDE, "reasoning_history": "none"}
    with conforming(AnthropicDialect()) as server:
        ends, _ = await six(server, "tools", {**model, "options": MANUAL})
    assert ends == Counter({("infra_missing", None): 6})
    assert STARTS.format(found="text") in str(server.refusals[0])
    dialect = AnthropicDialect()
    with conforming(dialect) as server:
        ends, _ = await six(server, "tools", {**model, "options": ADAPTIVE})
    assert ends == SCORED
    assert dialect.without_thinking == 6 * 3


async def test_litellm_moves_thinking_before_the_calls_and_is_refused_and_flagged(six):
    with conforming(AnthropicDialect()) as server:
        ends, done = await six(server, "tools", {**CLAUDE, "options": MANUAL, "client": "litellm"})
    assert ends == Counter({("infra_missing", None): 6})
    assert any(words in str(server.refusals[0]) for words in (UNCHANGED, "Expected `thinking`"))
    moved = "reasoning: thinking between calls of this turn cannot go back in its place"
    assert [moved in reply.request_changes for reply in done[0][1].replies] == [False, True]
    with conforming(AnthropicDialect(is_interleaved=False)) as server:
        _, done = await six(server, "tools", {**CLAUDE, "options": MANUAL, "client": "litellm"})
    assert not any(moved in reply.request_changes for reply in done[0][1].replies)
