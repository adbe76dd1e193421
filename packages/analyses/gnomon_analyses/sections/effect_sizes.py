"""Tells a difference in other measures: relative risk, odds ratio, gain over headroom, and by subset."""

from collections.abc import Mapping
from typing import Literal

from typing_extensions import TypedDict

from gnomon.report.compared_pair import missing_share
from gnomon.report.contrast import ContrastReport, ContrastsPart, comparisons, withheld_pairs
from gnomon.report.pairs import ArmPair
from gnomon.report.phrases import loss_words, weight_words
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import Interval, PairKey, ReportInput, Section, interval, pair_key
from gnomon.report.sections.contrasts import contrasts
from gnomon.report.text_formats import capitalised, count, p_text, points
from gnomon.report.verdict import ALPHA
from gnomon.statistics.design import Headline
from gnomon.statistics.mean import is_binary
from gnomon.stopping import while_wanted
from gnomon_analyses.statistics.heterogeneity import TEST, Heterogeneity, heterogeneity
from gnomon_analyses.statistics.relative_effect import Relative, headroom_gain, odds_ratio, relative_risk

Measure = Literal["relative risk", "odds ratio", "gain over headroom"]
HOW: Mapping[Measure, str] = {
    "relative risk": "delta method on the logarithm, cluster-robust",
    "odds ratio": "delta method on the logarithm, cluster-robust",
    "gain over headroom": "Fieller, cluster-robust",
}
NULLS: Mapping[Measure, float] = {"relative risk": 1.0, "odds ratio": 1.0, "gain over headroom": 0.0}


class EffectMeasure(TypedDict):
    """A measure of an effect; `value` is null where it is undefined, `ci95` also where nothing tells it."""

    measure: Measure
    value: float | None
    ci95: Interval
    interval_method: str


class SubsetTest(TypedDict):
    """The test of the difference being the same in all subsets, exploratory; `p` is null where it has none.

    `low` and `high` are the least and the greatest difference of a subset.
    """

    subsets: int
    clusters: int
    q: float | None
    p: float | None
    test: str
    low: float
    high: float
    sentence: str


class EffectSizes(TypedDict):
    """A comparison in other measures, over the `n` samples with a score under both arms.

    `largest_cluster` and `largest_among` are those of the comparison; `lost` are shares of trials without a
    score, of baseline and variant.
    """

    model: str
    baseline: str
    variant: str
    n: int
    clusters: int
    right_or_wrong: bool
    measures: list[EffectMeasure]
    heterogeneity: SubsetTest | None
    largest_cluster: float
    largest_among: int
    lost: list[float]


class EffectSizesPart(TypedDict):
    """Every comparison that has samples in other measures."""

    effect_sizes: list[EffectSizes]


class _Shown(ContrastsPart, EffectSizesPart):
    """What the section shows."""


def _effect_sizes(report_input: ReportInput) -> EffectSizesPart:
    scores, headline = report_input.scores, report_input.benchmark.headline
    compared = {pair_key(contrast): contrast for contrast in comparisons(report_input.part(contrasts))}
    sizes = [_sizes(scores, pair, headline, compared[pair.key]) for pair in while_wanted(report_input.pairs)]
    return {"effect_sizes": [each for each in sizes if each]}


def _sizes(
    scores: ScoreMatrix, pair: ArmPair, headline: Headline, contrast: ContrastReport
) -> EffectSizes | None:
    first, second = scores.groups_of(pair)
    both = (scores.answered[first] > 0) & (scores.answered[second] > 0)
    if not both.any():
        return None
    baseline, variant = scores.means(first)[both], scores.means(second)[both]
    grouping, everywhere = scores.design(both, headline), scores.everywhere()
    right_or_wrong = all(is_right_or_wrong(scores, group) for group in (first, second))
    measured: dict[Measure, Relative] = {}
    if right_or_wrong:
        measured["relative risk"] = relative_risk(baseline, variant, grouping)
        measured["odds ratio"] = odds_ratio(baseline, variant, grouping)
    measured["gain over headroom"] = headroom_gain(baseline, variant, grouping)
    tested = heterogeneity(variant - baseline, scores.cells[both], grouping)
    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "n": grouping.n,
        "clusters": grouping.clusters_n,
        "right_or_wrong": right_or_wrong,
        "measures": [
            {
                "measure": name,
                "value": relative.value,
                "ci95": _holding_null(interval(relative.ci95), NULLS[name], contrast),
                "interval_method": HOW[name] if relative.ci95 else "none",
            }
            for name, relative in measured.items()
        ],
        "heterogeneity": _tested(tested) if tested.subsets > 1 else None,
        "largest_cluster": grouping.heaviest[0],
        "largest_among": grouping.heaviest[1],
        "lost": [missing_share(scores, group, everywhere) for group in (first, second)],
    }


