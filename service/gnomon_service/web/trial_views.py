"""What pages of trials share: the trials of a sample, their drawings, and sentences about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gnomon.core.benchmark import HEURISTIC_PREFIX
from gnomon.core.opened_question import ShownQuestion, show_question
from gnomon.core.row import Row
from gnomon.report.reply_words import were
from gnomon.report.row_formats import escape_surrogates
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import trial_id
from gnomon_service.api.state import State
from gnomon_workers.store.records import JobRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmTrial:
    """A trial of the sample: under which arm (its place among the job's arms, from 0), and its row."""

    trial_id: str
    model: str
    arm: str
    place: int
    repeat: int
    row: Row | None


def shown_question(state: State, job: JobRecord, sample_id: str, arm: str | None = None) -> ShownQuestion:
    """The question of a job's sample, as the arm asks it if one is named; never an exception."""
    return show_question(state.questions.open(job.id, job.spec, sample_id, arm))


def trials_of_sample(state: State, job: JobRecord, sample_id: str) -> list[ArmTrial]:
    """Every planned trial of the sample, by model, arm and repeat; a trial's id follows from these."""
    plan = [
        (trial_id(job.id, sample_id, model.label, arm.name, repeat), model.label, arm.name, place, repeat)
        for model in job.spec.models
        for place, arm in enumerate(job.spec.arms)
        for repeat in range(job.spec.repeats_of(arm.name))
    ]
    rows = state.store.rows_by_trial([name for name, *_ in plan])
    return [
        ArmTrial(trial_id=name, model=model, arm=arm, place=place, repeat=repeat, row=rows.get(name))
        for name, model, arm, place, repeat in plan
    ]


def arm_place(spec: JobSpec, arm: str) -> int:
    """The arm's place among the job's arms, from 0: it decides shape and colour on every page."""
    return next((place for place, item in enumerate(spec.arms) if item.name == arm), 0)


def score_record(row: Row | None) -> dict[str, Any]:
    """A trial's score, answer and cost as plain data."""
    if row is None:
        return {"outcome": "pending", "score": None, "answer": None}
    return {
        "outcome": row.outcome.value,
        "stop_reason": row.stop_reason,
        "reply_state": row.reply_state.value if row.reply_state else None,
        "read_by": row.read_by,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "model_version": row.model_version,
        "score": row.score,
        "answer": row.answer,
        "model_calls": row.model_calls,
        "tool_calls": row.tool_calls,
        "tool_errors": row.tool_errors,
        "seconds": round(row.wall_s, 3),
        "usd": row.usd,
        "prompt_tokens": row.prompt_tokens,
        "completion_tokens": row.completion_tokens,
        "flags": list(row.flags),
        "error": row.error,
    }


def run_facts(row: Row) -> list[str]:
    """What became of the reply, how it was read, when it ran, and by which version of the model, in words;
    what is not recorded is left out.
    """
    facts = []
    if row.reply_state:
        facts.append(f"reply {were(1, row.reply_state)}")
    if row.read_by:
        facts.append(f"read by {row.read_by.replace('_', ' ')}")
    if row.started_at:
        ended = f" to {row.ended_at[11:19]}" if row.ended_at else ""
        facts.append(f"{row.started_at[:19].replace('T', ' ')}{ended} UTC")
    if row.model_version:
        facts.append(f"version {escape_surrogates(row.model_version)}")
    return facts


def floors_of(row: Row | None) -> Mapping[str, float]:
    """What simple rules score on the sample, by rule."""
    if row is None:
        return {}
    return {
        name.removeprefix(HEURISTIC_PREFIX): value
        for name, value in row.metrics.items()
        if name.startswith(HEURISTIC_PREFIX) and isinstance(value, int | float)
    }
