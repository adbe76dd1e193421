"""The page of a job: do tools help here? While it runs: how far it is, and what fails."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse
from markupsafe import Markup

from gnomon.core.score import Outcome
from gnomon.exchange.imported_job import is_imported
from gnomon.report.alert import line_of
from gnomon.report.text_formats import count, deciding, dollars
from gnomon.report.trial_index.filters import (
    BOTH_RIGHT,
    BOTH_WRONG,
    FIXED,
    NOT_COMPARABLE,
    REGRESSED,
    TrialFilter,
)
from gnomon.spec.margin_spec import margin_text
from gnomon.spec.preset import PRESETS
from gnomon.trials.trial_plan import count_trials
from gnomon_service import actions, deletion
from gnomon_service.api.access import Who
from gnomon_service.api.places import in_place
from gnomon_service.api.state import Shared, State
from gnomon_service.web.job_rows import rate_text
from gnomon_service.web.pages import View, page
from gnomon_service.web.sign_in import own_path
from gnomon_service.web.time_text import seconds_text
from gnomon_service.web.trial_views import arm_place
from gnomon_workers.store.records import OPEN, JobRecord

if TYPE_CHECKING:  # else imported late: with SciPy's functions, a third of the API's start
    from gnomon.report.contrast import ContrastReport
    from gnomon.report.report import Report

PATIENCE_S = 3.0  # how long the page of a job that has ended waits for its report
FAILURES = 6  # causes that are listed
IN_HEAD = ("job", "alerts")  # sections whose facts this page shows in its own head
OF_RUNNING = ("tools", "cost", "latency", "integrity", "plan")  # sections that say nothing of who does better
# The folds of the page: what each answers, and the last place of its sections.
FOLDS = (
    ("compared", "What did each arm score, and what did it change?", 55),
    ("used", "What did the tools do?", 85),
    ("varied", "On which questions, and what else was measured?", 103),
    ("again", "Would it come out the same again?", 112),
    ("paid", "What did it cost, and how long did it take?", 130),
    ("trusted", "What could be wrong, and how to report it in a paper?", None),
)
OUTCOMES = {"fixed": FIXED, "regressed": REGRESSED, "both_right": BOTH_RIGHT, "both_wrong": BOTH_WRONG}

router = APIRouter(include_in_schema=False)


@page(router, "/ui/jobs/{job_id}", "job.html.j2")
def job_page(state: Shared, job_id: str) -> View:
    """The verdict with what it is made of, or the progress of a job that has not ended."""
    job = state.store.job(job_id)
    is_open = job.status in OPEN
    made, problem = state.reports.soon(job.id, patience_s=PATIENCE_S)
    report = made.value if made is not None else None
    is_final = made is not None and made.is_current and not is_open
    findings = _findings(job, report) if report is not None and is_final else []
    return {
        "title": job.name or job.spec.benchmark,
        "answer": _answer(job, findings, problem),
        "job": _facts(job),
        "alerts": list(map(line_of, report["alerts"])) if report is not None and is_final else [],
        "unread": [unread.sentence for unread in state.replies.unread(job.id)] if is_open else [],
        "findings": findings,
        "arms": _arms(job, report) if report is not None and is_final else [],
        "subsets": _subsets(job, report) if report is not None and is_final else [],
        "progress": _progress(state, job),
        "by_arm": _by_arm(state, job) if is_open else [],
        "failing": _failing(state, job),
        "to_do": _to_do(job),
        "preflights": job.waiting,
        "waiting": [
            {"model": check.model, "for": check.waits_for, "until": check.waits_until}
            for check in job.checks
            if check.waits_until
        ],
        "report_age_s": None if made is None or made.is_current else round(made.age_s),
        "report_problem": problem,
        "is_open": is_open,
        "is_report_due": not problem and (made is None or not (is_open or made.is_current)),
        "_folds": _folds(report, is_final=is_final) if report is not None else [],
        "_reach": _reach(findings),
        "_subset_reach": _subset_reach(report) if report is not None else 0,
    }


@router.post("/ui/jobs/{job_id}/cancel")
def cancel(state: Shared, job_id: str, who: Who, back: Annotated[str, Form()] = "") -> RedirectResponse:
    """Start no more trials of a job."""
    actions.cancel(state, job_id, who)
    return RedirectResponse(own_path(back or f"/ui/jobs/{job_id}"), status_code=303)


@router.post("/ui/jobs/{job_id}/resume", response_model=None)
@in_place("jobs")
def resume(state: Shared, job_id: str, who: Who, back: Annotated[str, Form()] = "") -> RedirectResponse:
    """Run the trials of a job that are missing."""
    actions.resume(state, job_id, who)
    return RedirectResponse(own_path(back or f"/ui/jobs/{job_id}"), status_code=303)


@page(router, "/ui/jobs/{job_id}/delete", "delete.html.j2")
def delete_page(state: Shared, job_id: str) -> View:
    """What would be deleted with a job, and what stays."""
    found = deletion.preview(state.settings, state.store, job_id)
    return {
        "title": f"Delete {found['name'] or job_id}?",
        "answer": f"This would delete {deletion.in_words([found])}. It cannot be undone.",
        "job": job_id,
        "deleted": found,
    }


@router.post("/ui/jobs/{job_id}/delete", response_model=None)
@in_place("reports")
def delete(state: Shared, job_id: str, who: Who) -> RedirectResponse:
    """Delete a job, and go back to the list."""
    actions.delete(state, job_id, who)
    return RedirectResponse("/", status_code=303)


def _answer(job: JobRecord, findings: Sequence[Mapping[str, Any]], problem: str) -> str:
    counts = job.counts
    ended = f"{counts.done:,} of {count(counts.planned, 'trial')}"
    if job.status == "preparing":
        planned = count(counts.planned, "trial")
        return f"Being prepared: it starts once all {planned} are written."
    if job.status == "queued":
        return f"Waiting for a worker: {ended} have ended."
    if job.status == "running":
        late = "The verdict comes at the end: looking early raises false alarms."
        early = "It stops once its primary comparisons are decided, or unlikely to be."
        return f"Running: {ended} have ended. {early if job.spec.analysis.sequential else late}"
    if job.status == "failed":
        return f"The job failed after {ended}: {job.error or 'the cause is not known'}"
    before = f"Cancelled after {ended}. " if job.status == "cancelled" else ""
    if problem:
        return f"{before}The report cannot be made: {problem}"
    if findings:
        return f"{before}{findings[0]['sentence']}"
    if len(job.spec.arms) < 2:
        return f"{before}One arm only: there is nothing to compare."
    return f"{before}{ended} have ended."


def _facts(job: JobRecord) -> dict[str, Any]:
    spec = job.spec
    return {
        "id": job.id,
        "name": job.name or spec.benchmark,
        "status": job.status,
        "benchmark": spec.benchmark,
        "models": [model.label for model in spec.models],
        "repeats": spec.repeats,
        "margin": spec.analysis.nominal_margin,
        "margin_text": margin_text(spec.analysis.margin),
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "cost": _cost(job),
        "usd_limit": spec.limits.usd,
        "error": job.error,
        "preset_page": _preset_page(job),
        "posted_by": job.posted_by,
        "owner": job.owner,
    }


def _preset_page(job: JobRecord) -> dict[str, str] | None:
    """The link to the page that jobs of its preset have."""
    name = job.spec.analysis.preset
    page = PRESETS.get(name).page if name in PRESETS else None
    return None if page is None else {"word": page.word, "href": f"/ui/jobs/{job.id}/{page.path}"}


def _cost(job: JobRecord) -> str:
    return dollars(job.usd) if job.usd is not None else f"at least {dollars(job.known_usd)}"


def _progress(state: State, job: JobRecord) -> dict[str, Any]:
    """How far the job is, how fast it goes, and how long the rest takes at that pace."""
    counts = job.counts
    is_running = job.status == "running"
    rate = state.memory.job_rates.per_second(job.id, counts.done) if is_running else None
    left_s = (counts.planned - counts.done) / rate if rate else None
    return {
        "planned": counts.planned,
        "ended": counts.done,
        "scored": counts.scored,
        "failed_by_the_model": counts.model_failed,
        "missing": counts.infra_missing,
        "not_run": job.not_run,
        "in_flight": counts.running,
        "per_second": None if rate is None else round(rate, 2),
        "pace": rate_text(rate) if rate else "",
        "time_left": "" if left_s is None else seconds_text(left_s),
    }


def _by_arm(state: State, job: JobRecord) -> list[dict[str, Any]]:
    """What has ended so far, by arm: counts only, as means would be an early look."""
    index = state.indexes.get(job.id).value
    lines, samples = [], job.counts.planned // count_trials(job.spec, 1)
    for place, arm in enumerate(job.spec.arms):
        outcomes = index.facets(TrialFilter(arm=(arm.name,)))["outcome"]
        lines.append(
            {
                "arm": arm.name,
                "place": place,
                "scored": outcomes.get(Outcome.SCORED.value, 0),
                "failed_by_the_model": outcomes.get(Outcome.MODEL_FAILED.value, 0),
                "missing": outcomes.get(Outcome.INFRA_MISSING.value, 0),
                "planned": samples * len(job.spec.models) * job.spec.repeats_of(arm.name),
                "href": f"/ui/jobs/{job.id}/trials?{urlencode({'arm': arm.name, 'view': 'trials'})}",
            }
        )
    return lines


def _failing(state: State, job: JobRecord) -> list[dict[str, Any]]:
    """Why trials are missing, most frequent first, each with the newest error in the provider's words."""
    lines = [
        {"cause": check.cause, "model": check.model, "error": check.error, "trials": 0, "href": ""}
        for check in job.checks
        if check.error and check.state in ("stopped", "unconfirmed")
    ]
    if not job.counts.infra_missing:
        return lines
    index = state.indexes.get(job.id).value
    missing = TrialFilter(outcome=(Outcome.INFRA_MISSING.value,))
    causes = list(index.facets(missing)["stop"].items())[:FAILURES]
    for cause, trials in causes:
        chosen = TrialFilter(outcome=missing.outcome, stop=(cause,))
        newest = index.trials(chosen, "-seq", None, 1).items
        rows = state.store.rows_by_trial([entry.trial_id for entry in newest])
        query = urlencode([*chosen.as_query(), ("view", "trials")])
        lines.append(
            {
                "cause": cause,
                "model": newest[0].model if newest else "",
                "error": next((row.error for row in rows.values()), ""),
                "trials": trials,
                "href": f"/ui/jobs/{job.id}/trials?{query}",
            }
        )
    return lines


