"""Repeats: how reliably each arm succeeds again, and whether more repeats are worth buying."""

import numpy as np

from gnomon.report.arms import interval
from gnomon.report.contrasts import groups_of
from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.shapes import PassChange, PassPoint, Reliability, ReliabilityCurve, Variance
from gnomon.statistics.bootstrap import FLAT
from gnomon.statistics.design import Floats, design
from gnomon.statistics.mean import mean_score
from gnomon.statistics.paired import compare
from gnomon.statistics.reliability import pass_hat_k
from gnomon.statistics.variance_components import variance_split
from gnomon.stopping import while_wanted

MOST = 8


def reliability(ledger: ScoreMatrix, pairs: list[ArmPair], *, repeats: int) -> Reliability:
    """pass^k of every arm for k up to the repeats (8 at most), its change by pair, and the split of variance.

    A try succeeds with a score of at least 0.5. Only samples with k scored tries count for k: a lost trial is
    neither a success nor a failure.
    """
    ks = range(1, min(repeats, MOST) + 1) if repeats > 1 else ()
    return {
        "curves": [
            _curve(ledger, group, list(ks)) for group in while_wanted(range(len(ledger.groups))) if ks
        ],
        "changes": [
            change for pair in while_wanted(pairs) if ks and (change := _change(ledger, pair, ks[-1]))
        ],
        "variance": [split for pair in while_wanted(pairs) if ks and (split := _split(ledger, pair))],
    }


def _curve(ledger: ScoreMatrix, group: int, ks: list[int]) -> ReliabilityCurve:
    model, arm = ledger.groups[group]
    return {"model": model, "arm": arm, "points": [_point(ledger, group, k) for k in ks]}


def _values(ledger: ScoreMatrix, group: int, k: int) -> Floats:
    return pass_hat_k(ledger.rights[group], ledger.answered[group].astype(np.float64), k)


def _point(ledger: ScoreMatrix, group: int, k: int) -> PassPoint:
    values = _values(ledger, group, k)
    known = np.isfinite(values)
    if not known.any():
        return {"k": k, "n": 0, "mean": None, "ci95": None}
    found = mean_score(values[known], design(np.zeros_like(ledger.cells[known]), ledger.clusters[known]))
    return {"k": k, "n": found.n, "mean": found.mean, "ci95": interval(found.ci95)}


def _change(ledger: ScoreMatrix, pair: ArmPair, k: int) -> PassChange | None:
    """The difference of pass^k, by the same rule as every other difference."""
    one, other = (_values(ledger, group, k) for group in groups_of(ledger, pair))
    both = np.isfinite(one) & np.isfinite(other)
    if not both.any():
        return None
    grouping = design(np.zeros_like(ledger.cells[both]), ledger.clusters[both])
    found = compare(one[both], other[both], grouping)
    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "k": k,
        "n": found.n,
        "diff": found.diff,
        "ci95": interval(found.ci95),
        "interval_method": found.interval_method,
    }


def _split(ledger: ScoreMatrix, pair: ArmPair) -> Variance | None:
    one, other = groups_of(ledger, pair)
    a, b = (ledger.answered[group].astype(np.float64) for group in (one, other))
    both = (a > 0) & (b > 0)
    split = variance_split(
        ledger.variances(one)[both],
        ledger.variances(other)[both],
        a[both],
        b[both],
        (ledger.scores(other) - ledger.scores(one))[both],
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
