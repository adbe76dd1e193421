"""Compares two arms over the samples that both answered, with what lost trials and unknown replies may do."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.report.contrast import Family
from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import SampleScores
from gnomon.report.sequence import DrawnPlan
from gnomon.report.unknown_replies import UnknownCount, replies_by_arm
from gnomon.report.verdict import ALPHA, LIKE_THE_REST, NOTHING
from gnomon.statistics.design import Design, Floats, Headline
from gnomon.statistics.estimate import Ends
from gnomon.statistics.loss import Loss, difficulties, level_at_worst, loss_of
from gnomon.statistics.paired import Comparison, compare

Mask = NDArray[np.bool_]
# What unknown replies and lost trials of baseline and variant count; None: as scored, or left out.
ValuesOfArms = tuple[float | None, float | None]
AT_WORST: Sequence[ValuesOfArms] = ((1.0, 0.0), (0.0, 1.0))  # all against the variant, and all for it


@dataclass(frozen=True, kw_only=True)
class PairResult:
    """A pair over one scope, with what its numbers say before they are adjusted and judged.

    `worst` are the same comparison with all scores that nobody knows, of unknown replies and lost trials,
    against the variant, and for it; empty where all are known. A verdict must hold in both `ways`: these two,
    or with unknown replies alone where hardly a trial is lost. Each is tested at its `alpha`.
    """

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
    absent: str = NOTHING  # why, if there is no comparison
    alike: float = 0.0  # ICC of the arms' scores in a cluster, the greater one
    only_cell: int | None = None  # over all: the one subset of all samples that either arm has begun
    repeats_all: bool = False  # a subset of all these samples: the same comparison as that over all
    unknown: tuple[UnknownCount, ...] = ()  # the arm with most of them first
    worst: tuple[Comparison, ...] = ()
    ways: "tuple[PairResult, ...]" = ()
    alpha: float = ALPHA

    @property
    def family(self) -> Family:
        return "primary" if self.pair.is_primary and self.scope == "all" else "exploratory"

    @property
    def p(self) -> float | None:
        return self.comparison.p if self.comparison else None

    @cached_property
    def worst_ci95(self) -> Ends | None:
        """What holds the difference in 95 % of studies, whatever the unknown scores are: also as scored."""
        scored = self.comparison.ci95 if self.comparison else None
        if not self.worst:
            return scored
        level = _level(self.worst)
        low, high = [each.reach.ends(level) if each.reach else None for each in self.worst]
        if low is None or high is None or scored is None:
            return None
        return min(low[0], scored[0]), max(high[1], scored[1])


def compare_pair(
    scores: SampleScores,
    pair: ArmPair,
    scope: str,
    within: Mask,
    *,
    headline: Headline,
    plan: DrawnPlan | None = None,
) -> PairResult:
    """Compare a pair over the samples that have a score under both arms.

    With the `plan` of a job that may stop early, over the clusters of its last look, by numbers that hold at
    all of them. A sample that one arm alone has begun is a trial without a score of the other.
    """
    within = within if plan is None else within & plan.within(scores, pair)
    first, second = scores.groups_of(pair)
    both = within & (scores.answered[first] > 0) & (scores.answered[second] > 0)
    baseline, variant = scores.means(first)[both], scores.means(second)[both]
    comparison = means = grouping = None
    unknown: tuple[UnknownCount, ...] = ()
    if both.any():
        grouping = scores.design(both, headline)
        comparison, means = _compared(scores, pair, both, headline=headline, plan=plan)
        unknown = tuple(_unknown(scores, pair, within))
    right, right_after = scores.right(first)[both], scores.right(second)[both]
    quadrants = (~right & right_after, right & ~right_after, right & right_after, ~right & ~right_after)
    rescued, broken, both_right, both_wrong = (int(np.sum(part)) for part in quadrants)
    begun = (scores.answered + scores.missing)[[first, second]] > 0
    touched = within & np.any(begun, axis=0)
    bounds, loss = _lost(scores, (first, second), touched, headline, comparison)
    result = PairResult(
        pair=pair,
        scope=scope,
        counts=(rescued, broken, both_right, both_wrong),
        comparison=comparison,
        means=means,
        bounds=bounds,
        loss=loss,
        missing=(missing_share(scores, first, within), missing_share(scores, second, within)),
        absent=NOTHING if plan is None or plan.look(scores, pair) else plan.too_early,
        differences=variant - baseline,
        grouping=grouping,
        alike=max(grouping.icc(baseline), grouping.icc(variant)) if grouping else 0.0,
        only_cell=_only(scores.cells[touched]) if scope == "all" else None,
        unknown=unknown,
    )
    if comparison is None or not (unknown or loss):
        return result
    few_lost = loss is None or max(loss.shares) <= LIKE_THE_REST

    def at_worst(mask: Mask, *, lost: bool) -> list[tuple[Comparison, tuple[float, float]]]:
        return [
            _compared(scores, pair, mask, headline=headline, plan=plan, unknown_as=values, lost=lost)
            for values in AT_WORST
        ]

    worst = at_worst(touched, lost=True)
    ways = worst if not few_lost else at_worst(both, lost=False) if unknown else []
    alpha = 1.0 - _level([each for each, _ in ways]) if ways else ALPHA
    return replace(
        result,
        worst=tuple(each for each, _ in worst),
        ways=tuple(
            replace(result, comparison=each, means=of_arms, loss=None, alpha=alpha) for each, of_arms in ways
        ),
    )


def _level(ways: Sequence[Comparison]) -> float:
    """At which level each of the comparisons at worst is to be read."""
    low, high = ways
    return level_at_worst(high.diff - low.diff, max(low.se or 0.0, high.se or 0.0))


def _compared(
    scores: SampleScores,
    pair: ArmPair,
    mask: Mask,
    *,
    headline: Headline,
    plan: DrawnPlan | None,
    unknown_as: ValuesOfArms = (None, None),
    lost: bool = False,
) -> tuple[Comparison, tuple[float, float]]:
    """The comparison over these samples, and the arms' means; `lost` trials count as unknown replies do."""
    grouping = scores.design(mask, headline)
    of_arms = [
        scores.means(group, unknown_as=value, lost_as=value if lost else None)
        for group, value in zip(scores.groups_of(pair), unknown_as, strict=True)
    ]
    comparison = compare(of_arms[0][mask], of_arms[1][mask], grouping)
    if plan is not None:
        comparison = plan.looks.repeated(comparison, plan.look(scores, pair))
    return comparison, (grouping.mean(of_arms[0][mask]), grouping.mean(of_arms[1][mask]))


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
    touched: Mask,
    headline: Headline,
    comparison: Comparison | None,
) -> tuple[tuple[float, float] | None, Loss | None]:
    """What trials without a score may do, over the samples begun.

    The bounds: the difference if all of them were 0 or 1 at worst. The loss: the same by their items'
    difficulty, where something is compared and anything is lost.
    """
    if not touched.any():
        return None, None
    grouping = scores.design(touched, headline)
    first, second = groups
    counts = [scores.lost(group)[touched] for group in groups]
    if not any(lost.any() for lost in counts):
        diff = grouping.mean((scores.means(second) - scores.means(first))[touched])
        return (diff, diff), None
    low, high = (
        grouping.mean((scores.means(second, lost_as=after) - scores.means(first, lost_as=before))[touched])
        for before, after in AT_WORST
    )
    if comparison is None:
        return (low, high), None
    shares = [
        lost / (lost + scores.answered[group][touched]) for group, lost in zip(groups, counts, strict=True)
    ]
    means = np.stack([scores.means(group)[touched] for group in range(len(scores.answered))])
    ease = difficulties(means)
    loss = loss_of(
        (means[first], means[second]),
        (shares[0], shares[1]),
        (ease[first], ease[second]),
        grouping,
        observed=comparison.diff,
    )
    return (low, high), loss


def missing_share(scores: SampleScores, group: int, within: Mask) -> float:
    """The share of a group's ended trials that have no score; 0 where none has ended."""
    missing = int(scores.missing[group][within].sum())
    ended = missing + int(scores.answered[group][within].sum())
    return missing / ended if ended else 0.0


def _only(cells: NDArray[np.signedinteger[Any]]) -> int | None:
    """The subset that these samples are in; None where there are several, or no samples."""
    different = np.unique(cells)
    return int(different[0]) if len(different) == 1 else None