def _to_do(job: JobRecord) -> str:
    """What a person may do about what is missing; empty where nothing is, or where nothing can be done."""
    left = job.counts.planned - job.counts.scored - job.counts.model_failed - job.not_run
    if job.status in OPEN or is_imported(job.spec) or not left + job.not_run:
        return ""
    if job.not_run and not left:
        return f"Stopped early: {count(job.not_run, 'trial')} not run. Resume runs them all the same."
    rest = f"Resume runs the {count(left, 'trial')} without a result, and only those."
    if job.status == "failed":
        return f"Fix the cause first. {rest}"
    if job.status == "completed":
        return f"{count(left, 'trial')} are missing and left out of every figure. {rest}"
    return rest


def _findings(job: JobRecord, report: "Report") -> list[dict[str, Any]]:
    """The comparisons over all samples, primary ones first, with links to the samples behind each count."""
    return [
        _finding(job, contrast)
        for contrast in sorted(
            (contrast for contrast in report["contrasts"] if contrast["scope"] == "all"),
            key=lambda contrast: contrast["family"] != "primary",
        )
    ]


def _finding(job: JobRecord, contrast: "ContrastReport") -> dict[str, Any]:
    counts = {
        "fixed": contrast["rescued"],
        "regressed": contrast["broken"],
        "both_right": contrast["both_right"],
        "both_wrong": contrast["both_wrong"],
    }
    diff = None if contrast["withheld"] else contrast["diff"]
    ends, level = deciding(contrast)
    return {
        "model": contrast["model"],
        "baseline": contrast["baseline"],
        "baseline_place": arm_place(job.spec, contrast["baseline"]),
        "variant": contrast["variant"],
        "variant_place": arm_place(job.spec, contrast["variant"]),
        "is_primary": contrast["family"] == "primary",
        "verdict": contrast["verdict"],
        "sentence": contrast["verdict_text"],
        "isolates": contrast["isolates"],
        "diff": diff,
        "low": ends[0] if ends and diff is not None else None,
        "high": ends[1] if ends and diff is not None else None,
        "level": level,
        "margin": contrast.get("margin"),  # absent from reports of older versions
        "baseline_mean": contrast["baseline_mean"],
        "variant_mean": contrast["variant_mean"],
        "samples": contrast["n"],
        "clusters": contrast["clusters"],
        "crossing_clusters": contrast.get("crossing_clusters"),  # absent from reports of older versions
        "p_adjusted": contrast["p_adjusted"],
        "mde": contrast["mde"],
        **counts,
        "links": {
            **{name: _changed_href(job, contrast, changed) for name, changed in OUTCOMES.items()},
            "not_comparable": _changed_href(job, contrast, NOT_COMPARABLE),
        },
    }


