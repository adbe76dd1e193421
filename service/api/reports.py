"""Route of reports: what the job found so far, for machines or for people."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from service.api.content_negotiation import choose
from service.api.state import Shared, State
from service.api.waiting import while_waited_for

OFFERED = ("application/json", "text/html")
# A report holds models' words; nothing in it may run, load or be sent anywhere.
PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)

router = APIRouter(tags=["jobs"])


@router.get("/v1/jobs/{job_id}/report", response_model=None)
async def get_report(
    request: Request, state: Shared, job_id: str, accept: Annotated[str | None, Header()] = None
) -> Response:
    """The report from the rows there are, also of a job that runs or was cancelled.

    Of a job that runs and is large it may be some minutes old: `Age` says how many seconds. It is no longer
    computed once nobody waits for it.
    """
    kind = choose(accept, OFFERED)
    work = partial(_report, state, job_id, is_page=kind == "text/html")
    return await while_waited_for(request, work, threads=state.report_threads)


def _report(state: State, job_id: str, *, is_page: bool) -> Response:
    from gnomon.report.html import render_html  # late, as it is not needed to start

    report, age_s = state.reports.get(job_id)
    headers = {"Age": str(int(age_s))}
    if is_page:
        return HTMLResponse(render_html(report), headers={"Content-Security-Policy": PAGE_POLICY, **headers})
    return JSONResponse(report, headers=headers)
