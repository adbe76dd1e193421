"""Route that streams what happens in a job, as server-sent events."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator
from typing import Annotated, Any, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from gnomon.report.row_formats import row_to_json
from gnomon_service.api.access import Caller
from gnomon_service.api.problems import problem
from gnomon_service.api.serializers import alert_views, job_view
from gnomon_service.api.state import OpenStreams, Shared, State
from gnomon_workers.store.jobs import number_of
from gnomon_workers.store.records import OPEN, JobRecord

POLL_S = 0.5
HEARTBEAT_S = 15.0
BATCH = 500
RETRY_AFTER_S = 5

router = APIRouter(tags=["jobs"])


class EventStream(StreamingResponse):
    """A response of server-sent events; status 429 if the caller already has its maximum of open streams."""

    def __init__(self, events: AsyncIterable[str], *, streams: OpenStreams, caller: bytes) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._streams, self._caller = streams, caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send, and count as open for as long as that takes."""
        streams, caller = self._streams, self._caller
        if streams.counts[caller] >= streams.limit:
            detail = f"{streams.limit} event streams are open for this caller; close one"
            refusal = problem(
                429,
                title="Too Many Requests",
                detail=detail,
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )
            await refusal(scope, receive, send)
            return
        streams.counts[caller] += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            streams.counts -= Counter((caller,))


@router.get("/v1/jobs/{job_id}/events", response_class=StreamingResponse)
async def job_events(
    state: Shared,
    caller: Caller,
    job_id: str,
    cursor: Annotated[
        str | None, Query(description="the id of the last event received; later ones follow")
    ] = None,
    only: Annotated[Literal["progress"] | None, Query(description="leave out the rows")] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """Events: `progress` with the job, `trial` with each new row (its id is a cursor), `alert` with an arm
    whose replies cannot be read, once, and `done` at the end.
    """
    after = number_of(last_event_id or cursor or "0")
    await run_sync(state.store.job, job_id)
    events = _stream(state, job_id, after, has_rows=only is None)
    return EventStream(events, streams=state.streams, caller=caller)


async def _stream(state: State, job_id: str, after: int, *, has_rows: bool) -> AsyncIterator[str]:
    last_progress: dict[str, Any] = {}
    sent: set[tuple[str, str, str]] = set()
    last_sent_s = time.monotonic()
    while True:
        # The job is read before its rows: once it has ended, no rows come after those read here.
        job = await run_sync(state.store.job, job_id)
        rows = await run_sync(state.store.rows_after, job_id, after, BATCH) if has_rows else []
        for after, row in rows:
            yield _event("trial", row_to_json(row), after)
        if rows or time.monotonic() - last_sent_s > HEARTBEAT_S:
            last_sent_s = time.monotonic()
            yield ": still here\n\n"
        progress = _progress(job)
        if progress != last_progress:
            last_progress = progress
            yield _event("progress", progress)
            for alert in await run_sync(alert_views, state.replies, job_id):
                key = alert["model"], alert["arm"], alert["kind"]
                if key not in sent:
                    sent.add(key)
                    yield _event("alert", alert)
        if len(rows) == BATCH:
            continue
        if job.status not in OPEN and not job.counts.running:
            alerts = await run_sync(alert_views, state.replies, job_id)
            yield _event("done", {**job_view(job), "alerts": alerts})
            return
        await asyncio.sleep(POLL_S)


def _progress(job: JobRecord) -> dict[str, Any]:
    view = job_view(job)
    facts = {key: view[key] for key in ("id", "status", "counts", "usd", "tokens")}
    return facts | {"waiting": job.waiting}


def _event(name: str, data: dict[str, Any], number: int | None = None) -> str:
    id_line = f"id: {number}\n" if number is not None else ""
    return f"{id_line}event: {name}\ndata: {json.dumps(data)}\n\n"
