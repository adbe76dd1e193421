"""Judges whether a new job is not worse than an earlier one, for a build that passes or fails.

Non-inferiority, paired by sample: NEW passes where the lower end of the 90 % interval of its difference is
above minus the margin, and the one-sided p is below 0.05; trials without a score must not be able to undo
that, nor replies of which nobody knows the answer, by the rules of the verdict.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from scipy.special import ndtri
from typing_extensions import TypedDict

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.report.compared_pair import PairResult, compare_pair
from gnomon.report.pairs import ArmPair
from gnomon.report.reply_words import WORTH_SAYING, next_steps
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.score_matrix import Group, read_scores
from gnomon.report.section import Interval, interval
from gnomon.report.text_formats import margin_size
from gnomon.report.unknown_replies import replies_by_arm
from gnomon.report.verdict import NotWorse, both_ways, judge, judge_not_worse, why_unknown
from gnomon.statistics.design import Headline
from gnomon.statistics.equivalence import Margin
from gnomon.statistics.power import POWER
from gnomon_analyses.comparing.changed_trials import NOISE

LISTED = 10
ANSWER_CHARS = 60
BASE, NEW = "base", "new"
Finding = Literal["not_worse", "worse", "not_shown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSide:
    """Results to compare: their rows, and what is known of how they came about; None where that is not."""

    name: str  # as the user wrote it
    rows: Sequence[Row]
    arm: str | None = None  # the one arm that counts
    status: str = "completed"
    protocol: str | None = None
    scoring: str | None = None


class Regression(TypedDict):
    """A sample that scored lower in NEW; scores are means of its repeats, answers those of the first."""

    sample_id: str
    task: str
    base: float
    new: float
    base_answer: str | None
    new_answer: str | None


class _Tested(TypedDict):
    """The part of a GatePair that the test gives."""

    finding: Finding
    reasons: list[str]
    n: int  # samples with a score in both
    clusters: int
    crossing_clusters: int | None  # by a second factor that makes samples kin
    base_mean: float | None
    new_mean: float | None
    diff: float | None
    ci90: Interval
    ci95: Interval
    interval_method: str
    margin: float | None  # how far NEW may fall
    margin_why: str
    next_step: str  # what to do where replies of which nobody knows the answer forbid a finding; else empty
    p: float | None  # one-sided: of a fall by the margin or more
    could_show: float | None  # the margin that an equal NEW would pass in 8 of 10 such comparisons
    passes_from: float | None  # the least margin that these results pass


class GatePair(_Tested):
    """One model and arm of BASE against its counterpart in NEW."""

    label: str
    samples: dict[str, int]  # both, only_base, only_new
    missing: dict[str, float]  # shares of trials without a score, base and new
    is_identical: bool  # every score and answer is the same
    better: int  # samples
    worse: int
    regressed: list[Regression]  # at most ten, the greatest fall first


class GateReport(TypedDict):
    """What the gate says: it passes where no pair is worse, or not shown not to be."""

    base: str
    new: str
    margin: str
    passed: bool
    pairs: list[GatePair]
    notes: list[str]


def gate(base: GateSide, new: GateSide, *, margin: Margin, headline: Headline, clustered: bool) -> GateReport:
    """Judge each model and arm of `base` against the same of `new`, over the samples that both have.

    Each pair is tested at the full level: the gate passes only where all do, which needs no adjustment.

    Raises:
        SpecError: the sides have other benchmarks or scoring, share no sample, or nothing can be paired.
    """
    for side, other, what in (
        ({row.benchmark for row in base.rows}, {row.benchmark for row in new.rows}, "benchmarks"),
        ({base.scoring} - {None}, {new.scoring} - {None}, "ways of scoring"),
    ):
        if side and other and side != other:
            names = " and ".join(", ".join(sorted(map(str, each))) for each in (side, other))
            raise SpecError(f"BASE and NEW have different {what}: {names}", field="NEW")
    pairs = [
        _judged(label, before, after, base, new, margin=margin, headline=headline, clustered=clustered)
        for label, (before, after) in paired(base, new).items()
    ]
    return {
        "base": base.name,
        "new": new.name,
        "margin": _margin_text(margin),
        "passed": all(pair["finding"] == "not_worse" for pair in pairs),
        "pairs": pairs,
        "notes": list(_notes(base, new)),
    }


def paired(base: GateSide, new: GateSide) -> dict[str, tuple[Group, Group]]:
    """What is compared with what, by its label: the same model and arm; where arms are named, these.

    An arm that only one side names is that of both. What has one model each is paired whatever it is called.

    Raises:
        SpecError: an arm that is named is not there, or nothing is common.
    """
    before = _groups(base, base.arm or new.arm, "BASE")
    after = _groups(new, new.arm or base.arm, "NEW")
    if base.arm is None and new.arm is None:
        pairs = [(group, group) for group in before if group in after]
    else:  # one arm on each side
        by_model = {group[0]: group for group in after}
        pairs = [(group, by_model[group[0]]) for group in before if group[0] in by_model]
    if not pairs and len(before) == len(after) == 1:
        pairs = [(before[0], after[0])]
    if pairs:
        labels = [" → ".join(dict.fromkeys((_label(*first), _label(*second)))) for first, second in pairs]
        return dict(zip(labels, pairs, strict=True))
    names = "; ".join(
        f"{side}: {', '.join(_label(*group) for group in groups)}"
        for side, groups in (("BASE", before), ("NEW", after))
    )
    raise SpecError(f"no model and arm is common ({names}); name an arm of each: JOB:ARM", field="NEW")


def _groups(side: GateSide, arm: str | None, field: str) -> list[Group]:
    groups = sorted({(row.model, row.arm) for row in side.rows})
    if not groups:
        raise SpecError(f"{side.name} has no results", field=field)
    named = [group for group in groups if arm in (None, group[1])]
    if not named:
        arms = ", ".join(dict.fromkeys(name for _, name in groups))
        raise SpecError(f"no arm {arm!r} in {side.name}; there are: {arms}", field=field)
    return named


def _label(model: str, arm: str) -> str:
    return f"{model} / {arm}"


def _judged(
    label: str,
    before: Group,
    after: Group,
    base: GateSide,
    new: GateSide,
    *,
    margin: Margin,
    headline: Headline,
    clustered: bool,
) -> GatePair:
    of_base = [row for row in base.rows if (row.model, row.arm) == before]
    of_new = [row for row in new.rows if (row.model, row.arm) == after]
    ids = [{row.sample_id for row in rows} for rows in (of_base, of_new)]
    shared = ids[0] & ids[1]
    if not shared:
        raise SpecError(f"BASE and NEW have no sample of {label} in common", field="NEW")
    # A repeat that only one side has is not lost by the other: it was never asked for.
    repeats = {row.repeat for row in of_base} & {row.repeat for row in of_new}
    sides = [
        [row for row in rows if row.sample_id in shared and row.repeat in repeats]
        for rows in (of_base, of_new)
    ]
    rows = [
        replace(row, model=label, arm=arm)
        for arm, part in zip((BASE, NEW), sides, strict=True)
        for row in part
    ]
    scores = read_scores(rows, [(label, BASE), (label, NEW)], clustered=clustered)
    pair = ArmPair(model=label, baseline=BASE, variant=NEW, is_primary=True)
    result = compare_pair(scores, pair, "all", scores.everywhere(), headline=headline)
    is_identical = _is_identical(*sides)
    falls = sorted(_changes(*sides), key=lambda change: (change["new"] - change["base"], change["sample_id"]))
    return {
        **_tested(result, margin, is_identical=is_identical),
        "label": label,
        "samples": {
            "both": len(shared),
            "only_base": len(ids[0] - shared),
            "only_new": len(ids[1] - shared),
        },
        "missing": {BASE: result.missing[0], NEW: result.missing[1]},
        "is_identical": is_identical,
        "better": sum(change["new"] > change["base"] + NOISE for change in falls),
        "worse": sum(change["new"] < change["base"] - NOISE for change in falls),
        "regressed": [change for change in falls if change["new"] < change["base"] - NOISE][:LISTED],
    }


def _tested(result: PairResult, margin: Margin, *, is_identical: bool) -> _Tested:
    comparison, means = result.comparison, result.means
    tested: _Tested = {
        "finding": "not_shown",
        "reasons": ["no sample has a score in both"],
        "n": comparison.n if comparison else 0,
        "clusters": comparison.clusters if comparison else 0,
        "crossing_clusters": result.grouping.crossing_n if result.grouping else None,
        "base_mean": means[0] if means else None,
        "new_mean": means[1] if means else None,
        "diff": comparison.diff if comparison else None,
        "ci90": interval(comparison.ci90 if comparison else None),
        "ci95": interval(comparison.ci95 if comparison else None),
        "interval_method": comparison.interval_method if comparison else "",
        "margin": None,
        "margin_why": "",
        "next_step": "",
        "p": None,
        "could_show": None,
        "passes_from": None,
    }
    if comparison is None or means is None:
        return tested
    # A number of points is meant as it is: only a fall counts, so an end of the scale makes it no narrower.
    fall = -margin.size if margin.kind == "absolute" else margin.around(means[0]).low
    tested["margin"], tested["margin_why"] = -fall, "" if margin.kind == "absolute" else _margin_text(margin)
    # As scored, and with unknown replies and lost trials at worst.
    ways = (result, *result.ways)
    judged = [judge_not_worse(way.comparison or comparison, loss=way.loss, fall=fall) for way in ways]
    lowers = [each.lower for each in judged if each.lower is not None]
    tested["p"] = judged[0].p
    tested["passes_from"] = max(0.0, -min(lowers)) if lowers else None
    if judged[0].lower is not None and comparison.se is not None:
        tested["could_show"] = comparison.diff - judged[0].lower + float(ndtri(POWER)) * comparison.se
    replies = replies_by_arm(result.unknown)
    if is_identical and all(replies[each.arm] <= WORTH_SAYING * each.of for each in result.unknown):
        tested["finding"], tested["reasons"] = "not_worse", []
        return tested
    scored, *others = ((_finding(way, each), each.reasons) for way, each in zip(ways, judged, strict=True))
    said = both_ways(scored, others, why=partial(why_unknown, result), undecided="not_shown")
    tested["finding"], tested["reasons"] = said
    tested["next_step"] = next_steps(each.state for each in result.unknown) if said != scored else ""
    return tested


def _finding(result: PairResult, judged: NotWorse) -> Finding:
    if not judged.reasons:
        return "not_worse"
    comparison = result.comparison
    if comparison is None:
        return "not_shown"
    verdict, _ = judge(
        comparison, p_adjusted=comparison.p, loss=result.loss, margin=(0.0, 0.0), alpha=result.alpha
    )
    return "worse" if verdict == "hurts" else "not_shown"


def _is_identical(base: Sequence[Row], new: Sequence[Row]) -> bool:
    """Whether every trial of one side has the same score and answer in the other, and none lacks a score."""

    def ends(rows: Sequence[Row]) -> dict[tuple[str, int], tuple[object, ...]]:
        return {(row.sample_id, row.repeat): (row.outcome, row.score, row.answer) for row in rows}

    return ends(base) == ends(new) and all(row.score is not None for row in base)


def _changes(base: Sequence[Row], new: Sequence[Row]) -> Iterator[Regression]:
    """The samples with a score on both sides."""
    before, after = _by_sample(base), _by_sample(new)
    for sample_id, (first, scores) in before.items():
        if sample_id in after and scores and after[sample_id][1]:
            row, others = after[sample_id]
            yield {
                "sample_id": sample_id,
                "task": first.task,
                "base": math.fsum(scores) / len(scores),
                "new": math.fsum(others) / len(others),
                "base_answer": _shown(first.answer),
                "new_answer": _shown(row.answer),
            }


def _by_sample(rows: Sequence[Row]) -> Mapping[str, tuple[Row, list[float]]]:
    samples: dict[str, tuple[Row, list[float]]] = {}
    for row in sorted(rows, key=lambda row: row.repeat):
        _, scores = samples.setdefault(row.sample_id, (row, []))
        if row.score is not None:
            scores.append(row.score)
    return samples


def _shown(answer: str | None) -> str | None:
    return None if answer is None else escape_surrogates(answer[:ANSWER_CHARS])


def _margin_text(margin: Margin) -> str:
    """How far NEW may fall, in words.

    >>> _margin_text(Margin(kind="absolute", size=0.03)), _margin_text(Margin(kind="relative", size=0.1))
    ('3 points', "10 % of BASE's score")
    """
    if margin.kind == "relative":
        return f"{100 * margin.size:.3g} % of BASE's score"
    if margin.kind == "odds":
        return f"odds {margin.size:.3g} times as low"
    return margin_size((-margin.size, margin.size))


def _notes(base: GateSide, new: GateSide) -> Iterator[str]:
    for name, side in (("BASE", base), ("NEW", new)):
        if side.status != "completed":
            yield f"{name} is a job that did not complete ({side.status}): its results so far are compared."
    if base.protocol and new.protocol and base.protocol != new.protocol:
        yield f"BASE was asked by the protocol {base.protocol}, NEW by {new.protocol}."
