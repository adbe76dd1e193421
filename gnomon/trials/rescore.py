"""Scores a stored response again, under another parser or scoring; calls no model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gnomon.core.benchmark import AsksJudge
from gnomon.core.row import Row
from gnomon.core.sample import Sample
from gnomon.core.score import Outcome
from gnomon.trials.condition import asked
from gnomon.trials.job_context import JobContext
from gnomon.trials.run_trial import score_response


def response_of(row: Row, trace: Mapping[str, Any] | None) -> str | None:
    """The response that was scored; None where the trial ended without one.

    Traces of earlier versions hold it as the text of their last reply.
    """
    if trace is None or not _had_response(row):
        return None
    if isinstance(trace.get("response"), str):
        return str(trace["response"])
    replies = [step["text"] for step in trace.get("steps", ()) if step.get("kind") == "reply"]
    return replies[-1] if replies else None


def rescored(row: Row, response: str, *, bench: JobContext, sample: Sample) -> Row:
    """The row as `bench` scores its response; what it cost stays, and so does what a judge said."""
    now = bench.situation(bench.spec.arm(row.arm))
    question = asked(sample, now)
    if isinstance(bench.benchmark, AsksJudge) and bench.benchmark.needs_judge(question):
        return row
    end = score_response(question, response, bench=bench, now=now)
    return replace(
        row,
        outcome=end.outcome,
        stop_reason=end.stop_reason,
        score=end.score.value,
        metrics=end.score.metrics,
        answer=end.score.answer,
        flags=end.score.flags,
        error=end.error,
    )


def _had_response(row: Row) -> bool:
    is_unscored = row.stop_reason.startswith("unscored:")
    return row.outcome == Outcome.SCORED or row.stop_reason == "no_answer" or is_unscored
