"""Adjusts what comparisons say for how many of them were looked at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gnomon.report.verdict import ALPHA
from gnomon.spec.analysis_spec import AnalysisSpec
from gnomon.spec.margin_spec import margin_of
from gnomon.statistics.equivalence import Limits
from gnomon.statistics.multiple_testing import (
    benjamini_hochberg,
    bonferroni_level,
    holm,
    selected_levels,
)
from gnomon.statistics.paired import Comparison

if TYPE_CHECKING:
    from gnomon.report.compared_pair import PairResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjusted:
    """What is adjusted for the number of comparisons: p, the interval beside it, and p of equivalence."""

    p: float | None = None
    ci95: tuple[float, float] | None = None
    limits: Limits | None = None  # of what counts as no difference
    equivalence_p: float | None = None
    equivalence_p_adjusted: float | None = None
    ways: "tuple[Adjusted, ...]" = ()  # the same of each of the result's `ways`


def adjusted_alone(result: "PairResult", adjust_p: Callable[[float], float] = float) -> Adjusted:
    """What is adjusted of one comparison whose family is not at hand: its p, in every way to count."""
    p = None if result.p is None else adjust_p(result.p)
    return Adjusted(p=p, ways=tuple(adjusted_alone(way, adjust_p) for way in result.ways))


def adjust(results: Sequence["PairResult"], analysis: AnalysisSpec) -> list[Adjusted]:
    """What is adjusted, as scored and in each other way to count unknown replies, by all results alike.

    A subset that holds all samples counts once, with the comparison over all.
    """
    distinct = [result for result in results if not result.repeats_all]
    adjusted = dict(zip(map(id, distinct), _adjust_all(distinct, analysis), strict=True))
    of_pairs = {result.pair.key: adjusted[id(result)] for result in distinct if result.scope == "all"}
    return [of_pairs[result.pair.key] if result.repeats_all else adjusted[id(result)] for result in results]


def _adjust_all(results: Sequence["PairResult"], analysis: AnalysisSpec) -> list[Adjusted]:
    adjusted = _adjust(results, analysis)
    ways_n = max((len(result.ways) for result in results), default=0)
    by_way = [
        _adjust([result.ways[way] if result.ways else result for result in results], analysis)
        for way in range(ways_n)
    ]
    return [
        replace(scored, ways=tuple(of_way[at] for of_way in by_way)) if result.ways else scored
        for at, (result, scored) in enumerate(zip(results, adjusted, strict=True))
    ]


def _adjust(results: Sequence["PairResult"], analysis: AnalysisSpec) -> list[Adjusted]:
    """Holm within the primary family, Benjamini–Hochberg among all other comparisons.

    Intervals of the primary family hold together in 95 % of studies: they have Bonferroni's level, and end
    at zero where Holm's method finds a difference (Guilbaud 2008). Those of the others have the level of
    Benjamini and Yekutieli (2005).
    """
    adjusted = [Adjusted()] * len(results)
    for family, adjust_p in (("primary", holm), ("exploratory", benjamini_hochberg)):
        at = [
            index for index, result in enumerate(results) if result.family == family and result.p is not None
        ]
        p_values = adjust_p([p for index in at if (p := results[index].p) is not None])
        levels = [bonferroni_level(len(at))] * len(at) if family == "primary" else selected_levels(p_values)
        limits = [_limits(results[index], analysis) for index in at]
        outside = [_outside(results[index], of_pair) for index, of_pair in zip(at, limits, strict=True)]
        for index, p, level, of_pair, equivalence_p, equivalence_p_adjusted in zip(
            at, p_values, levels, limits, outside, adjust_p(outside), strict=True
        ):
            adjusted[index] = Adjusted(
                p=p,
                ci95=_adjusted_ci95(results[index].comparison, p, level),
                limits=of_pair,
                equivalence_p=equivalence_p,
                equivalence_p_adjusted=equivalence_p_adjusted,
            )
    return adjusted


def _limits(result: "PairResult", analysis: AnalysisSpec) -> Limits:
    baseline = result.means[0] if result.means else 0.5
    return margin_of(analysis.margin, result.scope).around(min(max(baseline, 0.0), 1.0))


def _outside(result: "PairResult", limits: Limits) -> float:
    reach = result.comparison.reach if result.comparison else None
    return reach.outside(limits) if reach else 1.0


def _adjusted_ci95(comparison: Comparison | None, p: float, level: float) -> tuple[float, float] | None:
    """The interval at this level; at zero's side no further than zero where a difference is found."""
    if comparison is None or comparison.reach is None or comparison.ci95 is None:
        return None
    low, high = comparison.reach.ends(level)
    if p < ALPHA and comparison.ci95[0] > 0:
        low = max(low, 0.0)
    if p < ALPHA and comparison.ci95[1] < 0:
        high = min(high, 0.0)
    return low, high
