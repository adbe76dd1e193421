"""Judges one comparison: what may be claimed from it, and in which words."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from gnomon.report.contrast import ContrastReport, Verdict
from gnomon.report.text_formats import count, p_text, percent, points
from gnomon.statistics.estimate import FLAT, Ends
from gnomon.statistics.loss import Loss
from gnomon.statistics.non_inferiority import fall_p, least_margin
from gnomon.statistics.paired import Comparison
from gnomon.statistics.reach import DirichletPart

Said = TypeVar("Said", bound=str)
Ruling = tuple[Verdict, list[str]]  # with what rules out a stronger one

ALPHA = 0.05
UNEQUAL = 0.05  # of the exact test that both arms lost trials alike
HOLDS_ZERO = "the interval holds zero"
ABOVE_ALL = 10.0  # no difference is above it
ONE_CLUSTER = "all samples that are compared lie in one cluster: nothing says how far chance reaches"


def judge(
    comparison: Comparison,
    *,
    p_adjusted: float | None,
    loss: Loss | None,
    margin: Ends,
    equivalence_p: float | None = None,
    interim: bool = False,
) -> Ruling:
    """The verdict, and what rules out a stronger one.

    `helps` and `hurts` need a 95 % interval clear of zero, an adjusted p below 0.05 and a sign-flip check
    that agrees (where there is one). `no_effect` needs the 90 % interval inside `margin`, and an adjusted p
    of equivalence below 0.05 (where there is one). Where trials are lost, the same must hold for the interval
    with these modelled; and where one arm lost more of them than the other by more than chance, also for the
    interval with that excess at worst. `interim` says that trials which have not run yet are among these.
    """
    ci95, ci90, se = comparison.ci95, comparison.ci90, comparison.se
    if ci95 is None or ci90 is None or se is None or comparison.p is None or p_adjusted is None:
        return "undecided", [ONE_CLUSTER]
    doubts = _doubts(comparison, ci95, p_adjusted)
    side = 1 if comparison.diff > 0 else -1
    losses = _losses(loss, ci95, se, lambda ends: min(side * ends[0], side * ends[1]) > 0, interim=interim)
    if not doubts and not losses:
        return ("helps" if comparison.diff > 0 else "hurts"), []
    is_small = _within(ci90, margin)
    too_large = _losses(loss, ci90, se, lambda ends: _within(ends, margin), interim=interim)
    is_equivalent = equivalence_p is None or equivalence_p < ALPHA
    if is_small and is_equivalent and not too_large:
        return "no_effect", []
    if doubts and not is_small:
        if doubts[0].startswith(HOLDS_ZERO) and margin[0] < 0 < margin[1]:
            doubts = [f"{doubts[0]}, and also effects larger than {_size(margin)}"]
    elif doubts and not is_equivalent and equivalence_p is not None:
        text = f"p of equivalence is {p_text(equivalence_p)} after adjusting for the number of comparisons"
        doubts.append(text)
    elif doubts and is_small:
        doubts.append("lost trials could make the effect larger than the margin")
    return "undecided", [*losses, *doubts]


def both_ways(
    scored: tuple[Said, list[str]], others: Iterable[tuple[Said, list[str]]], *, why: str, undecided: Said
) -> tuple[Said, list[str]]:
    """What is said of replies as they were scored, if it is also said where those of which nobody knows the
    answer count in the other ways; else that it is `undecided`, with `why` first.

    >>> both_ways(("hurts", []), [("hurts", []), ("helps", [])], why="4 of 9 were cut", undecided="undecided")
    ('undecided', ['4 of 9 were cut'])
    """
    said, reasons = scored
    if all(other == said for other, _ in others):
        return scored
    return undecided, [why, *reasons]


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

    It is not worse where the 90 % interval lies above `fall`, the one-sided p is below 0.05 (of few pairs of
    right and wrong answers also that of the score test), and the same holds for the interval with lost trials
    modelled and, where these are unequal, at worst.
    """
    reach, ci90, se = comparison.reach, comparison.ci90, comparison.se
    if reach is None or ci90 is None or se is None:
        return NotWorse(reasons=[ONE_CLUSTER], p=None, lower=None)
    p, low = max(part.outside(fall, ABOVE_ALL) for part in reach.parts), ci90[0]
    for part in reach.parts:
        if isinstance(part, DirichletPart):  # its one-sided tail is up to 8 % at the level of 5 %
            p = max(p, fall_p(part.rescued, part.broken, part.n, -fall))
            low = min(low, -least_margin(part.rescued, part.broken, part.n, alpha=ALPHA))
    ends = low, ci90[1]
    lowers = [low]
    if loss is not None:
        lowers.append(loss.moved(ends, se)[0])
        lowers += [loss.at_worst(ends, se)[0]] if loss.is_unequal(UNEQUAL) else []
    reasons = _losses(loss, ends, se, lambda ends: ends[0] > fall, interim=False)
    if low <= fall or p >= ALPHA:
        reasons.append(f"it may have fallen by as much as {points(low).lstrip('−')} points")
    return NotWorse(reasons=reasons, p=p, lower=min(lowers))


