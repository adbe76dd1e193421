"""Reports how long trials and calls of the model took: the median, and how long the slowest took."""

from collections.abc import Mapping, Sequence

import numpy as np
from typing_extensions import TypedDict

from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import ReadTrace, ReportInput, Section
from gnomon.report.sections.job import JobPart
from gnomon.report.usage import Usage
from gnomon.stopping import while_wanted

TRACES, MOST_TRACES = 100, 1_000  # that are read for their calls, of each arm and of all
FEWEST = {"p50": 1, "p90": 10, "p99": 100}  # of fewer a percentile is but the greatest value


class Percentiles(TypedDict):
    """Seconds that half, nine in ten and 99 in a hundred do not exceed; null where too few are there."""

    n: int
    p50: float | None
    p90: float | None
    p99: float | None


class ArmLatency(TypedDict):
    """How long an arm's trials took, without waits for leave to call, and calls of the model in `traces`.

    Trials and calls that the cache answered are left out.
    """

    model: str
    arm: str
    trials: Percentiles
    calls: Percentiles
    traces: int


class LatencyPart(TypedDict):
    """Every model under every arm."""

    latency: list[ArmLatency]


class _Shown(JobPart, LatencyPart):
    """What the section shows."""


def _latency(report_input: ReportInput) -> LatencyPart:
    scores, usage = report_input.scores, report_input.collected(Usage)
    arms: list[ArmLatency] = []
    most = min(TRACES, max(MOST_TRACES // max(len(scores.groups), 1), 1))
    for group, (model, arm) in while_wanted(list(enumerate(scores.groups))):
        traces, seconds = _calls(scores, group, report_input.trace, most=most)
        arms.append(
            {
                "model": model,
                "arm": arm,
                "trials": percentiles(usage.seconds_of(scores, group).tolist()),
                "calls": percentiles(seconds),
                "traces": traces,
            }
        )
    return {"latency": arms}


def percentiles(seconds: Sequence[float]) -> Percentiles:
    """The percentiles of these seconds.

    >>> percentiles([1.0, 3.0])
    {'n': 2, 'p50': 2.0, 'p90': None, 'p99': None}
    """

    def of(name: str) -> float | None:
        return float(np.percentile(seconds, int(name[1:]))) if len(seconds) >= FEWEST[name] else None

    return {"n": len(seconds), "p50": of("p50"), "p90": of("p90"), "p99": of("p99")}


def _calls(scores: ScoreMatrix, group: int, trace: ReadTrace, *, most: int) -> tuple[int, list[float]]:
    """Seconds of the calls of the model in the traces of first repeats, of samples spread over all."""
    shown = np.flatnonzero(scores.shown[group] >= 0)
    chosen = shown[np.unique(np.linspace(0, len(shown) - 1, min(most, len(shown))).round().astype(np.intp))]
    read, seconds = 0, list[float]()
    for sample in chosen.tolist():
        stored = trace(scores.trial(group, sample) or "")
        if stored is None:
            continue
        read += 1
        for step in stored.get("steps", ()):
            if isinstance(step, Mapping) and step.get("kind") == "reply" and not step.get("cached"):
                taken = step.get("wall_s")
                if isinstance(taken, (int, float)) and taken > 0:
                    seconds.append(float(taken))
    return read, seconds


def seconds_text(value: float | None) -> str:
    """Seconds to three digits.

    >>> seconds_text(12.345), seconds_text(0.01234), seconds_text(1234.0), seconds_text(None)
    ('12.3', '0.0123', '1,234', '–')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _rows(report: LatencyPart) -> list[tuple[str, ...]]:
    return [
        (
            arm["model"],
            arm["arm"],
            *(
                seconds_text(value)
                for value in (arm["trials"]["p50"], arm["trials"]["p90"], arm["trials"]["p99"])
            ),
            f"{arm['trials']['n']:,}",
            *(
                seconds_text(value)
                for value in (arm["calls"]["p50"], arm["calls"]["p90"], arm["calls"]["p99"])
            ),
            f"{arm['calls']['n']:,} in {arm['traces']:,}",
        )
        for arm in report.get("latency", ())  # absent from reports of older versions
        if arm["trials"]["n"] or arm["calls"]["n"]
    ]


def _view(report: _Shown) -> Mapping[str, object] | None:
    rows = _rows(report)
    return {"rows": rows} if rows else None


latency = Section(
    name="latency",
    title="How long it took",
    question="How long did trials and calls of the model take, and how long did the slowest?",
    fields=LatencyPart,
    compute=_latency,
    place=122,
    behind="question_dots",
    view=_view,
)
