"""What the list of jobs says of each: its progress while it runs, its verdict once it has ended."""

from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.core.missing import said_in_short
from gnomon.exchange.imported_job import asked_and_scored, is_imported
from gnomon.report.text_formats import capitalised, percent, points
from gnomon_service.derived_kinds import JobVerdict
from gnomon_service.web.time_text import ago, seconds_of, seconds_text
from gnomon_workers.store.records import OPEN, JobRecord, MissingTrials

NAMED = 3  # models or arms that a line names
CAUSES = {  # what the causes of missing trials are called
    "auth": "a key was refused",
    "no_api_key": "a key is not set",
    "not_found": "the provider does not know the model",
    "quota": "the account's quota is used up",
    "connection": "the provider cannot be reached",
    "bad_request": "the provider refused the requests",
    "rate_limit": "the provider's rate limit held too long",
    "server_error": "the provider failed",
    "timeout": "the provider was too slow",
    "budget": "the cost limit is reached",
    "data": "data cannot be read",
    "setup": "the job could not be set up",
    "worker_lost": "workers died",
}
Row = dict[str, Any]


def job_row(
    job: JobRecord,
    *,
    now_s: float,
    verdict: JobVerdict | None,
    is_verdict_due: bool,
    per_second: float | None,
    missing: Sequence[MissingTrials],
) -> Row:
    """One job as the list shows it, flat: numbers as they are, sentences where words are needed."""
    counts, spec, is_open = job.counts, job.spec, job.status in OPEN
    is_stopped = job.status in ("cancelled", "failed")
    row: Row = {
        "id": job.id,
        "name": job.name,
        "href": f"/ui/jobs/{job.id}",
        "status": job.status,
        "badge": _badge(job.status, verdict, is_due=is_verdict_due),
        "benchmark": spec.benchmark,
        "models": _named([model.label.rpartition("/")[2] for model in spec.models]),
        "arms": _named([arm.name for arm in spec.arms]),
        "protocol": asked_and_scored(spec)[0],
        "owner": job.owner,
        "planned": counts.planned,
        "processed": counts.done,
        "scored": counts.scored,
        "model_failed": counts.model_failed,
        "missing": counts.infra_missing,
        "usd": job.known_usd,
        "usd_limit": spec.limits.usd,
        "cost": _cost(job),
        "started": job.started_at or job.created_at,
        "started_ago": ago(now_s - seconds_of(job.started_at or job.created_at)),
        "progress": _progress(job, per_second, now_s=now_s) if is_open or is_stopped else "",
        "compares": len(spec.arms) > 1,
        "stopped": f"Stopped early: {job.not_run:,} trials not run." if job.not_run else "",
        "is_sequential": spec.analysis.sequential,
        "problem": problem_of(job, missing),
        "causes": [
            f"{cause.trials:,} missing: {cause_text(cause.cause)}{_said(cause.error)}" for cause in missing
        ],
        "waits": _waits(job) if is_open else "",
        "can_cancel": is_open,
        "can_resume": not is_open
        and counts.scored + counts.model_failed < counts.planned
        and not is_imported(spec),
    }
    return row | (_result(verdict) if verdict and not is_open and not is_stopped else {"diff": None})


def _badge(status: str, verdict: JobVerdict | None, *, is_due: bool) -> str:
    if status != "completed":
        return status
    if verdict is None:
        return "due" if is_due else "completed"
    return verdict.word


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _result(verdict: JobVerdict) -> Row:
    return {
        "diff": verdict.diff,
        "low": verdict.low,
        "high": verdict.high,
        "margin": verdict.margin,
        "compared": f"{verdict.variant} − {verdict.baseline}",
        "model": verdict.model,
        "more": verdict.more,
        "from": verdict.baseline_mean,
        "to": verdict.variant_mean,
        "samples": verdict.samples,
        "clusters": verdict.clusters,
        "crossing_clusters": verdict.crossing_clusters,
        "why": why(verdict),
    }


def why(verdict: JobVerdict) -> str:
    """What rules out a stronger verdict; where the numbers alone would suggest one, that comes first.

    >>> shown = dict(model="m", baseline="a", variant="b", word="undecided", diff=0.5, low=0.1, high=0.9)
    >>> rest = dict(baseline_mean=0.2, variant_mean=0.7, samples=28, clusters=4, margin=0.05)
    >>> print(why(JobVerdict(**shown, **rest, reasons=("lost trials could undo it",))))
    The interval excludes zero, but lost trials could undo it.
    """
    if not verdict.reasons:
        return ""
    reasons = "; ".join(verdict.reasons)
    if verdict.low is not None and verdict.high is not None and (verdict.low > 0 or verdict.high < 0):
        return f"The interval excludes zero, but {reasons}."
    return f"{capitalised(reasons)}."


