"""Says how far scores hang on wording and on how tools are shown, and how stated confidence meets scores."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from typing_extensions import TypedDict

from gnomon.conditions.confidence import METRIC
from gnomon.core.arm import Arm, differences
from gnomon.core.row_batch import RowBatch
from gnomon.report.cluster_codes import plain_design
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.statistics.design import Headline
from gnomon.stopping import while_wanted
from gnomon_analyses.statistics.calibration import Calibration, calibration
from gnomon_analyses.statistics.spread import spread

CALLED = "Samples on which a tool was called, by wording"
FACTORS = {"wording": ("wording",), "the tools' names and order": ("tool_names", "tool_order")}


class WordingMean(TypedDict):
    """The score of one arm over the samples that all arms of its set have answered."""

    arm: str
    mean: float


class WordingSpread(TypedDict):
    """Arms that differ in nothing but `factor`: the spread of their scores, as standard deviations.

    `by_chance` is what equal arms would show, `beyond` what is left of the observed spread; `range` is the
    best mean minus the worst.
    """

    model: str
    factor: str
    means: list[WordingMean]
    n: int
    clusters: int
    range: float
    observed: float
    by_chance: float
    beyond: float
    beyond_ci95: Interval
    p: float | None


class ReliabilityBin(TypedDict):
    """Answers with a stated confidence in one tenth of the scale: how sure, and how right."""

    low: float
    high: float
    n: int
    confidence: float
    score: float


class CalibrationRow(TypedDict):
    """Stated confidence against scores under one arm; numbers are None where none was stated.

    `asked` are the trials that ended with an answer to score, `stated` those that stated a confidence.
    """

    model: str
    arm: str
    asked: int
    stated: int
    clusters: int
    confidence: float | None
    score: float | None
    score_unstated: float | None
    gap: float | None
    gap_ci95: Interval
    ece: float | None
    ece_ci95: Interval
    ece_by_chance: float | None
    brier: float | None
    brier_ci95: Interval
    auroc: float | None
    auroc_ci95: Interval
    bins: list[ReliabilityBin]


class CallsByWording(TypedDict):
    """On how many samples a model called a tool at all, under an arm with tools and this wording."""

    model: str
    arm: str
    wording: str
    called: int
    samples: int


class WordingPart(TypedDict):
    """The section's fields."""

    wording: list[WordingSpread]
    calls_by_wording: list[CallsByWording]
    calibration: list[CalibrationRow]


