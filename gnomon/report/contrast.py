"""Defines a paired comparison as a report has it, with its numbers, its verdict and its words."""

from collections.abc import Iterable
from typing import Literal

from typing_extensions import TypedDict

from gnomon.report.section import Interval, PairKey, pair_key

Verdict = Literal["helps", "hurts", "no_effect", "undecided"]
Family = Literal["primary", "exploratory"]


class ContrastReport(TypedDict):
    """One paired comparison."""

    model: str
    baseline: str
    variant: str
    isolates: str
    also_differs: list[str]
    scope: str
    family: Family
    repeats_all: bool  # a subset that holds all samples: the comparison over all once more
    n: int
    clusters: int
    crossing_clusters: int | None  # by a second factor that makes samples kin; null where there is one
    largest_cluster: float | None  # the share of the figure that one cluster is, of the factor where it is …
    largest_among: int | None  # … most beside an equal share, which has so many clusters
    baseline_mean: float | None
    variant_mean: float | None
    diff: float | None
    ci95: Interval
    ci95_adjusted: Interval  # beside p_adjusted
    ci90: Interval
    se: float | None
    interval_method: str
    p: float | None
    p_adjusted: float | None
    margin: Interval  # the differences between which there is none
    margin_why: str  # where these are not the margin as a plain number of points
    below_margin: bool  # clear of zero, and smaller than the margin
    equivalence_p: float | None
    equivalence_p_adjusted: float | None
    test: str
    rescued: int
    broken: int
    both_right: int
    both_wrong: int
    mde: float | None
    mde_note: str
    bounds: Interval
    loss_p: float | None  # of both arms losing trials alike; null where none is lost
    modelled_diff: float | None  # with lost trials modelled on their items' difficulty
    modelled_ci95: Interval
    worst_ci95: Interval  # whatever lost trials and unknown replies had scored
    unknown_ci95: Interval  # the same, where there are unknown replies; else null
    rests_on: (
        str  # a sentence: what the verdict takes on trust of lost trials, if anything, or would be on it
    )
    verdict: Verdict
    withheld: bool
    reasons: list[str]
    next_step: str  # what to do where replies of which nobody knows the answer forbid a verdict; else empty
    verdict_text: str


class ContrastsPart(TypedDict):
    """All comparisons: scope `all` of each first, primary before exploratory, then the cells."""

    contrasts: list[ContrastReport]


class PooledCell(TypedDict):
    """A cell's difference, drawn towards the others; `own_weight` is the share it keeps of its own."""

    scope: str
    diff: float
    ci95: Interval
    own_weight: float


class PooledCells(TypedDict):
    """The cells of a comparison, partially pooled; `tau` is the spread between their true differences."""

    model: str
    baseline: str
    variant: str
    mean: float
    tau: float
    cells: list[PooledCell]


def comparisons(report: ContrastsPart) -> list[ContrastReport]:
    """Each comparison over all samples."""
    return [contrast for contrast in report["contrasts"] if contrast["scope"] == "all"]


def looked_at(report: ContrastsPart) -> list[ContrastReport]:
    """The distinct comparisons that have a p: a subset that holds all samples is none of its own."""
    return [
        contrast
        for contrast in report["contrasts"]
        if contrast["p"] is not None
        and not contrast.get("repeats_all")  # absent from reports of older versions
    ]


def as_shown(contrast: ContrastReport) -> ContrastReport:
    """The comparison as tables and plots show it: without the figures where its sentence withholds them."""
    if not contrast.get("withheld"):  # absent from reports of older versions
        return contrast
    return {
        **contrast,
        "diff": None,
        "ci95": None,
        "ci95_adjusted": None,
        "ci90": None,
        "p": None,
        "p_adjusted": None,
    }


def withheld_pairs(report: ContrastsPart) -> set[PairKey]:
    """The pairs whose comparison over all samples withholds its figures."""
    return {pair_key(contrast) for contrast in comparisons(report) if contrast.get("withheld")}


def by_pair(contrasts: Iterable[ContrastReport]) -> dict[PairKey, list[ContrastReport]]:
    """The contrasts of each model, baseline and variant."""
    groups: dict[PairKey, list[ContrastReport]] = {}
    for contrast in contrasts:
        groups.setdefault(pair_key(contrast), []).append(contrast)
    return groups
