"""Judges one comparison: what may be claimed from it, and in which words."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from gnomon.report.contrast import ContrastReport, Verdict
from gnomon.report.phrases import clusters_words, weight_words
from gnomon.report.text_formats import capitalised, count, margin_size, p_text, percent, points, points_range
from gnomon.report.unknown_replies import counts_text
from gnomon.statistics.estimate import FLAT, Ends
from gnomon.statistics.loss import Loss
from gnomon.statistics.paired import Comparison

if TYPE_CHECKING:
    from gnomon.report.compared_pair import PairResult

Said = TypeVar("Said", bound=str)
Ruling = tuple[Verdict, list[str]]  # with what rules out a stronger one

ALPHA = 0.05
UNEQUAL = 0.05  # of the exact test that both arms lost trials alike
LIKE_THE_REST = 0.01  # of an arm's trials: so few lost ones may be taken to be like the rest, if that is said
NOTHING = "no sample has a score under both arms"
HOLDS_ZERO = "the interval holds zero"
UNDONE = "lost trials could undo it"
FEWEST = 6  # clusters of equal weight that show that nothing got worse, as no fewer show a difference
ONE_CLUSTER = "all samples that are compared lie in one cluster: nothing says how far chance reaches"


def judge(
    comparison: Comparison,
    *,
    p_adjusted: float | None,
    loss: Loss | None,
    margin: Ends,
    margin_why: str = "",
    equivalence_p: float | None = None,
    alpha: float = ALPHA,
) -> Ruling:
    """The verdict, and what rules out a stronger one.

    `helps` and `hurts` need an adjusted p below `alpha`. `no_effect` needs the 90 % interval inside
    `margin`, and an adjusted p of equivalence below 0.05 (where there is one). Where trials are lost, the
    same must hold for the interval with these modelled. `alpha` is larger for a comparison at worst.
    """
    if comparison.reach is None or comparison.p is None or p_adjusted is None:
        return "undecided", [ONE_CLUSTER]
    doubts = _doubts(comparison.p, p_adjusted, alpha=alpha)
    side = 1 if comparison.diff > 0 else -1
    losses = _losses(loss, comparison, 0.95, lambda ends: min(side * ends[0], side * ends[1]) > 0)
    if not doubts and not losses:
        return ("helps" if comparison.diff > 0 else "hurts"), []
    is_small = margin[0] < margin[1] and _within(comparison.reach.ends(0.90), margin)
    too_large = _losses(loss, comparison, 0.90, lambda ends: _within(ends, margin))
    is_equivalent = equivalence_p is None or equivalence_p < ALPHA
    if is_small and is_equivalent and not too_large:
        return "no_effect", []
    if doubts and not is_small:
        if doubts[0].startswith(HOLDS_ZERO) and margin[0] < 0 < margin[1]:
            why = f" ({margin_why})" if margin_why else ""
            doubts = [f"{doubts[0]}, and also effects larger than {margin_size(margin)}{why}"]
    elif doubts and not is_equivalent and equivalence_p is not None:
        text = f"p of equivalence is {p_text(equivalence_p)} after adjusting for the number of comparisons"
        doubts.append(text)
    elif doubts and is_small:
        doubts.append("lost trials could make the effect larger than the margin")
    return "undecided", [*(loss if doubts else f"{UNDONE}: {loss}" for loss in losses), *doubts]


def both_ways(
    scored: tuple[Said, list[str]],
    others: Iterable[tuple[Said, list[str]]],
    *,
    why: Callable[[], str],
    undecided: Said,
) -> tuple[Said, list[str]]:
    """What is said of the scores that are known, if it is also said where those that nobody knows count in
    the other ways; else that it is `undecided`, with `why` first.

    >>> of_others = [("hurts", []), ("helps", [])]
    >>> both_ways(("hurts", []), of_others, why=lambda: "4 of 9 were cut", undecided="undecided")
    ('undecided', ['4 of 9 were cut'])
    """
    said, reasons = scored
    if all(other == said for other, _ in others):
        return scored
    return undecided, [why(), *reasons]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotWorse:
    """Whether a variant is not worse by a margin: it is where there is no reason against it.

    `p` is one-sided; `lower` is the least difference that the test does not rule out, lost trials counted in;
    None where nothing is known of it.
    """

    reasons: list[str]
    p: float | None
    lower: float | None


def judge_not_worse(comparison: Comparison, *, loss: Loss | None, fall: float) -> NotWorse:
    """Test a variant for a fall to `fall` (below zero) or lower: non-inferiority at the level of 5 %.

    It is not worse where the one-sided p is below 0.05, and the 90 % interval with lost trials modelled lies
    above `fall`. Clusters that weigh as fewer than six equal ones cannot tell.
    """
    if comparison.reach is None:
        return NotWorse(reasons=[ONE_CLUSTER], p=None, lower=None)
    if (worth := comparison.reach.estimate.effective_clusters) < FEWEST:
        as_many = f"the clusters weigh as {worth:.1f} equal ones"
        few = f"it cannot be told: {as_many}, and fewer than {FEWEST} may leave out what got worse"
        return NotWorse(reasons=[few], p=comparison.reach.above(fall), lower=None)
    p, ci90 = comparison.reach.above(fall), comparison.reach.ends(0.90)
    losses = _losses(loss, comparison, 0.90, lambda ends: ends[0] > fall)
    low, reasons = ci90[0], [f"{UNDONE}: {each}" for each in losses]
    if p >= ALPHA:
        reasons.append(f"it may have fallen by as much as {points(low).lstrip('−')} points")
    lower = low if loss is None else min(low, loss.moved(ci90, comparison.se or 0.0)[0])
    return NotWorse(reasons=reasons, p=p, lower=lower)


def why_unknown(result: "PairResult") -> str:
    """How many replies and lost trials there are of which nobody knows the score."""
    of_replies = counts_text(result.unknown)
    if result.loss is None or max(result.loss.shares) <= LIKE_THE_REST:
        return of_replies
    reach = result.worst_ci95
    at_worst = f": at worst the interval is {points_range(reach)} points" if reach else ""
    of_trials = f"{_shares(result.loss)} of the trials of baseline and variant have no score{at_worst}"
    return f"{of_replies}, and {of_trials}" if of_replies else of_trials


def rests_on_the_rest(result: "PairResult", verdict: Verdict, *, is_claimed: bool, margin: Ends) -> str:
    """What a verdict takes of lost trials on trust, in a sentence, or that it holds at worst too.

    `verdict` is that on the trials that were not lost; `is_claimed` says that it is made.
    """
    loss, reach = result.loss, result.worst_ci95
    if loss is None or reach is None or verdict == "undecided":
        return ""
    if is_claimed and (_within(reach, margin) if verdict == "no_effect" else not reach[0] <= 0 <= reach[1]):
        return f" This holds whatever the {_shares(loss)} of their trials that have no score had scored."
    lost = f"if the {_shares(loss)} of their trials that have no score are like the rest"
    if is_claimed:
        return f" This holds {lost}."
    said = {"helps": "it does better", "hurts": "it does worse", "no_effect": "both do equally well"}[verdict]
    return f" {capitalised(lost)}, {said}; nobody knows that they are."


def _shares(loss: Loss) -> str:
    return " and ".join(f"{100 * share:.1f} %" for share in loss.shares)


def is_withheld(result: "PairResult") -> bool:
    """Whether unequal loss alone could turn the difference: then no figure is named."""
    loss, reach = result.loss, result.worst_ci95
    if loss is None or not loss.is_unequal(UNEQUAL) or max(loss.shares) <= LIKE_THE_REST:
        return False
    return reach is None or reach[0] <= 0 <= reach[1]


def is_below_margin(contrast: ContrastReport) -> bool:
    """Whether a difference is claimed whose 95 % interval is within the margin."""
    is_claimed = contrast["verdict"] in ("helps", "hurts")
    ci95, margin = contrast["ci95"], contrast["margin"]
    return bool(is_claimed and ci95 and margin and _within((ci95[0], ci95[1]), (margin[0], margin[1])))


def _within(ends: Ends, margin: Ends) -> bool:
    return margin[0] < ends[0] and ends[1] < margin[1]


def _losses(
    loss: Loss | None, comparison: Comparison, level: float, holds: Callable[[Ends], bool]
) -> list[str]:
    """What the model of lost trials says, where it forbids a claim."""
    if loss is None or comparison.reach is None:
        return []
    modelled = loss.moved(comparison.reach.ends(level), comparison.se or 0.0)
    if holds(modelled):
        return []
    reach = f"{points_range(modelled)} points"
    return [f"with lost trials modelled on their items' difficulty the interval is {reach}"]


def _doubts(p: float, p_adjusted: float, *, alpha: float) -> list[str]:
    """What rules out the claim of a difference, trials lost or not."""
    if p >= alpha:
        return [HOLDS_ZERO]
    if p_adjusted >= alpha:
        return [f"p is {p_text(p_adjusted)} after adjusting for the number of comparisons"]
    return []


def sentence(
    contrast: ContrastReport,
    *,
    interim: bool = False,
    place: Literal["under", "in"] = "under",
) -> str:
    """The finding in one or two plain sentences: `under` two arms, or `in` two jobs.

    `interim` says that more trials will come.
    """
    text = _claim(contrast, place=place)
    if contrast["also_differs"]:
        text += f" Beware: the arms also differ in {', '.join(contrast['also_differs'])}."
    if not contrast["withheld"] and _is_impossible(contrast):
        ends = " to ".join(map(points, contrast["bounds"] or ()))
        whatever = "whatever trials without a score had scored"
        text += f" Beware: over all samples the difference is {ends} points, {whatever}."
    return f"So far: {text}" if interim else text


def _is_impossible(contrast: ContrastReport) -> bool:
    """Whether no scores of the lost trials would make the difference of the pairs that of all samples."""
    diff, bounds = contrast["diff"], contrast["bounds"]
    return diff is not None and bounds is not None and not bounds[0] - FLAT <= diff <= bounds[1] + FLAT


def _claim(contrast: ContrastReport, *, place: str) -> str:
    model, diff = contrast["model"], contrast["diff"]
    under, than = f"{place} “{contrast['variant']}”", f"{place} “{contrast['baseline']}”"
    where = "" if contrast["scope"] == "all" else f" on {contrast['scope']}"
    cannot = f"It cannot be told whether {model} does better{where} {under} than {than}"
    if diff is None:
        why = "".join(reason for reason in contrast["reasons"] if reason != NOTHING)
        return f"{cannot}: {why or f'no sample has a score {place} both'}."
    sizes = f"{count(contrast['n'], 'sample')} in {clusters_words(contrast)}"
    if weight := weight_words(contrast["largest_cluster"] or 0.0, contrast["largest_among"] or 0):
        sizes += f"; {weight}"
    level, ends = ("90", contrast["ci90"]) if contrast["verdict"] == "no_effect" else ("95", contrast["ci95"])
    decides = ", which decides" if level == "90" else ""
    sure = f"({f'{level} % interval {points_range(ends)}{decides}; ' if ends else ''}{sizes})"
    means = (contrast["variant_mean"], contrast["baseline_mean"])
    by = f"by {abs(100 * diff):.1f} points, {percent(means[0])} % against {percent(means[1])} %"
    margin = margin_size(contrast["margin"] or (0.0, 0.0))
    margin += f" ({contrast['margin_why']})" if contrast["margin_why"] else ""
    if contrast["below_margin"]:
        by += f", smaller than the margin of {margin}"
    why = f" Why: {'; '.join(contrast['reasons'])}." if contrast["reasons"] else ""
    to_do = f" {contrast['next_step']}" if contrast["next_step"] else ""
    if contrast["withheld"]:
        return f"{cannot}, so no figure is given here.{why}{to_do}"
    if contrast["next_step"]:  # the reason comes first: the figure may be of the instrument alone
        first, *more = contrast["reasons"]
        also = f" Also: {'; '.join(more)}." if more else ""
        return f"{cannot}: {first}.{to_do} As scored: {points(diff)} points {sure}.{also}"
    match contrast["verdict"]:
        case "helps":
            return f"{model} does better{where} {under} than {than}, {by} {sure}.{contrast['rests_on']}"
        case "hurts":
            return f"{model} does worse{where} {under} than {than}, {by} {sure}.{contrast['rests_on']}"
        case "no_effect":
            alike = f"{model} does equally well{where} {under} and {than}, within {margin}"
            return f"{alike}: {points(diff)} points {sure}.{contrast['rests_on']}"
        case "undecided":
            after = f"{why}{contrast['rests_on']}{_what_would_show(contrast)}"
            return f"{cannot}: {points(diff)} points {sure}.{after}"


def _what_would_show(contrast: ContrastReport) -> str:
    if ONE_CLUSTER in contrast["reasons"]:  # which is why no study like this shows anything
        return ""
    if contrast["mde"] is None:
        return f" {contrast['mde_note']}" if contrast["mde_note"] else ""
    size = f"{100 * contrast['mde']:.1f} points"
    return f" A study of this size would find a true effect of {size} in 8 of 10 cases."
