"""Routes that queue a planning request and show its plan, as a job of one trial, and that check a plan."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import JSONResponse

from gnomon.core.errors import Conflict, DataError, NotFound, SpecError
from gnomon_service import actions, jobs
from gnomon_service.api.access import IdempotencyKey, Who
from gnomon_service.api.content_negotiation import choose
from gnomon_service.api.places import in_place
from gnomon_service.api.reports import PAGE_POLICY
from gnomon_service.api.request_body import PostedBody, body_docs
from gnomon_service.api.state import Shared, State
from gnomon_trips.export.outputs import MEDIA_TYPES, rendered
from gnomon_trips.export.plan_check import check_plan
from gnomon_trips.export.result import TripResult
from gnomon_trips.service.requests import past_day, planned, spec_of_body
from gnomon_workers.store.records import JobRecord

ENDINGS = {kind: ending for ending, kind in MEDIA_TYPES.items()}
OFFERED = tuple(ENDINGS)
REQUEST_BODY = body_docs(
    {
        "type": "object",
        "required": ["area", "start_date"],
        "properties": {
            "area": {"type": "string", "description": "a city with an extract, japan or world"},
            "start_date": {"type": "string", "format": "date"},
            "places": {"type": "array", "items": {"type": "string"}},
            "model": {"description": "a model's id, or a model as in a job spec"},
            "limits": {"type": "object", "description": "of dollars, tokens and seconds, as in a job spec"},
        },
    }
)

CHECK_BODY = body_docs(
    {
        "type": "object",
        "required": ["plan"],
        "properties": {
            "plan": {"description": "an itinerary, a draft of one, or TravelPlanner's list of days"},
            "request": {"type": "object", "description": "the request that it answers"},
        },
    }
)

router = APIRouter(prefix="/v1/itineraries", tags=["itineraries"])


@router.post("", status_code=202, openapi_extra=REQUEST_BODY)
async def post_itinerary(
    request: Request,
    state: Shared,
    response: Response,
    body: PostedBody,
    idempotency_key: IdempotencyKey,
    who: Who,
) -> dict[str, Any]:
    """Queue a planning request; `model` names the model that plans, by default the built-in reference."""

    def post() -> JobRecord:
        draft = jobs.draft_from_request(spec_of_body(body()), state.settings)
        return actions.post(state, draft, who, idempotency_key=idempotency_key)

    job = await state.places.jobs.run(request, post)
    response.headers["Location"] = f"/v1/itineraries/{job.id}"
    past = past_day(job.spec.select.request or {})
    answer = {"id": job.id, "status": job.status, "events": f"/v1/jobs/{job.id}/events"}
    return {**answer, "notices": [past]} if past else answer


@router.post("/check", openapi_extra=CHECK_BODY)
async def post_check(request: Request, state: Shared, body: PostedBody) -> dict[str, Any]:
    """Check a plan: ours or TravelPlanner's, each check with its evidence; nothing is queued or stored."""
    return await state.places.jobs.run(request, lambda: _checked(body()))


def _checked(body: object) -> dict[str, Any]:
    if not isinstance(body, dict) or "plan" not in body:
        raise SpecError(
            "must be one JSON object with a `plan`, and its `request` where there is one", field="body"
        )
    if unknown := sorted(set(body) - {"plan", "request"}):
        raise SpecError(f"no field {unknown[0]!r}; allowed: plan, request", field="body")
    return check_plan(body["plan"], body.get("request")).as_json()


@router.get("/{job_id}", response_model=None)
@in_place("reports")
def get_itinerary(state: Shared, job_id: str, accept: Annotated[str | None, Header()] = None) -> Response:
    """The plan with its verification, once there is one; the Accept header chooses its form."""
    kind = choose(accept, OFFERED)
    job = state.store.job(job_id)
    if job.spec.select.request is None:
        raise NotFound(f"job {job_id!r} plans no itinerary", field="job_id")
    result, reason = _result(state, job)
    if kind == "application/json":
        head = {"id": job.id, "status": job.status, "reason": reason}
        return JSONResponse({**head, **(result.as_json() if result else {})})
    if result is None:
        raise Conflict(
            reason or f"there is no plan yet: the job is {job.status}; its progress is at /v1/jobs/{job.id}"
        )
    headers = {"Content-Security-Policy": PAGE_POLICY} if kind == "text/html" else {}
    return Response(rendered(result, ENDINGS[kind]), media_type=kind, headers=headers)


def _result(state: State, job: JobRecord) -> tuple[TripResult | None, str | None]:
    """The trip, or why there is none (None while the job runs)."""
    rows = state.store.rows(job.id, cursor=None, limit=1).items
    if not rows:
        return None, job.error or None
    try:
        return planned(rows[0]), None
    except DataError as error:
        return None, f"{error.message} ({rows[0].stop_reason})"
