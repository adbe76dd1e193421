"""The list of planned trips with its form, and the page of a trip, which says whether its plan works."""

import datetime as dt
import json
import re
from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from gnomon.core.errors import DataError, NotFound, OutOfBudget, SpecError
from gnomon.core.redaction import without_folders
from gnomon.core.row import Row
from gnomon_service import actions, jobs
from gnomon_service.api.access import Who, comes_from_here
from gnomon_service.api.places import in_place
from gnomon_service.api.reports import PAGE_POLICY
from gnomon_service.api.state import Shared, State
from gnomon_service.web.pages import View, page, respond
from gnomon_trips.export.outputs import MEDIA_TYPES, page_body, rendered
from gnomon_trips.export.result import TripResult
from gnomon_trips.export.trip_view import trip_view
from gnomon_trips.itinerary.registry import areas
from gnomon_trips.service.requests import is_good, past_day, planned, spec_of_body, trial_of
from gnomon_workers.store.records import OPEN, JobRecord

BENCHMARK = "itinerary"
PLANNED_TASKS = ("request", "city-day", "two-day", "change-request", "must-refuse")
"""The tasks whose answers are plans; those of the others are orders of stations and graphs."""
PER_PAGE = 30
EXAMPLES: dict[str, dict[str, Any]] = json.loads(files(__package__).joinpath("examples.json").read_bytes())
"""Requests to start from: one that can be planned, and one where a museum is closed."""
FIELDS = ("area", "start_date", "latest_start", "days", "hotel", "start", "end", "mode", "places")
SET_TIME = re.compile(r"(.*\S)\s+(\d\d:\d\d)")
"""A line of the form that names a place and when to be there."""
DOWNLOADS = {".ics": "Calendar", ".geojson": "Map data", ".json": "Plan and checks", ".html": "Page"}
OF_REFUSALS = (".json", ".html")  # the others would be empty

router = APIRouter(include_in_schema=False)


@page(router, "/ui/trips", "trips.html.j2")
def trips(
    state: Shared,
    cursor: str | None = None,
    example: str = "helsinki",
    owner: Annotated[str, Query(max_length=40)] = "",
) -> View:
    """Which trips were planned, of one owner or of all, and a form to plan one."""
    return _listing(state, cursor, EXAMPLES.get(example, EXAMPLES["helsinki"]), owner=owner)


@router.post("/ui/trips", response_model=None)
@in_place("jobs")
def plan_trip(
    request: Request,
    state: Shared,
    who: Who,
    area: Annotated[str, Form()] = "",
    start_date: Annotated[str, Form()] = "",
    latest_start: Annotated[str, Form()] = "",
    days: Annotated[str, Form()] = "",
    hotel: Annotated[str, Form()] = "",
    start: Annotated[str, Form()] = "",
    end: Annotated[str, Form()] = "",
    mode: Annotated[str, Form()] = "",
    places: Annotated[str, Form()] = "",
    written: Annotated[str, Form(alias="request")] = "",
) -> Response:
    """Queue the request of a form, either of its fields or as JSON, and show the trip's page."""
    if not comes_from_here(request):
        raise HTTPException(403, "the form was not sent from a page of this server")
    values = (area, start_date, latest_start, days, hotel, start, end, mode, places)
    fields = dict(zip(FIELDS, values, strict=True))
    try:
        body = _parsed(written) if written.strip() else _request_of(fields)
        draft = jobs.draft_from_request(spec_of_body(body), state.settings)
        job = actions.post(state, draft, who)
    except (SpecError, DataError, OutOfBudget) as error:
        problem = {"field": _field_of(error.message, written), "detail": without_folders(error.message)}
        view = _listing(state, None, EXAMPLES["helsinki"], problem=problem)
        view["_form"] |= fields if not written.strip() else {"request": written}
        view["answer"] = "This request cannot be planned; the form says why."
        return respond(request, "trips.html.j2", view, status=422)
    return RedirectResponse(f"/ui/trips/{trial_of(job.id, job.spec)}", status_code=303)


