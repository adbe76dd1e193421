"""Route of a job's report so far, as JSON or as a page; it stops when the caller disconnects."""

from typing import Annotated

from fastapi import APIRouter, Header
from fastapi.responses import HTMLResponse, JSONResponse, Response

from gnomon_service.api.content_negotiation import choose
from gnomon_service.api.places import in_place
from gnomon_service.api.state import Shared, State

OFFERED = ("application/json", "text/html")
# A report holds text of models; nothing in it may run, load or send data.
PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)

router = APIRouter(tags=["jobs"])


@router.get("/v1/jobs/{job_id}/report", response_model=None)
@in_place("reports")
def get_report(
    state: Shared,
    job_id: str,
    accept: Annotated[str | None, Header()] = None,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """The report from the rows so far, also of a job that is running or was cancelled.

    For a large job that is running it may be some minutes old: `Age` is its age in seconds. It is no longer
    computed once the client has disconnected. A report of all rows has an `ETag`: sent as `If-None-Match`, it
    gets 304 until rows have come.
    """
    kind = choose(accept, OFFERED)
    return report_response(state, job_id, is_page=kind == "text/html", etag=if_none_match)


def report_response(state: State, job_id: str, *, is_page: bool, etag: str | None = None) -> Response:
    """The report so far, or 304 where it is the one that `etag` names."""
    from gnomon.report.html import render_html  # late, as these are not needed to start
    from gnomon_service.report_samples import StoredSamples

    tag = f'"{state.reports.stamp(job_id)}-{"html" if is_page else "json"}"'
    if etag == tag:
        return Response(status_code=304, headers={"ETag": tag})
    made = state.reports.get(job_id)
    headers = {"Age": str(int(made.age_s)), "Vary": "Accept"}
    if made.is_current:
        headers["ETag"] = tag
    if is_page:
        page = render_html(made.value, samples=StoredSamples(state.store, job_id, state.questions))
        return HTMLResponse(page, headers={"Content-Security-Policy": PAGE_POLICY, **headers})
    return JSONResponse(made.value, headers=headers)
