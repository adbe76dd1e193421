"""Judges one comparison: what may be claimed from it, and in which words."""

from typing import TYPE_CHECKING, Literal

from gnomon.report.text_formats import count, p_text, percent, points
from gnomon.statistics.paired import Comparison

if TYPE_CHECKING:
    from gnomon.report.sections.contrasts import ContrastReport

Verdict = Literal["helps", "hurts", "no_effect", "undecided"]

ALPHA = 0.05
UNEQUAL_LOSS = 0.02  # more than two points apart in the share of missing trials
HOLDS_ZERO = "the interval holds zero"


def judge(
    comparison: Comparison,
    *,
    p_adjusted: float | None,
    bounds: tuple[float, float],
    missing: tuple[float, float],
    margin: float,
) -> tuple[Verdict, list[str]]:
    """The verdict, and what rules out a stronger one.

    `helps` and `hurts` need a 95 % interval clear of zero, an adjusted p below 0.05, a sign-flip check
    that agrees (where there is one) and bounds on the difference's side of zero. `no_effect` needs the 90 %
    interval and the bounds inside ±`margin`. Nothing is claimed where the arms' shares of missing trials
    are more than 2 points apart.
    """
    if comparison.ci95 is None or comparison.ci90 is None or comparison.p is None or p_adjusted is None:
        return "undecided", ["all samples lie in one cluster: nothing says how far chance reaches"]
    unequal = _unequal_losses(missing)
    doubts = _doubts(comparison, comparison.ci95, p_adjusted, bounds)
    if not unequal and not doubts:
        return ("helps" if comparison.diff > 0 else "hurts"), []
    is_small = _within(comparison.ci90, margin)
    if not unequal and is_small and _within(bounds, margin):
        return "no_effect", []
    if doubts == [HOLDS_ZERO] and not is_small:
        doubts = [f"{HOLDS_ZERO}, and also effects larger than {100 * margin:.3g} points"]
    elif doubts and is_small and not _within(bounds, margin):
        doubts.append("missing trials could make the effect larger than the margin")
    return "undecided", [*unequal, *doubts]


def _within(ends: tuple[float, float], margin: float) -> bool:
    return -margin < ends[0] and ends[1] < margin


def is_unequal(missing: tuple[float, float]) -> bool:
    """Whether the shares of missing trials of two arms are too far apart for any headline."""
    return abs(missing[0] - missing[1]) > UNEQUAL_LOSS


def _unequal_losses(missing: tuple[float, float]) -> list[str]:
    if not is_unequal(missing):
        return []
    shares = f"{missing[0]:.1%} of the baseline's trials are missing, {missing[1]:.1%} of the variant's"
    return [f"the arms lost trials unequally: {shares}"]


def _doubts(
    comparison: Comparison, ci95: tuple[float, float], p_adjusted: float, bounds: tuple[float, float]
) -> list[str]:
    """What rules out the claim of a difference."""
    if ci95[0] <= 0 <= ci95[1]:
        return [HOLDS_ZERO]
    doubts: list[str] = []
    if p_adjusted >= ALPHA:
        doubts.append(f"p is {p_text(p_adjusted)} after adjusting for the number of comparisons")
    if comparison.check_p is not None and comparison.check_p >= ALPHA:
        doubts.append(f"the sign-flip check over clusters does not agree (p {p_text(comparison.check_p)})")
    if (bounds[0] if comparison.diff > 0 else -bounds[1]) <= 0:
        reach = f"{points(bounds[0])} to {points(bounds[1])} points"
        doubts.append(f"missing trials could undo it: bounds {reach}")
    return doubts


def sentence(
    contrast: "ContrastReport",
    *,
    margin: float,
    interim: bool = False,
    place: Literal["under", "in"] = "under",
) -> str:
    """The finding in one or two plain sentences: `under` two arms, or `in` two jobs.

    `interim` says that more trials will come.
    """
    text = _claim(contrast, margin=margin, place=place)
    if contrast["also_differs"]:
        text += f" Beware: the arms also differ in {', '.join(contrast['also_differs'])}."
    return f"So far: {text}" if interim else text


def _claim(contrast: "ContrastReport", *, margin: float, place: str) -> str:
    who, diff, ci95 = contrast["model"], contrast["diff"], contrast["ci95"]
    under, than = f"{place} “{contrast['variant']}”", f"{place} “{contrast['baseline']}”"
    where = "" if contrast["scope"] == "all" else f" on {contrast['scope']}"
    cannot = f"It cannot be told whether {who} does better{where} {under} than {than}"
    if diff is None:
        return f"{cannot}: no sample has a score {place} both."
    sizes = f"{count(contrast['n'], 'sample')} in {count(contrast['clusters'], 'cluster')}"
    sure = f"({f'95 % interval {points(ci95[0])} to {points(ci95[1])}; ' if ci95 else ''}{sizes})"
    means = (contrast["variant_mean"], contrast["baseline_mean"])
    by = f"by {abs(100 * diff):.1f} points, {percent(means[0])} % against {percent(means[1])} %"
    why = f" Why: {'; '.join(contrast['reasons'])}." if contrast["reasons"] else ""
    if contrast["withheld"]:
        return f"{cannot}, so no figure is given here.{why}"
    match contrast["verdict"]:
        case "helps":
            return f"{who} does better{where} {under} than {than}, {by} {sure}."
        case "hurts":
            return f"{who} does worse{where} {under} than {than}, {by} {sure}."
        case "no_effect":
            size = f"within {100 * margin:.3g} points"
            return f"{who} does equally well{where} {under} and {than}, {size}: {points(diff)} points {sure}."
        case "undecided":
            return f"{cannot}: {points(diff)} points {sure}.{why}{_what_would_show(contrast)}"


def _what_would_show(contrast: "ContrastReport") -> str:
    if contrast["mde"] is None:
        return f" {contrast['mde_note']}" if contrast["mde_note"] else ""
    size = f"{100 * contrast['mde']:.1f} points"
    return f" A study of this size would find a true effect of {size} in 8 of 10 cases."
