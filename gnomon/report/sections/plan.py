"""Says what was declared before any answer was known, and where the job has left it."""

from collections.abc import Iterator
from typing import NotRequired

import numpy as np
from typing_extensions import TypedDict

from gnomon.exchange.imported_job import is_imported
from gnomon.report.group_totals import GroupTotals
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import UNFINISHED, ReportInput, Section
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.margin_spec import MarginSpec, margin_text
from gnomon.spec.pins import absent

MATCHED, TOOLS = "matched", "tools"  # arms of the preset matched_compute
ALIKE = 0.25  # tokens further apart than this are not equal


class AnalysisPlan(TypedDict):
    """What was declared, and how far it is known that no answer was there; `deviations` say where the job
    has left it.
    """

    declared: NotRequired[str]  # absent from reports of older versions
    preset: str | None
    primary: list[list[str]]
    exploratory: list[list[str]]
    isolates: dict[str, str]
    margin: float
    margin_text: str
    cluster: str
    adjustment: str
    repeats: int
    spec_hash: str
    notes: list[str]
    deviations: list[str]


class PlanPart(TypedDict):
    """The section's field."""

    plan: AnalysisPlan


def _plan(report_input: ReportInput) -> PlanPart:
    """What was declared, and every deviation from it, in words."""
    spec = report_input.spec
    declared = spec.contrasts()
    plan: AnalysisPlan = {
        "declared": how_declared(report_input),
        "preset": spec.analysis.preset or None,
        "primary": [[contrast.baseline, contrast.variant] for contrast in declared if contrast.primary],
        "exploratory": [
            [contrast.baseline, contrast.variant] for contrast in declared if not contrast.primary
        ],
        "isolates": {
            f"{contrast.variant} − {contrast.baseline}": contrast.isolates
            for contrast in declared
            if contrast.isolates
        },
        "margin": spec.analysis.nominal_margin,
        "margin_text": margin_text(spec.analysis.margin),
        "cluster": spec.analysis.cluster,
        "adjustment": "Holm among the primary comparisons, Benjamini and Hochberg among all others",
        "repeats": spec.repeats,
        "spec_hash": report_input.spec_hash,
        "notes": list(spec.analysis.notes),
        "deviations": list(_deviations(report_input)),
    }
    return {"plan": plan}


def how_declared(report_input: ReportInput) -> str:
    """Whether the plan is older than the answers, as far as that is known here."""
    if is_imported(report_input.spec):
        return "Named when the answers were imported: whether before they were there, Gnomon can’t know"
    if report_input.seal and report_input.seal[0].kind == "imported":
        return "Kept for answers that were there already"
    return "Declared before any answer" if report_input.seal else "Declared; no seal says when"


def _deviations(report_input: ReportInput) -> Iterator[str]:
    scores, spec, planned = report_input.scores, report_input.spec, report_input.planned
    analysis, status = spec.analysis, report_input.status
    if (
        len(spec.arms) > 2
        and analysis.primary is None
        and not any(contrast.primary for contrast in analysis.contrasts)
    ):
        yield "no primary comparison was declared: all of them count as primary"
    if analysis.cluster == "none":
        yield "samples are taken as independent, whatever their clusters"
    if isinstance(analysis.margin, MarginSpec):
        strange = sorted(set(analysis.margin.subsets) - set(scores.cell_names))
        if strange and scores.cell_names:
            yield f"margins of subsets that no sample is of: {', '.join(strange)}"
    ended = sum(totals.trials for totals in scores.totals)
    if status not in UNFINISHED and ended < planned and not report_input.has_stopped:
        missed = f"{planned - ended:,} of {planned:,}"
        if is_imported(spec):
            yield f"{missed} trials are in no file: not every question was asked under every arm"
        else:
            yield f"{missed} planned trials never ended (the job is {status})"
    strangers = [f"{model} / {arm}" for model, arm in scores.groups if _is_stranger(spec, model, arm)]
    if strangers:
        yield f"rows of arms that the plan does not name: {', '.join(strangers)}"
    if not is_imported(spec):
        yield from _other_repeats(scores, spec)
    yield from absent(spec)
    for arm in spec.arms:
        if not spec.toolset_unchanged(arm):
            yield f"the tools of {arm.name} are no longer those that the job was frozen with"
    if analysis.preset == "matched_compute":
        yield from _unmatched(scores, spec)


def _unmatched(scores: ScoreMatrix, spec: JobSpec) -> Iterator[str]:
    """Models whose arm without tools did not take about the tokens that tools took."""
    for model in (model.label for model in spec.models):
        groups = [scores.at[model, arm] for arm in (MATCHED, TOOLS)]
        spent, wanted = (_tokens_per_trial(scores.totals[group]) for group in groups)
        if spent is None or wanted is None:
            yield f"{model}: tokens are unknown, so nothing says whether {MATCHED} took as many as {TOOLS}"
        elif abs(spent - wanted) > ALIKE * wanted:
            yield f"{model}: {MATCHED} took {spent:,.0f} tokens per trial, {TOOLS} {wanted:,.0f}: not equal"


def _tokens_per_trial(totals: GroupTotals) -> float | None:
    if not totals.trials or totals.unknown["prompt_tokens"] or totals.unknown["completion_tokens"]:
        return None
    return (totals.sums["prompt_tokens"] + totals.sums["completion_tokens"]) / totals.trials


def _other_repeats(scores: ScoreMatrix, spec: JobSpec) -> Iterator[str]:
    """Samples that an arm has fewer scores of, or more trials, than planned."""
    planned = np.array([spec.repeats_of(arm) for _, arm in scores.groups])
    for repeats in np.unique(planned):
        scored = scores.answered[planned == repeats]
        run = scored + scores.missing[planned == repeats]
        if short := int(np.sum((scored > 0) & (scored < repeats))):
            yield f"{short:,} samples of an arm were scored in fewer than {repeats} repeats"
        if more := int(np.sum(run > repeats)):
            times = "once" if repeats == 1 else f"{repeats} times"
            yield f"{more:,} samples of an arm were run more than {times}"


def _is_stranger(spec: JobSpec, model: str, arm: str) -> bool:
    return model not in {entry.label for entry in spec.models} or arm not in {
        entry.name for entry in spec.arms
    }


plan = Section(
    name="plan",
    title="What was planned",
    question="What was declared before any answer was known, and where did the job leave it?",
    fields=PlanPart,
    compute=_plan,
    place=150,
)
