"""Takes a look at a job that may stop early: whether its primary contrasts are decided."""

from collections.abc import Iterable, Sequence

import numpy as np

from gnomon.core.sample import SampleRef
from gnomon.report.adjustment import Adjusted, adjust
from gnomon.report.compared_pair import PairResult, compare_pair
from gnomon.report.comparing import contrast_report
from gnomon.report.detectable import Detectable
from gnomon.report.pairs import pairs
from gnomon.report.score_matrix import JobScores
from gnomon.report.sequence import DrawnPlan, Look, LookedAtPair, drawn_plan
from gnomon.report.unknown_replies import unknown_codes, unknown_replies
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Codes, Floats, Headline
from gnomon.trials.trial_plan import cluster_of, count_trials

EndedTrial = tuple[
    str, str, str, float | None, str | None
]  # sample, model, arm, score (None: missing), state


def take_look(
    spec: JobSpec, refs: Sequence[SampleRef], ended: Iterable[EndedTrial], *, headline: Headline
) -> Look:
    """Look at a job with these planned samples, in the order drawn, and these trials that have ended.

    It is decided when no primary contrast is undecided by the rule of the report, with the same numbers, or
    will hardly be decided by the end of the plan.
    """
    plan = _plan(spec, refs, headline)
    cells = np.unique([ref.cell for ref in refs], return_inverse=True)[1].astype(np.intp)
    # In the report's order: which signs are drawn for a cluster depends on its place.
    names = [cluster_of(spec, ref) for ref in refs]
    place = {name: at for at, name in enumerate(sorted(set(names)))}
    clusters = np.array([place[name] for name in names], dtype=np.intp)
    scores, trials = _scores(spec, refs, ended, cells=cells, clusters=clusters)
    everywhere = scores.everywhere()
    primary = [pair for pair in pairs(spec) if pair.is_primary]
    results = [
        compare_pair(scores, pair, "all", everywhere, headline=headline, plan=plan) for pair in primary
    ]
    looked_at: list[LookedAtPair] = []
    is_open = False
    for result, adjusted in zip(results, adjust(results, spec.analysis), strict=True):
        contrast = contrast_report(
            result, adjusted=adjusted, detectable=Detectable(effect=None), interim=True
        )
        if contrast["verdict"] == "undecided" and not _is_hopeless(plan, scores, result, adjusted):
            is_open = True
        looked_at.append(
            {
                "model": contrast["model"],
                "baseline": contrast["baseline"],
                "variant": contrast["variant"],
                "samples": contrast["n"],
                "clusters": contrast["clusters"],
                "diff": contrast["diff"],
                "ci95": contrast["ci95"],
                "p_adjusted": contrast["p_adjusted"],
                "verdict": contrast["verdict"],
            }
        )
    first = plan.clusters_at(min(plan.look(scores, pair) for pair in primary))
    return {
        "trials": trials,
        "samples": plan.samples_of(first),
        "clusters": first,
        "contrasts": looked_at,
        "decided": not is_open,
    }


def _is_hopeless(plan: DrawnPlan, scores: JobScores, result: PairResult, adjusted: Adjusted) -> bool:
    """Whether an undecided comparison will hardly be decided by the end of the plan."""
    look, comparison, limits = plan.look(scores, result.pair), result.comparison, adjusted.limits
    return comparison is not None and limits is not None and plan.looks.is_hopeless(comparison, look, limits)


def due_after(spec: JobSpec, refs: Sequence[SampleRef], *, headline: Headline) -> dict[int, int]:
    """By the clusters of each look, how many trials must have ended at least before it can be taken."""
    plan = _plan(spec, refs, headline)
    return {clusters: count_trials(spec, plan.samples_of(clusters)) for clusters in plan.looks.clusters}


def _plan(spec: JobSpec, refs: Sequence[SampleRef], headline: Headline) -> DrawnPlan:
    return drawn_plan(spec, refs, [ref.sample_id for ref in refs], headline=headline)


def _scores(
    spec: JobSpec,
    refs: Sequence[SampleRef],
    ended: Iterable[EndedTrial],
    *,
    cells: Codes,
    clusters: Codes,
) -> tuple[JobScores, int]:
    """The scores so far, and of how many trials."""
    groups = [(model.label, arm.name) for model in spec.models for arm in spec.arms]
    at = {group: place for place, group in enumerate(groups)}
    sample_at = {ref.sample_id: place for place, ref in enumerate(refs)}
    places, values, states = list[int](), list[float](), list[str | None]()
    for sample, model, arm, score, state in ended:
        places.append(at[model, arm] * len(refs) + sample_at[sample])
        values.append(np.nan if score is None else score)
        states.append(state)
    codes, scores = np.array(places, dtype=np.intp), np.array(values, dtype=np.float64)
    scored = np.isfinite(scores)
    shape = (len(groups), len(refs))
    size = shape[0] * shape[1]
    sums: Floats = np.bincount(codes[scored], scores[scored], minlength=size).astype(np.float64)
    counted = JobScores(
        cells=cells,
        clusters=clusters,
        score_sums=sums.reshape(shape),
        answered=np.bincount(codes[scored], minlength=size).reshape(shape),
        missing=np.bincount(codes[~scored], minlength=size).reshape(shape),
        unknown=unknown_replies(unknown_codes(states)[scored], codes[scored], scores[scored], shape),
        at=at,
    )
    return counted, len(places)