def is_right_or_wrong(scores: ScoreMatrix, group: int) -> bool:
    """Whether every trial of the group is right or wrong, and none in between."""
    return is_binary(scores.row_scores[scores.rows_of(group)[0]])


def _tested(tested: Heterogeneity) -> SubsetTest:
    return {
        "subsets": tested.subsets,
        "clusters": tested.clusters,
        "q": tested.q,
        "p": tested.p,
        "test": TEST if tested.p is not None else "none: fewer than six clusters",
        "low": tested.low,
        "high": tested.high,
        "sentence": heterogeneity_sentence(tested),
    }


def heterogeneity_sentence(tested: Heterogeneity) -> str:
    """Whether the difference is the same in all subsets, as one sentence.

    >>> print(
    ...     heterogeneity_sentence(
    ...         Heterogeneity(subsets=4, clusters=20, q=1.0, p=0.31, low=-0.03, high=0.12)
    ...     )
    ... )
    Exploratory: over 4 subsets the difference runs from −3.0 to +12.0 points, and nothing shows that it is \
not the same in all (p 0.310, 20 clusters).
    """
    head = (
        f"Exploratory: over {tested.subsets:,} subsets the difference runs from {points(tested.low)} to "
        f"{points(tested.high)} points"
    )
    clusters = count(tested.clusters, "cluster")
    if tested.p is None:
        return f"{head}; {clusters} are too few to test whether it is the same in all."
    if tested.p < ALPHA:
        return f"{head}, and is not the same in all (p {p_text(tested.p)}, {clusters})."
    shows = "and nothing shows that it is not the same in all"
    return f"{head}, {shows} (p {p_text(tested.p)}, {clusters})."


def measure_text(measure: EffectMeasure) -> str:
    """A measure with its interval; gain over headroom in percent.

    >>> measure_text({"measure": "odds ratio", "value": 2.5, "ci95": [1.2, 5.21], "interval_method": ""})
    '2.5 [1.2, 5.21]'
    >>> measure_text(
    ...     {"measure": "gain over headroom", "value": 0.25, "ci95": None, "interval_method": ""}
    ... )
    '25 %'
    """
    if measure["value"] is None:
        return "undefined"
    is_share = measure["measure"] == "gain over headroom"
    factor, unit = (100, " %") if is_share else (1, "")
    value, *ends = (
        f"{factor * x:.3g}".replace("-", "−") for x in (measure["value"], *(measure["ci95"] or ()))
    )
    return f"{value}{unit} [{', '.join(ends)}]" if ends else f"{value}{unit}"


def remarks(sizes: EffectSizes) -> list[str]:
    """What is lost and what weighs most, and how subsets differ, as sentences."""
    parts = [
        weight_words(sizes["largest_cluster"], sizes.get("largest_among", sizes["clusters"])),  # of before
        loss_words(sizes["lost"][0], sizes["lost"][1]),
    ]
    told = [f"{capitalised(part)}." for part in parts if part]
    return [*told, *([sizes["heterogeneity"]["sentence"]] if sizes["heterogeneity"] else [])]


def _view(report: _Shown) -> Mapping[PairKey, Mapping[str, object]]:
    withheld = withheld_pairs(report)
    return {
        pair_key(sizes): {
            "sizes": sizes,
            "rows": [
                (measure, "withheld" if pair_key(sizes) in withheld else measure_text(measure))
                for measure in sizes["measures"]
            ],
            "remarks": remarks(sizes),
        }
        for sizes in report.get("effect_sizes", ())  # absent from reports of older versions
    }


def _holding_null(ends: Interval, null: float, contrast: ContrastReport) -> Interval:
    """The interval of another measure of a comparison, widened to hold what stands for no difference where
    the interval of the difference holds zero: no two figures of a comparison say otherwise of its sign.
    """
    own = contrast["ci95"]
    if ends is None or own is None or not own[0] <= 0.0 <= own[1]:
        return ends
    return [min(ends[0], null), max(ends[1], null)]


effect_sizes = Section(
    name="effect_sizes",
    title="In other measures",
    question="What is the difference as a ratio, and is it the same in all subsets?",
    fields=EffectSizesPart,
    compute=_effect_sizes,
    place=47,
    behind="prices",
    view=_view,
    per_comparison=True,
)
