"""Runs a trial: whatever happens inside, a row and a trace come out."""

import asyncio
import functools
import threading
import time
import traceback
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar, cast

from cachetools import LRUCache

from gnomon.core.agent import Agent, AgentContext, LimitReached, calls_in_words
from gnomon.core.answers import joined_answers
from gnomon.core.arm import Arm
from gnomon.core.benchmark import (
    FEATURE_PREFIX,
    HEURISTIC_PREFIX,
    AsksJudge,
    Benchmark,
    CpuBound,
    HasHeuristics,
    MeasuresDifficulty,
    SampleSet,
)
from gnomon.core.errors import (
    AgentFault,
    DataError,
    JudgeFault,
    ModelFault,
    NoRoom,
    OutOfBudget,
    ProviderFault,
)
from gnomon.core.message import Message
from gnomon.core.missing import TRIAL_IS_OVER, keepable
from gnomon.core.model import CALL_TIMEOUT_S, Model
from gnomon.core.moments import moment_text
from gnomon.core.provider_wait import CAPPED, TRACE
from gnomon.core.redaction import without_folders
from gnomon.core.reply_state import PICTURES_LEFT_OUT, reply_state
from gnomon.core.row import ADAPTER, OVER_MAX_TOKENS, REPEATED_CALLS, Row
from gnomon.core.sample import Sample
from gnomon.core.score import Outcome, Score
from gnomon.core.timeout import trial_timeout
from gnomon.core.trace import NoteStep, ReplyStep, ToolStep, Trace
from gnomon.media import MediaStore
from gnomon.price_table import takes_videos
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.ask_judge import ask_judge
from gnomon.trials.checkpoint import TrialCheckpoints
from gnomon.trials.condition import (
    Condition,
    Situation,
    asked,
    conditions_of,
    flags_of,
    prompt_of,
    read_off,
    scored,
    shown,
    toolbox_of,
)
from gnomon.trials.donors import Donors
from gnomon.trials.recorded_steps import Playback, RecordedSteps
from gnomon.trials.trial_plan import Trial
from gnomon_tools.core.outage import ServerFault
from gnomon_tools.core.plugin_code import Escape, contained
from gnomon_tools.core.toolbox import BAD_CALL

T = TypeVar("T")
SLOW_THREADS = 6
MEASURED = 64  # questions whose measures are kept: the arms and repeats of a sample lie side by side