def _parsed(written: str) -> object:
    """The request in a text.

    Raises:
        SpecError: the text is not JSON.
    """
    try:
        return json.loads(written)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"not valid JSON: {error}", field="request") from None


def _request_of(fields: dict[str, str]) -> dict[str, Any]:
    """The request in the fields of the small form; what is left empty is left out."""
    request: dict[str, Any] = {name: value.strip() for name, value in fields.items() if value.strip()}
    if "places" in request:
        lines = list(filter(None, map(str.strip, request["places"].splitlines())))
        timed = [(line, SET_TIME.fullmatch(line)) for line in lines]
        request["places"] = [match[1] if match else line for line, match in timed]
        if fixed := [{"place": match[1], "start": match[2]} for _, match in timed if match]:
            request["fixed"] = fixed
    if window := {name: request.pop(name) for name in ("start", "end") if name in request}:
        request["window"] = window
    if request.get("days", "").isdecimal():
        request["days"] = int(request["days"])
    return request


def _field_of(message: str, written: str) -> str:
    """The form's field that a fault is about: messages begin with it."""
    if written.strip():
        return "request"
    match = re.match(r"(?:window\.)?(\w+)(?:\.\w+)*:", message)
    name = {"window": "end", "fixed": "places"}.get(match[1], match[1]) if match else ""
    return name if name in FIELDS else "places" if "place" in message else "area"


def _listing(
    state: State,
    cursor: str | None,
    example: dict[str, Any],
    *,
    owner: str = "",
    problem: dict[str, str] | None = None,
) -> View:
    listed = state.store.newest_answers(BENCHMARK, PLANNED_TASKS, owner=owner, cursor=cursor, limit=PER_PAGE)
    unfinished = () if cursor else state.store.unfinished_jobs_of(BENCHMARK, owner=owner)
    planning = [_unfinished(state.store.job(job_id)) for job_id in unfinished]
    planned_trips = [_line(item.row, item.job_name) for item in listed.items]
    good = sum(item["state"] == "holds" for item in planned_trips)
    count = len(planned_trips)
    whole = "" if cursor is None and listed.next_cursor is None else "on this page "
    works = f"{good} of {count} trip{'s' * (count != 1)} {whole}{'works' if good == 1 else 'work'}"
    answer = f"{works}: every check holds, or the request is rightly refused."
    return {
        "title": "Trips",
        "answer": answer if count else f"No trip {f'of {owner} ' if owner else ''}was planned yet.",
        "planning": [item for item in planning if item],
        "trips": planned_trips,
        "next_cursor": listed.next_cursor,
        "owner": owner,
        "owners": sorted({*state.store.owners(), owner} - {""}),
        "_form": {
            **dict.fromkeys(FIELDS, ""),
            "area": "helsinki",
            "start_date": _no_past_day(example["start_date"]),
            "days": str(example.get("days", 1)),
            "hotel": example.get("hotel", ""),
            "mode": example.get("mode", "walk"),
            **example.get("window", {}),
            "places": "\n".join(example["places"]),
            "request": json.dumps(example, indent=2, ensure_ascii=False),
        },
        "_areas": areas(),
        "_examples": tuple(EXAMPLES),
        "problem": problem or {},
    }


def _no_past_day(day: str) -> str:
    """The day, or the next of its weekday where it is past."""
    wished, today = dt.date.fromisoformat(day), dt.datetime.now(tz=dt.UTC).date()
    days = (wished.weekday() - today.weekday()) % 7
    return max(wished, today + dt.timedelta(days=days)).isoformat()


def _unfinished(job: JobRecord) -> dict[str, str] | None:
    """A request that is being planned; None for other jobs of the benchmark."""
    if job.spec.select.request is None:
        return None
    return {
        "id": trial_of(job.id, job.spec),
        "title": _title(job),
        "name": job.name or job.id,
        "status": job.status,
        "created_at": job.created_at,
    }