def _changed_href(job: JobRecord, contrast: "ContrastReport", changed: str = "", cell: str = "") -> str:
    """The trials list of a comparison: what it names is left out where it is the only one."""
    query = [("model", contrast["model"])] if len(job.spec.models) > 1 else []
    query += [("cell", cell)] if cell else []
    query += [("changed", changed)] if changed else []
    if len(job.spec.arms) > 2:
        query += [("baseline", contrast["baseline"]), ("variant", contrast["variant"])]
    return f"/ui/jobs/{job.id}/trials" + (f"?{urlencode(query)}" if query else "")


def _arms(job: JobRecord, report: "Report") -> list[dict[str, Any]]:
    """Each model's score under each arm, with its interval."""
    return [
        {
            "model": arm["model"],
            "arm": arm["arm"],
            "place": arm_place(job.spec, arm["arm"]),
            "score": arm["aggregate"],
            "low": arm["aggregate_ci95"][0] if arm["aggregate_ci95"] else None,
            "high": arm["aggregate_ci95"][1] if arm["aggregate_ci95"] else None,
            "samples": arm["n"],
            "planned": arm["planned"],
            "failed_by_the_model": arm["trials"]["model_failed"],
            "missing": arm["trials"]["infra_missing"],
            "text": report["job"]["arm_texts"].get(arm["arm"], ""),
        }
        for arm in report["arms"]
    ]


