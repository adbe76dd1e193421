"""Routes that post, list, show, cancel and resume jobs."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import PlainTextResponse

from gnomon.core.redaction import without_folders
from gnomon_service import actions, deletion, jobs
from gnomon_service.api.access import IdempotencyKey, Who
from gnomon_service.api.places import in_place
from gnomon_service.api.request_body import PostedBody, body_docs
from gnomon_service.api.serializers import alert_views, job_view, listing
from gnomon_service.api.state import Shared
from gnomon_workers.store.records import JobRecord

MAX_LIMIT = 10_000
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="maximum number of items")]
Cursor = Annotated[str | None, Query(max_length=100, description="`next_cursor` of the previous page")]
SPEC_SCHEMA = {"$ref": "#/components/schemas/JobSpec"}
SPEC_BODY = body_docs(SPEC_SCHEMA)
BILLED = "all that the provider has billed for the job: what is possibly spent beyond that is free again"

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


@router.post("", status_code=202, openapi_extra=SPEC_BODY)
async def post_job(
    request: Request,
    state: Shared,
    response: Response,
    spec: PostedBody,
    idempotency_key: IdempotencyKey,
    who: Who,
) -> dict[str, Any]:
    """Store and queue a job; the same Idempotency-Key with the same spec returns the same job.

    A large one is `preparing` until the queue has made its trials; then it can be seen and cancelled already.
    Nothing is stored for a client that has disconnected before.
    """

    def post() -> tuple[JobRecord, dict[str, Any], list[str]]:
        from gnomon_service.planning import estimate_of  # late: the prices of all models are read with it

        draft = jobs.draft_from_request(spec(), state.settings)
        estimate = estimate_of(draft)  # before: where it fails, nothing is stored
        warnings = [without_folders(warning) for warning in draft.warnings]
        return actions.post(state, draft, who, idempotency_key=idempotency_key), estimate, warnings

    job, estimate, warnings = await state.places.jobs.run(request, post)
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return {
        "id": job.id,
        "status": job.status,
        "planned_trials": job.counts.planned,
        "estimate": estimate,
        "warnings": warnings,
    }


@router.get("")
def list_jobs(
    state: Shared,
    cursor: Cursor = None,
    limit: Limit = 100,
    owner: Annotated[
        str | None, Query(max_length=40, description="of the keys they were posted with")
    ] = None,
) -> dict[str, Any]:
    """All jobs, newest first."""
    page = state.store.jobs(cursor=cursor, limit=limit, owner=owner)
    return listing([job_view(job) for job in page.items], page.next_cursor)


@router.get("/{job_id}")
def get_job(state: Shared, job_id: str) -> dict[str, Any]:
    """Status, counts, spending and spec of one job, and the arms whose replies cannot be read."""
    job = state.store.job(job_id)
    return {**job_view(job), "alerts": alert_views(state.replies, job_id)}


@router.post("/{job_id}/cancel")
def cancel_job(state: Shared, job_id: str, who: Who) -> dict[str, Any]:
    """Start no more trials. Finished ones stay; those in flight (`counts.running`) may still finish."""
    return job_view(actions.cancel(state, job_id, who))


@router.post("/{job_id}/resume")
@in_place("jobs")
def resume_job(
    state: Shared,
    job_id: str,
    who: Who,
    billed_usd: Annotated[float | None, Query(ge=0.0, allow_inf_nan=False, description=BILLED)] = None,
    billed_tokens: Annotated[int | None, Query(ge=0, le=2**62, description=BILLED)] = None,
) -> dict[str, Any]:
    """Run the trials that have no result, and only those."""
    return job_view(actions.resume(state, job_id, who, billed_usd=billed_usd, billed_tokens=billed_tokens))


@router.delete("/{job_id}")
@in_place("reports")
def delete_job(
    state: Shared,
    job_id: str,
    who: Who,
    dry_run: Annotated[bool, Query(description="say what would be deleted, and delete nothing")] = False,
) -> dict[str, Any]:
    """Delete a job that has ended, with its trials, its reviews and the media that it alone names. Its seal
    and its counts stay.
    """
    if dry_run:
        return deletion.preview(state.settings, state.store, job_id)
    return actions.delete(state, job_id, who)


@router.get("/{job_id}/seal", response_class=PlainTextResponse)
def get_seal(state: Shared, job_id: str) -> PlainTextResponse:
    """The job's seal, one JSON line each: what was planned and what came, as NDJSON. See docs/seal.md."""
    kept = state.store.seal(job_id)
    if not kept:
        state.store.job(job_id)  # says so where there is no such job
    lines = "".join(f"{line.text}\n" for line in kept)
    return PlainTextResponse(lines, media_type="application/x-ndjson")
