"""Compares each arm with its baseline, over the same samples."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from typing_extensions import TypedDict

from gnomon.report.charts import Mark, difference_plot
from gnomon.report.detectable import Detectable, Judged, PlantedScores, Rule, detectable_in
from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import RIGHT, SampleScores
from gnomon.report.section import UNFINISHED, Interval, PairKey, ReportInput, Section, interval
from gnomon.report.sections.job import JobPart
from gnomon.report.text_formats import (
    escape_markdown,
    label,
    markdown_table,
    p_text,
    points,
    points_brackets,
    points_range,
    short,
)
from gnomon.report.verdict import Verdict, is_unequal, judge, sentence
from gnomon.statistics.design import Design, Floats, Headline, design, strata_of
from gnomon.statistics.multiple_testing import benjamini_hochberg, holm
from gnomon.statistics.paired import Comparison, compare
from gnomon.stopping import while_wanted

if TYPE_CHECKING:
    from gnomon.report.sections.pooled import PooledCells

Family = Literal["primary", "exploratory"]
Mask = NDArray[np.bool_]
NOTHING = "no sample has a score under both arms"


class ContrastReport(TypedDict):
    """One paired comparison."""

    model: str
    baseline: str
    variant: str
    isolates: str
    also_differs: list[str]
    scope: str
    family: Family
    n: int
    clusters: int
    baseline_mean: float | None
    variant_mean: float | None
    diff: float | None
    ci95: Interval
    ci90: Interval
    se: float | None
    interval_method: str
    p: float | None
    p_adjusted: float | None
    check_p: float | None
    test: str
    rescued: int
    broken: int
    both_right: int
    both_wrong: int
    mde: float | None
    mde_note: str
    bounds: Interval
    verdict: Verdict
    withheld: bool
    reasons: list[str]
    verdict_text: str


class ContrastsPart(TypedDict):
    """All comparisons: scope `all` of each first, primary before exploratory, then the cells."""

    contrasts: list[ContrastReport]


class _Shown(JobPart, ContrastsPart):
    """What the section shows."""

    pooled: "list[PooledCells]"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairResult:
    """A pair over one scope, with what its numbers say before they are adjusted and judged."""

    pair: ArmPair
    scope: str
    counts: tuple[int, int, int, int]  # rescued, broken, both right, both wrong
    comparison: Comparison | None  # None: no sample has a score under both arms
    means: tuple[float, float] | None  # of baseline and variant, over the samples compared
    bounds: tuple[float, float] | None
    missing: tuple[float, float]
    differences: Floats  # of the samples compared
    grouping: Design | None  # of the same

    @property
    def family(self) -> Family:
        return "primary" if self.pair.is_primary and self.scope == "all" else "exploratory"


def _contrasts(report_input: ReportInput) -> ContrastsPart:
    """All contrasts: scope `all` of every pair first, then the cells; primary ones lead."""
    results = list(_compare_all(report_input))
    margin, interim = report_input.spec.analysis.margin, report_input.status in UNFINISHED
    detectable = _detectable(results, margin=margin, repeats=report_input.spec.repeats)
    return {
        "contrasts": [
            contrast_report(result, p_adjusted=p, detectable=effect, margin=margin, interim=interim)
            for result, p, effect in zip(results, _adjusted(results), detectable, strict=True)
        ]
    }


def _detectable(results: list[PairResult], *, margin: float, repeats: int) -> Iterator[Detectable]:
    """What each comparison could detect, among as many of its family as there are."""
    looks = Counter(
        result.family for result in results if result.comparison and result.comparison.p is not None
    )
    simulated = sum(result.scope == "all" for result in results)
    for result in while_wanted(results):
        rule = rule_of(result.family, looks=max(1, looks[result.family]), margin=margin, repeats=repeats)
        yield detectable_in(
            result, rule, looks=max(1, looks[result.family]), simulated=simulated, repeats=repeats
        )


def rule_of(family: Family, *, looks: int, margin: float, repeats: int) -> Rule:
    """The whole rule of the verdict, for the simulated scores of two arms.

    It is that of one comparison among `looks` of its family, of which the others show nothing.
    """
    adjust = holm if family == "primary" else benjamini_hochberg
    pair = ArmPair(model="", baseline="", variant="", is_primary=family == "primary")

    def rule(scores: PlantedScores) -> Judged:
        everywhere = np.ones(len(scores.cells), dtype=np.bool_)
        result = compare_pair(scores, pair, "all", everywhere, headline="mean_of_cells", repeats=repeats)
        comparison, bounds = result.comparison, result.bounds
        if comparison is None or bounds is None:
            return Judged(is_claimed=False, diff=0.0, reasons=[NOTHING])
        p = None if comparison.p is None else adjust([comparison.p, *[1.0] * (looks - 1)])[0]
        verdict, reasons = judge(
            comparison, p_adjusted=p, bounds=bounds, missing=result.missing, margin=margin
        )
        return Judged(is_claimed=verdict in ("helps", "hurts"), diff=comparison.diff, reasons=reasons)

    return rule


def _compare_all(report_input: ReportInput) -> Iterator[PairResult]:
    scores, repeats = report_input.scores, report_input.spec.repeats
    headline, everywhere = report_input.benchmark.headline, scores.everywhere()
    for pair in while_wanted(report_input.pairs):
        yield compare_pair(scores, pair, "all", everywhere, headline=headline, repeats=repeats)
    for pair in while_wanted(report_input.pairs):
        for code, name in enumerate(scores.cell_names):
            within = scores.cells == code
            yield compare_pair(scores, pair, name, within, headline="mean_of_samples", repeats=repeats)


def by_pair(contrasts: Iterable[ContrastReport]) -> dict[PairKey, list[ContrastReport]]:
    """The contrasts of each model, baseline and variant."""
    groups: dict[PairKey, list[ContrastReport]] = {}
    for contrast in contrasts:
        groups.setdefault((contrast["model"], contrast["baseline"], contrast["variant"]), []).append(contrast)
    return groups


def compare_pair(
    scores: SampleScores, pair: ArmPair, scope: str, within: Mask, *, headline: Headline, repeats: int
) -> PairResult:
    """Compare a pair over the samples that have a score under both arms."""
    first, second = scores.groups_of(pair)
    both = within & (scores.answered[first] > 0) & (scores.answered[second] > 0)
    baseline, variant = scores.means(first)[both], scores.means(second)[both]
    comparison = means = grouping = None
    if both.any():
        grouping = design(strata_of(scores.cells[both], headline), scores.clusters[both])
        comparison = compare(baseline, variant, grouping)
        means = grouping.mean(baseline), grouping.mean(variant)
    right, right_after = baseline >= RIGHT, variant >= RIGHT
    quadrants = (~right & right_after, right & ~right_after, right & right_after, ~right & ~right_after)
    rescued, broken, both_right, both_wrong = (int(np.sum(part)) for part in quadrants)
    return PairResult(
        pair=pair,
        scope=scope,
        counts=(rescued, broken, both_right, both_wrong),
        comparison=comparison,
        means=means,
        bounds=_bounds(scores, first, second, within, headline=headline, repeats=repeats),
        missing=(missing_share(scores, first, within), missing_share(scores, second, within)),
        differences=variant - baseline,
        grouping=grouping,
    )


def _bounds(
    scores: SampleScores, first: int, second: int, within: Mask, *, headline: Headline, repeats: int
) -> tuple[float, float] | None:
    """The difference if every trial without a score, of samples begun in either arm, were 0 or 1 at worst."""
    begun = scores.answered + scores.missing
    touched = within & ((begun[first] > 0) | (begun[second] > 0))
    if not touched.any():
        return None
    full = np.maximum(np.maximum(begun[first], begun[second]), repeats)[touched]
    low, high = {}, {}
    for group in (first, second):
        low[group] = scores.score_sums[group][touched] / full
        high[group] = low[group] + (full - scores.answered[group][touched]) / full
    grouping = design(strata_of(scores.cells[touched], headline), scores.clusters[touched])
    return grouping.mean(low[second] - high[first]), grouping.mean(high[second] - low[first])


def missing_share(scores: SampleScores, group: int, within: Mask) -> float:
    """The share of a group's ended trials that have no score; 0 where none has ended."""
    missing = int(scores.missing[group][within].sum())
    ended = missing + int(scores.answered[group][within].sum())
    return missing / ended if ended else 0.0


