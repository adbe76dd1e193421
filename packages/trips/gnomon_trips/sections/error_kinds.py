"""Counts where plans err: trials with at least one error of each kind, by model and arm, and their change."""

from collections.abc import Iterator, Mapping
from urllib.parse import urlencode

from typing_extensions import TypedDict

from gnomon.core.plan_row import ERROR_KINDS, NOT_DELIVERED, ErrorKind
from gnomon.report.pairs import ArmPair
from gnomon.report.section import Interval, ReportInput, Section, by_count, interval
from gnomon.report.text_formats import counted_causes
from gnomon.statistics.mean import ratio_score
from gnomon.stopping import while_wanted
from gnomon_trips.sections.plan_rates import PlanRows, columns, design_of, share_difference


class ErrorKindRow(TypedDict):
    """Of `of` scored trials under one arm, `trials` have an error of the kind.

    `flags` are those of their rows that say so, each with the trials that bear it.
    """

    kind: ErrorKind
    model: str
    arm: str
    trials: int
    of: int
    share: float
    ci95: Interval
    clusters: int
    flags: dict[str, int]


class ErrorKindChange(TypedDict):
    """The variant's share of trials with an error of the kind minus the baseline's, over common samples."""

    kind: ErrorKind
    model: str
    baseline: str
    variant: str
    baseline_share: float
    variant_share: float
    diff: float
    ci95: Interval
    n: int
    clusters: int


class ErrorKindsPart(TypedDict):
    """All kinds of which there is an error; empty where the benchmark judges no plans, or none errs."""

    error_kinds: list[ErrorKindRow]
    error_kind_changes: list[ErrorKindChange]


def _error_kinds(report_input: ReportInput) -> ErrorKindsPart:
    rows = report_input.collected(PlanRows)
    kinds = rows.kinds
    return {
        "error_kinds": [
            _kind_row(kind, model, arm, rows, report_input)
            for model, arm in while_wanted(report_input.scores.groups)
            if rows.trials.get((model, arm))
            for kind in kinds
        ],
        "error_kind_changes": [
            change
            for pair in while_wanted(report_input.pairs)
            for kind in kinds
            if (change := _change(kind, pair, rows, report_input)) is not None
        ],
    }


def _kind_row(
    kind: ErrorKind, model: str, arm: str, rows: PlanRows, report_input: ReportInput
) -> ErrorKindRow:
    counts = rows.faulty((model, arm), kind)
    faulty, trials = columns(counts, list(counts))
    share = ratio_score(faulty, trials, design_of(rows, report_input, list(counts)))
    return {
        "kind": kind,
        "model": model,
        "arm": arm,
        "trials": int(faulty.sum()),
        "of": int(trials.sum()),
        "share": share.mean,
        "ci95": interval(share.ci95),
        "clusters": share.clusters,
        "flags": by_count(rows.flags.get(((model, arm), kind), {})),
    }


def _change(
    kind: ErrorKind, pair: ArmPair, rows: PlanRows, report_input: ReportInput
) -> ErrorKindChange | None:
    first = rows.faulty((pair.model, pair.baseline), kind)
    second = rows.faulty((pair.model, pair.variant), kind)
    samples = [sample for sample in first if sample in second]
    if not samples:
        return None
    grouping = design_of(rows, report_input, samples)
    baseline, variant = columns(first, samples), columns(second, samples)
    diff, ends = share_difference(baseline, variant, grouping)
    return {
        "kind": kind,
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "baseline_share": float(baseline[0].sum() / baseline[1].sum()),
        "variant_share": float(variant[0].sum() / variant[1].sum()),
        "diff": diff,
        "ci95": interval(ends),
        "n": grouping.n,
        "clusters": grouping.clusters_n,
    }


def _query(row: ErrorKindRow) -> str:
    """The query of the list of trials that shows those of a row."""
    flags = [("flag", flag) for flag in row["flags"]]
    return urlencode([("model", row["model"]), ("arm", row["arm"]), *flags, ("view", "trials")])


def _view(report: ErrorKindsPart) -> Mapping[str, object] | None:
    rows = report.get("error_kinds", [])  # absent from reports of older versions
    if not rows:
        return None
    groups = list(dict.fromkeys((row["model"], row["arm"]) for row in rows))
    by_key = {(row["kind"], row["model"], row["arm"]): row for row in rows}
    kinds = [
        (kind, words, [by_key[kind, *group] for group in groups])
        for kind, words in ERROR_KINDS.items()
        if (kind, *groups[0]) in by_key
    ]
    return {"groups": groups, "kinds": kinds, "query": _query, "counted_causes": counted_causes}


def _terminal(report: ErrorKindsPart) -> Iterator[str]:
    rows = report.get("error_kinds", [])
    if rows:
        yield ""
    for model, arm in dict.fromkeys((row["model"], row["arm"]) for row in rows):
        of_group = [row for row in rows if (row["model"], row["arm"]) == (model, arm)]
        counts = ", ".join(
            f"{row['kind']} {row['trials']:,}{_undelivered(row['flags'])}"
            for row in of_group
            if row["trials"]
        )
        yield f"{model} / {arm}: trials with errors of {of_group[0]['of']:,}: {counts or 'none'}"


def _undelivered(flags: Mapping[str, int]) -> str:
    """Why there was no plan, in brackets; empty where there was one: nonsense, silence, or no end."""
    causes = {
        flag.partition(": ")[2] or "no plan in the answer": trials
        for flag, trials in flags.items()
        if flag.startswith(NOT_DELIVERED)
    }
    return f" (no plan: {counted_causes(causes)})" if causes else ""


error_kinds = Section(
    name="error_kinds",
    title="Where plans err",
    question="Of which kind are the errors of plans, and which of them does an arm mend?",
    fields=ErrorKindsPart,
    compute=_error_kinds,
    place=34,
    behind="plan_rate_differences",
    view=_view,
    terminal=_terminal,
)
