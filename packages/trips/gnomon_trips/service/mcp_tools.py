"""The tools of `gnomon mcp` that plan a trip and check a plan."""

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gnomon.core.errors import GnomonError
from gnomon_service.cli.common import settings_of
from gnomon_service.jobs import draft_from_cli
from gnomon_tools.core.registry import UnknownPlugin
from gnomon_trips.service.requests import ARM, SAMPLE, past_day, planned, spec_of
from gnomon_workbench.mcp_server.offer import ServedAnswer, ServedTool
from gnomon_workbench.mcp_server.scenes import failed

PLANNERS = 2  # plans made at the same time
REQUEST_FIELD = {
    "type": "object",
    "description": "the request: area (a city with a map on this machine), start_date, days, hotel, places,"
    " window {start, end}, lunch and further wishes",
    "required": ["area", "start_date"],
    "properties": {
        "area": {"type": "string"},
        "start_date": {"type": "string", "format": "date"},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "hotel": {"type": "string"},
        "places": {"type": "array", "items": {"type": "string"}},
    },
}
PLAN_SCHEMA = {
    "type": "function",
    "function": {
        "name": "plan_itinerary",
        "description": "Plan a trip from a request, with the times of every visit and way, and verify the"
        " plan against map, walking times and opening hours. A refusal names what cannot be kept together.",
        "parameters": {
            "type": "object",
            "properties": {"request": REQUEST_FIELD},
            "required": ["request"],
            "additionalProperties": False,
        },
    },
}
CHECK_SCHEMA = {
    "type": "function",
    "function": {
        "name": "check_plan",
        "description": "Check a plan of a trip: each check with whether it holds, where it fails and what"
        " it rests on. What no source can answer is told as unchecked.",
        "parameters": {
            "type": "object",
            "properties": {
                "plan": {
                    "description": "an itinerary as plan_itinerary gives it, a draft with names of places,"
                    " or TravelPlanner's list of days",
                    "anyOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}],
                },
                "request": REQUEST_FIELD,
            },
            "required": ["plan"],
            "additionalProperties": False,
        },
    },
}


def trip_tools() -> list[ServedTool]:
    """A tool that plans, and one that checks any plan with any request."""
    planners = asyncio.Semaphore(PLANNERS)

    async def call(work: Callable[..., dict[str, Any]], **arguments: object) -> ServedAnswer:
        try:
            async with planners:
                value = await asyncio.to_thread(partial(work, **arguments))
        except (GnomonError, UnknownPlugin) as error:
            return failed(str(error))
        return ServedAnswer(text=json.dumps(value, ensure_ascii=False), value=value)

    async def plan(arguments: dict[str, Any]) -> ServedAnswer:
        if fault := _unfit(arguments, needed="request", allowed=("request",)):
            return failed(fault)
        return await call(_plan, request=arguments["request"])

    async def check(arguments: dict[str, Any]) -> ServedAnswer:
        if fault := _unfit(arguments, needed="plan", allowed=("plan", "request")):
            return failed(fault)
        return await call(_check, plan=arguments["plan"], request=arguments.get("request"))

    return [ServedTool(schema=PLAN_SCHEMA, call=plan), ServedTool(schema=CHECK_SCHEMA, call=check)]


def _unfit(arguments: dict[str, Any], *, needed: str, allowed: Sequence[str]) -> str:
    unknown = sorted(set(arguments) - set(allowed))
    if unknown:
        return f"no argument {unknown[0]!r}; allowed: {', '.join(allowed)}"
    return "" if needed in arguments else f"{needed}: needed"


def _plan(request: object) -> dict[str, Any]:
    """A plan by the built-in planner, with its verification.

    Raises:
        SpecError: the request is none that can be planned.
        DataError: no plan was made.
    """
    from gnomon_workbench.dry_run import pick, run_once  # late: it loads the agents

    job = draft_from_cli(spec_of(request), settings_of(None)).job
    selection = pick(job, sample_id=SAMPLE, arm=ARM, model=None)
    row, _ = asyncio.run(run_once(selection, watch=lambda _: None))
    result = planned(row)
    return {**result.as_json(), "notices": [words] if (words := past_day(result.request)) else []}


def _check(plan: object, request: object) -> dict[str, Any]:
    from gnomon_trips.export.plan_check import check_plan  # late: it loads the verifier

    return check_plan(plan, request).as_json()
