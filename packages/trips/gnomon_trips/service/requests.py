"""Turns a planning request into a job of one trial, and its finished row into a trip."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import trial_id
from gnomon_trips.export.result import TripResult, result_of

SAMPLE, ARM, REFERENCE = "request", "planner", "reference"
TOOLS = (
    *("find_place", "where_is", "places_near", "place_details"),
    *("travel", "travel_table", "order_visits", "plan_trip", "check_plan"),
)
MAX_TOOL_CALLS, MAX_TURNS = 60, 30


def spec_of(request: object, model: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The spec of a job that plans a request, by the built-in reference unless a model is named.

    A request's field `film` is a video in which the model looks for places: the job's data.

    Raises:
        SpecError: the request is not an object, or one that the built-in reference cannot read.
    """
    if not isinstance(request, dict):
        raise SpecError("must be one JSON object: a planning request", field="request")
    film = request.get("film")
    if film is not None and not (isinstance(film, str) and film):
        raise SpecError("must be the path of a video", field="request.film")
    unread = next((field for field in ("text", "film") if field in request), None)
    if unread and (model or {"id": REFERENCE}).get("id") == REFERENCE:
        message = f"the built-in {REFERENCE} reads no free text and sees no film; name a language model"
        raise SpecError(message, field=f"request.{unread}")
    arm = {"name": ARM, "agent": "planner", "tools": list(TOOLS)}
    return {
        "name": f"itinerary {request.get('id', '')}".strip()[:200],
        "benchmark": "itinerary",
        "data": film,
        "select": {"request": {key: value for key, value in request.items() if key != "film"}},
        "models": [dict(model or {"id": REFERENCE})],
        "arms": [{**arm, "max_tool_calls": MAX_TOOL_CALLS, "max_turns": MAX_TURNS}],
    }


def spec_of_body(body: object) -> dict[str, Any]:
    """The spec of a posted request; its field `model` names the model that plans, or is one as in a job spec,
    and `limits` are those of a job.

    Raises:
        SpecError: the body is not a planning request.
    """
    if not isinstance(body, dict):
        raise SpecError("must be one JSON object: a planning request", field="body")
    model = body.get("model")
    if model is not None and not isinstance(model, str | dict):
        raise SpecError("must be a model's id, or an object as in a job spec", field="model")
    request = {key: value for key, value in body.items() if key not in ("model", "limits")}
    spec = spec_of(request, {"id": model} if isinstance(model, str) else model)
    return {**spec, "limits": body["limits"]} if "limits" in body else spec


def past_day(request: Mapping[str, Any]) -> str:
    """That the first day of a request is past, in words; empty where it is not."""
    start = str(request.get("start_date") or "")
    is_past = bool(start) and start < dt.datetime.now(tz=dt.UTC).date().isoformat()
    return f"start_date: {start} is past" if is_past else ""


def trial_of(job_id: str, spec: JobSpec) -> str:
    """The id of the one trial of a job that plans a request."""
    return trial_id(job_id, SAMPLE, spec.models[0].label, spec.arms[0].name, 0)


def planned(row: Row | Mapping[str, Any]) -> TripResult:
    """The trip in a finished row.

    Raises:
        DataError: the row holds no plan.
    """
    answer, metrics = (
        (row["answer"], row.get("metrics")) if isinstance(row, Mapping) else (row.answer, row.metrics)
    )
    return replace(result_of(answer), **_searched(metrics or {}))


def _searched(metrics: Mapping[str, Any]) -> dict[str, Any]:
    proven, regret = metrics.get("conflict_proven"), metrics.get("regret")
    return {"is_proven": None if proven is None else bool(proven), "regret": regret}


def is_good(result: TripResult, score: float | None) -> bool:
    """Whether the plan passes every check, or the refusal is proven."""
    return score == 1.0 and not result.errors