def _subsets(job: JobRecord, report: "Report") -> list[dict[str, Any]]:
    """The primary comparison in each subset, with links to the trials behind it."""
    primary = {
        (contrast["model"], contrast["baseline"], contrast["variant"])
        for contrast in report["contrasts"]
        if contrast["family"] == "primary"
    }
    cells = [
        contrast
        for contrast in report["contrasts"]
        if contrast["scope"] != "all"
        and (contrast["model"], contrast["baseline"], contrast["variant"]) in primary
    ]
    return [
        {
            "subset": contrast["scope"],
            "model": contrast["model"],
            "compared": f"{contrast['variant']} − {contrast['baseline']}",
            "verdict": contrast["verdict"],
            "diff": contrast["diff"],
            "low": ends[0] if ends else None,
            "high": ends[1] if ends else None,
            "level": level,
            "margin": contrast.get("margin"),
            "baseline_mean": contrast["baseline_mean"],
            "variant_mean": contrast["variant_mean"],
            "samples": contrast["n"],
            "fixed": contrast["rescued"],
            "regressed": contrast["broken"],
            "href": _changed_href(job, contrast, cell=contrast["scope"]),
            "fixed_href": _changed_href(job, contrast, FIXED, contrast["scope"]),
            "regressed_href": _changed_href(job, contrast, REGRESSED, contrast["scope"]),
        }
        for contrast in cells
        for ends, level in [deciding(contrast)]
    ]


def _reach(findings: Sequence[Mapping[str, Any]]) -> float:
    """Half the scale of the findings' plots, in points."""
    ends = [
        abs(100 * finding[end]) for finding in findings for end in ("low", "high") if finding[end] is not None
    ]
    return max(10.0, *ends) if ends else 10.0


def _subset_reach(report: "Report") -> float:
    ends = [
        abs(100 * end)
        for contrast in report["contrasts"]
        if contrast["scope"] != "all"
        for end in contrast["ci95"] or ()
    ]
    return min(100.0, max(10.0, *ends)) if ends else 10.0


def _folds(report: "Report", *, is_final: bool) -> list[dict[str, Any]]:
    """The report's sections as they are in the report, in FOLDS."""
    from gnomon.report.html import render_section
    from gnomon.report.section import sections

    parts: dict[str, list[dict[str, Any]]] = {name: [] for name, *_ in FOLDS}
    for section in sections():
        if section.shown_in or section.per_comparison or section.name in IN_HEAD:
            continue
        if not is_final and section.name not in OF_RUNNING:
            continue
        body = render_section(report, section.name, trials_page=f"/ui/jobs/{report['job']['id']}/trials")
        if body.strip():
            fold = next(name for name, _, last in FOLDS if last is None or section.place <= last)
            parts[fold].append(
                {
                    "name": section.name,
                    "title": section.title,
                    "digest": section.digest(report) if section.digest else "",
                    "body": Markup(body),  # noqa: S704 - the report's templates escape what is not theirs
                }
            )
    return [{"name": name, "title": title, "parts": parts[name]} for name, title, _ in FOLDS if parts[name]]
