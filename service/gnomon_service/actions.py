"""Posts, cancels, resumes and deletes jobs for the API and its pages, and records who asked for it."""

import logging
from typing import Any

from gnomon.core.errors import Conflict
from gnomon_service import deletion, jobs
from gnomon_service.api.state import State
from gnomon_service.jobs import Draft
from gnomon_workers.logs import JOBS
from gnomon_workers.poster import Poster
from gnomon_workers.store.activity import Action, Deed
from gnomon_workers.store.records import JobRecord

JOBS_LOG = logging.getLogger(JOBS)


def post(state: State, draft: Draft, who: Poster, *, idempotency_key: str | None = None) -> JobRecord:
    """Store and queue a job.

    Raises:
        Conflict: the key belongs to a job with another spec.
        SpecError, OutOfBudget: it could cost more than is left of the budget of who posts it.
    """
    job = jobs.submit(
        draft, store=state.store, redis=state.redis, idempotency_key=idempotency_key, poster=who
    )
    _note(state, job.id, who, "posted", f"{job.name or job.spec.benchmark}, {job.counts.planned:,} trials")
    return job


def cancel(state: State, job_id: str, who: Poster) -> JobRecord:
    """Start no more trials of a job.

    Raises:
        NotFound: the job does not exist.
    """
    job = state.store.cancel(job_id)
    _note(state, job_id, who, "cancelled", f"{job.counts.done:,} of {job.counts.planned:,} trials have ended")
    return job


def resume(
    state: State,
    job_id: str,
    who: Poster,
    *,
    billed_usd: float | None = None,
    billed_tokens: int | None = None,
) -> JobRecord:
    """Run the trials of a job that are missing; what its provider has billed, where that is known.

    Raises:
        NotFound: the job does not exist.
        Conflict: somebody with a budget resumes the job of another: it would count on theirs.
        OutOfBudget: its limit is above what is left of the budget.
        SpecError: it was run elsewhere, or its plug-ins have changed.
    """
    before = state.store.job(job_id)
    if who.has_budget and before.posted_by != who.name:
        posted_by = before.posted_by or "somebody without a key"
        raise Conflict(f"{job_id} was posted by {posted_by}: a key with a budget resumes its own jobs")
    job = jobs.resume(
        job_id,
        store=state.store,
        redis=state.redis,
        billed_usd=billed_usd,
        billed_tokens=billed_tokens,
        poster=who,
    )
    left = job.counts.planned - job.counts.done
    _note(state, job_id, who, "resumed", f"{left:,} trials to go")
    return job


def delete(state: State, job_id: str, who: Poster) -> dict[str, Any]:
    """Delete a job with its media; what was deleted.

    Raises:
        NotFound: the job does not exist.
        Conflict: it runs, one that runs needs it, or it is of another owner.
    """
    owner = state.store.job(job_id).owner
    if who.owner and owner != who.owner:
        whose = f"of {owner}" if owner else "of nobody in particular"
        raise Conflict(f"{job_id} is {whose}: a key with an owner deletes that owner's jobs", field="job_id")
    deleted = deletion.delete(state.settings, state.store, job_id, by=who.name or "without a key")
    _note(state, job_id, who, "deleted", deletion.in_words([deleted]))
    return deleted


def keep_looks(state: State) -> None:
    """Keep who looked at which jobs since this was last called."""
    looks = state.looks.taken()
    known = {job.id for job in state.store.jobs_of([job_id for job_id, _ in looks])} if looks else set()
    if known:
        state.store.note_deeds(Deed(job_id, who, "looked") for job_id, who in looks if job_id in known)


def _note(state: State, job_id: str, who: Poster, action: Action, what: str) -> None:
    owner = f" of {who.owner}" if who.owner else ""
    by = f" by {who.name}{owner}" if who.name else ""
    JOBS_LOG.info("job %s %s%s: %s", job_id, action, by, what)
    if who.name:
        state.store.note_deeds([Deed(job_id, who.name, action)])
