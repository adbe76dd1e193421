"""Whatever happens inside a trial, a row and a trace come out."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.agent import AgentContext, LimitReached
from gnomon.core.benchmark import Published, SampleSet
from gnomon.core.errors import DataError, ModelFault, NoRoom, ProviderFault
from gnomon.core.model import Reply, Request
from gnomon.core.row import Row
from gnomon.core.sample import Part, Sample, SampleRef
from gnomon.core.score import Outcome, Score
from gnomon.core.trace import PROVIDER_FAULT, NoteStep, Trace
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.job_context import JobContext
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import Trial, trial_id
from gnomon_tools.core.tool import TextResult, Tool, ToolArgs
from gnomon_tools.core.toolbox import Toolbox

REF = SampleRef(sample_id="s1", task="Toy", cell="toy", cluster="k1")
TRIAL = Trial(
    trial_id=trial_id("j", "s1", "m", "raw", 0), job_id="j", ref=REF, model="m", arm="raw", repeat=0
)
SAMPLE = Sample(ref=REF, parts=(Part(content="What?"),), target={"answer": "yes"})


@dataclass
class ToyBenchmark:
    """Right is the word `yes`; silence is no answer; `broken` cannot be scored."""

    name: str = "toy"
    version: str = "1"
    tasks: tuple[str, ...] = ("Toy",)
    scenes: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    needs_data: bool = False
    headline: Any = "mean_of_samples"

    def open(self, **_: Any) -> SampleSet:
        raise AssertionError("not needed here")

    def score(self, sample: Sample, response: str, **_: Any) -> Score:
        if response == "broken":
            return Score(value=None, reason="media")
        answer = response.strip() or None
        return Score(value=float(answer == sample.target["answer"]), answer=answer)

    def score_record(self, record: Mapping[str, Any], **_: Any) -> Score:
        raise AssertionError("not needed here")

    def published(self) -> Sequence[Published]:
        return ()


@dataclass
class ToyModel:
    """Replies by a function of how often it was asked."""

    behave: Callable[[int], Reply]
    id: str = "toy"
    asked: list[Request] = field(default_factory=list)

    async def reply(self, request: Request) -> Reply:
        self.asked.append(request)
        return self.behave(len(self.asked))

    async def close(self) -> None:
        return None


@dataclass
class Asker:
    """Asks `times` times and answers with the last reply."""

    times: int = 1
    name: str = "asker"
    uses_tools: bool = False
    description: str = "asks"

    async def answer(self, context: AgentContext) -> str:
        context.retry = context.retry.model_copy(update={"base_s": 0.0})
        for _ in range(self.times):
            reply = await context.generate(context.prompt)
        return reply.text


def says(text: str, **more: Any) -> Callable[[int], Reply]:
    return lambda _: Reply(text=text, **more)


def fails(error: BaseException) -> Callable[[int], Reply]:
    def behave(_: int) -> Reply:
        raise error

    return behave


def run(
    behave: Callable[[int], Reply],
    *,
    agent: Any = None,
    sample: Callable[[], Sample] = lambda: SAMPLE,
    arm: Mapping[str, Any] | None = None,
    seconds: float = 5.0,
    retry: Mapping[str, Any] | None = None,
    max_tokens: int | None = None,
) -> tuple[Row, Trace, ToyModel]:
    spec = JobSpec.model_validate(
        {
            "benchmark": "toy",
            "models": [{"id": "m", "max_tokens": max_tokens}],
            "arms": [{"name": "raw", "agent": "direct", **(arm or {})}],
            "limits": {"trial_seconds": seconds},
            "retry": retry or {},
        }
    )
    bench = JobContext(spec=spec, benchmark=ToyBenchmark(), media=MediaStore(Path("unused")))
    model = ToyModel(behave)
    row, trace = asyncio.run(
        run_trial(TRIAL, bench=bench, sample=sample, agent=agent or Asker(), model=model)
    )
    return row, trace, model


def test_a_right_answer_is_scored_with_its_usage() -> None:
    row, trace, model = run(says("yes", prompt_tokens=7, completion_tokens=2, usd=0.5))
    assert (row.outcome, row.score, row.stop_reason) == (Outcome.SCORED, 1.0, "answered")
    assert (row.prompt_tokens, row.completion_tokens, row.usd, row.model_calls) == (7, 2, 0.5, 1)
    assert model.asked[0].messages == trace.prompt == SAMPLE.messages()


def test_what_makes_a_question_hard_is_worked_out_once_for_all_its_trials() -> None:
    measured: list[Sample] = []

    class Measured(ToyBenchmark):
        def heuristic_scores(self, sample: Sample) -> Mapping[str, float]:
            measured.append(sample)
            return {"first option": 1.0}

        def features(self, sample: Sample) -> Mapping[str, float | str]:
            measured.append(sample)
            return {"level": "hard"}

    spec = JobSpec.model_validate(
        {"benchmark": "toy", "models": [{"id": "m"}], "arms": [{"name": "raw", "agent": "direct"}]}
    )
    bench = JobContext(spec=spec, benchmark=Measured(), media=MediaStore(Path("unused")))
    other = replace(SAMPLE, ref=replace(SAMPLE.ref, sample_id="other"))
    for question in (SAMPLE, SAMPLE, other):
        row, _ = asyncio.run(
            run_trial(
                TRIAL,
                bench=bench,
                sample=lambda question=question: question,
                agent=Asker(),
                model=ToyModel(says("yes")),
            )
        )
        assert row.metrics == {"floor: first option": 1.0, "feature: level": "hard"}
    assert measured == [SAMPLE, SAMPLE, other, other]


def test_an_unknown_price_or_usage_stays_unknown() -> None:
    row, _, _ = run(
        lambda n: Reply(text="yes", usd=None if n == 1 else 1.0, prompt_tokens=5), agent=Asker(times=2)
    )
    assert row.usd is None
    assert row.prompt_tokens == 10
    assert row.completion_tokens is None


@pytest.mark.parametrize(("reasoning", "flags"), [(None, ("over_max_tokens",)), (900, ())])
def test_a_reply_beyond_its_limit_is_flagged_its_reasoning_left_out(
    reasoning: int | None, flags: tuple[str, ...]
) -> None:
    row, _, _ = run(says("yes", completion_tokens=1000, reasoning_tokens=reasoning), max_tokens=200)
    assert row.flags == flags


@dataclass(frozen=True, kw_only=True)
class Started(Tool[ToolArgs]):
    """A tool whose server takes a while to start."""

    started: threading.Event = field(default_factory=threading.Event, hash=False)

    @property
    def is_ready(self) -> bool:
        return self.started.is_set()

    def prepare(self) -> None:
        time.sleep(1.5)
        self.started.set()


def test_the_start_of_a_tools_server_is_off_the_trials_clock() -> None:
    tool = Started(
        name="far",
        description="far away",
        args=ToolArgs,
        run=lambda *_: TextResult(text="near"),
        needs=None,
        is_slow=True,
    )

    class Caller(Asker):
        async def answer(self, context: AgentContext) -> str:
            context.toolbox = Toolbox((tool,), None)
            for at in "12":
                call = {"id": at, "type": "function", "function": {"name": "far", "arguments": "{}"}}
                await context.call_tool(call)  # type: ignore[arg-type]
            return "yes"

    began = time.perf_counter()
    row, _, _ = run(says("yes"), agent=Caller(), seconds=1.4)
    assert (row.outcome, row.tool_calls) == (Outcome.SCORED, 2)
    assert row.wall_s < time.perf_counter() - began - 1.4


def test_silence_is_the_models_failure_and_counts_as_wrong() -> None:
    row, _, _ = run(says("  "))
    assert (row.outcome, row.score, row.stop_reason) == (Outcome.MODEL_FAILED, 0.0, "no_answer")


@pytest.mark.parametrize(
    ("error", "outcome", "stop"),
    [
        (ProviderFault("down", cause="http_500"), Outcome.INFRA_MISSING, "provider:http_500"),
        (ProviderFault("who?", cause="auth", transient=False), Outcome.INFRA_MISSING, "provider:auth"),
        (ModelFault("no", cause="refused"), Outcome.MODEL_FAILED, "model:refused"),
        (TimeoutError("not the trial's clock"), Outcome.INFRA_MISSING, "internal:TimeoutError"),
        (ValueError("a bug"), Outcome.INFRA_MISSING, "internal:ValueError"),
        (SystemExit(1), Outcome.INFRA_MISSING, "internal:SystemExit"),
        (KeyboardInterrupt(), Outcome.INFRA_MISSING, "internal:KeyboardInterrupt"),
        (BaseException("odd"), Outcome.INFRA_MISSING, "internal:BaseException"),
    ],
)
def test_every_failure_becomes_data(error: BaseException, outcome: Outcome, stop: str) -> None:
    row, _, _ = run(fails(error))
    assert (row.outcome, row.stop_reason) == (outcome, stop)
    assert row.score == (0.0 if outcome is Outcome.MODEL_FAILED else None)
    assert str(error) in row.error, "its own words, whoever's fault it is: a plug-in fails so too"


def test_an_agent_or_a_sample_that_would_end_the_process_ends_its_trial_alone() -> None:
    class Quits:
        name, uses_tools, description = "quits", False, "Ends the process."

        async def answer(self, _: Any) -> str:
            raise SystemExit(0)

    def sample() -> Sample:
        raise SystemExit("no sample")

    for ended in (run(says("yes"), agent=Quits()), run(says("yes"), sample=sample)):
        row, trace, _ = ended
        assert (row.outcome, row.stop_reason) == (Outcome.INFRA_MISSING, "internal:SystemExit")
        assert "SystemExit" in trace.steps[-1].text


def test_a_passing_provider_fault_is_tried_again_and_noted() -> None:
    def behave(n: int) -> Reply:
        if n < 3:
            raise ProviderFault("busy", cause="rate_limit")
        return Reply(text="yes")

    row, trace, _ = run(behave)
    assert row.outcome is Outcome.SCORED
    assert trace.replies[0].tries == 3


def test_a_lasting_provider_fault_is_not_tried_again() -> None:
    _, _, model = run(fails(ProviderFault("no key", cause="auth", transient=False)))
    assert len(model.asked) == 1


def test_missing_data_is_never_a_wrong_answer() -> None:
    def sample() -> Sample:
        raise DataError("the clip is gone")

    row, _, _ = run(says("yes"), sample=sample)
    assert (row.outcome, row.stop_reason, row.score) == (Outcome.INFRA_MISSING, "data", None)
    row, _, _ = run(says("broken"))
    assert (row.outcome, row.stop_reason) == (Outcome.INFRA_MISSING, "unscored:media")


@pytest.mark.parametrize(
    ("arm", "limit"),
    [({"max_turns": 2}, "max_turns"), ({"max_tokens": 10}, "max_tokens"), ({"max_usd": 0.2}, "max_usd")],
)
def test_a_reached_limit_ends_the_trial_under_its_own_name(arm: Mapping[str, Any], limit: str) -> None:
    row, _, _ = run(says("yes", prompt_tokens=6, completion_tokens=6, usd=0.3), agent=Asker(times=9), arm=arm)
    assert (row.outcome, row.stop_reason, row.score) == (Outcome.MODEL_FAILED, limit, 0.0)


@pytest.mark.parametrize(
    ("arm", "limit"), [({"max_tokens": 30}, "max_tokens"), ({"max_usd": 0.5}, "max_usd")]
)
def test_one_reply_of_unknown_usage_and_price_lifts_no_limit(arm: Mapping[str, Any], limit: str) -> None:
    def behave(n: int) -> Reply:
        return (
            Reply(text="yes") if n == 1 else Reply(text="yes", prompt_tokens=9, completion_tokens=9, usd=0.3)
        )

    row, _, model = run(behave, agent=Asker(times=9), arm=arm)
    assert (row.stop_reason, len(model.asked)) == (limit, 3)


class Sleeper(Asker):
    """Asks, then thinks for ever."""

    async def answer(self, context: AgentContext) -> str:
        if self.times:
            await context.generate(context.prompt)
        await asyncio.sleep(60)
        return ""


def test_a_model_that_uses_up_its_seconds_failed_but_one_that_never_replied_is_missing() -> None:
    talked, _, _ = run(says("hm"), agent=Sleeper(times=1), seconds=0.05)
    silent, _, _ = run(says("hm"), agent=Sleeper(times=0), seconds=0.05)
    assert (talked.outcome, talked.stop_reason) == (Outcome.MODEL_FAILED, "trial_seconds")
    assert (silent.outcome, silent.stop_reason) == (Outcome.INFRA_MISSING, "provider:timeout")


class Caller(Asker):
    """Calls a tool that is not there until it may not any more."""

    async def answer(self, context: AgentContext) -> str:
        while True:
            await context.call_tool(
                {"id": "1", "type": "function", "function": {"name": "fly", "arguments": "{}"}}
            )


def test_a_call_to_no_tool_is_an_observation_and_is_counted() -> None:
    row, trace, _ = run(says("yes"), agent=Caller(), arm={"max_tool_calls": 3})
    assert (row.tool_calls, row.tool_errors, row.stop_reason) == (3, 3, "max_tool_calls")
    assert row.tools_used == {"fly": {"calls": 3, "bad_arguments": 3, "errors": 3}}
    assert all("no tool" in step.observation for step in trace.tool_steps)


def test_a_cancelled_trial_stays_cancelled() -> None:
    with pytest.raises(asyncio.CancelledError):
        run(fails(asyncio.CancelledError()))  # type: ignore[arg-type]


@given(text=st.text())
def test_any_text_a_model_may_write_ends_as_an_outcome(text: str) -> None:
    row, _, _ = run(says(text))
    assert row.outcome in {Outcome.SCORED, Outcome.MODEL_FAILED, Outcome.INFRA_MISSING}


def test_limit_reached_says_which() -> None:
    assert str(LimitReached("max_turns")) == "limit reached: max_turns"


def test_a_wait_that_a_provider_asks_for_is_cut_short_noted_and_flagged() -> None:
    def behave(calls: int) -> Reply:
        if calls == 1:
            raise ProviderFault("later", cause="server_error", retry_after_s=1e6)
        return Reply(text="yes")

    row, trace, _ = run(behave, retry={"cap_s": 1})
    assert (row.outcome, row.flags) == (Outcome.SCORED, ("capped_wait",))
    assert "asked to wait 1,000,000 s" in "".join(
        step.text for step in trace.steps if isinstance(step, NoteStep)
    )


def test_a_call_is_tried_again_as_often_as_the_spec_says_and_where_it_says_so() -> None:
    fault = fails(ProviderFault("down", cause="server_error"))
    for retry, calls in (({}, 4), ({"max_attempts": 2}, 2), ({"final_causes": ["server_error"]}, 1)):
        row, trace, model = run(fault, retry=retry)
        assert (row.stop_reason, len(model.asked)) == ("provider:server_error", calls)
        assert [step.text.split(":")[0] for step in trace.steps if isinstance(step, NoteStep)] == [
            f"{PROVIDER_FAULT} (server_error), try {n + 1} of {(retry or {}).get('max_attempts', 4)}"
            for n in range(calls)
        ]


def test_a_pause_that_nobody_asked_for_is_no_wait_that_was_cut_short() -> None:
    def behave(calls: int) -> Reply:
        if calls < 3:
            raise ProviderFault("down", cause="server_error")
        return Reply(text="yes")

    class Patient(Asker):
        async def answer(self, context: AgentContext) -> str:
            return (await context.generate(context.prompt)).text

    row, _, model = run(behave, agent=Patient(), retry={"base_s": 60, "cap_s": 1})
    assert (row.outcome, row.flags, len(model.asked)) == (Outcome.SCORED, (), 3)


@pytest.mark.parametrize("replies", [0, 1])
def test_a_trial_whose_seconds_end_in_a_wait_that_was_cut_short_is_missing(replies: int) -> None:
    def behave(calls: int) -> Reply:
        if calls > replies:
            raise ProviderFault("later", cause="server_error", retry_after_s=3_600)
        return Reply(text="hm")

    row, trace, _ = run(behave, agent=Asker(times=replies + 1), seconds=0.05)
    assert isinstance(trace.steps[-1], NoteStep)
    assert trace.steps[-1].text.startswith("capped_wait")
    assert (row.outcome, row.stop_reason) == (Outcome.INFRA_MISSING, "provider:timeout")


def test_a_full_disk_is_no_end_of_a_trial() -> None:
    def full() -> Sample:
        raise NoRoom("no room on the disk")

    with pytest.raises(NoRoom):
        run(says("yes"), sample=full)
