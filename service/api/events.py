"""Route of events: what happens in a job, as server-sent events."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse

from gnomon.report.row_formats import row_to_json
from service.api.middleware import Caller
from service.api.serializers import job_view
from service.api.state import Shared, State
from service.api.streams import EventStream
from workers.store.job_counters import OPEN
from workers.store.jobs import number_of
from workers.store.records import JobRecord

POLL_S = 0.5
HEARTBEAT_S = 15.0
BATCH = 500

router = APIRouter(tags=["jobs"])


@router.get("/v1/jobs/{job_id}/events", response_class=StreamingResponse)
async def job_events(
    state: Shared,
    caller: Caller,
    job_id: str,
    cursor: Annotated[str | None, Query(description="the last event id seen; later ones follow")] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """`progress` with the job, `trial` with each new row (its event id is a cursor), at last `done`."""
    seen = number_of(last_event_id or cursor or "0")
    await run_sync(state.store.job, job_id)
    return EventStream(_stream(state, job_id, seen), streams=state.streams, caller=caller)


async def _stream(state: State, job_id: str, seen: int) -> AsyncIterator[str]:
    shown: dict[str, Any] = {}
    spoke_at = time.monotonic()
    while True:
        # The job is read before its rows: a job seen as ended has no rows that come after this reading.
        job = await run_sync(state.store.job, job_id)
        rows = await run_sync(state.store.rows_after, job_id, seen, BATCH)
        for seen, row in rows:
            yield _event("trial", row_to_json(row), seen)
        if rows or time.monotonic() - spoke_at > HEARTBEAT_S:
            spoke_at = time.monotonic()
            yield ": still here\n\n"
        progress = _progress(job)
        if progress != shown:
            shown = progress
            yield _event("progress", progress)
        if len(rows) == BATCH:
            continue
        if job.status not in OPEN and not job.counts.running:
            yield _event("done", job_view(job))
            return
        await asyncio.sleep(POLL_S)


def _progress(job: JobRecord) -> dict[str, Any]:
    view = job_view(job)
    return {key: view[key] for key in ("id", "status", "counts", "usd", "tokens")}


def _event(name: str, data: dict[str, Any], number: int | None = None) -> str:
    identity = f"id: {number}\n" if number is not None else ""
    return f"{identity}event: {name}\ndata: {json.dumps(data)}\n\n"
