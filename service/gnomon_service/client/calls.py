"""Each route of the REST API as a call: what is sent, what comes back, and whether it may be sent twice.

Both clients make their requests from these, so that a route is described once. A call names its route as the
OpenAPI document does.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.report.row_formats import row_from_json
from gnomon_service import answers

T = TypeVar("T")
JSON, OCTETS = "application/json", "application/octet-stream"
TripForm = Literal["text/html", "text/markdown", "text/calendar", "application/geo+json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """One request. `answer` is the type of what comes back: JSON of that shape, `str` or `bytes`.

    `is_repeatable`: sent twice it does no more than once, so it is tried again where it may have been lost.
    """

    verb: Literal["GET", "POST", "DELETE"]
    route: str
    answer: Any
    places: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str | int | list[str] | None] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    accept: str = JSON
    is_repeatable: bool = True

    @property
    def path(self) -> str:
        """The path of the request, with what stands for the route's parameters."""
        path = self.route
        for name, value in self.places.items():
            if value in ("", ".", ".."):
                raise SpecError(f"{value!r} is not an id", field=name)
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
        return path

    @property
    def sent_query(self) -> dict[str, str | list[str]]:
        """The parameters that have a value."""
        values = {name: value for name, value in self.query.items() if value is not None}
        return {name: value if isinstance(value, list) else str(value) for name, value in values.items()}

    @property
    def sent_headers(self) -> dict[str, str]:
        """All headers of the request, but the key."""
        kind = {"Content-Type": OCTETS if isinstance(self.body, bytes) else JSON}
        return {"Accept": self.accept, **({} if self.body is None else kind), **self.headers}

    @property
    def content(self) -> bytes | None:
        """The body: bytes as they are, all else as JSON.

        Raises:
            SpecError: it cannot be written as JSON.
        """
        if self.body is None or isinstance(self.body, bytes):
            return self.body
        try:
            return json.dumps(self.body, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise SpecError(f"cannot be written as JSON: {error}", field="body") from None


def post_job(spec: object, *, idempotency_key: str | None = None) -> Call[answers.SubmittedView]:
    """Store and queue a job; without a key of the caller's, one is made, so that it may be sent again."""
    return Call(
        verb="POST", route="/v1/jobs", answer=answers.SubmittedView, body=spec, headers=_once(idempotency_key)
    )


def post_upload(
    name: str, content: bytes, *, columns: Mapping[str, str] | None = None, scorer: str | None = None
) -> Call[answers.UploadView]:
    """Keep a file of questions, named with its ending; a spec names it by the `data` of the answer.

    `columns` are theirs by ours, where names differ; `scorer` is that of rows that name none.
    """
    pairs = [f"{ours}={theirs}" for ours, theirs in (columns or {}).items()]
    return Call(
        verb="POST",
        route="/v1/uploads/{name}",
        answer=answers.UploadView,
        places={"name": name},
        query={"columns": pairs, "scorer": scorer},
        body=content,
    )


def list_jobs(
    *, cursor: str | None = None, limit: int | None = None, owner: str | None = None
) -> Call[answers.JobList]:
    """A page of jobs, newest first; with `owner`, of those posted with that owner's keys."""
    query = {"cursor": cursor, "limit": limit, "owner": owner}
    return Call(verb="GET", route="/v1/jobs", answer=answers.JobList, query=query)


def get_job(job_id: str) -> Call[answers.JobView]:
    """One job as it is now."""
    return Call(verb="GET", route="/v1/jobs/{job_id}", answer=answers.JobView, places={"job_id": job_id})


def cancel_job(job_id: str) -> Call[answers.JobView]:
    """Start no more trials of a job; those in flight may still finish."""
    route, places = "/v1/jobs/{job_id}/cancel", {"job_id": job_id}
    return Call(verb="POST", route=route, answer=answers.JobView, places=places)


def resume_job(
    job_id: str, *, billed_usd: float | None = None, billed_tokens: int | None = None
) -> Call[answers.JobView]:
    """Run the trials of a job that have no result, and only those.

    `billed_usd` and `billed_tokens` are all that its provider has billed for it: what is possibly spent
    beyond that is free again.
    """
    route, places = "/v1/jobs/{job_id}/resume", {"job_id": job_id}
    usd = None if billed_usd is None else repr(billed_usd)
    query = {"billed_usd": usd, "billed_tokens": billed_tokens}
    return Call(
        verb="POST", route=route, answer=answers.JobView, places=places, query=query, is_repeatable=False
    )


def delete_job(job_id: str, *, dry_run: bool = False) -> Call[answers.DeletionView]:
    """Delete a job that has ended, with its media; in a dry run, only say what that would delete."""
    route, places = "/v1/jobs/{job_id}", {"job_id": job_id}
    query = {"dry_run": "true" if dry_run else None}
    return Call(
        verb="DELETE",
        route=route,
        answer=answers.DeletionView,
        places=places,
        query=query,
        is_repeatable=False,
    )


def get_seal(job_id: str) -> Call[str]:
    """The job's seal, as NDJSON."""
    places = {"job_id": job_id}
    return Call(verb="GET", route="/v1/jobs/{job_id}/seal", answer=str, places=places, accept="*/*")


def get_cassette(job_id: str) -> Call[str]:
    """The calls of the job's tool servers with their results, as a file that an arm replays."""
    places = {"job_id": job_id}
    return Call(verb="GET", route="/v1/jobs/{job_id}/cassette", answer=str, places=places, accept="*/*")


def get_export(job_id: str, *, kind: str = "rows", media: bool = False) -> Call[bytes]:
    """A job in a format of docs/exchange.md: one file, or a zip of several. `media`: with pictures."""
    return Call(
        verb="GET",
        route="/v1/jobs/{job_id}/export",
        answer=bytes,
        places={"job_id": job_id},
        query={"format": kind, "media": "true" if media else None},
        accept="*/*",
    )


def list_trials(
    job_id: str,
    *,
    cursor: str | None = None,
    limit: int | None = None,
    arm: str | None = None,
    model: str | None = None,
    task: str | None = None,
    outcome: str | None = None,
    reply_state: str | None = None,
) -> Call[answers.RowList]:
    """A page of a job's result rows, in the order in which they were finished."""
    query = {
        "cursor": cursor,
        "limit": limit,
        "arm": arm,
        "model": model,
        "task": task,
        "outcome": outcome,
        "reply_state": reply_state,
    }
    route, places = "/v1/jobs/{job_id}/trials", {"job_id": job_id}
    return Call(verb="GET", route=route, answer=answers.RowList, places=places, query=query)


def get_trial(trial_id: str) -> Call[answers.TrialView]:
    """One trial with its row and its trace."""
    places = {"trial_id": trial_id}
    return Call(verb="GET", route="/v1/trials/{trial_id}", answer=answers.TrialView, places=places)


def get_trial_file(
    trial_id: str, *, from_step: int | None = None, kind: Literal["yaml", "json"] = "yaml"
) -> Call[str]:
    """The trial as a file for `gnomon try`."""
    route, places = "/v1/trials/{trial_id}/file", {"trial_id": trial_id}
    query = {"from_step": from_step, "format": kind}
    return Call(verb="GET", route=route, answer=str, places=places, query=query, accept="*/*")


def post_trial_file(
    trial_id: str, *, from_step: int, result: object, kind: Literal["yaml", "json"] = "yaml"
) -> Call[str]:
    """The trial as a file that continues from a tool's step with another result."""
    route, places = "/v1/trials/{trial_id}/file", {"trial_id": trial_id}
    body, query = {"from_step": from_step, "result": result}, {"format": kind}
    return Call(verb="POST", route=route, answer=str, places=places, query=query, body=body, accept="*/*")


def job_events(
    job_id: str, *, only: Literal["progress"] | None = None, last_event_id: str | None = None
) -> Call[str]:
    """The stream of what happens in a job, from after the event of that id on."""
    route, places = "/v1/jobs/{job_id}/events", {"job_id": job_id}
    headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
    query, accept = {"only": only}, "text/event-stream"
    return Call(
        verb="GET", route=route, answer=str, places=places, query=query, headers=headers, accept=accept
    )


def get_report(job_id: str) -> Call[answers.Report]:
    """The report of a job so far, as docs/report.md describes it."""
    route, places = "/v1/jobs/{job_id}/report", {"job_id": job_id}
    return Call(verb="GET", route=route, answer=answers.Report, places=places)


def get_report_page(job_id: str) -> Call[str]:
    """The report of a job so far, as one HTML file."""
    route, places = "/v1/jobs/{job_id}/report", {"job_id": job_id}
    return Call(verb="GET", route=route, answer=str, places=places, accept="text/html")


def get_queue(queue: str) -> Call[answers.ReviewQueueView]:
    """A review queue with its reviews."""
    places = {"queue": queue}
    return Call(verb="GET", route="/v1/reviews/{queue}", answer=answers.ReviewQueueView, places=places)


def list_benchmarks() -> Call[answers.BenchmarkList]:
    """The benchmarks that a spec may name."""
    return Call(verb="GET", route="/v1/benchmarks", answer=answers.BenchmarkList)


def list_tools() -> Call[answers.ToolList]:
    """The tools that an arm may have."""
    return Call(verb="GET", route="/v1/tools", answer=answers.ToolList)


def list_agents() -> Call[answers.AgentList]:
    """The agents that an arm may name."""
    return Call(verb="GET", route="/v1/agents", answer=answers.AgentList)


def list_presets() -> Call[answers.PresetList]:
    """The presets of arms."""
    return Call(verb="GET", route="/v1/arms/presets", answer=answers.PresetList)


def call_tool(name: str, *, scene: object, args: Mapping[str, Any]) -> Call[answers.ToolResult]:
    """Call a tool on a scene: GeoJSON, or a path that the service may read."""
    body = {"scene": scene, "args": dict(args)}
    places = {"name": name}
    return Call(verb="POST", route="/v1/tools/{name}", answer=answers.ToolResult, places=places, body=body)


def call_batch(name: str, *, scene: object, args: Mapping[str, Any]) -> Call[answers.BatchResult]:
    """Call a tool for very many rows: columns, as lists or NumPy arrays."""
    columns = {
        column: getattr(values, "tolist", lambda values=values: values)() for column, values in args.items()
    }
    route, body = "/v1/tools/{name}/batch", {"scene": scene, "args": columns}
    return Call(verb="POST", route=route, answer=answers.BatchResult, places={"name": name}, body=body)


def post_itinerary(request: object, *, idempotency_key: str | None = None) -> Call[answers.TripSubmitted]:
    """Queue a planning request; the trip is there once its job has ended. Without a key, one is made."""
    headers = _once(idempotency_key)
    route = "/v1/itineraries"
    return Call(verb="POST", route=route, answer=answers.TripSubmitted, body=request, headers=headers)


def check_itinerary(plan: object, request: object = None) -> Call[answers.CheckedPlanView]:
    """Check a plan: ours, a draft of one, or TravelPlanner's list of days; nothing is stored."""
    body = {"plan": plan} if request is None else {"plan": plan, "request": request}
    return Call(verb="POST", route="/v1/itineraries/check", answer=answers.CheckedPlanView, body=body)


def get_itinerary(job_id: str) -> Call[answers.TripView]:
    """The trip that a job plans: plan and verification once there is one."""
    route, places = "/v1/itineraries/{job_id}", {"job_id": job_id}
    return Call(verb="GET", route=route, answer=answers.TripView, places=places)


def get_itinerary_as(job_id: str, form: TripForm) -> Call[str]:
    """The planned trip as a page, Markdown, a calendar or map data."""
    route, places = "/v1/itineraries/{job_id}", {"job_id": job_id}
    return Call(verb="GET", route=route, answer=str, places=places, accept=form)


def list_workers() -> Call[list[answers.WorkerView]]:
    """The live workers."""
    return Call(verb="GET", route="/v1/workers", answer=list[answers.WorkerView])


def get_keys() -> Call[answers.KeysView]:
    """The keys with what they spent this month, and who did what."""
    return Call(verb="GET", route="/v1/keys", answer=answers.KeysView)


def get_metrics() -> Call[str]:
    """Counts for Prometheus."""
    return Call(verb="GET", route="/metrics", answer=str, accept="*/*")


def get_health() -> Call[answers.Health]:
    """Whether the process answers."""
    return Call(verb="GET", route="/healthz", answer=answers.Health)


def get_readiness() -> Call[answers.Readiness]:
    """Whether store and queue answer."""
    return Call(verb="GET", route="/readyz", answer=answers.Readiness)


def rows_of(page: answers.RowList) -> list[Row]:
    """The rows of a page.

    Raises:
        SpecError: it holds something else.
    """
    try:
        return [row_from_json(values) for values in page["items"]]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise SpecError(f"the server answered no rows: {error}", field="url") from None


def _once(idempotency_key: str | None) -> dict[str, str]:
    return {"Idempotency-Key": idempotency_key or uuid.uuid4().hex}
