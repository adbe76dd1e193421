"""Frontier: what each arm costs a sample, and what the gain of one arm over another costs."""

import numpy as np

from gnomon.report.arms import interval
from gnomon.report.contrasts import groups_of
from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.shapes import ArmPrice, Frontier, Gain, GainPrice
from gnomon.statistics.design import Floats, Headline, design, strata_of
from gnomon.statistics.ratio import ratio_of_means
from gnomon.stopping import while_wanted

ENDLESS = (-float("inf"), float("inf"))


def frontier(ledger: ScoreMatrix, pairs: list[ArmPair], *, headline: Headline) -> Frontier:
    """Dollars and seconds a trial by arm, and the gain for each extra dollar and second by pair."""
    return {
        "arms": [_arm(ledger, group, headline) for group in while_wanted(range(len(ledger.groups)))],
        "gains": [gain for pair in while_wanted(pairs) if (gain := _gain(ledger, pair, headline))],
    }


def _arm(ledger: ScoreMatrix, group: int, headline: Headline) -> ArmPrice:
    model, arm = ledger.groups[group]
    usd, usd_ci95 = _mean(ledger, ledger.usd[group], headline, answered=ledger.answered[group] > 0)
    wall_s, wall_ci95 = _mean(ledger, ledger.wall_s[group], headline, answered=ledger.answered[group] > 0)
    return {
        "model": model,
        "arm": arm,
        "usd": usd,
        "usd_ci95": interval(usd_ci95),
        "wall_s": wall_s,
        "wall_s_ci95": interval(wall_ci95),
    }


def _mean(
    ledger: ScoreMatrix, values: Floats, headline: Headline, *, answered: np.ndarray
) -> tuple[float | None, tuple[float, float] | None]:
    """A mean over answered samples; None as soon as one of them is unknown."""
    if not answered.any() or not np.isfinite(values[answered]).all():
        return None, None
    grouping = design(strata_of(ledger.cells[answered], headline), ledger.clusters[answered])
    found = grouping.estimate(values[answered], limits=ENDLESS)
    return found.value, None if found.is_flat else found.interval()


def _gain(ledger: ScoreMatrix, pair: ArmPair, headline: Headline) -> Gain | None:
    one, other = groups_of(ledger, pair)
    both = (ledger.answered[one] > 0) & (ledger.answered[other] > 0)
    if not both.any():
        return None
    grouping = design(strata_of(ledger.cells[both], headline), ledger.clusters[both])
    gained = (ledger.scores(other) - ledger.scores(one))[both]

    def price(costs: Floats, unit: str) -> GainPrice:
        extra = (costs[other] - costs[one])[both]
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
        "per_usd": price(ledger.usd, "dollars"),
        "per_second": price(ledger.wall_s, "seconds"),
    }
