"""Turns jobs and trials into the JSON that the API returns."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from gnomon.report.row_formats import row_to_json as row_record
from gnomon_service.reply_watch import ReplyWatch
from gnomon_workers.store.records import JobRecord, TrialRecord

SHOWN_FAULTS = 20


def job_view(job: JobRecord) -> dict[str, Any]:
    """A job as JSON, with the number of its data faults and the first SHOWN_FAULTS of them."""
    return {
        "id": job.id,
        "name": job.name,
        "status": job.status,
        "counts": asdict(job.counts),
        "stopped_early": job.is_decided,
        "not_run": job.not_run,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "usd": job.usd,
        "tokens": job.tokens,
        "known_usd": job.known_usd,
        "known_tokens": job.known_tokens,
        "waiting": job.waiting,
        "posted_by": job.posted_by,
        "owner": job.owner,
        "possible_usd": job.possible_usd,
        "possible_tokens": job.possible_tokens,
        "free_usd": job.free.usd,
        "free_tokens": job.free.tokens,
        "error": job.error,
        "preflights": [asdict(check) for check in job.checks],
        "spec_hash": job.spec_hash,
        "spec": job.spec.model_dump(mode="json"),
        "faults": {
            "count": len(job.faults),
            "first": [asdict(fault) for fault in job.faults[:SHOWN_FAULTS]],
        },
    }


def alert_views(watch: ReplyWatch, job_id: str) -> list[dict[str, Any]]:
    """The arms of a job whose replies cannot be read, as JSON."""
    return [unread.record() for unread in watch.unread(job_id)]


def trial_view(record: TrialRecord) -> dict[str, Any]:
    """A trial as JSON: its plan, its state, its trace, and its row once it is finished."""
    trial = record.trial
    return {
        "trial_id": trial.trial_id,
        "job_id": trial.job_id,
        **asdict(trial.ref),
        "model": trial.model,
        "arm": trial.arm,
        "repeat": trial.repeat,
        "state": record.state,
        "attempt": record.attempt,
        "row": row_record(record.row) if record.row else None,
        "trace": record.trace,
    }


def listing(items: Sequence[Any], next_cursor: str | None = None) -> dict[str, Any]:
    """The form of every list: {items, next_cursor}."""
    return {"items": list(items), "next_cursor": next_cursor}
