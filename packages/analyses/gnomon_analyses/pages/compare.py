"""Compares jobs with one of them: means by model and arm, paired differences, the samples that changed."""

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter, Query

from gnomon.core.errors import SpecError
from gnomon.exchange.imported_job import asked_and_scored
from gnomon.report.text_formats import count
from gnomon.trials.trial_plan import trial_id
from gnomon_analyses.comparing.changed_trials import NOISE
from gnomon_analyses.comparing.compared_jobs import (
    IndexedJob,
    JobComparison,
    compare_jobs,
    group_means,
    names_apart,
    overall,
    paired_scores,
)
from gnomon_analyses.comparing.job_diff import spec_changes
from gnomon_analyses.comparing.unpaired import unpaired
from gnomon_service.api.state import Shared, State
from gnomon_service.web.pages import View, page
from gnomon_workers.store.records import OPEN, JobRecord

MOST_JOBS = 12  # that are compared at once
LISTED = 100  # jobs to choose from, and samples on a page
SIGNS = {
    "helps": ("▲", "Better"),
    "hurts": ("▼", "Worse"),
    "no_effect": ("■", "Equal"),
    "undecided": ("◇", "Undecided"),
}

router = APIRouter(include_in_schema=False)


@page(router, "/ui/compare", "compare.html.j2")
def compare_page(
    state: Shared,
    jobs: Annotated[list[str] | None, Query()] = None,
    base: str = "",
    changed: str = "",
    group: str = "",
    after: Annotated[int, Query(ge=0)] = 0,
) -> View:
    """Jobs against one of them: means by model and arm, and paired differences."""
    ids = list(dict.fromkeys(name for part in jobs or [] for name in part.split(",") if name))
    if len(ids) < 2:
        return _choice(state, ids)
    if len(ids) > MOST_JOBS:
        raise SpecError(f"{len(ids)} jobs; allowed: {MOST_JOBS}", field="jobs")
    records = [state.store.job(name) for name in ids]
    indexed = {
        job.id: IndexedJob(job_id=job.id, spec=job.spec, index=state.indexes.get(job.id).value)
        for job in records
    }
    base = base if base in indexed else ids[0]
    others = [indexed[name] for name in ids if name != base]
    compared, reasons = compare_jobs(indexed[base], others)
    names = names_apart(records)
    listing = _changed_samples(indexed, base, compared, changed, group, after)
    apart = [_not_compared(indexed[base], indexed[name], names[name], why) for name, why in reasons.items()]
    return {
        "title": "Compare jobs",
        "answer": overall(compared, reasons)
        + (" Their means are below, not paired." if any(item["rows"] for item in apart) else ""),
        "base": base,
        "jobs": [_job(job, names, base) for job in records],
        "comparisons": [_comparison(item, names, ids, base) for item in compared],
        "not_compared": apart,
        "means": _means(indexed, names),
        "spec_changes": _spec_changes(indexed[base], others, names),
        "changed": listing,
        "_reach": _reach(compared),
        "_margin": 100 * indexed[base].spec.analysis.nominal_margin,
        "_arms": list(dict.fromkeys(arm.name for job in records for arm in job.spec.arms)),
        "_signs": SIGNS,
        "_here": f"/ui/compare?{urlencode({'jobs': ','.join(ids), 'base': base})}",
        "_ids": ",".join(ids),
    }


def _not_compared(base: IndexedJob, other: IndexedJob, name: str, why: str) -> dict[str, Any]:
    """Why a job is not paired, its means beside the base's where that is valid, and what to do."""
    rows, advice = unpaired(base, other)
    return {"job": name, "why": why, "advice": advice, "rows": rows}


def _choice(state: State, ids: Sequence[str]) -> View:
    listed = [job for job in state.store.jobs(limit=LISTED).items if job.status not in OPEN]
    rows = [
        {
            "id": job.id,
            "name": job.name or job.id,
            "benchmark": job.spec.benchmark,
            "models": ", ".join(model.label for model in job.spec.models),
            "arms": ", ".join(arm.name for arm in job.spec.arms),
            "trials": job.counts.done,
            "created_at": job.created_at,
            "ended_at": job.finished_at,
            "is_chosen": job.id in ids,
        }
        for job in listed
    ]
    answer = "Choose two or more jobs of one benchmark: they are paired sample by sample."
    return {
        "title": "Compare jobs",
        "answer": answer if len(rows) > 1 else "Two jobs that have ended can be compared here.",
        "choices": rows,
    }


