"""How a trial ended, and the row that is made of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from gnomon.core.agent import calls_in_words
from gnomon.core.arm import Arm
from gnomon.core.message import pictures_of
from gnomon.core.missing import keepable
from gnomon.core.provider_wait import CAPPED
from gnomon.core.reply_state import PICTURES_LEFT_OUT, reply_state
from gnomon.core.row import ADAPTER, OVER_MAX_TOKENS, REPEATED_CALLS, ROW_COLUMNS, Row
from gnomon.core.score import Outcome, Score
from gnomon.core.trace import NoteStep, ReplyStep, ToolStep, Trace
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.condition import Situation, flags_of
from gnomon.trials.job_context import JobContext
from gnomon.trials.trial_plan import Trial
from gnomon_tools.core.toolbox import BAD_CALL


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """How a trial ended, its score, and the error where it came to none."""

    outcome: Outcome
    stop_reason: str
    score: Score
    error: str = ""


def missing(cause: str, message: str) -> TrialResult:
    """The end of a trial that says nothing of the model, and why."""
    score = Score(value=None, reason=message or cause)
    return TrialResult(outcome=Outcome.INFRA_MISSING, stop_reason=cause, score=score, error=message)


def failed(cause: str, error: str = "") -> TrialResult:
    """The end of a trial that the model has failed: with score 0."""
    return TrialResult(outcome=Outcome.MODEL_FAILED, stop_reason=cause, score=Score(value=0.0), error=error)


def row_of(trial: Trial, job: JobContext, now: Situation, trace: Trace, end: TrialResult) -> Row:
    """The row of a trial that has ended so; without its times."""
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
        **{column.name: column.filled.of(trace) for column in ROW_COLUMNS if column.filled},
        benchmark=job.benchmark.name,
        outcome=end.outcome,
        stop_reason=end.stop_reason,
        score=score.value,
        metrics={**score.metrics, **trace.judge_metrics},
        answer=score.answer,
        flags=(
            *score.flags,
            *_arm_flags(job.spec, now.arm, trial.model, trace),
            *flags_of(trace, now),
            *((REPEATED_CALLS,) if any(counts.get("repeated") for counts in tools_used.values()) else ()),
        ),
        tools_used=tools_used,
        error=keepable(end.error),
        reply_state=reply_state(end.outcome, end.stop_reason, score.answer, trace, read_by=score.read_by),
        read_by=score.read_by,
        model_version=", ".join(
            dict.fromkeys(reply.model_version for reply in trace.replies if reply.model_version)
        ),
    )


def _arm_flags(spec: JobSpec, arm: Arm, model: str, trace: Trace) -> Iterator[str]:
    """Where a trial was not quite what its arm says, or a reply was not whole."""
    yield from dict.fromkeys(flag for reply in trace.replies for flag in reply.flags)
    if trace.exceeds(spec.model(model).max_tokens):
        yield OVER_MAX_TOKENS
    if trace.replies and not spec.model(model).pictures and any(map(pictures_of, trace.prompt)):
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
