"""The paired difference of two arms over the same samples."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from gnomon.statistics.design import Design, Floats
from gnomon.statistics.estimate import Estimate, t_quantile
from gnomon.statistics.exact import mcnemar_midp, sign_flip_p
from gnomon.statistics.mean import is_binary, is_rare, share_interval

CHECK_BELOW = 50  # clusters: below this the t test is checked by sign flips
POWER = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Variant minus baseline. Intervals, p and `mde` are None where fewer than two clusters hold samples.

    `check_p` is the sign-flip p beside a t test of fewer than 50 clusters. `mde` is the smallest true
    difference that this many samples would have shown in 8 of 10 studies, two-sided at 5 %.
    """

    diff: float
    ci95: tuple[float, float] | None
    ci90: tuple[float, float] | None
    p: float | None
    test: str
    check_p: float | None
    mde: float | None
    n: int
    clusters: int


def compare(baseline: Floats, variant: Floats, grouping: Design) -> Comparison:
    """Compare two arms' scores in [0, 1], sample by sample.

    Interval and p come from the cluster-robust t. Where fewer than ten clusters (and at most half) gain, or
    lose, or stay below the greatest change, t alone is not to be trusted: the interval also holds the one
    built from Wilson's intervals of the gains and of the losses. Where so few change at all, p comes from
    sign flips. Scores of 0 and 1 in one equally weighted sample a cluster get mid-p McNemar.
    """
    d = variant - baseline
    estimate = grouping.estimate(d, limits=(-1.0, 1.0))
    rare = estimate.is_flat or is_rare(d, grouping)
    skewed = rare or _is_lopsided(d, grouping)
    ci95, ci90 = (_interval(d, grouping, estimate, level, skewed=skewed) for level in (0.95, 0.90))
    test, p, check_p = _test(baseline, variant, grouping, estimate, rare=rare)
    return Comparison(
        diff=estimate.value,
        ci95=ci95,
        ci90=ci90,
        p=p,
        test=test,
        check_p=check_p,
        mde=_smallest_detectable(estimate, ci95),
        n=estimate.n,
        clusters=estimate.clusters,
    )


def _test(
    baseline: Floats, variant: Floats, grouping: Design, estimate: Estimate, *, rare: bool
) -> tuple[str, float | None, float | None]:
    if estimate.se is None:
        return "none: fewer than two clusters", None, None
    if grouping.is_plain and is_binary(baseline) and is_binary(variant):
        rescued, broken = int(np.sum(variant > baseline)), int(np.sum(variant < baseline))
        return "mid-p McNemar", mcnemar_midp(rescued, broken), None
    sums = grouping.sums(variant - baseline)
    if rare:
        return "cluster sign-flip", sign_flip_p(sums), None
    check_p = sign_flip_p(sums) if estimate.clusters < CHECK_BELOW else None
    return "cluster-robust t", estimate.p_value(), check_p


def _is_lopsided(d: Floats, grouping: Design) -> bool:
    """Whether gains or losses are there but rare, or nearly all samples change by the whole scale."""
    sides = (np.maximum(d, 0.0), np.maximum(-d, 0.0))
    return any(side.any() and is_rare(side, grouping) for side in (*sides, 1.0 - d, 1.0 + d))


def _interval(
    d: Floats, grouping: Design, estimate: Estimate, level: float, *, skewed: bool
) -> tuple[float, float] | None:
    ends = estimate.interval(level)
    if ends is None or not skewed:
        return ends
    low, high = _gains_minus_losses(d, grouping, level)
    return min(low, ends[0]), max(high, ends[1])


def _gains_minus_losses(d: Floats, grouping: Design, level: float) -> tuple[float, float]:
    """The interval of mean gain minus mean loss from Wilson's intervals of the two.

    Squares-and-add with correlation (Zou and Donner 2008); the correlation is that of the influences.
    """
    gains, losses = np.maximum(d, 0.0), np.maximum(-d, 0.0)
    gain = grouping.estimate(gains, limits=(0.0, 1.0))
    loss = grouping.estimate(losses, limits=(0.0, 1.0))
    gain_low, gain_high = share_interval(gain, level)
    loss_low, loss_high = share_interval(loss, level)
    one, other = grouping.influence(gains), grouping.influence(losses)
    size = float(np.sqrt((one @ one) * (other @ other)))
    correlation = float(one @ other) / size if size > 0 else 0.0
    down, up = gain.value - gain_low, gain_high - gain.value
    loss_down, loss_up = loss.value - loss_low, loss_high - loss.value
    below = np.sqrt(max(down**2 + loss_up**2 - 2 * correlation * down * loss_up, 0.0))
    above = np.sqrt(max(up**2 + loss_down**2 - 2 * correlation * up * loss_down, 0.0))
    diff = gain.value - loss.value
    return max(-1.0, float(diff - below)), min(1.0, float(diff + above))


def _smallest_detectable(estimate: Estimate, ci95: tuple[float, float] | None) -> float | None:
    """(t of 5 % + t of the power) · se; where the interval is not t's, the se that its width implies."""
    if estimate.df is None or ci95 is None or estimate.se is None:
        return None
    quantile = t_quantile(0.95, estimate.df)
    se = max(estimate.se, (ci95[1] - ci95[0]) / (2 * quantile))
    return float(min(1.0, (quantile + stdtrit(estimate.df, POWER)) * se))
