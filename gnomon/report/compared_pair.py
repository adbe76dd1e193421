"""Compares two arms over the samples that both answered, with what lost trials and unknown replies may do."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gnomon.report.contrast import Family
from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import RIGHT, SampleScores
from gnomon.report.sequence import DrawnPlan
from gnomon.report.unknown_replies import UnknownCount, replies_by_arm
from gnomon.statistics.design import Design, Floats, Headline
from gnomon.statistics.loss import Loss, difficulties, loss_of
from gnomon.statistics.paired import Comparison, compare

Mask = NDArray[np.bool_]
# What unknown replies of baseline and variant count; None: as they were scored.
UnknownAs = tuple[float | None, float | None]
AT_WORST: Sequence[UnknownAs] = ((1.0, 0.0), (0.0, 1.0))  # all against the variant, and all for it


@dataclass(frozen=True, slots=True, kw_only=True)
class PairResult:
    """A pair over one scope, with what its numbers say before they are adjusted and judged."""

    pair: ArmPair
    scope: str
    counts: tuple[int, int, int, int]  # rescued, broken, both right, both wrong
    comparison: Comparison | None  # None: no sample has a score under both arms
    means: tuple[float, float] | None  # of baseline and variant, over the samples compared
    bounds: tuple[float, float] | None
    loss: Loss | None  # None: every trial that began has a score, or nothing is compared
    missing: tuple[float, float]  # shares of the trials of baseline and variant
    differences: Floats  # of the samples compared
    grouping: Design | None  # of the same
    alike: float = 0.0  # ICC of the arms' scores in a cluster, the greater one
    unknown: tuple[UnknownCount, ...] = ()  # the arm with most of them first
    ways: "tuple[PairResult, ...]" = ()  # with unknown replies all against the variant, and all for it

    @property
    def family(self) -> Family:
        return "primary" if self.pair.is_primary and self.scope == "all" else "exploratory"

    @property
    def p(self) -> float | None:
        return self.comparison.p if self.comparison else None


def compare_pair(
    scores: SampleScores,
    pair: ArmPair,
    scope: str,
    within: Mask,
    *,
    headline: Headline,
    repeats: int,
    plan: DrawnPlan | None = None,
) -> PairResult:
    """Compare a pair over the samples that have a score under both arms.

    With the `plan` of a job that may stop early, over its first clusters, by a confidence sequence.
    """
    within = within if plan is None else within & plan.within(scores, pair)
    first, second = scores.groups_of(pair)
    both = within & (scores.answered[first] > 0) & (scores.answered[second] > 0)
    baseline, variant = scores.means(first)[both], scores.means(second)[both]
    comparison = means = grouping = None
    unknown: tuple[UnknownCount, ...] = ()
    if both.any():
        grouping = scores.design(both, headline)
        comparison, means = _compared(scores, pair, scope, both, headline=headline, plan=plan)
        unknown = tuple(_unknown(scores, pair, within))
    right, right_after = baseline >= RIGHT, variant >= RIGHT
    quadrants = (~right & right_after, right & ~right_after, right & right_after, ~right & ~right_after)
    rescued, broken, both_right, both_wrong = (int(np.sum(part)) for part in quadrants)
    observed = comparison.diff if comparison else None
    bounds, loss = _lost(
        scores, (first, second), within, headline=headline, repeats=repeats, observed=observed
    )
    result = PairResult(
        pair=pair,
        scope=scope,
        counts=(rescued, broken, both_right, both_wrong),
        comparison=comparison,
        means=means,
        bounds=bounds,
        loss=loss,
        missing=(missing_share(scores, first, within), missing_share(scores, second, within)),
        differences=variant - baseline,
        grouping=grouping,
        alike=max(grouping.icc(baseline), grouping.icc(variant)) if grouping else 0.0,
        unknown=unknown,
    )
    if not unknown:
        return result
    ways = [
        _compared(scores, pair, scope, both, headline=headline, plan=plan, unknown_as=unknown_as)
        for unknown_as in AT_WORST
    ]
    return replace(
        result,
        ways=tuple(replace(result, comparison=comparison, means=means) for comparison, means in ways),
    )


def _compared(
    scores: SampleScores,
    pair: ArmPair,
    scope: str,
    both: Mask,
    *,
    headline: Headline,
    plan: DrawnPlan | None,
    unknown_as: UnknownAs = (None, None),
) -> tuple[Comparison, tuple[float, float]]:
    """The comparison over `both`, the samples with a score under both arms, and the arms' means."""
    grouping = scores.design(both, headline)
    baseline, variant = (
        scores.means(group, unknown_as=value)[both]
        for group, value in zip(scores.groups_of(pair), unknown_as, strict=True)
    )
    comparison = compare(baseline, variant, grouping, resamples=unknown_as == (None, None))
    if plan is not None:
        return plan.compare(comparison, scores, pair, scope, headline=headline, unknown_as=unknown_as)
    return comparison, (grouping.mean(baseline), grouping.mean(variant))


def _unknown(scores: SampleScores, pair: ArmPair, within: Mask) -> list[UnknownCount]:
    """How many replies of either arm are in each state after which nobody knows the answer."""
    if scores.unknown is None:
        return []
    counts = [
        UnknownCount(arm, state, int(counted[group][within].sum()), int(scores.answered[group][within].sum()))
        for arm, group in zip((pair.baseline, pair.variant), scores.groups_of(pair), strict=True)
        for state, counted in scores.unknown.by_state.items()
    ]
    of_arm = replies_by_arm(counts)
    return sorted(
        (each for each in counts if each.replies),
        key=lambda each: (-of_arm[each.arm], each.arm, -each.replies),
    )


def _lost(
    scores: SampleScores,
    groups: tuple[int, int],
    within: Mask,
    *,
    headline: Headline,
    repeats: int,
    observed: float | None,
) -> tuple[tuple[float, float] | None, Loss | None]:
    """What trials without a score may do, over the samples begun in either arm.

    The bounds: the difference if all of them were 0 or 1 at worst. The loss: the same by their items'
    difficulty, where there is an observed difference and anything is lost.
    """
    begun = scores.answered + scores.missing
    touched = within & np.any(begun[list(groups)] > 0, axis=0)
    if not touched.any():
        return None, None
    full = np.maximum(begun[list(groups)].max(axis=0), repeats)[touched]
    sums = [scores.score_sums[group][touched] / full for group in groups]
    lost = [(full - scores.answered[group][touched]) / full for group in groups]
    grouping = scores.design(touched, headline)
    bounds = grouping.mean(sums[1] - sums[0] - lost[0]), grouping.mean(sums[1] + lost[1] - sums[0])
    if observed is None or not any(share.any() for share in lost):
        return bounds, None
    means = np.stack([scores.means(group)[touched] for group in range(len(scores.answered))])
    ease = difficulties(means)
    first, second = groups
    loss = loss_of(
        (means[first], means[second]),
        (lost[0], lost[1]),
        (ease[first], ease[second]),
        grouping,
        observed=observed,
    )
    return bounds, loss


def missing_share(scores: SampleScores, group: int, within: Mask) -> float:
    """The share of a group's ended trials that have no score; 0 where none has ended."""
    missing = int(scores.missing[group][within].sum())
    ended = missing + int(scores.answered[group][within].sum())
    return missing / ended if ended else 0.0