class StatedConfidences:
    """Keeps confidence, score and cluster of each trial that was asked for a confidence."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], list[tuple[float, float, str]]] = defaultdict(list)

    def add(self, batch: RowBatch) -> None:
        for row in batch.rows(batch.distinct("metrics").places(lambda metrics: METRIC in metrics)):
            if row.score is not None:
                value = row.metrics[METRIC]
                stated = math.nan if not isinstance(value, int | float) else float(value)
                self.rows[row.model, row.arm].append((stated, row.score, row.cluster or row.sample_id))


def _wording(report_input: ReportInput) -> WordingPart:
    """The spread of each set of arms that differ in wording alone or in how tools are shown; calibration."""
    scores, headline = report_input.scores, report_input.benchmark.headline
    sets = [
        (factor, arms) for factor, fields in FACTORS.items() for arms in _sets(report_input.spec.arms, fields)
    ]
    spreads = [
        row
        for model in while_wanted(report_input.models)
        for factor, arms in sets
        if (row := _spread(scores, model, factor, arms, headline)) is not None
    ]
    stated = report_input.collected(StatedConfidences).rows
    asked = [
        (model, arm.name)
        for model in report_input.models
        for arm in report_input.spec.arms
        if arm.confidence and stated.get((model, arm.name))
    ]
    return {
        "wording": spreads,
        "calls_by_wording": list(_calls(report_input)),
        "calibration": [_calibration(model, arm, stated[model, arm]) for model, arm in while_wanted(asked)],
    }


def _calls(report_input: ReportInput) -> Iterator[CallsByWording]:
    """Of the arms with tools, where they are worded in more than one way."""
    scores = report_input.scores
    arms = [arm for arm in report_input.spec.arms if arm.tools and arm.tool_choice != "none"]
    if len({arm.wording for arm in arms}) < 2:
        return
    for model in report_input.models:
        for arm in arms:
            group = scores.at[model, arm.name]
            yield {
                "model": model,
                "arm": arm.name,
                "wording": arm.wording,
                "called": int(scores.called[group].sum()),
                "samples": int((scores.answered[group] > 0).sum()),
            }


def _sets(arms: Sequence[Arm], fields: tuple[str, ...]) -> list[list[str]]:
    """The arms in sets of two or more that differ in nothing but these fields."""
    sets: list[list[Arm]] = []
    for arm in arms:
        alike = (others for others in sets if set(differences(others[0], arm)) <= set(fields))
        joined = next(alike, None)
        if joined is None:
            sets.append([arm])
        elif any(getattr(arm, field) != getattr(joined[0], field) for field in fields):
            joined.append(arm)
    return [[arm.name for arm in others] for others in sets if len(others) > 1]


def _spread(
    scores: ScoreMatrix, model: str, factor: str, arms: list[str], headline: Headline
) -> WordingSpread | None:
    groups = [scores.at[model, arm] for arm in arms]
    all_answered = np.all([scores.answered[group] > 0 for group in groups], axis=0)
    if not all_answered.any():
        return None
    grouping = scores.design(all_answered, headline)
    values = [scores.means(group)[all_answered] for group in groups]
    apart, levels = spread(values, grouping), [grouping.mean(of_arm) for of_arm in values]
    return {
        "model": model,
        "factor": factor,
        "means": [{"arm": arm, "mean": level} for arm, level in zip(arms, levels, strict=True)],
        "n": apart.n,
        "clusters": apart.clusters,
        "range": max(levels) - min(levels),
        "observed": apart.observed,
        "by_chance": apart.by_chance,
        "beyond": apart.beyond,
        "beyond_ci95": interval(apart.ci95),
        "p": apart.p,
    }


def _calibration(model: str, arm: str, rows: Sequence[tuple[float, float, str]]) -> CalibrationRow:
    confidence = np.array([row[0] for row in rows])
    score = np.array([row[1] for row in rows])
    has_one = np.isfinite(confidence)
    measured: Calibration | None = None
    if has_one.any():
        measured = calibration(
            confidence[has_one],
            score[has_one],
            plain_design([rows[at][2] for at in np.flatnonzero(has_one).tolist()]),
        )
    return {
        "model": model,
        "arm": arm,
        "asked": len(rows),
        "stated": int(has_one.sum()),
        "clusters": measured.clusters if measured else 0,
        "confidence": measured.confidence if measured else None,
        "score": measured.score if measured else None,
        "score_unstated": None if has_one.all() else float(score[~has_one].mean()),
        "gap": measured.gap if measured else None,
        "gap_ci95": interval(measured.gap_ci95) if measured else None,
        "ece": measured.ece if measured else None,
        "ece_ci95": interval(measured.ece_ci95) if measured else None,
        "ece_by_chance": measured.ece_by_chance if measured else None,
        "brier": measured.brier if measured else None,
        "brier_ci95": interval(measured.brier_ci95) if measured else None,
        "auroc": measured.auroc if measured else None,
        "auroc_ci95": interval(measured.auroc_ci95) if measured else None,
        "bins": [
            {"low": b.low, "high": b.high, "n": b.n, "confidence": b.confidence, "score": b.score}
            for b in (measured.bins if measured else ())
        ],
    }


def _view(report: WordingPart) -> Mapping[str, object] | None:
    return {} if report.get("wording", []) or report.get("calibration", []) else None


def _terminal(report: WordingPart) -> Iterator[str]:
    rows = report.get("calls_by_wording", [])
    if rows:
        yield from ["", f"{CALLED}:"]
    for row in rows:
        yield f"  {row['model']} / {row['wording']}   {row['called']} of {row['samples']}"


wording = Section(
    name="wording",
    title="What depends on wording",
    question="How much of a score is wording, and does stated confidence mean anything?",
    fields=WordingPart,
    compute=_wording,
    place=112,
    behind="replays",
    collector=lambda *_: StatedConfidences(),
    view=_view,
    terminal=_terminal,
)
