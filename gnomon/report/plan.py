"""The frozen plan of the analysis, and where the job has left it."""

from collections.abc import Iterator

import numpy as np

from gnomon.core.ids import stable_hash
from gnomon.report.group_totals import GroupTotals
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.shapes import AnalysisPlan
from gnomon.spec.job_spec import JobSpec

MATCHED, TOOLS = "matched", "tools"  # arms of the preset matched_compute
ALIKE = 0.25  # tokens further apart than this are not equal


def analysis_plan(ledger: ScoreMatrix, spec: JobSpec, *, status: str, planned: int) -> AnalysisPlan:
    """What was declared before any answer was seen, and every deviation from it, in words."""
    declared = spec.contrasts()
    return {
        "preset": spec.analysis.preset or None,
        "primary": [[one.baseline, one.variant] for one in declared if one.primary],
        "exploratory": [[one.baseline, one.variant] for one in declared if not one.primary],
        "isolates": {f"{one.variant} − {one.baseline}": one.isolates for one in declared if one.isolates},
        "margin": spec.analysis.margin,
        "cluster": spec.analysis.cluster,
        "adjustment": "Holm among the primary comparisons, Benjamini and Hochberg among all others",
        "repeats": spec.repeats,
        "spec_hash": stable_hash(spec.model_dump(mode="json")),
        "notes": list(spec.analysis.notes),
        "deviations": list(_deviations(ledger, spec, status=status, planned=planned)),
    }


def _deviations(ledger: ScoreMatrix, spec: JobSpec, *, status: str, planned: int) -> Iterator[str]:
    analysis = spec.analysis
    if len(spec.arms) > 2 and analysis.primary is None and not any(one.primary for one in analysis.contrasts):
        yield "no primary comparison was declared: all of them count as primary"
    if analysis.cluster == "none":
        yield "samples are taken as independent, whatever their clusters"
    ended = sum(tally.trials for tally in ledger.tallies)
    if status not in ("queued", "running") and ended < planned:
        yield f"{planned - ended:,} of {planned:,} planned trials never ended (the job is {status})"
    strangers = [f"{model} / {arm}" for model, arm in ledger.groups if _is_stranger(spec, model, arm)]
    if strangers:
        yield f"rows of arms that the plan does not name: {', '.join(strangers)}"
    short = int(np.sum((ledger.answered > 0) & (ledger.answered < spec.repeats)))
    if short and spec.repeats > 1:
        yield f"{short:,} samples of an arm were scored in fewer than {spec.repeats} repeats"
    more = int(np.sum(ledger.answered + ledger.missing > spec.repeats))
    if more:
        yield f"{more:,} samples of an arm were run more than {spec.repeats} times"
    for arm in spec.arms:
        if not arm.toolset_unchanged:
            yield f"the tools of {arm.name} are no longer those that the job was frozen with"
    if analysis.preset == "matched_compute":
        yield from _unmatched(ledger, spec)


def _unmatched(ledger: ScoreMatrix, spec: JobSpec) -> Iterator[str]:
    """Models whose arm without tools did not take about the tokens that tools took."""
    for model in (model.label for model in spec.models):
        groups = [ledger.at[model, arm] for arm in (MATCHED, TOOLS)]
        spent, wanted = (_tokens_a_trial(ledger.tallies[group]) for group in groups)
        if spent is None or wanted is None:
            yield f"{model}: tokens are unknown, so nothing says whether {MATCHED} took as many as {TOOLS}"
        elif abs(spent - wanted) > ALIKE * wanted:
            yield f"{model}: {MATCHED} took {spent:,.0f} tokens a trial, {TOOLS} {wanted:,.0f}: not equal"


def _tokens_a_trial(tally: GroupTotals) -> float | None:
    if not tally.trials or tally.unknown["prompt_tokens"] or tally.unknown["completion_tokens"]:
        return None
    return (tally.known["prompt_tokens"] + tally.known["completion_tokens"]) / tally.trials


def _is_stranger(spec: JobSpec, model: str, arm: str) -> bool:
    return all(model != one.label for one in spec.models) or all(arm != one.name for one in spec.arms)
