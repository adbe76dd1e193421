"""Counts whether tools were called where they were needed, and what came of it."""

from collections.abc import Mapping

import numpy as np
from typing_extensions import TypedDict

from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import PairKey, ReportInput, Section, pair_key
from gnomon.stopping import while_wanted


class CallQuadrant(TypedDict):
    """Samples of one kind, and what both arms scored on them."""

    n: int
    baseline_mean: float | None
    variant_mean: float | None


class CalledNeeded(TypedDict):
    """Samples by whether the baseline got them wrong (needed) and whether the variant called a tool."""

    model: str
    baseline: str
    variant: str
    needed_called: CallQuadrant
    needed_not_called: CallQuadrant
    not_needed_called: CallQuadrant
    not_needed_not_called: CallQuadrant


class NecessityPart(TypedDict):
    """The four kinds of samples of every comparison."""

    called_needed: list[CalledNeeded]


def _part(report_input: ReportInput) -> NecessityPart:
    pairs = while_wanted(report_input.pairs)
    return {"called_needed": [_called_needed(report_input.scores, pair) for pair in pairs]}


def _called_needed(scores: ScoreMatrix, pair: ArmPair) -> CalledNeeded:
    """Counts over samples with a score under both arms.

    An association, not an effect: tools may have been called on the harder questions.
    """
    first, second = scores.groups_of(pair)
    baseline, variant = scores.means(first), scores.means(second)
    calls_known = scores.calls_known[second]  # those that an outside agent does not tell belong nowhere
    both = np.isfinite(baseline) & np.isfinite(variant) & calls_known
    needed, called = ~scores.right(first), scores.called[second]

    def quadrant(which: np.ndarray) -> CallQuadrant:
        chosen = both & which
        n = int(np.sum(chosen))
        return {
            "n": n,
            "baseline_mean": float(np.mean(baseline[chosen])) if n else None,
            "variant_mean": float(np.mean(variant[chosen])) if n else None,
        }

    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "needed_called": quadrant(needed & called),
        "needed_not_called": quadrant(needed & ~called),
        "not_needed_called": quadrant(~needed & called),
        "not_needed_not_called": quadrant(~needed & ~called),
    }


def _view(report: NecessityPart) -> Mapping[PairKey, Mapping[str, object]]:
    return {
        pair_key(called): {"called": called}
        for called in report["called_needed"]
        if called["needed_called"]["n"] or called["not_needed_called"]["n"]
    }


necessity = Section(
    name="necessity",
    title="Were tools called where they were needed?",
    question="Were tools called where the baseline was wrong, and what came of it?",
    fields=NecessityPart,
    compute=_part,
    place=53,
    behind="attributions",
    view=_view,
    per_comparison=True,
)
