"""How much better a variant is in relative terms: relative risk, odds ratio, and the gain over headroom."""

from dataclasses import dataclass

import numpy as np

from gnomon.statistics.design import Design, Floats
from gnomon.statistics.estimate import FLAT, Ends, t_quantile
from gnomon.statistics.mean import is_rare
from gnomon.statistics.paired import ratio_of_means

FEWEST = 5  # clusters that hold a right answer, and a wrong one, in either arm: of fewer no log tells
UNBOUNDED = (-float("inf"), float("inf"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Relative:
    """A ratio with its 95 % interval; None where it is undefined, or too few clusters tell it."""

    value: float | None
    ci95: Ends | None


def relative_risk(baseline: Floats, variant: Floats, grouping: Design) -> Relative:
    """The variant's share of right answers over the baseline's; scores are shares of right answers, 0 to 1.

    Its logarithm is linearized (the delta method), and the cluster-robust error of that taken as of a mean.
    """
    before, after = grouping.mean(baseline), grouping.mean(variant)
    if before < FLAT:
        return Relative(value=None, ci95=None)
    ratio = after / before
    if not _tells(baseline, variant, grouping):
        return Relative(value=ratio, ci95=None)
    return _around(ratio, variant / after - baseline / before, grouping)


def odds_ratio(baseline: Floats, variant: Floats, grouping: Design) -> Relative:
    """The variant's odds of a right answer over the baseline's, over the same samples; as `relative_risk`.

    It is that of the two means, not the conditional one of discordant pairs.
    """
    before, after = grouping.mean(baseline), grouping.mean(variant)
    if before < FLAT or after > 1.0 - FLAT or before > 1.0 - FLAT:
        return Relative(value=None, ci95=None)
    ratio = after / (1.0 - after) / (before / (1.0 - before))
    if not _tells(baseline, variant, grouping):
        return Relative(value=ratio, ci95=None)
    scores = variant / (after * (1.0 - after)) - baseline / (before * (1.0 - before))
    return _around(ratio, scores, grouping)


def headroom_gain(baseline: Floats, variant: Floats, grouping: Design) -> Relative:
    """The share of what the baseline left wrong that was gained: difference over 1 − baseline's mean.

    Its interval is Fieller's; None where that of the headroom holds zero, few clusters hold any headroom or
    five or fewer changed, or all changed alike, which shows no scatter to make one of. Scores may be graded.
    """
    headroom = 1.0 - grouping.mean(baseline)
    if headroom < FLAT:
        return Relative(value=None, ci95=None)
    d = variant - baseline
    gain, ratio = grouping.estimate(d, limits=UNBOUNDED), None
    changed = min(factor.clusters_with(d != 0.0) for factor in grouping.factors)
    if not gain.is_flat and changed > FEWEST and not is_rare(1.0 - baseline, grouping):
        ratio = ratio_of_means(d, 1.0 - baseline, grouping)
    ends = None if ratio is None else (ratio.ci95[0], min(ratio.ci95[1], 1.0))
    return Relative(value=gain.value / headroom, ci95=ends)


def _tells(baseline: Floats, variant: Floats, grouping: Design) -> bool:
    """Whether enough clusters hold right answers, and wrong ones, under either arm."""
    return all(
        factor.clusters_with(values > 0.0) >= FEWEST
        for factor in grouping.factors
        for scores in (baseline, variant)
        for values in (scores, 1.0 - scores)
    )


def _around(ratio: float, values: Floats, grouping: Design) -> Relative:
    """The interval of a ratio whose logarithm has the errors of these values' mean."""
    estimate = grouping.estimate(values, limits=UNBOUNDED)
    if estimate.se is None or estimate.df is None or estimate.is_flat:
        return Relative(value=ratio, ci95=None)
    factor = float(np.exp(t_quantile(0.95, estimate.df) * estimate.se))
    return Relative(value=ratio, ci95=(ratio / factor, ratio * factor))
