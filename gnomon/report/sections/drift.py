"""Tells which arms ran apart in time, and which versions of a model answered them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
from typing_extensions import TypedDict

from gnomon.core.moments import moment_text
from gnomon.report.alert import Alert, alert
from gnomon.report.drift import gap_text, runs_of
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.scored_rows import NO_TIME, ScoredRows
from gnomon.report.section import ReportInput, Section
from gnomon.report.text_formats import count, counted_causes

NOT_RECORDED = "not recorded"


class ArmRun(TypedDict):
    """When a model's scored trials under an arm began, and which versions of it answered them.

    `timed` of the `trials` tell when they began: the first and the last of these, ISO 8601 in UTC.
    """

    model: str
    arm: str
    trials: int
    timed: int
    first_start: str | None
    last_start: str | None
    versions: dict[str, int]


class PairRun(TypedDict):
    """How the pairs of an arm and its baseline were run: of `pairs` so many were run together.

    `apart` began far from each other, `other_version` were answered by different versions of the model, and
    `timed` tell when both began. `causes` are empty where nearly all were run together.
    """

    model: str
    baseline: str
    variant: str
    pairs: int
    timed: int
    apart: int
    other_version: int
    together: int
    median_gap_s: float | None
    causes: list[str]
    advice: str


class DriftPart(TypedDict):
    """When each arm ran, and which pairs of trials were run together."""

    arm_runs: list[ArmRun]
    pair_runs: list[PairRun]


def _drift(report_input: ReportInput) -> DriftPart:
    scores, rows = report_input.scores, report_input.collected(ScoredRows)
    names, versions = rows.versions
    groups = scores.places // max(1, len(scores.samples))
    arm_runs: list[ArmRun] = []
    for group, (model, arm) in enumerate(scores.groups):
        of_group = groups == group
        started = rows.started[of_group]
        started = started[started != NO_TIME]
        counts = np.bincount(versions[of_group], minlength=len(names))
        arm_runs.append(
            {
                "model": model,
                "arm": arm,
                "trials": int(of_group.sum()),
                "timed": len(started),
                "first_start": _moment(started.min()) if len(started) else None,
                "last_start": _moment(started.max()) if len(started) else None,
                "versions": {
                    escape_surrogates(name): int(n)
                    for name, n in zip(names, counts, strict=True)
                    if n and name
                },
            }
        )
    pair_runs: list[PairRun] = [
        {
            "model": runs.pair.model,
            "baseline": runs.pair.baseline,
            "variant": runs.pair.variant,
            "pairs": runs.pairs,
            "timed": runs.timed,
            "apart": runs.apart,
            "other_version": runs.other_version,
            "together": runs.together,
            "median_gap_s": runs.median_gap_s,
            "causes": runs.causes,
            "advice": runs.advice if runs.is_doubtful else "",
        }
        for runs in runs_of(scores, rows, report_input.pairs)
    ]
    return {"arm_runs": arm_runs, "pair_runs": pair_runs}


def _moment(milliseconds: int) -> str:
    return moment_text(datetime.fromtimestamp(int(milliseconds) / 1000, UTC))


def drift_alerts(report_input: ReportInput) -> Iterator[Alert]:
    """An alert for each pair of arms of which too many trials were not run together."""
    for runs in report_input.part(drift)["pair_runs"]:
        if runs["causes"]:
            apart = runs["pairs"] - runs["together"]
            yield alert(
                "drift",
                f"{apart:,} of {count(runs['pairs'], 'pair')} with “{runs['baseline']}” were not run "
                f"together, as {' and '.join(runs['causes'])}",
                model=runs["model"],
                arm=runs["variant"],
                concerned=apart,
                n=runs["pairs"],
                advice=runs["advice"],
            )


def _is_recorded(report: DriftPart) -> bool:
    return any(run["timed"] or run["versions"] for run in report["arm_runs"])


def _arm_row(run: ArmRun) -> Sequence[str]:
    span = NOT_RECORDED
    if run["first_start"] and run["last_start"]:
        span = f"{_to_minute(run['first_start'])} to {_to_minute(run['last_start'])}"
        span += "" if run["timed"] == run["trials"] else f" ({run['timed']:,} of {run['trials']:,} trials)"
    versions = counted_causes(run["versions"]) if run["versions"] else NOT_RECORDED
    return run["model"], run["arm"], span, versions


def _to_minute(moment: str) -> str:
    return moment[:16].replace("T", " ")


def _pair_row(run: PairRun) -> Sequence[str]:
    gap = NOT_RECORDED if run["median_gap_s"] is None else gap_text(run["median_gap_s"])
    pairs = (
        f"{run['together']:,} of {run['pairs']:,}" if run["timed"] or run["other_version"] else NOT_RECORDED
    )
    return (
        run["model"],
        f"{run['variant']} − {run['baseline']}",
        pairs,
        gap,
        " and ".join(run["causes"]) or "–",
    )


ARM_HEAD = ("model", "arm", "trials began, UTC", "versions that answered, in trials")
PAIR_HEAD = ("model", "arms", "pairs run together", "median gap", "what sets pairs apart")


def _view(report: DriftPart) -> Mapping[str, object] | None:
    if not report.get("arm_runs"):  # absent from reports of older versions
        return None
    return {
        "tables": [
            ("arms", ARM_HEAD, map(_arm_row, report["arm_runs"])),
            ("pairs", PAIR_HEAD, map(_pair_row, report["pair_runs"])),
        ],
        "is_recorded": _is_recorded(report),
    }


drift = Section(
    name="drift",
    title="When it ran",
    question="Were the arms run together, by one version of the model?",
    fields=DriftPart,
    compute=_drift,
    place=138,
    collector=lambda *_: ScoredRows(),
    view=_view,
)
