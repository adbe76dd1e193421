"""The report's contrasts: each arm against its baseline, over the same samples."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gnomon.report.arms import interval
from gnomon.report.pairs import ArmPair, pairs
from gnomon.report.schema import ContrastReport
from gnomon.report.score_matrix import RIGHT, ScoreMatrix
from gnomon.report.verdict import is_unequal, judge, sentence
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Headline, design, strata_of
from gnomon.statistics.multiple_testing import benjamini_hochberg, holm
from gnomon.statistics.paired import Comparison, compare
from gnomon.stopping import while_wanted

Family = Literal["primary", "exploratory"]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairResult:
    """A pair over one scope, with what its numbers say before they are adjusted and judged."""

    pair: ArmPair
    scope: str
    counts: tuple[int, int, int, int]  # rescued, broken, both right, both wrong
    found: Comparison | None  # None: no sample has a score under both arms
    means: tuple[float, float] | None  # of baseline and variant, over the samples compared
    bounds: tuple[float, float] | None
    missing: tuple[float, float]

    @property
    def family(self) -> Family:
        return "primary" if self.pair.is_primary and self.scope == "all" else "exploratory"


def contrasts(
    ledger: ScoreMatrix, spec: JobSpec, *, headline: Headline, interim: bool
) -> list[ContrastReport]:
    """All contrasts: scope `all` of every pair first, then the cells; primary ones lead."""
    scoped = list(_compare_all(ledger, spec, headline))
    adjusted = _adjusted(scoped)
    margin = spec.analysis.margin
    return [
        _contrast(one, p_adjusted=p, margin=margin, interim=interim)
        for one, p in zip(scoped, adjusted, strict=True)
    ]


def _compare_all(ledger: ScoreMatrix, spec: JobSpec, headline: Headline) -> Iterator[PairResult]:
    everywhere = ledger.everywhere()
    for pair in while_wanted(pairs(spec)):
        yield _compare(ledger, pair, "all", everywhere, headline=headline, repeats=spec.repeats)
    for pair in while_wanted(pairs(spec)):
        for code, name in enumerate(ledger.cell_names):
            within = ledger.cells == code
            yield _compare(ledger, pair, name, within, headline="mean_of_samples", repeats=spec.repeats)


def by_pair(contrasts: Iterable[ContrastReport]) -> dict[tuple[str, str, str], list[ContrastReport]]:
    """The contrasts of each model, baseline and variant."""
    found: dict[tuple[str, str, str], list[ContrastReport]] = {}
    for one in contrasts:
        found.setdefault((one["model"], one["baseline"], one["variant"]), []).append(one)
    return found


def groups_of(ledger: ScoreMatrix, pair: ArmPair) -> tuple[int, int]:
    """The pair's two groups in the ledger."""
    one, other = (pair.model, pair.baseline), (pair.model, pair.variant)
    return ledger.at[one], ledger.at[other]


def _compare(
    ledger: ScoreMatrix, pair: ArmPair, scope: str, within: Mask, *, headline: Headline, repeats: int
) -> PairResult:
    one, other = groups_of(ledger, pair)
    both = within & (ledger.answered[one] > 0) & (ledger.answered[other] > 0)
    baseline, variant = ledger.scores(one)[both], ledger.scores(other)[both]
    found = means = None
    if both.any():
        grouping = design(strata_of(ledger.cells[both], headline), ledger.clusters[both])
        found = compare(baseline, variant, grouping)
        means = grouping.mean(baseline), grouping.mean(variant)
    right, right_after = baseline >= RIGHT, variant >= RIGHT
    quadrants = (~right & right_after, right & ~right_after, right & right_after, ~right & ~right_after)
    rescued, broken, both_right, both_wrong = (int(np.sum(part)) for part in quadrants)
    return PairResult(
        pair=pair,
        scope=scope,
        counts=(rescued, broken, both_right, both_wrong),
        found=found,
        means=means,
        bounds=_bounds(ledger, one, other, within, headline=headline, repeats=repeats),
        missing=(missing_share(ledger, one, within), missing_share(ledger, other, within)),
    )


def _bounds(
    ledger: ScoreMatrix, one: int, other: int, within: Mask, *, headline: Headline, repeats: int
) -> tuple[float, float] | None:
    """The difference if every trial without a score, of samples begun in either arm, were 0 or 1 at worst."""
    begun = ledger.answered + ledger.missing
    touched = within & ((begun[one] > 0) | (begun[other] > 0))
    if not touched.any():
        return None
    full = np.maximum(np.maximum(begun[one], begun[other]), repeats)[touched]
    low, high = {}, {}
    for group in (one, other):
        low[group] = ledger.score_sums[group][touched] / full
        high[group] = low[group] + (full - ledger.answered[group][touched]) / full
    grouping = design(strata_of(ledger.cells[touched], headline), ledger.clusters[touched])
    return grouping.mean(low[other] - high[one]), grouping.mean(high[other] - low[one])


def missing_share(ledger: ScoreMatrix, group: int, within: Mask) -> float:
    """The share of a group's ended trials that have no score; 0 where none has ended."""
    missing = int(ledger.missing[group][within].sum())
    ended = missing + int(ledger.answered[group][within].sum())
    return missing / ended if ended else 0.0


def _adjusted(scoped: list[PairResult]) -> list[float | None]:
    """Holm within the primary family, Benjamini–Hochberg among all other comparisons."""
    adjusted: list[float | None] = [None] * len(scoped)
    for family, adjust in (("primary", holm), ("exploratory", benjamini_hochberg)):
        at: list[int] = []
        p_values: list[float] = []
        for index, one in enumerate(scoped):
            if one.family == family and one.found is not None and one.found.p is not None:
                at.append(index)
                p_values.append(one.found.p)
        for index, p in zip(at, adjust(p_values), strict=True):
            adjusted[index] = p
    return adjusted


def _contrast(one: PairResult, *, p_adjusted: float | None, margin: float, interim: bool) -> ContrastReport:
    found = one.found
    contrast: ContrastReport = {
        "model": one.pair.model,
        "baseline": one.pair.baseline,
        "variant": one.pair.variant,
        "isolates": one.pair.isolates,
        "also_differs": list(one.pair.also_differs),
        "scope": one.scope,
        "family": one.family,
        "n": found.n if found else 0,
        "clusters": found.clusters if found else 0,
        "baseline_mean": one.means[0] if one.means else None,
        "variant_mean": one.means[1] if one.means else None,
        "diff": found.diff if found else None,
        "ci95": interval(found.ci95 if found else None),
        "ci90": interval(found.ci90 if found else None),
        "se": found.se if found else None,
        "interval_method": found.interval_method if found else "none: nothing to compare",
        "p": found.p if found else None,
        "p_adjusted": p_adjusted,
        "check_p": found.check_p if found else None,
        "test": found.test if found else "none: no sample has a score under both arms",
        "rescued": one.counts[0],
        "broken": one.counts[1],
        "both_right": one.counts[2],
        "both_wrong": one.counts[3],
        "mde": found.mde if found else None,
        "bounds": interval(one.bounds),
        "verdict": "undecided",
        "withheld": is_unequal(one.missing),
        "reasons": ["no sample has a score under both arms"],
        "verdict_text": "",
    }
    if found is not None and one.bounds is not None:
        contrast["verdict"], contrast["reasons"] = judge(
            found, p_adjusted=p_adjusted, bounds=one.bounds, missing=one.missing, margin=margin
        )
    contrast["verdict_text"] = sentence(contrast, margin=margin, interim=interim)
    return contrast