def _job(job: JobRecord, names: dict[str, str], base: str) -> dict[str, Any]:
    protocol, scoring = asked_and_scored(job.spec)
    return {
        "id": job.id,
        "name": names[job.id],
        "status": job.status,
        "benchmark": job.spec.benchmark,
        "protocol": protocol,
        "scoring": scoring,
        "is_base": job.id == base,
    }


def _comparison(item: JobComparison, names: dict[str, str], ids: Sequence[str], base: str) -> dict[str, Any]:
    contrast = item.contrast
    link = {"jobs": ",".join(ids), "base": base, "changed": item.job_id, "group": item.label}
    return {
        "job": item.job_id,
        "name": names[item.job_id],
        "label": item.label,
        "diff": contrast["diff"],
        "ci95": contrast["ci95"],
        "ci90": contrast["ci90"],
        "n": contrast["n"],
        "clusters": contrast["clusters"],
        "crossing_clusters": contrast["crossing_clusters"],
        "p_adjusted": contrast["p_adjusted"],
        "test": contrast["test"],
        "base_mean": contrast["baseline_mean"],
        "mean": contrast["variant_mean"],
        "fixed": contrast["rescued"],
        "regressed": contrast["broken"],
        "changed": item.changed,
        "only_in_base": item.only_first,
        "only_in_it": item.only_second,
        "verdict": contrast["verdict"],
        "withheld": contrast["withheld"],
        "margin": contrast["margin"],
        "says": contrast["verdict_text"],
        "changed_link": f"/ui/compare?{urlencode(link)}#changed",
    }


def _means(indexed: dict[str, IndexedJob], names: dict[str, str]) -> list[dict[str, Any]]:
    rows = []
    for job_id, job in indexed.items():
        means = group_means(job)
        for model in job.spec.models:
            row: dict[str, Any] = {"job": job_id, "name": names[job_id], "model": model.label, "arms": []}
            for place, arm in enumerate(job.spec.arms):
                mean = means.get((model.label, arm.name))
                row["arms"].append(
                    {
                        "arm": arm.name,
                        "place": place,
                        "mean": mean.mean if mean else None,
                        "ci95": list(mean.ci95) if mean and mean.ci95 else None,
                        "n": mean.n if mean else 0,
                    }
                )
            rows.append(row)
    return rows


def _spec_changes(
    base: IndexedJob, others: Sequence[IndexedJob], names: dict[str, str]
) -> list[dict[str, Any]]:
    return [
        {
            "job": names[other.job_id],
            "field": change["field"],
            "base": _short(change["first"]),
            "it": _short(change["second"]),
        }
        for other in others
        for change in spec_changes(base.spec, other.spec)[:LISTED]
    ]


def _short(value: object) -> str:
    text = "–" if value is None else str(value)
    return text if len(text) <= LISTED else f"{text[: LISTED - 1]}…"


def _reach(compared: Sequence[JobComparison]) -> float:
    """Half the scale of all plots, in points: as far as the furthest end of an interval."""
    ends = [abs(end) for item in compared for end in item.contrast["ci95"] or [item.contrast["diff"] or 0.0]]
    return float(min(100.0, max(5.0, *(100 * end for end in ends), 5.0)))


def _changed_samples(
    indexed: dict[str, IndexedJob],
    base: str,
    compared: Sequence[JobComparison],
    job_id: str,
    label: str,
    after: int,
) -> dict[str, Any] | None:
    """The samples whose score differs, the greatest difference first; None where none are asked for."""
    item = next((item for item in compared if (item.job_id, item.label) == (job_id, label)), None)
    if item is None:
        return None
    scores = paired_scores(indexed[base], indexed[job_id], item.groups)
    differences = scores.differences()
    places = np.flatnonzero(np.abs(differences) > NOISE)
    order = places[np.lexsort((places, -np.abs(differences[places])))]
    before, it = scores.means(0), scores.means(1)
    rows = [
        {
            "sample": scores.samples[at],
            "base": float(before[at]),
            "it": float(it[at]),
            "difference": float(differences[at]),
            "link": "/ui/compare/trials?"
            + urlencode(
                {
                    "a": trial_id(base, scores.samples[at], *item.groups[0], 0),
                    "b": trial_id(job_id, scores.samples[at], *item.groups[1], 0),
                }
            ),
        }
        for at in order[after : after + LISTED]
    ]
    more = len(order) - after - len(rows)
    link = {"changed": job_id, "group": label, "after": after + LISTED}
    return {
        "job": job_id,
        "label": label,
        "answer": f"{count(len(order), 'sample')} of {item.contrast['n']:,} changed.",
        "samples": rows,
        "next": f"{urlencode(link)}" if more > 0 else "",
    }