def _adjusted(results: list[PairResult]) -> list[float | None]:
    """Holm within the primary family, Benjamini–Hochberg among all other comparisons."""
    adjusted: list[float | None] = [None] * len(results)
    for family, adjust in (("primary", holm), ("exploratory", benjamini_hochberg)):
        at: list[int] = []
        p_values: list[float] = []
        for index, result in enumerate(results):
            if result.family == family and result.comparison is not None and result.comparison.p is not None:
                at.append(index)
                p_values.append(result.comparison.p)
        for index, p in zip(at, adjust(p_values), strict=True):
            adjusted[index] = p
    return adjusted


def contrast_report(
    result: PairResult, *, p_adjusted: float | None, detectable: Detectable, margin: float, interim: bool
) -> ContrastReport:
    """The comparison with its verdict, in numbers and words."""
    comparison = result.comparison
    contrast: ContrastReport = {
        "model": result.pair.model,
        "baseline": result.pair.baseline,
        "variant": result.pair.variant,
        "isolates": result.pair.isolates,
        "also_differs": list(result.pair.also_differs),
        "scope": result.scope,
        "family": result.family,
        "n": comparison.n if comparison else 0,
        "clusters": comparison.clusters if comparison else 0,
        "baseline_mean": result.means[0] if result.means else None,
        "variant_mean": result.means[1] if result.means else None,
        "diff": comparison.diff if comparison else None,
        "ci95": interval(comparison.ci95 if comparison else None),
        "ci90": interval(comparison.ci90 if comparison else None),
        "se": comparison.se if comparison else None,
        "interval_method": comparison.interval_method if comparison else "none: nothing to compare",
        "p": comparison.p if comparison else None,
        "p_adjusted": p_adjusted,
        "check_p": comparison.check_p if comparison else None,
        "test": comparison.test if comparison else "none: no sample has a score under both arms",
        "rescued": result.counts[0],
        "broken": result.counts[1],
        "both_right": result.counts[2],
        "both_wrong": result.counts[3],
        "mde": detectable.effect,
        "mde_note": detectable.note,
        "bounds": interval(result.bounds),
        "verdict": "undecided",
        "withheld": is_unequal(result.missing),
        "reasons": [NOTHING],
        "verdict_text": "",
    }
    if comparison is not None and result.bounds is not None:
        contrast["verdict"], contrast["reasons"] = judge(
            comparison, p_adjusted=p_adjusted, bounds=result.bounds, missing=result.missing, margin=margin
        )
    contrast["verdict_text"] = sentence(contrast, margin=margin, interim=interim)
    return contrast


