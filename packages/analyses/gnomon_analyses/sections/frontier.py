"""Reports what each arm costs a trial, and what the gain of one arm over another costs."""

from collections.abc import Mapping

import numpy as np
from typing_extensions import TypedDict

from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.report.usage import Usage, Used
from gnomon.statistics.design import Design, Floats, Headline
from gnomon.statistics.mean import filled_in
from gnomon.statistics.paired import Ratio, ratio_of_means
from gnomon.stopping import while_wanted

UNBOUNDED = (-float("inf"), float("inf"))
WIDEST = 10.0  # a ratio is named where the ends of its interval are no more than so many times apart


class ArmPrice(TypedDict):
    """What a trial of one arm costs on average, lost ones too; None where part of it is unknown."""

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
    used = report_input.collected(Usage).used(scores, ("dollars", "seconds"))
    usd, wall_s = _costs(used["dollars"]), _costs(used["seconds"])
    gains = [
        _gain(scores, pair, headline, usd=usd, wall_s=wall_s) for pair in while_wanted(report_input.pairs)
    ]
    return {
        "frontier": {
            "arms": [
                _arm(scores, group, headline, usd=usd[group], wall_s=wall_s[group])
                for group in while_wanted(range(len(scores.groups)))
            ],
            "gains": [gain for gain in gains if gain],
        }
    }


def _costs(used: Used) -> Floats:
    """What a trial took, groups × samples: inf where one did not tell, NaN where none has run."""
    costs: Floats = np.where(used.unknown + used.lost_unknown > 0, np.inf, used.means)
    return costs


def _arm(scores: ScoreMatrix, group: int, headline: Headline, *, usd: Floats, wall_s: Floats) -> ArmPrice:
    model, arm = scores.groups[group]
    usd_mean, usd_ci95 = _mean(scores, usd, headline)
    wall_mean, wall_ci95 = _mean(scores, wall_s, headline)
    return {
        "model": model,
        "arm": arm,
        "usd": usd_mean,
        "usd_ci95": interval(usd_ci95),
        "wall_s": wall_mean,
        "wall_s_ci95": interval(wall_ci95),
    }


def _mean(
    scores: ScoreMatrix, costs: Floats, headline: Headline
) -> tuple[float | None, tuple[float, float] | None]:
    """A mean over the samples with a trial; None as soon as one of their costs is unknown."""
    has_run = ~np.isnan(costs)
    if not has_run.any() or np.isinf(costs).any():
        return None, None
    estimate = scores.design(has_run, headline).estimate(costs[has_run], limits=UNBOUNDED)
    return estimate.value, None if estimate.is_flat else estimate.interval()


def _gain(
    scores: ScoreMatrix, pair: ArmPair, headline: Headline, *, usd: Floats, wall_s: Floats
) -> Gain | None:
    first, second = scores.groups_of(pair)
    if not np.any((scores.answered[first] > 0) & (scores.answered[second] > 0)):
        return None
    have_run = ~np.isnan(usd[first] + usd[second])
    if not have_run.any():
        return None
    grouping = scores.design(have_run, headline)
    gained = (scores.means(second) - scores.means(first))[have_run]

    def price(costs: Floats, unit: str) -> GainPrice:
        if np.isinf(costs[[first, second]][:, have_run]).any():
            return {"extra": None, "gain_per_unit": None, "ci95": None, "note": f"some {unit} are unknown"}
        extra = costs[second][have_run] - costs[first][have_run]
        ratio, note = _ratio(gained, extra, grouping, unit=unit)
        return {
            "extra": grouping.mean(extra),
            "gain_per_unit": ratio.value if ratio else None,
            "ci95": interval(ratio.ci95 if ratio else None),
            "note": note,
        }

    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "per_usd": price(usd, "dollars"),
        "per_second": price(wall_s, "seconds"),
    }


def _ratio(gained: Floats, extra: Floats, grouping: Design, *, unit: str) -> tuple[Ratio | None, str]:
    """The gain for each unit of what it takes more; or why there is none that says anything."""
    if grouping.mean(extra) <= 0:
        return None, f"it takes no more {unit}"
    if len(np.unique(grouping.strata[np.isfinite(gained)])) <= grouping.strata.max():
        return None, "of a subset nothing is scored"
    ratio = ratio_of_means(filled_in(gained, grouping), extra, grouping)
    if ratio is None:
        return None, f"whether it takes more {unit} is not sure"
    low, high = ratio.ci95
    if low <= 0 <= high:
        return None, "whether it gains anything is not sure"
    if max(high / low, low / high) > WIDEST:
        return None, "too uncertain to be named"
    return ratio, ""


def _view(report: FrontierPart) -> Mapping[str, object] | None:
    return {} if report["frontier"]["gains"] else None


frontier = Section(
    name="frontier",
    title="What the gain costs",
    question="What does each arm cost, and what does the gain of one arm over another cost?",
    fields=FrontierPart,
    compute=_frontier,
    place=130,
    behind="server_cards",
    view=_view,
)
