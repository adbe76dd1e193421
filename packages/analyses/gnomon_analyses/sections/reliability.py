"""Reports how reliably each arm succeeds again, and whether more repeats are worth buying."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from markupsafe import Markup
from typing_extensions import TypedDict

from gnomon.report.charts import Curve, curve_plot
from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.report.sections.job import JobPart, place_of
from gnomon.report.text_formats import short
from gnomon.statistics.design import Floats
from gnomon.statistics.estimate import FLAT
from gnomon.statistics.mean import mean_score
from gnomon.statistics.paired import compare
from gnomon.stopping import while_wanted
from gnomon_analyses.statistics.reliability import pass_hat_k
from gnomon_analyses.statistics.variance_components import variance_split

MAX_K = 8


class PassPoint(TypedDict):
    """pass^k of one arm."""

    k: int
    n: int
    mean: float | None
    ci95: Interval


class ReliabilityCurve(TypedDict):
    """pass^k of one arm, k from 1."""

    model: str
    arm: str
    points: list[PassPoint]


class PassChange(TypedDict):
    """The difference of pass^k between two arms, at the greatest k that both have."""

    model: str
    baseline: str
    variant: str
    k: int
    n: int
    diff: float
    ci95: Interval
    interval_method: str


class Variance(TypedDict):
    """What a difference's noise is made of, and what twice the money would buy."""

    model: str
    baseline: str
    variant: str
    between_samples: float
    within_samples: float
    share_of_repeats: float | None
    n: int
    repeats: float
    advice: str
    se_now: float
    se_twice_the_samples: float
    se_twice_the_repeats: float


class Reliability(TypedDict):
    """Success again and again; empty where nothing was repeated."""

    curves: list[ReliabilityCurve]
    changes: list[PassChange]
    variance: list[Variance]


class ReliabilityPart(TypedDict):
    """The section's field."""

    reliability: Reliability


def _reliability(report_input: ReportInput) -> ReliabilityPart:
    """pass^k of every arm for k up to its repeats (8 at most), its change by pair, and the split of variance.

    A try succeeds with a score of at least 0.5. Only samples with k scored tries count for k: a lost trial is
    neither a success nor a failure.
    """
    scores, spec = report_input.scores, report_input.spec
    if max(spec.repeats_by_arm.values()) < 2:
        return {"reliability": {"curves": [], "changes": [], "variance": []}}
    most = [min(spec.repeats_of(arm), MAX_K) for _, arm in scores.groups]
    curves = [_curve(scores, group, most[group]) for group in while_wanted(range(len(scores.groups)))]
    changes = [
        _change(scores, pair, min(most[group] for group in scores.groups_of(pair)))
        for pair in while_wanted(report_input.pairs)
    ]
    splits = [_split(scores, pair) for pair in while_wanted(report_input.pairs)]
    return {
        "reliability": {
            "curves": curves,
            "changes": [change for change in changes if change],
            "variance": [split for split in splits if split],
        }
    }


def _curve(scores: ScoreMatrix, group: int, most: int) -> ReliabilityCurve:
    model, arm = scores.groups[group]
    return {"model": model, "arm": arm, "points": [_point(scores, group, k) for k in range(1, most + 1)]}


def _values(scores: ScoreMatrix, group: int, k: int) -> Floats:
    return pass_hat_k(scores.rights(group), scores.answered[group].astype(np.float64), k)


def _point(scores: ScoreMatrix, group: int, k: int) -> PassPoint:
    values = _values(scores, group, k)
    enough = np.isfinite(values)
    if not enough.any():
        return {"k": k, "n": 0, "mean": None, "ci95": None}
    mean = mean_score(values[enough], scores.design(enough, "mean_of_samples"))
    return {"k": k, "n": mean.n, "mean": mean.mean, "ci95": interval(mean.ci95)}


def _change(scores: ScoreMatrix, pair: ArmPair, k: int) -> PassChange | None:
    """The difference of pass^k, by the same rule as every other; None where an arm has one repeat alone."""
    baseline, variant = (_values(scores, group, k) for group in scores.groups_of(pair))
    both = np.isfinite(baseline) & np.isfinite(variant)
    if k < 2 or not both.any():
        return None
    grouping = scores.design(both, "mean_of_samples")
    comparison = compare(baseline[both], variant[both], grouping)
    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "k": k,
        "n": comparison.n,
        "diff": comparison.diff,
        "ci95": interval(comparison.ci95),
        "interval_method": comparison.interval_method,
    }


def _split(scores: ScoreMatrix, pair: ArmPair) -> Variance | None:
    first, second = scores.groups_of(pair)
    a, b = (scores.answered[group].astype(np.float64) for group in (first, second))
    both = (a > 0) & (b > 0)
    split = variance_split(
        scores.variances(first)[both],
        scores.variances(second)[both],
        a[both],
        b[both],
        (scores.means(second) - scores.means(first))[both],
    )
    if split is None:
        return None
    total = split.between + split.within / split.repeats
    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "between_samples": split.between,
        "within_samples": split.within,
        "share_of_repeats": split.within / split.repeats / total if total > FLAT else None,
        "n": split.n,
        "repeats": split.repeats,
        "advice": split.advice,
        "se_now": split.se(samples=split.n, repeats=split.repeats),
        "se_twice_the_samples": split.se(samples=2 * split.n, repeats=split.repeats),
        "se_twice_the_repeats": split.se(samples=split.n, repeats=2 * split.repeats),
    }


class _Shown(JobPart, ReliabilityPart):
    """What the section shows."""


def _view(report: _Shown) -> Mapping[str, object] | None:
    charts = list(_charts(report["reliability"]["curves"], report["job"]["arms"]))
    return {"charts": charts} if charts else None


def _charts(curves: list[ReliabilityCurve], arms: Sequence[str]) -> Iterator[tuple[str, Markup]]:
    """By model, the curves of its arms; arms without any scored trial are left out."""
    for model in dict.fromkeys(curve["model"] for curve in curves):
        lines = [
            Curve(
                label=short(curve["arm"]),
                arm=place_of(curve["arm"], arms),
                points=[
                    (point["k"], point["mean"], point["ci95"])
                    for point in curve["points"]
                    if point["mean"] is not None
                ],
            )
            for curve in curves
            if curve["model"] == model
        ]
        drawn = [line for line in lines if len(line.points) > 1]
        if drawn:
            title = f"{model}: share of samples on which k tries all succeed, percent"
            yield model, curve_plot(drawn, title=title, x_title="k tries, all of them right")


reliability = Section(
    name="reliability",
    title="How reliably, again and again",
    question="Does an arm succeed again when it is asked again?",
    fields=ReliabilityPart,
    compute=_reliability,
    place=110,
    behind="consistency",
    view=_view,
)