def comparisons(report: ContrastsPart) -> list[ContrastReport]:
    """Each comparison over all samples."""
    return [contrast for contrast in report["contrasts"] if contrast["scope"] == "all"]


def _view(report: _Shown) -> Mapping[str, object]:
    return {"overview": _overview(report), "details": _details(report)}


def _overview(report: _Shown) -> Markup | None:
    """One row for each comparison over all samples, where there are several."""
    over_all = comparisons(report)
    is_one_model = len({contrast["model"] for contrast in over_all}) == 1
    marks = []
    for contrast in over_all:
        arms = f"{contrast['variant']} − {contrast['baseline']}"
        marks.append(_mark(contrast, short(arms) if is_one_model else label(contrast["model"], arms)))
    if len(marks) < 2:
        return None
    title = "Differences of all comparisons, points"
    return difference_plot(marks, title=title, margin=report["job"]["margin"])


def _details(report: _Shown) -> Iterator[tuple[ContrastReport, Markup, Sequence[ContrastReport]]]:
    """Each comparison with the plot of its cells and the rows behind it."""
    pooled = {
        (cells["model"], cells["baseline"], cells["variant"], cell["scope"]): cell["diff"]
        for cells in report["pooled"]
        for cell in cells["cells"]
    }
    for pair, rows in while_wanted(by_pair(report["contrasts"]).items()):
        marks = [
            replace(_mark(contrast, short(contrast["scope"])), pooled=pooled.get((*pair, contrast["scope"])))
            for contrast in rows
        ]
        title = f"{pair[2]} against {pair[1]} ({pair[0]}), difference by subset, points"
        picture = difference_plot(marks, title=title, margin=report["job"]["margin"])
        yield from ((contrast, picture, rows) for contrast in rows if contrast["scope"] == "all")


def _mark(contrast: ContrastReport, name: str) -> Mark:
    size = "" if contrast["diff"] is None else points(contrast["diff"])
    return Mark(
        label=name,
        value=contrast["diff"],
        interval=contrast["ci95"],
        note=f"{size}{points_brackets(contrast['ci95'])}  n={contrast['n']}",
        kind=contrast["verdict"],
        is_total=contrast["scope"] == "all",
    )


def _markdown(report: _Shown) -> Iterator[str]:
    rows = [
        (
            contrast["model"],
            f"{contrast['variant']} − {contrast['baseline']}",
            contrast["scope"],
            "–" if contrast["diff"] is None else points(contrast["diff"]),
            points_range(contrast["ci95"]),
            str(contrast["n"]),
            str(contrast["clusters"]),
            p_text(contrast["p_adjusted"]),
            f"{contrast['rescued']} : {contrast['broken']}",
            contrast["verdict"],
        )
        for contrast in report["contrasts"]
    ]
    head = (
        "model",
        "arms",
        "subset",
        "diff",
        "95 %",
        "n",
        "clusters",
        "p adj.",
        "fixed : regressed",
        "verdict",
    )
    yield from markdown_table("Differences (points)", head, rows)
    if rows:
        yield ""
        yield "Fixed : regressed (rescued : broken): the discordant pairs, right under one arm alone."
    if task_names := report["job"].get("task_names"):  # absent from reports of older versions
        names = [f"{code}: {name}" for code, name in task_names.items()]
        yield ""
        yield escape_markdown(f"{'; '.join(names)}.")


contrasts = Section(
    name="contrasts",
    title="All comparisons at a glance",
    question="What did each arm change against its baseline, over the same samples, and where?",
    fields=ContrastsPart,
    compute=_contrasts,
    place=50,
    view=_view,
    markdown=_markdown,
)