def _line(row: Row, job_name: str) -> dict[str, Any]:
    line = {"id": row.trial_id, "request": "", "model": row.model, "arm": row.arm}
    line |= {"job": job_name, "job_id": row.job_id}
    try:
        result = planned(row)
    except DataError:
        return {
            **line,
            "title": "No plan",
            "when": "",
            "state": "fails",
            "verdict": "the plan cannot be read",
        }
    faults = len(result.errors)
    if result.plan.status == "refused":
        verdict = ", ".join(filter(None, ("refused", "proven" if result.is_proven else result.by_estimates)))
    else:
        verdict = "every check holds" if not faults else f"{faults} fault{'s' * (faults != 1)}"
    first = result.plan.days[0].date.isoformat() if result.plan.days else ""
    state = "holds" if is_good(result, row.score) else "fails"
    line["request"] = result.plan.request_id
    return {**line, "title": result.title, "when": first, "state": state, "verdict": verdict}


@page(router, "/ui/trips/{trial_id}", "trip.html.j2")
def trip(state: Shared, trial_id: str) -> View:
    """The plan of a trial, with each check of the verifier where it applies."""
    row, job = _trial(state, trial_id)
    origin = {"id": trial_id, "job_id": job.id, "job": job.name or job.id, "is_open": False}
    named = {**origin, "title": _title(job), "status": job.status}
    if row is None and job.status in OPEN:
        return {**named, "answer": f"This trip is being planned; its job is {job.status}.", "is_open": True}
    if row is None:
        return {**named, "answer": f"No plan was made: the job is {job.status}. {job.error}".strip()}
    try:
        result = planned(row)
    except DataError as error:
        return {**named, "answer": f"No plan was made: {row.stop_reason}.", "reason": error.message}
    view = trip_view(result)
    view["facts"] += filter(None, [past_day(result.request).removeprefix("start_date: ")])
    return {
        **view,
        **origin,
        "model": row.model,
        "arm": row.arm,
        "score": row.score,
        "downloads": {
            f"{words} ({ending[1:]})": f"/ui/trips/{trial_id}/trip{ending}"
            for ending, words in DOWNLOADS.items()
            if result.plan.days or ending in OF_REFUSALS
        },
        "_body": page_body(result, view),
    }


def _title(job: JobRecord) -> str:
    """What is being planned, as far as the request says it in fields."""
    request = job.spec.select.request or {}
    area, days = request.get("area"), request.get("days", 1)
    if not isinstance(area, str) or not isinstance(days, int):
        return job.name or "A trip"
    return f"{area.title()}, {days} day{'s' * (days != 1)}"


def _trial(state: State, trial_id: str) -> tuple[Row | None, JobRecord]:
    record = state.store.trial(trial_id)
    job = state.store.job(record.trial.job_id)
    if job.spec.benchmark != BENCHMARK or record.trial.ref.task not in PLANNED_TASKS:
        raise NotFound(f"trial {trial_id!r} plans no trip", field="id")
    return record.row, job


@router.get("/ui/trips/{trial_id}/trip.{form}", response_model=None)
@in_place("reports")
def download(state: Shared, trial_id: str, form: str) -> Response:
    """The trip as a file."""
    ending = f".{form}"
    if ending not in MEDIA_TYPES:
        raise NotFound(f"no format {ending!r}; there are: {', '.join(MEDIA_TYPES)}", field="form")
    row, _ = _trial(state, trial_id)
    if row is None:
        raise NotFound(f"trial {trial_id!r} has no plan yet", field="id")
    result: TripResult = planned(row)
    headers = {
        "Content-Disposition": f'attachment; filename="trip{ending}"',
        "Content-Security-Policy": PAGE_POLICY,
    }
    return Response(rendered(result, ending), media_type=MEDIA_TYPES[ending], headers=headers)
