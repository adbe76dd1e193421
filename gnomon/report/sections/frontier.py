"""Reports what each arm costs a trial, and what the gain of one arm over another costs."""

from collections.abc import Mapping

import numpy as np
from typing_extensions import TypedDict

from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.statistics.design import Floats, Headline
from gnomon.statistics.paired import ratio_of_means
from gnomon.stopping import while_wanted

UNBOUNDED = (-float("inf"), float("inf"))


class ArmPrice(TypedDict):
    """What a trial of one arm costs on average; None where part of it is unknown."""

    model: str
    arm: str
    usd: float | None
    usd_ci95: Interval
    wall_s: float | None
    wall_s_ci95: Interval


class GainPrice(TypedDict):
    """Extra dollars or seconds a trial, and the gain (a fraction) for each; `note` says why there is none."""

    extra: float | None
    gain_per_unit: float | None
    ci95: Interval
    note: str


class Gain(TypedDict):
    """What the gain of one arm over another costs."""

    model: str
    baseline: str
    variant: str
    per_usd: GainPrice
    per_second: GainPrice


class Frontier(TypedDict):
    """Costs beside gains."""

    arms: list[ArmPrice]
    gains: list[Gain]


class FrontierPart(TypedDict):
    """The section's field."""

    frontier: Frontier


def _frontier(report_input: ReportInput) -> FrontierPart:
    """Dollars and seconds a trial by arm, and the gain for each extra dollar and second by pair."""
    scores, headline = report_input.scores, report_input.benchmark.headline
    gains = [_gain(scores, pair, headline) for pair in while_wanted(report_input.pairs)]
    return {
        "frontier": {
            "arms": [_arm(scores, group, headline) for group in while_wanted(range(len(scores.groups)))],
            "gains": [gain for gain in gains if gain],
        }
    }


def _arm(scores: ScoreMatrix, group: int, headline: Headline) -> ArmPrice:
    model, arm = scores.groups[group]
    usd, usd_ci95 = _mean(scores, scores.usd[group], headline, answered=scores.answered[group] > 0)
    wall_s, wall_ci95 = _mean(scores, scores.wall_s[group], headline, answered=scores.answered[group] > 0)
    return {
        "model": model,
        "arm": arm,
        "usd": usd,
        "usd_ci95": interval(usd_ci95),
        "wall_s": wall_s,
        "wall_s_ci95": interval(wall_ci95),
    }


def _mean(
    scores: ScoreMatrix, values: Floats, headline: Headline, *, answered: np.ndarray
) -> tuple[float | None, tuple[float, float] | None]:
    """A mean over answered samples; None as soon as one of them is unknown."""
    if not answered.any() or not np.isfinite(values[answered]).all():
        return None, None
    grouping = scores.design(answered, headline)
    estimate = grouping.estimate(values[answered], limits=UNBOUNDED)
    return estimate.value, None if estimate.is_flat else estimate.interval()


def _gain(scores: ScoreMatrix, pair: ArmPair, headline: Headline) -> Gain | None:
    first, second = scores.groups_of(pair)
    both = (scores.answered[first] > 0) & (scores.answered[second] > 0)
    if not both.any():
        return None
    grouping = scores.design(both, headline)
    gained = (scores.means(second) - scores.means(first))[both]

    def price(costs: Floats, unit: str) -> GainPrice:
        extra = (costs[second] - costs[first])[both]
        if not np.isfinite(extra).all():
            return {"extra": None, "gain_per_unit": None, "ci95": None, "note": f"some {unit} are unknown"}
        mean = grouping.mean(extra)
        ratio = ratio_of_means(gained, extra, grouping) if mean > 0 else None
        note = (
            ""
            if ratio
            else f"it takes no more {unit}"
            if mean <= 0
            else f"whether it takes more {unit} is not sure"
        )
        return {
            "extra": mean,
            "gain_per_unit": ratio.value if ratio else None,
            "ci95": interval(ratio.ci95 if ratio else None),
            "note": note,
        }

    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "per_usd": price(scores.usd, "dollars"),
        "per_second": price(scores.wall_s, "seconds"),
    }


def _view(report: FrontierPart) -> Mapping[str, object] | None:
    return {} if report["frontier"]["gains"] else None


frontier = Section(
    name="frontier",
    title="What the gain costs",
    question="What does each arm cost, and what does the gain of one arm over another cost?",
    fields=FrontierPart,
    compute=_frontier,
    place=130,
    view=_view,
)
