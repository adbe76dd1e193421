"""Compares each arm with its baseline, over the same samples, and says what may be claimed."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from gnomon.report.adjustment import Adjusted, adjust, adjusted_alone
from gnomon.report.compared_pair import PairResult, compare_pair
from gnomon.report.contrast import ContrastReport, Family
from gnomon.report.detectable import Detectable, Judged, Rule, detectable_in
from gnomon.report.drift import RunTogether, run_together
from gnomon.report.pairs import ArmPair
from gnomon.report.reply_alerts import uncalled_arms
from gnomon.report.reply_words import next_steps
from gnomon.report.score_matrix import SampleScores
from gnomon.report.section import UNFINISHED, PairKey, ReportInput, interval, pair_key
from gnomon.report.sections.prices import prices
from gnomon.report.sequence import stop_words
from gnomon.report.text_formats import capitalised, count, listed
from gnomon.report.usage_ratios import price_in_words
from gnomon.report.verdict import (
    HOLDS_ZERO,
    NOTHING,
    Ruling,
    both_ways,
    is_below_margin,
    is_withheld,
    judge,
    rests_on_the_rest,
    sentence,
    why_unknown,
)
from gnomon.spec.margin_spec import margin_of
from gnomon.statistics.multiple_testing import benjamini_hochberg, holm
from gnomon.stopping import while_wanted
from gnomon.trials.trial_plan import repeats_of_pair

SMALL_STUDY = 0.4  # a study that finds only larger effects says so beside a claim


def all_contrasts(report_input: ReportInput) -> list[ContrastReport]:
    """All contrasts: scope `all` of every pair first, then the cells; primary ones lead."""
    results = list(_compare_all(report_input))
    analysis, interim = report_input.spec.analysis, report_input.status in UNFINISHED
    reports = [
        contrast_report(result, adjusted=adjusted, detectable=detectable, interim=interim, together=together)
        for result, adjusted, detectable, together in zip(
            results,
            adjust(results, analysis),
            _detectable(report_input, results),
            run_together(report_input, results, compare_pair),
            strict=True,
        )
    ]
    told = report_input.part(prices)["prices"] if report_input.collectors else ()  # else no rows were read
    of_pairs = {pair_key(price): price_in_words(price) for price in told}
    uncalled = set(uncalled_arms(report_input))
    for contrast in reports:
        price = of_pairs.get(pair_key(contrast), "")
        if price and contrast["scope"] == "all" and contrast["verdict"] != "undecided":
            contrast["verdict_text"] += f" {capitalised(price)}."
        if contrast["verdict"] in ("helps", "hurts") and contrast["scope"] == "all":
            contrast["verdict_text"] += _small_study_text(contrast)
        if contrast["scope"] == "all":
            contrast["verdict_text"] += _uncalled_text(contrast, uncalled)
        if report_input.status == "cancelled":
            contrast["verdict_text"] = f"Cancelled before its end: {contrast['verdict_text']}"
        if contrast["family"] == "primary":
            contrast["verdict_text"] += _early_stop_text(report_input)
    return reports


def _uncalled_text(contrast: ContrastReport, uncalled: Collection[tuple[str, str]]) -> str:
    """Where no tool was ever called: whatever is found then is no effect of their use."""
    arms = [
        arm for arm in (contrast["baseline"], contrast["variant"]) if (contrast["model"], arm) in uncalled
    ]
    return f" No tool was ever called under {listed([f'“{arm}”' for arm in arms])}." if arms else ""


def _detectable(report_input: ReportInput, results: Sequence[PairResult]) -> Iterator[Detectable]:
    """What each comparison could detect, among as many of its family as there are.

    Not of a job that may stop early: how large it gets depends on the effect.
    """
    repeats_of = report_input.spec.repeats_of
    distinct = [result for result in results if not result.repeats_all]
    looks = Counter(result.family for result in distinct if result.p is not None)
    simulated = Counter(result.scope == "all" for result in distinct)
    of_pairs: dict[PairKey, Detectable] = {}
    for result in while_wanted(results):
        if report_input.drawn_plan is not None:
            yield Detectable(effect=None)
            continue
        if result.repeats_all:
            yield of_pairs[result.pair.key]
            continue
        among = max(1, looks[result.family])
        rule = rule_of(result.family, looks=among)
        repeats = repeats_of_pair(repeats_of(result.pair.baseline), repeats_of(result.pair.variant))
        detectable = detectable_in(
            result, rule, looks=among, simulated=simulated[result.scope == "all"], repeats=repeats
        )
        if result.scope == "all":
            of_pairs[result.pair.key] = detectable
        yield detectable


def rule_of(family: Family, *, looks: int) -> Rule:
    """The whole rule of the verdict, for the simulated scores of two arms.

    It is that of one comparison among `looks` of its family, of which the others show nothing. The margin has
    no part in whether a difference is claimed.
    """
    adjust_p = holm if family == "primary" else benjamini_hochberg
    pair = ArmPair(model="", baseline="", variant="", is_primary=family == "primary")

    def adjusted(p: float) -> float:
        return adjust_p([p, *[1.0] * (looks - 1)])[0]

    def rule(scores: SampleScores) -> Judged:
        result = compare_pair(scores, pair, "all", scores.everywhere(), headline="mean_of_cells")
        comparison = result.comparison
        if comparison is None:
            return Judged(is_claimed=False, diff=0.0, reasons=[NOTHING])
        _, (verdict, reasons) = rulings(result, adjusted_alone(result, adjusted))
        # What the interval holds beside zero depends on the margin, which has no part here.
        reasons = [HOLDS_ZERO if reason.startswith(HOLDS_ZERO) else reason for reason in reasons]
        return Judged(is_claimed=verdict in ("helps", "hurts"), diff=comparison.diff, reasons=reasons)

    return rule


def rulings(result: PairResult, adjusted: Adjusted) -> tuple[Ruling, Ruling]:
    """What the known scores say, and what is said: the same if it holds with the unknown ones at worst."""
    scored = _judged(result, adjusted)
    others = [_judged(way, of_way) for way, of_way in zip(result.ways, adjusted.ways, strict=True)]
    return scored, both_ways(scored, others, why=partial(why_unknown, result), undecided="undecided")


def _compare_all(report_input: ReportInput) -> Iterator[PairResult]:
    scores, plan = report_input.scores, report_input.drawn_plan
    headline, everywhere = report_input.benchmark.headline, scores.everywhere()
    margin_in = partial(margin_of, report_input.spec.analysis.margin)
    wholes = [
        compare_pair(scores, pair, "all", everywhere, headline=headline, plan=plan)
        for pair in while_wanted(report_input.pairs)
    ]
    yield from wholes
    for whole in while_wanted(wholes):
        for code, name in enumerate(scores.cell_names):
            if code == whole.only_cell and margin_in(name) == margin_in("all"):
                yield replace(whole, scope=name, repeats_all=True)
                continue
            within = scores.cells == code
            yield compare_pair(scores, whole.pair, name, within, headline="mean_of_samples", plan=plan)


def contrast_report(
    result: PairResult,
    *,
    adjusted: Adjusted,
    detectable: Detectable,
    interim: bool,
    together: RunTogether | None = None,
) -> ContrastReport:
    """The comparison with its verdict, in numbers and words.

    `together` is the same over the trials that were run together, where too many others were not.
    """
    comparison, loss = result.comparison, result.loss
    modelled = (comparison.diff, comparison.ci95) if comparison else (None, None)
    if comparison and loss:
        modelled = loss.modelled, comparison.ci95 and loss.moved(comparison.ci95, comparison.se or 0.0)
    contrast: ContrastReport = {
        "model": result.pair.model,
        "baseline": result.pair.baseline,
        "variant": result.pair.variant,
        "isolates": result.pair.isolates,
        "also_differs": list(result.pair.also_differs),
        "scope": result.scope,
        "family": result.family,
        "repeats_all": result.repeats_all,
        "n": comparison.n if comparison else 0,
        "clusters": comparison.clusters if comparison else 0,
        "crossing_clusters": result.grouping.crossing_n if result.grouping else None,
        "largest_cluster": result.grouping.heaviest[0] if result.grouping else None,
        "largest_among": result.grouping.heaviest[1] if result.grouping else None,
        "baseline_mean": result.means[0] if result.means else None,
        "variant_mean": result.means[1] if result.means else None,
        "diff": comparison.diff if comparison else None,
        "ci95": interval(comparison.ci95 if comparison else None),
        "ci95_adjusted": interval(adjusted.ci95),
        "ci90": interval(comparison.ci90 if comparison else None),
        "se": comparison.se if comparison else None,
        "interval_method": comparison.interval_method if comparison else "none: nothing to compare",
        "p": comparison.p if comparison else None,
        "p_adjusted": adjusted.p,
        "margin": interval(adjusted.limits.ends if adjusted.limits else None),
        "margin_why": adjusted.limits.why if adjusted.limits else "",
        "below_margin": False,
        "equivalence_p": adjusted.equivalence_p,
        "equivalence_p_adjusted": adjusted.equivalence_p_adjusted,
        "test": comparison.test if comparison else f"none: {result.absent}",
        "rescued": result.counts[0],
        "broken": result.counts[1],
        "both_right": result.counts[2],
        "both_wrong": result.counts[3],
        "mde": detectable.effect,
        "mde_note": detectable.note,
        "bounds": interval(result.bounds),
        "loss_p": loss.p if loss else None,
        "modelled_diff": modelled[0],
        "modelled_ci95": interval(modelled[1]),
        "worst_ci95": interval(result.worst_ci95),
        "unknown_ci95": interval(result.worst_ci95 if result.unknown else None),
        "verdict": "undecided",
        "withheld": comparison is not None and is_withheld(result),
        "rests_on": "",
        "reasons": [result.absent],
        "next_step": "",
        "verdict_text": "",
    }
    if comparison is not None:
        scored, judged = rulings(result, adjusted)
        contrast["verdict"], contrast["reasons"] = judged
        contrast["next_step"] = next_steps(each.state for each in result.unknown) if judged != scored else ""
        margin = adjusted.limits.ends if adjusted.limits else (0.0, 0.0)
        contrast["rests_on"] = rests_on_the_rest(
            result, scored[0], is_claimed=judged == scored, margin=margin
        )
        if together is not None and (doubts := together.doubts(contrast["verdict"])):
            contrast["verdict"], contrast["reasons"] = "undecided", [*doubts, *contrast["reasons"]]
        contrast["below_margin"] = is_below_margin(contrast)
    contrast["verdict_text"] = sentence(contrast, interim=interim)
    return contrast


def _judged(result: PairResult, adjusted: Adjusted) -> Ruling:
    """The verdict on one way to count what nobody knows."""
    if result.comparison is None:
        return "undecided", [result.absent]
    return judge(
        result.comparison,
        p_adjusted=adjusted.p,
        loss=result.loss,
        margin=adjusted.limits.ends if adjusted.limits else (0.0, 0.0),
        margin_why=adjusted.limits.why if adjusted.limits else "",
        equivalence_p=adjusted.equivalence_p_adjusted,
        alpha=result.alpha,
    )


def _small_study_text(contrast: ContrastReport) -> str:
    """That a study finds large differences alone, where it does; nothing of a job that may stop early."""
    effect, note = contrast["mde"], contrast["mde_note"]
    if effect is None:
        return f" {note}" if note else ""
    if effect <= SMALL_STUDY:
        return ""
    return (
        f" Of studies of this size 8 of 10 find only true differences of {100 * effect:.0f} points or more."
    )


def _early_stop_text(report_input: ReportInput) -> str:
    """Where the job was decided early: after how much, and what was not run; else nothing."""
    stop, plan = report_input.stopped_early, report_input.drawn_plan
    if stop is None or plan is None:
        return ""
    samples = f"{stop['samples']:,} of {count(len(plan.places), 'sample')}"
    how, why = stop_words(stop)
    text = (
        f" {how} early{why}, after {samples} in {stop['clusters']:,} of {count(plan.clusters_n, 'cluster')}"
    )
    if report_input.has_stopped and plan.not_run:
        return f"{text}; {count(plan.not_run, 'sample')} {'was' if plan.not_run == 1 else 'were'} not run."
    return f"{text}; more was run after that."