def is_withheld(comparison: Comparison, loss: Loss | None) -> bool:
    """Whether unequal loss alone could turn the difference: then no figure is named."""
    if loss is None or not loss.is_unequal(UNEQUAL):
        return False
    if comparison.ci95 is None or comparison.se is None:
        return True
    low, high = loss.at_worst(comparison.ci95, comparison.se)
    return low <= 0 <= high


def is_below_margin(contrast: ContrastReport) -> bool:
    """Whether a difference is claimed whose 95 % interval is within the margin."""
    is_claimed = contrast["verdict"] in ("helps", "hurts")
    ci95, margin = contrast["ci95"], contrast["margin"]
    return bool(is_claimed and ci95 and margin and _within((ci95[0], ci95[1]), (margin[0], margin[1])))


def _within(ends: Ends, margin: Ends) -> bool:
    return margin[0] < ends[0] and ends[1] < margin[1]


def _size(margin: Sequence[float]) -> str:
    """A margin in points: one figure where both sides are alike.

    >>> _size((-0.05, 0.05)), _size((-0.041, 0.044)), _size((-0.01, 0.01))
    ('5 points', '−4.1 to +4.4 points', '1 point')
    """
    if abs(margin[0] + margin[1]) > 1e-9:
        return f"{points(margin[0])} to {points(margin[1])} points"
    size = f"{100 * margin[1]:.3g}"
    return f"{size} point" if size == "1" else f"{size} points"


def _losses(
    loss: Loss | None, ends: Ends, se: float, holds: Callable[[Ends], bool], *, interim: bool
) -> list[str]:
    """Which of the two rules on lost trials forbids a claim: unequal loss at worst, or the model."""
    if loss is None:
        return []
    at_worst, modelled = loss.at_worst(ends, se), loss.moved(ends, se)
    if loss.is_unequal(UNEQUAL) and not holds(at_worst):
        shares = " and ".join(f"{share:.1%}" for share in loss.shares)
        reach = f"{points(at_worst[0])} to {points(at_worst[1])} points"
        what = "the arms are not equally far" if interim else "the arms lost trials unequally"
        where = "missing or not run yet" if interim else "missing"
        why = f"{shares} of baseline and variant are {where}, p {p_text(loss.p)} for chance"
        return [f"{what} ({why}): at worst the interval is {reach}"]
    if not holds(modelled):
        reach = f"{points(modelled[0])} to {points(modelled[1])} points"
        what = "trials without a score" if interim else "lost trials"
        return [f"{what} could undo it: modelled on their items' difficulty, the interval is {reach}"]
    return []


def _doubts(comparison: Comparison, ci95: Ends, p_adjusted: float) -> list[str]:
    """What rules out the claim of a difference, trials lost or not."""
    if ci95[0] < 0 < ci95[1] or (0 in ci95 and p_adjusted < ALPHA):
        is_wider = comparison.p is not None and comparison.p < ALPHA
        return [f"{HOLDS_ZERO}, though p is {p_text(comparison.p)}" if is_wider else HOLDS_ZERO]
    doubts: list[str] = []
    if p_adjusted >= ALPHA:
        doubts.append(f"p is {p_text(p_adjusted)} after adjusting for the number of comparisons")
    if comparison.check_p is not None and comparison.check_p >= ALPHA:
        doubts.append(f"the sign-flip check over clusters does not agree (p {p_text(comparison.check_p)})")
    return doubts


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
    model, diff, ci95 = contrast["model"], contrast["diff"], contrast["ci95"]
    under, than = f"{place} “{contrast['variant']}”", f"{place} “{contrast['baseline']}”"
    where = "" if contrast["scope"] == "all" else f" on {contrast['scope']}"
    cannot = f"It cannot be told whether {model} does better{where} {under} than {than}"
    if diff is None:
        return f"{cannot}: no sample has a score {place} both."
    sizes = f"{count(contrast['n'], 'sample')} in {count(contrast['clusters'], 'cluster')}"
    sure = f"({f'95 % interval {points(ci95[0])} to {points(ci95[1])}; ' if ci95 else ''}{sizes})"
    means = (contrast["variant_mean"], contrast["baseline_mean"])
    by = f"by {abs(100 * diff):.1f} points, {percent(means[0])} % against {percent(means[1])} %"
    margin = _size(contrast["margin"] or (0.0, 0.0))
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
            return f"{model} does better{where} {under} than {than}, {by} {sure}."
        case "hurts":
            return f"{model} does worse{where} {under} than {than}, {by} {sure}."
        case "no_effect":
            alike = f"{model} does equally well{where} {under} and {than}, within {margin}"
            return f"{alike}: {points(diff)} points {sure}."
        case "undecided":
            return f"{cannot}: {points(diff)} points {sure}.{why}{_what_would_show(contrast)}"


def _what_would_show(contrast: ContrastReport) -> str:
    if contrast["mde"] is None:
        return f" {contrast['mde_note']}" if contrast["mde_note"] else ""
    size = f"{100 * contrast['mde']:.1f} points"
    return f" A study of this size would find a true effect of {size} in 8 of 10 cases."
