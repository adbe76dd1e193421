"""Scores a stored response again, under another parser or scoring; calls no model."""

from dataclasses import replace

from gnomon.core.benchmark import AsksJudge
from gnomon.core.row import Row
from gnomon.core.sample import Sample
from gnomon.trials.condition import asked
from gnomon.trials.job_context import JobContext
from gnomon.trials.run_trial import score_response


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
