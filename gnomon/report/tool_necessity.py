"""Called and needed: whether tools were called where they were needed, and what came of it."""

import numpy as np

from gnomon.report.contrasts import groups_of
from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import RIGHT, ScoreMatrix
from gnomon.report.shapes import CalledNeeded, CallQuadrant


def tool_necessity(ledger: ScoreMatrix, pair: ArmPair) -> CalledNeeded:
    """Samples by whether the baseline got them wrong (needed) and whether the variant called a tool.

    Counted over samples with a score under both arms; an association, not an effect: whoever calls may
    have had the harder question.
    """
    one, other = groups_of(ledger, pair)
    baseline, variant = ledger.scores(one), ledger.scores(other)
    both = np.isfinite(baseline) & np.isfinite(variant)
    needed, called = baseline < RIGHT, ledger.tool_calls[other] > 0

    def quadrant(of: np.ndarray) -> CallQuadrant:
        chosen = both & of
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