def _progress(job: JobRecord, per_second: float | None, *, now_s: float) -> str:
    """How far the job is; while it runs also how fast, and when it will have ended."""
    counts = job.counts
    text = f"{counts.done:,} of {counts.planned:,} trials"
    if job.status == "preparing":
        return f"{counts.planned:,} trials are being prepared"
    if job.status == "queued":
        return f"{text} · waits for a worker" if not counts.done else f"{text} · queued again"
    if job.status != "running":
        return f"{counts.scored + counts.model_failed:,} of {counts.planned:,} trials have a result"
    if per_second is None and job.started_at and counts.done:
        per_second = counts.done / max(1.0, now_s - seconds_of(job.started_at))
    if not per_second:
        return text
    left_s = (counts.planned - counts.done) / per_second
    return f"{text} · {rate_text(per_second)} · about {seconds_text(left_s)} left"


def rate_text(per_second: float) -> str:
    """A rate in the unit that gives a number to look at.

    >>> rate_text(41.2), rate_text(2.34), rate_text(0.05)
    ('41 per second', '2.3 per second', '3 per minute')
    """
    if per_second >= 10:
        return f"{per_second:,.0f} per second"
    return f"{per_second:.1f} per second" if per_second >= 1 else f"{60 * per_second:.2g} per minute"


def problem_of(job: JobRecord, missing: Sequence[MissingTrials]) -> str:
    """What went wrong, in the words of the provider where it said something; empty where nothing did."""
    sentences = [
        f"{check.model} is not called any more: {cause_text(check.cause)}, {said_in_short(check.error)}."
        for check in job.checks
        if check.state == "stopped"
    ]
    if sentences:
        return " ".join(sentences[:NAMED])
    if missing:
        first = missing[0]
        lost = f"{first.trials:,} trial{'s' if first.trials != 1 else ''} missing"
        return f"{lost}: {cause_text(first.cause)}{_said(first.error)}."
    return job.error


def _said(error: str) -> str:
    return f", {said_in_short(error)}" if error else ""


def cause_text(cause: str) -> str:
    """A cause in words.

    >>> cause_text("provider:auth"), cause_text("internal:unstorable")
    ('a key was refused', 'internal:unstorable')
    """
    return CAUSES.get(cause.removeprefix("provider:"), cause)


def _cost(job: JobRecord) -> str:
    """What the job has cost as far as it is known, and what it may cost."""
    limit, at_least = job.spec.limits.usd, "" if job.usd is not None else "at least "
    return f"{at_least}{money(job.known_usd)}" + ("" if limit is None else f" of {money(limit)}")


def money(usd: float) -> str:
    """Dollars to the cent.

    >>> money(0.0), money(0.004), money(1234.5)
    ('$0', 'under $0.01', '$1,234.50')
    """
    return "$0" if usd == 0 else "under $0.01" if usd < 0.01 else f"${usd:,.2f}"


def _waits(job: JobRecord) -> str:
    waits = [check for check in job.checks if check.waits_until]
    asked = [f"{capitalised(words)}." for words in job.waiting]
    return " ".join(asked[:NAMED]) or " ".join(
        f"{check.model} is not called before {(check.waits_until or '')[11:19]} UTC: "
        f"{said_in_short(check.waits_for)}."
        for check in waits[:NAMED]
    )


def reach_of(rows: Sequence[Mapping[str, Any]]) -> float:
    """Half the scale of the page's interval plots, in points: so round that it holds every difference.

    >>> reach_of([{"diff": 0.019}, {"diff": None}]), reach_of([{"diff": -0.3}]), reach_of([])
    (25.0, 50.0, 25.0)
    """
    most = max((abs(100 * row["diff"]) for row in rows if row["diff"] is not None), default=0.0)
    return next(reach for reach in (25.0, 50.0, 100.0) if reach >= most or reach == 100.0)


def summary(row: Mapping[str, Any]) -> str:
    """The job in one sentence, for who hears the page."""
    if row["diff"] is not None:
        sizes = f"{percent(row['from'])} to {percent(row['to'])} %"
        return f"{row['name']}: {row['badge'].replace('_', ' ')}, {points(row['diff'])} points, {sizes}"
    return f"{row['name']}: {row['status']}, {row['processed']:,} of {row['planned']:,} trials"
