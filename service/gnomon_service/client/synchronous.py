"""A client of a Gnomon service for plain code."""

# Made from `asynchronous.py` by `python -m scripts.write_sync_client`.
import functools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Concatenate, Literal, ParamSpec, Self

import httpx

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.spec.pasted_keys import refuse_keys
from gnomon_service import answers
from gnomon_service.client import calls
from gnomon_service.client.calls import Call, T
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

P = ParamSpec("P")
PAGE = 1_000  # items that are asked for at once


def _sent(make: Callable[P, Call[T]]) -> Callable[Concatenate["Client", P], T]:
    """A method of the client that sends the call which `make` makes, and returns what is answered."""

    @functools.wraps(make)
    def method(self: "Client", /, *args: P.args, **keywords: P.kwargs) -> T:
        return self.send(make(*args, **keywords))

    return method


class Client:
    """Calls one Gnomon service; use it as a context manager, or `close` it.

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
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._url = base_url(url)
        refuse_keys({"api_key_env": api_key_env}, set_here=os.environ)
        if key is None and api_key_env is not None and not (key := os.environ.get(api_key_env)):
            raise SpecError(f"the variable {api_key_env} is not set", field="api_key_env")
        key = key or os.environ.get("GNOMON_API_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.Client(base_url=self._url, headers=headers, timeout=timeout_s, transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    @property
    def url(self) -> str:
        """The address of the service."""
        return str(self._url).rstrip("/")

    job = _sent(calls.get_job)
    cancel = _sent(calls.cancel_job)
    resume = _sent(calls.resume_job)
    delete = _sent(calls.delete_job)
    upload = _sent(calls.post_upload)
    trial = _sent(calls.get_trial)
    trial_file = _sent(calls.get_trial_file)
    changed_trial_file = _sent(calls.post_trial_file)
    report = _sent(calls.get_report)
    report_page = _sent(calls.get_report_page)
    seal = _sent(calls.get_seal)
    cassette = _sent(calls.get_cassette)
    export = _sent(calls.get_export)
    review_queue = _sent(calls.get_queue)
    trip = _sent(calls.get_itinerary)
    trip_as = _sent(calls.get_itinerary_as)
    check_plan = _sent(calls.check_itinerary)
    plan_trip = _sent(calls.post_itinerary)
    workers = _sent(calls.list_workers)
    keys = _sent(calls.get_keys)
    metrics = _sent(calls.get_metrics)
    health = _sent(calls.get_health)
    readiness = _sent(calls.get_readiness)

    def submit(self, spec: object, *, idempotency_key: str | None = None) -> answers.SubmittedView:
        """Queue the job of a spec: a mapping, or the path of a YAML or JSON file.

        Raises:
            ApiError: the service refuses it; `field` names the part of the spec.
            SpecError: the file cannot be read.
        """
        body = spec_to_send(spec, self._url)
        return self.send(calls.post_job(body, idempotency_key=idempotency_key))

    def jobs(self, *, owner: str | None = None) -> Iterator[answers.JobView]:
        """All jobs, newest first."""
        cursor: str | None = None
        while True:
            page = self.send(calls.list_jobs(cursor=cursor, limit=PAGE, owner=owner))
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def wait(
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
            job = self.job(job_id)
            if progress is not None:
                progress(job)
            if job["status"] in ENDED and not job["counts"]["running"]:
                return job
            if until_s is not None and time.monotonic() > until_s:
                raise TimeoutError(f"job {job_id} is {job['status']} after {timeout_s:g} s")
            time.sleep(POLL_S)

    def events(
        self, job_id: str, *, only: Literal["progress"] | None = None, after: str | None = None
    ) -> Iterator[Event]:
        """What happens in a job as it happens, until it has ended; `after` is the id of the last event seen.

        A connection that breaks is opened again, and the stream goes on after the last row that came.
        """
        reader, lost = EventReader(last_id=after), 0
        while True:
            call = calls.job_events(job_id, only=only, last_event_id=reader.last_id)
            try:
                with self._stream(call) as response:
                    for line in response.iter_lines():
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
                time.sleep(error.retry_after_s or POLL_S)
            reader.restart()
            time.sleep(POLL_S)

    def rows(
        self,
        job_id: str,
        *,
        arm: str | None = None,
        model: str | None = None,
        task: str | None = None,
        outcome: str | None = None,
        reply_state: str | None = None,
    ) -> Iterator[Row]:
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
            page = self.send(call)
            yield from calls.rows_of(page)
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def benchmarks(self) -> list[answers.BenchmarkInfo]:
        """The benchmarks that a spec may name."""
        return self.send(calls.list_benchmarks())["items"]

    def tools(self) -> list[answers.ToolInfo]:
        """The tools that an arm may have."""
        return self.send(calls.list_tools())["items"]

    def agents(self) -> list[answers.AgentInfo]:
        """The agents that an arm may name."""
        return self.send(calls.list_agents())["items"]

    def presets(self) -> list[answers.PresetInfo]:
        """The presets of arms."""
        return self.send(calls.list_presets())["items"]

    def call_tool(self, name: str, *, scene: object, **args: Any) -> dict[str, Any]:
        """Call a tool on a scene (GeoJSON, or a path that the service may read) with these arguments."""
        return self.send(calls.call_tool(name, scene=scene, args=args))

    def call_batch(self, name: str, *, scene: object, **columns: Any) -> dict[str, list[Any]]:
        """Call a tool for very many rows: columns in, as lists or NumPy arrays, and columns out."""
        return self.send(calls.call_batch(name, scene=scene, args=columns))

    def send(self, call: Call[T]) -> T:
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
                failure = response = self._http.request(
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
            time.sleep(pause_s)

    @contextmanager
    def _stream(self, call: Call[str]) -> Iterator[httpx.Response]:
        timeout = httpx.Timeout(TIMEOUT_S, read=QUIET_S)
        request = self._http.build_request(
            call.verb, call.path, params=call.sent_query, headers=call.sent_headers, timeout=timeout
        )
        response = self._http.send(request, stream=True)
        try:
            if not response.is_success:
                raise error_of(response, response.read())
            yield response
        finally:
            response.close()
