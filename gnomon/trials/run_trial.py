"""Runs a trial: whatever happens inside, a row and a trace come out."""

import asyncio
import functools
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from gnomon.core.agent import Agent, AgentContext, LimitReached
from gnomon.core.answers import joined_answers
from gnomon.core.benchmark import AsksJudge, CpuBound
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
from gnomon.core.missing import TRIAL_IS_OVER
from gnomon.core.model import CALL_TIMEOUT_S, Model
from gnomon.core.moments import moment_text
from gnomon.core.provider_wait import TRACE
from gnomon.core.redaction import without_folders
from gnomon.core.row import Row
from gnomon.core.sample import Sample
from gnomon.core.score import Outcome, Score
from gnomon.core.timeout import trial_timeout
from gnomon.core.trace import NoteStep, Trace
from gnomon.price_table import takes_videos
from gnomon.trials.ask_judge import ask_judge
from gnomon.trials.checkpoint import TrialCheckpoints
from gnomon.trials.condition import Situation, asked, prompt_of, read_off, scored, shown, toolbox_of
from gnomon.trials.donors import Donors
from gnomon.trials.job_context import JobContext
from gnomon.trials.recorded_steps import Playback, RecordedSteps
from gnomon.trials.trial_end import TrialResult, failed, missing, row_of
from gnomon.trials.trial_plan import Trial
from gnomon_tools.core.outage import ServerFault
from gnomon_tools.core.plugin_code import Escape, contained

T = TypeVar("T")
SLOW_THREADS = 6


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
    now = bench.situation(bench.spec.arm(trial.arm), trial)
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
        end = missing(f"provider:{fault.cause}", str(fault))
    except JudgeFault as fault:
        end = missing(f"judge:{fault.cause}", str(fault))
    except AgentFault as fault:
        end = missing(f"agent:{fault.cause}", str(fault))
    except OutOfBudget as error:
        end = missing("budget", str(error))
    except DataError as error:
        end = missing("data", str(error))
    except NoRoom:
        raise
    except ServerFault as fault:
        end = missing(fault.stop_reason, str(fault))
    except Exception as error:  # noqa: BLE001 the boundary where a fault of ours becomes data
        trace.add(NoteStep(text=without_folders("".join(traceback.format_exception(error, limit=-4)))))
        kind = error.kind if isinstance(error, Escape) else type(error).__name__
        end = missing(f"internal:{kind}", f"a fault of Gnomon or of a plug-in, see the trace: {error}")
    wall_s = max(0.0, time.perf_counter() - started - trace.waited_s)
    wall_s += checkpoints.seconds_before if checkpoints else 0.0
    row = row_of(trial, bench, now, trace, end)
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
    """Ask the question as the arm asks it, and score what comes."""
    arm, spec = now.arm, bench.spec
    is_slow = isinstance(bench.benchmark, CpuBound) and bench.benchmark.is_cpu_bound
    question = asked(await _in_thread(sample) if is_slow else sample(), now)
    trace.prompt = prompt_of(question, now, videos=takes_videos(spec.model(trial.model)))
    if question.broken and "media" in arm.show:
        return missing("data", question.broken)
    donors = Donors(question, bench.samples, seed=now.seed)
    if is_slow and any(condition.needs_donors(arm) for condition in now.conditions):
        await _in_thread(donors.first)
    now = replace(now, donors=donors)
    toolbox = toolbox_of(question, now, tools=spec.toolset(arm))
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
        seed=now.seed,
        decoding=spec.decoding_of(trial.ref.task),
        retry=spec.retry,
        checkpoints=checkpoints,
        sample_id=trial.ref.sample_id,
        media=bench.media,
        call_timeout_s=spec.model(trial.model).call_seconds,
        tool_calls=spec.model(trial.model).tool_calls,
        words=spec.words,
    )
    seconds = spec.limits.trial_seconds
    if checkpoints is not None:
        seconds -= checkpoints.begin(trace, toolbox, prompt=trace.prompt, agent=arm.agent_label)
    response = await _in_time(agent, context, question, seconds=max(0.0, seconds))
    if isinstance(response, TrialResult):
        return response
    if playback is not None:
        playback.check_used()
    trace.response = response
    trace.tool_names = {schema["function"]["name"] for schema in toolbox.schemas}
    judged = await _judged(question, response, bench=bench, now=now, judge=judge, trace=trace)
    score = functools.partial(score_response, question, response, bench=bench, now=now, judged=judged)
    return await _in_thread(score) if is_slow else score()


async def _in_time(
    agent: Agent, context: AgentContext, question: Sample, *, seconds: float
) -> str | TrialResult:
    """The agent's response within so many seconds, or how the trial ends that has none."""
    trace = context.trace
    try:
        async with trial_timeout(seconds) as clock:
            try:
                return await _response(agent, context, question)
            finally:
                trace.waited_s = clock.paused_s
    except LimitReached as reached:
        return failed(reached.limit)
    except ModelFault as fault:
        trace.add(NoteStep(text=str(fault)))
        return failed(f"model:{fault.cause}", str(fault))
    except TimeoutError:
        if not clock.is_over:
            raise
        # The clock may run out while the provider is failing: then it is the provider's, not the model's.
        if trace.waits_for_provider:
            return missing("provider:timeout", TRIAL_IS_OVER)
        return failed("trial_seconds")


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