@dataclass(frozen=True, slots=True, kw_only=True)
class JobContext:
    """What all trials of a job share: the spec, its benchmark, where media are, and the samples of the job,
    among which a blind placebo finds other scenes.
    """

    spec: JobSpec
    benchmark: Benchmark
    media: MediaStore
    samples: SampleSet | None = None
    _conditions: dict[tuple[str, ...], list[Condition]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _kinds: dict[type, bool] = field(default_factory=dict, init=False, repr=False, compare=False)
    _measured: LRUCache[Hashable, Mapping[str, float | str]] = field(
        default_factory=lambda: LRUCache(MEASURED), init=False, repr=False, compare=False
    )
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    def benchmark_as(self, kind: type[T]) -> T | None:
        """The benchmark, if it is of this kind, one of the protocols of benchmarks. It is looked at once a
        job: that takes longer than many a tool.
        """
        if kind not in self._kinds:
            self._kinds[kind] = isinstance(self.benchmark, kind)
        return cast(T, self.benchmark) if self._kinds[kind] else None

    def conditions(self, *arms: Arm) -> Sequence[Condition]:
        """The conditions that one of these arms is under, looked up once a job."""
        names = tuple(arm.name for arm in arms)
        if names not in self._conditions:
            self._conditions[names] = conditions_of(*arms)
        return self._conditions[names]

    def measures_of(self, question: Sample, arm: Arm) -> Mapping[str, float | str]:
        """What rules of thumb score on a question and what makes it hard, by metric: worked out once for all
        arms and repeats that ask a sample under one transform and in one wording.
        """
        key = question.ref.sample_id, arm.transform, arm.wording, repr(arm.conditions)
        with self._lock:
            measures = self._measured.get(key)
        if measures is None:
            measures = self._measure(question)
            with self._lock:
                self._measured[key] = measures
        return measures

    def _measure(self, question: Sample) -> Mapping[str, float | str]:
        measures: dict[str, float | str] = {}
        if (ruled := self.benchmark_as(HasHeuristics)) is not None:  # type: ignore[type-abstract]
            by_rule = ruled.heuristic_scores(question)
            measures |= {f"{HEURISTIC_PREFIX}{rule}": value for rule, value in by_rule.items()}
        if (measured := self.benchmark_as(MeasuresDifficulty)) is not None:  # type: ignore[type-abstract]
            by_name = measured.features(question)
            measures |= {f"{FEATURE_PREFIX}{name}": value for name, value in by_name.items()}
        return measures


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """How a trial ended, its score, and the error where it came to none."""

    outcome: Outcome
    stop_reason: str
    score: Score
    error: str = ""


async def run_trial(
    trial: Trial,
    *,
    bench: JobContext,
    sample: Callable[[], Sample],
    agent: Agent,
    model: Model,
    trace: Trace | None = None,
    attempt: int = 1,
    judge: Model | None = None,
    recorded: RecordedSteps | None = None,
    checkpoints: TrialCheckpoints | None = None,
) -> tuple[Row, Trace]:
    """Run one trial to its end and turn every failure into data.

    A provider's fault, an outside agent's and one of ours end it as `infra_missing`; a reached limit, a
    model's own failure or a response in which nothing can be understood as `model_failed` with score 0.
    Only cancellation passes through, and a full disk: then the caller runs the trial again later.
    `judge` says whether the reply is right where the sample needs that; without its verdict the trial ends as
    `infra_missing`. `recorded` steps are given instead of asking the model and running tools; a conversation
    that no longer fits them ends the trial as `infra_missing`. With `checkpoints` it goes on from the last
    one, if there is one, and keeps its own; its seconds and steps are those of all attempts.

    Raises:
        NoRoom: the disk is full.
    """
    trace = trace or Trace()
    TRACE.set(trace)
    trace.keeps_reasoning = bench.spec.keep_reasoning
    now = situation(bench.spec.arm(trial.arm), bench, trial)
    playback = Playback(recorded) if recorded else None
    started_at, started = moment_text(datetime.now(UTC)), time.perf_counter()
    try:
        with contained():
            end = await _attempt(
                trial,
                bench=bench,
                sample=sample,
                agent=agent,
                model=playback.model(model) if playback else model,
                judge=judge,
                now=now,
                trace=trace,
                playback=playback,
                checkpoints=checkpoints,
            )
    except ProviderFault as fault:
        end = _missing(f"provider:{fault.cause}", str(fault))
    except JudgeFault as fault:
        end = _missing(f"judge:{fault.cause}", str(fault))
    except AgentFault as fault:
        end = _missing(f"agent:{fault.cause}", str(fault))
    except OutOfBudget as error:
        end = _missing("budget", str(error))
    except DataError as error:
        end = _missing("data", str(error))
    except NoRoom:
        raise
    except ServerFault as fault:
        end = _missing(fault.stop_reason, str(fault))
    except Exception as error:  # noqa: BLE001 the boundary where a fault of ours becomes data
        trace.add(NoteStep(text=without_folders("".join(traceback.format_exception(error, limit=-4)))))
        kind = error.kind if isinstance(error, Escape) else type(error).__name__
        end = _missing(f"internal:{kind}", "a fault of Gnomon's own; see the trace")
    wall_s = max(0.0, time.perf_counter() - started - trace.waited_s)
    wall_s += checkpoints.seconds_before if checkpoints else 0.0
    row = _row(trial, bench, now, trace, end)
    ended_at = moment_text(datetime.now(UTC))
    row = replace(row, wall_s=round(wall_s, 6), attempt=attempt, started_at=started_at, ended_at=ended_at)
    return row, trace


async def _attempt(
    trial: Trial,
    *,
    bench: JobContext,
    sample: Callable[[], Sample],
    agent: Agent,
    model: Model,
    judge: Model | None,
    now: Situation,
    trace: Trace,
    playback: Playback | None,
    checkpoints: TrialCheckpoints | None,
) -> TrialResult:
    arm, seed = now.arm, now.seed
    cpu_bound = bench.benchmark_as(CpuBound)  # type: ignore[type-abstract]  # as protocols are
    is_slow = cpu_bound is not None and cpu_bound.is_cpu_bound
    question = await _in_thread(sample) if is_slow else sample()
    question = asked(question, now)
    videos = takes_videos(bench.spec.model(trial.model))
    trace.prompt = prompt_of(question, now, videos=videos)
    if question.broken and "media" in arm.show:
        return _missing("data", question.broken)
    donors = Donors(question, bench.samples, seed=seed)
    if is_slow and any(condition.needs_donors(arm) for condition in now.conditions):
        await _in_thread(donors.first)
    now = replace(now, donors=donors)
    toolbox = toolbox_of(question, now, tools=bench.spec.toolset(arm))
    if playback is not None:
        playback.check_prompt(trace.prompt)
        toolbox = playback.toolbox(toolbox)
    toolbox = shown(toolbox, now)
    context = AgentContext(
        prompt=list(trace.prompt),
        arm=arm,
        model=model,
        toolbox=toolbox,
        trace=trace,
        seed=seed,
        decoding=bench.spec.decoding_of(trial.ref.task),
        retry=bench.spec.retry,
        checkpoints=checkpoints,
        sample_id=trial.ref.sample_id,
        media=bench.media,
        call_timeout_s=bench.spec.model(trial.model).call_seconds,
        tool_calls=bench.spec.model(trial.model).tool_calls,
        words=bench.spec.words,
    )
    seconds = bench.spec.limits.trial_seconds
    if checkpoints is not None:
        seconds -= checkpoints.begin(trace, toolbox, prompt=trace.prompt, agent=arm.agent_label)
    try:
        async with trial_timeout(max(0.0, seconds)) as clock:
            try:
                response = await _response(agent, context, question)
            finally:
                trace.waited_s = clock.paused_s
    except LimitReached as reached:
        return _failed(reached.limit)
    except ModelFault as fault:
        trace.add(NoteStep(text=str(fault)))
        return replace(_failed(f"model:{fault.cause}"), error=str(fault))
    except TimeoutError:
        if not clock.is_over:
            raise
        # The clock may run out while the provider is failing: then it is the provider's, not the model's.
        if trace.waits_for_provider:
            return _missing("provider:timeout", TRIAL_IS_OVER)
        return _failed("trial_seconds")
    if playback is not None:
        playback.check_used()
    trace.response = response
    trace.tool_names = {schema["function"]["name"] for schema in toolbox.schemas}
    judged = await _judged(question, response, bench=bench, now=now, judge=judge, trace=trace)
    score = functools.partial(score_response, question, response, bench=bench, now=now, judged=judged)
    return await _in_thread(score) if is_slow else score()


def situation(arm: Arm, bench: JobContext, trial: Trial | None = None) -> Situation:
    """The trial, or the arm alone, as its conditions see it."""
    return Situation(
        arm=arm,
        conditions=bench.conditions(arm),
        of_job=bench.conditions(*bench.spec.arms),
        benchmark=bench.benchmark,
        spec=bench.spec,
        media=bench.media,
        trial=trial,
        seed=trial.seed if trial else 0,
    )


async def _judged(
    question: Sample,
    response: str,
    *,
    bench: JobContext,
    now: Situation,
    judge: Model | None,
    trace: Trace,
) -> Score | None:
    """What the judge makes of the response, off the trial's clock; None where none is needed, or there is
    nothing to judge.
    """
    trial = now.trial
    if (
        judge is None
        or trial is None
        or not isinstance(bench.benchmark, AsksJudge)
        or not bench.benchmark.needs_judge(question)
    ):
        return None
    spec, began_s = bench.spec, time.perf_counter()
    first = (spec.models[0].label, spec.arms[0].name, 0)
    try:
        return await ask_judge(
            bench.benchmark,
            question,
            read_off(response, question, now)[0],
            judge=judge,
            seed=trial.seed,
            retry=spec.retry,
            call_seconds=CALL_TIMEOUT_S if spec.judge is None else spec.judge.call_seconds,
            trace=trace,
            judges_label=(trial.model, trial.arm, trial.repeat) == first,
        )
    finally:
        trace.waited_s += time.perf_counter() - began_s


async def _response(agent: Agent, context: AgentContext, question: Sample) -> str:
    """The agent's answer; to a question with follow-ups, those to all turns as one text.

    Each turn is a conversation of what was said and answered so far, without the calls in between. Limits are
    those of the whole trial.
    """
    if not question.follow_ups:
        return await agent.answer(context)
    checkpoints = context.checkpoints
    earlier = list(checkpoints.answers) if checkpoints else []
    is_resumed = checkpoints is not None and checkpoints.state is not None
    answers: list[str] = []
    for number, turn in enumerate((None, *question.follow_ups)):
        if turn is not None:
            said: Message = {"role": "assistant", "content": answers[-1] or "(no answer)"}
            context.prompt = [*context.prompt, said, turn.message(context.arm.show)]
            for value in turn.inputs.values():
                context.toolbox.learn(value)
        if number < len(earlier):
            answers.append(earlier[number])
            continue
        if turn is not None and not (is_resumed and number == len(earlier)):
            context.trace.add(NoteStep(text=f"turn {number + 1}: {turn.said}"))
        answers.append(await agent.answer(context))
        if checkpoints is not None:
            checkpoints.end_turn(answers[-1])
    return joined_answers(answers)


async def _in_thread(work: Callable[[], T]) -> T:
    """Do slow work beside the loop, in threads of its own: work that is abandoned keeps neither the store's
    threads busy nor the loop from closing.
    """
    return await asyncio.get_running_loop().run_in_executor(_threads(), work)


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(SLOW_THREADS, thread_name_prefix="sample")


def score_response(
    question: Sample, response: str, *, bench: JobContext, now: Situation, judged: Score | None = None
) -> TrialResult:
    """How a trial ends whose agent gave this response: scored, not understood, or not to be scored.

    What conditions of the arm read off, as a stated confidence, is not scored. `judged` is the score that a
    judge gave.
    """
    response, read = read_off(response, question, now)
    score = judged or bench.benchmark.score(
        question, response, scoring=bench.spec.scoring, variant=bench.spec.variant
    )
    if question.missing:
        score = replace(score, flags=(*score.flags, "missing_media"))
    if measures := bench.measures_of(question, now.arm):
        score = replace(score, metrics={**score.metrics, **measures})
    score = scored(score, question, response, now)
    if read:
        score = replace(score, metrics={**score.metrics, **read})
    if score.value is None:
        return TrialResult(outcome=Outcome.INFRA_MISSING, stop_reason=f"unscored:{score.reason}", score=score)
    if score.answer is None:
        return TrialResult(outcome=Outcome.MODEL_FAILED, stop_reason="no_answer", score=score)
    return TrialResult(outcome=Outcome.SCORED, stop_reason="answered", score=score)


def _missing(cause: str, message: str) -> TrialResult:
    score = Score(value=None, reason=message or cause)
    return TrialResult(outcome=Outcome.INFRA_MISSING, stop_reason=cause, score=score, error=message)


def _failed(cause: str) -> TrialResult:
    return TrialResult(outcome=Outcome.MODEL_FAILED, stop_reason=cause, score=Score(value=0.0))


def _row(trial: Trial, bench: JobContext, now: Situation, trace: Trace, end: TrialResult) -> Row:
    tools_used: dict[str, dict[str, int]] = {}
    calls: set[tuple[str, str]] = set()
    reply, in_words = None, calls_in_words(now.arm)
    for step in trace.steps:
        reply = step if isinstance(step, ReplyStep) else reply
        if not isinstance(step, ToolStep):
            continue
        counts = tools_used.setdefault(step.name, {"calls": 0, "bad_arguments": 0, "errors": 0})
        counts["calls"] += 1
        counts["bad_arguments"] += step.error in BAD_CALL
        counts["errors"] += step.error is not None
        if step.injected:
            counts["injected"] = counts.get("injected", 0) + 1
        is_models = reply is not None and (in_words or reply.tool_calls or step.name in reply.text)
        if is_models:  # not the agent's own call
            if (step.name, step.arguments) in calls:
                counts["repeated"] = counts.get("repeated", 0) + 1
            calls.add((step.name, step.arguments))
    score = end.score
    return Row(
        **trial.identity(),
        benchmark=bench.benchmark.name,
        outcome=end.outcome,
        stop_reason=end.stop_reason,
        score=score.value,
        metrics=score.metrics,
        answer=score.answer,
        flags=(
            *score.flags,
            *_arm_flags(bench.spec, now.arm, trial.model, trace),
            *flags_of(trace, now),
            *((REPEATED_CALLS,) if any(counts.get("repeated") for counts in tools_used.values()) else ()),
        ),
        model_calls=trace.model_calls,
        tool_calls=trace.tool_calls,
        tool_errors=trace.tool_errors,
        tools_used=tools_used,
        cache_hits=sum(reply.cached for reply in trace.replies),
        prompt_tokens=trace.prompt_tokens,
        completion_tokens=trace.completion_tokens,
        cached_tokens=trace.cached_tokens,
        reasoning_tokens=trace.reasoning_tokens,
        usd=trace.usd,
        error=keepable(end.error),
        tools_offered=trace.tools_offered,
        reply_state=reply_state(end.outcome, end.stop_reason, score.answer, trace, read_by=score.read_by),
        read_by=score.read_by,
        model_version=", ".join(
            dict.fromkeys(reply.model_version for reply in trace.replies if reply.model_version)
        ),
    )


def _has_picture(message: Message) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(block["type"] == "image" for block in content)


def _arm_flags(spec: JobSpec, arm: Arm, model: str, trace: Trace) -> Iterator[str]:
    """Where a trial was not quite what its arm says, or a reply was not whole."""
    yield from dict.fromkeys(flag for reply in trace.replies for flag in reply.flags)
    if trace.exceeds(spec.model(model).max_tokens):
        yield OVER_MAX_TOKENS
    if trace.replies and not spec.model(model).pictures and any(map(_has_picture, trace.prompt)):
        yield PICTURES_LEFT_OUT
    if any(isinstance(step, NoteStep) and step.text.startswith(CAPPED) for step in trace.steps):
        yield CAPPED
    changes = [change for reply in trace.replies for change in reply.request_changes]
    yield from sorted({f"{ADAPTER}{change.partition(':')[0]}" for change in changes})
    called = bool(trace.tool_steps) or any(reply.tool_calls for reply in trace.replies)
    if not spec.toolset_unchanged(arm):
        yield "tools_changed"  # since the job was frozen: the trials of this arm did not all see the same
    if arm.tools and arm.tool_choice == "none" and called:
        yield "forbidden_call"
    if arm.tools and arm.tool_choice == "required" and arm.max_tool_calls and trace.replies and not called:
        yield "required_call_missing"
