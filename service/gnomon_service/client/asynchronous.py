"""A client of a Gnomon service for code with an event loop."""

# `synchronous.py` is made from this file by `python -m scripts.write_sync_client`.
import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Literal, Self

import httpx

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.spec.pasted_keys import refuse_keys
from gnomon_service import answers
from gnomon_service.client import calls
from gnomon_service.client.calls import Call, T, TripForm
from gnomon_service.client.errors import NotNow, error_of, unreachable
from gnomon_service.client.exchange import (
    ENDED,
    POLL_S,
    QUIET_S,
    TIMEOUT_S,
    TRIES,
    Event,
    EventReader,
    answer_of,
    base_url,
    pause_before_again,
    spec_to_send,
)

PAGE = 1_000  # items that are asked for at once


class AsyncClient:
    """Calls one Gnomon service; use it as a context manager, or `aclose` it.

    The key is `key`, or the value of the environment variable `api_key_env`; where neither is named that of
    GNOMON_API_KEY, if it is set. A request that was lost, or refused for its rate, is sent again up to four
    times, with pauses; jobs and trips carry an Idempotency-Key, so they are never queued twice.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        key: str | None = None,
        api_key_env: str | None = None,
        timeout_s: float = TIMEOUT_S,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = base_url(url)
        refuse_keys({"api_key_env": api_key_env}, set_here=os.environ)
        if key is None and api_key_env is not None and not (key := os.environ.get(api_key_env)):
            raise SpecError(f"the environment has no {api_key_env}", field="api_key_env")
        key = key or os.environ.get("GNOMON_API_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.AsyncClient(
            base_url=self._url, headers=headers, timeout=timeout_s, transport=transport
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    @property
    def url(self) -> str:
        """The address of the service."""
        return str(self._url).rstrip("/")

    async def submit(self, spec: object, *, idempotency_key: str | None = None) -> answers.SubmittedView:
        """Queue the job of a spec: a mapping, or the path of a YAML or JSON file.

        Raises:
            ApiError: the service refuses it; `field` names the part of the spec.
            SpecError: the file cannot be read.
        """
        body = spec_to_send(spec, self._url)
        return await self.send(calls.post_job(body, idempotency_key=idempotency_key))

    async def job(self, job_id: str) -> answers.JobView:
        """One job as it is now."""
        return await self.send(calls.get_job(job_id))

    async def jobs(self, *, owner: str | None = None) -> AsyncIterator[answers.JobView]:
        """All jobs, newest first."""
        cursor: str | None = None
        while True:
            page = await self.send(calls.list_jobs(cursor=cursor, limit=PAGE, owner=owner))
            for job in page["items"]:
                yield job
            cursor = page["next_cursor"]
            if cursor is None:
                return

    async def cancel(self, job_id: str) -> answers.JobView:
        """Start no more trials of a job; those in flight may still finish."""
        return await self.send(calls.cancel_job(job_id))

    async def resume(
        self, job_id: str, *, billed_usd: float | None = None, billed_tokens: int | None = None
    ) -> answers.JobView:
        """Run the trials of a job that have no result, and only those.

        `billed_usd` and `billed_tokens` are all that its provider has billed for it: what is possibly spent
        beyond that is free again.
        """
        return await self.send(calls.resume_job(job_id, billed_usd=billed_usd, billed_tokens=billed_tokens))

    async def delete(self, job_id: str, *, dry_run: bool = False) -> answers.DeletionView:
        """Delete a job that has ended, with its media; in a dry run, only say what that would delete."""
        return await self.send(calls.delete_job(job_id, dry_run=dry_run))

    async def upload(
        self,
        name: str,
        content: bytes,
        *,
        columns: Mapping[str, str] | None = None,
        scorer: str | None = None,
    ) -> answers.UploadView:
        """Keep a file of questions, named with its ending; a spec names it by the `data` of the answer.

        `columns` are theirs by ours, where names differ; `scorer` is that of rows that name none.
        """
        return await self.send(calls.post_upload(name, content, columns=columns, scorer=scorer))

    async def wait(
        self,
        job_id: str,
        *,
        progress: Callable[[answers.JobView], None] | None = None,
        timeout_s: float | None = None,
    ) -> answers.JobView:
        """Wait until a job has ended and none of its trials runs; `progress` gets it every second.

        Raises:
            TimeoutError: it has not ended within `timeout_s`; it goes on.
        """
        until_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            job = await self.job(job_id)
            if progress is not None:
                progress(job)
            if job["status"] in ENDED and not job["counts"]["running"]:
                return job
            if until_s is not None and time.monotonic() > until_s:
                raise TimeoutError(f"job {job_id} is {job['status']} after {timeout_s:g} s")
            await asyncio.sleep(POLL_S)

    async def events(
        self, job_id: str, *, only: Literal["progress"] | None = None, after: str | None = None
    ) -> AsyncIterator[Event]:
        """What happens in a job as it happens, until it has ended; `after` is the id of the last event seen.

        A connection that breaks is opened again, and the stream goes on after the last row that came.
        """
        reader, lost = EventReader(last_id=after), 0
        while True:
            call = calls.job_events(job_id, only=only, last_event_id=reader.last_id)
            try:
                async with self._stream(call) as response:
                    async for line in response.aiter_lines():
                        for event in reader.feed(line):
                            lost = 0
                            yield event
                            if event.name == "done":
                                return
            except httpx.HTTPError as error:
                lost += 1
                if lost >= TRIES:
                    raise unreachable(error, self._url) from None
            except NotNow as error:
                lost += 1
                if lost >= TRIES:
                    raise
                await asyncio.sleep(error.retry_after_s or POLL_S)
            reader.restart()
            await asyncio.sleep(POLL_S)

    async def rows(
        self,
        job_id: str,
        *,
        arm: str | None = None,
        model: str | None = None,
        task: str | None = None,
        outcome: str | None = None,
        reply_state: str | None = None,
    ) -> AsyncIterator[Row]:
        """The result rows of a job in the order in which they were finished, page by page."""
        cursor: str | None = None
        while True:
            call = calls.list_trials(
                job_id,
                cursor=cursor,
                limit=PAGE,
                arm=arm,
                model=model,
                task=task,
                outcome=outcome,
                reply_state=reply_state,
            )
            page = await self.send(call)
            for row in calls.rows_of(page):
                yield row
            cursor = page["next_cursor"]
            if cursor is None:
                return

    async def trial(self, trial_id: str) -> answers.TrialView:
        """One trial with its row and its trace."""
        return await self.send(calls.get_trial(trial_id))

    async def trial_file(
        self, trial_id: str, *, from_step: int | None = None, kind: Literal["yaml", "json"] = "yaml"
    ) -> str:
        """The trial as a file for `gnomon try`."""
        return await self.send(calls.get_trial_file(trial_id, from_step=from_step, kind=kind))

    async def changed_trial_file(
        self, trial_id: str, *, from_step: int, result: object, kind: Literal["yaml", "json"] = "yaml"
    ) -> str:
        """The trial as a file that continues from a tool's step with another result."""
        call = calls.post_trial_file(trial_id, from_step=from_step, result=result, kind=kind)
        return await self.send(call)

    async def report(self, job_id: str) -> answers.Report:
        """The report of a job so far, as docs/report.md describes it."""
        return await self.send(calls.get_report(job_id))

    async def report_page(self, job_id: str) -> str:
        """The report of a job so far, as one HTML file."""
        return await self.send(calls.get_report_page(job_id))

    async def seal(self, job_id: str) -> str:
        """The job's seal, as NDJSON."""
        return await self.send(calls.get_seal(job_id))

    async def cassette(self, job_id: str) -> str:
        """The calls of the job's tool servers with their results, as a file that an arm replays."""
        return await self.send(calls.get_cassette(job_id))

    async def export(self, job_id: str, *, kind: str = "rows", media: bool = False) -> bytes:
        """A job in a format of docs/exchange.md: one file, or a zip of several. `media`: with pictures."""
        return await self.send(calls.get_export(job_id, kind=kind, media=media))

    async def review_queue(self, queue: str) -> answers.ReviewQueueView:
        """A review queue with its reviews."""
        return await self.send(calls.get_queue(queue))

    async def benchmarks(self) -> list[answers.BenchmarkInfo]:
        """The benchmarks that a spec may name."""
        return (await self.send(calls.list_benchmarks()))["items"]

    async def tools(self) -> list[answers.ToolInfo]:
        """The tools that an arm may have."""
        return (await self.send(calls.list_tools()))["items"]

    async def agents(self) -> list[answers.AgentInfo]:
        """The agents that an arm may name."""
        return (await self.send(calls.list_agents()))["items"]

    async def presets(self) -> list[answers.PresetInfo]:
        """The presets of arms."""
        return (await self.send(calls.list_presets()))["items"]

    async def call_tool(self, name: str, *, scene: object, **args: Any) -> dict[str, Any]:
        """Call a tool on a scene (GeoJSON, or a path that the service may read) with these arguments."""
        return await self.send(calls.call_tool(name, scene=scene, args=args))

    async def call_batch(self, name: str, *, scene: object, **columns: Any) -> dict[str, list[Any]]:
        """Call a tool for very many rows: columns in, as lists or NumPy arrays, and columns out."""
        return await self.send(calls.call_batch(name, scene=scene, args=columns))

    async def plan_trip(
        self, request: Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> answers.TripSubmitted:
        """Queue a planning request; the trip is there once its job has ended."""
        return await self.send(calls.post_itinerary(dict(request), idempotency_key=idempotency_key))

    async def trip(self, job_id: str) -> answers.TripView:
        """The trip that a job plans: plan and verification once there is one."""
        return await self.send(calls.get_itinerary(job_id))

    async def trip_as(self, job_id: str, form: TripForm) -> str:
        """The planned trip as a page, Markdown, a calendar or map data."""
        return await self.send(calls.get_itinerary_as(job_id, form))

    async def check_plan(self, plan: object, request: object = None) -> answers.CheckedPlanView:
        """Check a plan: ours, a draft of one, or TravelPlanner's list of days."""
        return await self.send(calls.check_itinerary(plan, request))

    async def workers(self) -> list[answers.WorkerView]:
        """The live workers."""
        return await self.send(calls.list_workers())

    async def keys(self) -> answers.KeysView:
        """The keys with what they spent this month, and who did what."""
        return await self.send(calls.get_keys())

    async def metrics(self) -> str:
        """Counts for Prometheus."""
        return await self.send(calls.get_metrics())

    async def health(self) -> answers.Health:
        """Whether the process answers."""
        return await self.send(calls.get_health())

    async def readiness(self) -> answers.Readiness:
        """Whether store and queue answer."""
        return await self.send(calls.get_readiness())

    async def send(self, call: Call[T]) -> T:
        """Send one call of `gnomon_service.client.calls`, again where it was lost; what it answers.

        Raises:
            ApiError: the service refuses it or does not answer; by the status it is a NotFound, a Conflict, a
                SpecError or an Unavailable too.
        """
        content, attempt = call.content, 0
        while True:
            attempt += 1
            failure: httpx.Response | httpx.HTTPError
            try:
                failure = response = await self._http.request(
                    call.verb,
                    call.path,
                    params=call.sent_query,
                    headers=call.sent_headers,
                    content=content,
                )
                if response.is_success:
                    return answer_of(call, response)
            except httpx.HTTPError as error:
                failure = error
            pause_s = pause_before_again(call, attempt, failure)
            if pause_s is None:
                if isinstance(failure, httpx.Response):
                    return answer_of(call, failure)
                raise unreachable(failure, self._url)
            await asyncio.sleep(pause_s)

    @asynccontextmanager
    async def _stream(self, call: Call[str]) -> AsyncIterator[httpx.Response]:
        timeout = httpx.Timeout(TIMEOUT_S, read=QUIET_S)
        request = self._http.build_request(
            call.verb, call.path, params=call.sent_query, headers=call.sent_headers, timeout=timeout
        )
        response = await self._http.send(request, stream=True)
        try:
            if not response.is_success:
                raise error_of(response, await response.aread())
            yield response
        finally:
            await response.aclose()
