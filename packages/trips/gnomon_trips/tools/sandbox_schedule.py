"""The trip that keeps every rule for what it is asked for, or word that there is none.

The caller says what the query asks for; nothing is taken from the query itself. All orders of the cities and
all days of travel are tried. Ways, lodgings and meals are bound apart from one another but for the budget, so
the cheapest of each is exact: what is called infeasible is proven for these rules and this information.

Error: `proof_error` 0 where the answer is exact, 1 where the search ran out of time and a better trip, or one
at all, may exist.
"""

import datetime as dt
from dataclasses import replace
from typing import Literal

from pydantic import Field

from gnomon_tools.core.marks import counted, drawn, rows_in, text_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_trips.sandbox.answers import MAX_DAYS, DayRow, day_row, sandbox_of
from gnomon_trips.sandbox.record import TravelSandbox, TripNeeds, plain_words
from gnomon_trips.sandbox.scheduler import find_trip


class SandboxScheduleArgs(ToolArgs):
    """What the query asks for."""

    origin: str = Field(min_length=1, max_length=100, description="the home city")
    destination: str = Field(
        min_length=1, max_length=100, description="the city to visit; the state, for several cities"
    )
    cities: int = Field(ge=1, le=4, description="how many cities are visited")
    days: int = Field(ge=2, le=MAX_DAYS, description="how many days, first and last included")
    start_date: str = Field(min_length=10, max_length=10, description="date of day 1, YYYY-MM-DD")
    people: int = Field(ge=1, le=100, description="how many travel")
    budget_usd: int = Field(ge=0, le=10_000_000, description="for all people, in dollars")
    cuisines: list[str] = Field(
        default_factory=list, max_length=7, description="cuisines of which each is eaten once"
    )
    room_type: Literal["any", "shared room", "not shared room", "private room", "entire room"] = Field(
        "any", description="type of room that is asked for"
    )
    house_rule: Literal["none", "smoking", "parties", "children under 10", "visitors", "pets"] = Field(
        "none", description="what the house rules must not forbid"
    )
    transport: Literal["any", "no flight", "no self-driving"] = Field(
        "any", description="transport that is ruled out"
    )


class SandboxSchedule(ToolResult):
    """A trip, or why there is none."""

    status: str = Field(description="planned, infeasible (proven) or not found (unproven)")
    cost_usd: int | None = Field(None, description="of the trip; if infeasible by the budget, the least cost")
    reason: str | None = Field(None, description="why there is no trip")
    plan: list[DayRow] | None = Field(None, description="the days in the form of the answer")
    proof_error: int = Field(description="0: exact; 1: the search ran out of time")


def run(context: ToolContext, args: SandboxScheduleArgs) -> SandboxSchedule:
    """Search for the trip.

    Raises:
        ToolError: the date is none, or more cities are asked for than are known or fit into the days.
    """
    sandbox = sandbox_of(context)
    if args.cities > len(sandbox.cities):
        raise ToolError(f"{args.cities} cities, but known are only {', '.join(sandbox.cities)}.")
    if args.cities > args.days - 1:
        raise ToolError("Every city needs a night: more cities than nights.")
    if args.cities == 1 and plain_words(args.destination) not in map(plain_words, sandbox.cities):
        raise ToolError(f"Nothing is known of {args.destination!r}; known: {', '.join(sandbox.cities)}.")
    trip = find_trip(replace(sandbox, needs=_needs(args), _rows={}))
    status = "planned" if trip.days else "infeasible" if trip.is_proven else "not found"
    return SandboxSchedule(
        status=status,
        cost_usd=trip.cost_usd,
        reason=trip.why or None,
        plan=[day_row(day) for day in trip.days] if trip.days else None,
        proof_error=int(not trip.is_proven),
    )


def _needs(args: SandboxScheduleArgs) -> TripNeeds:
    try:
        start_date = dt.date.fromisoformat(args.start_date)
        start_date + dt.timedelta(days=args.days)
    except (ValueError, OverflowError):
        raise ToolError("`start_date` must be written YYYY-MM-DD.") from None
    return TripNeeds(
        origin=args.origin,
        destination=args.destination,
        cities=args.cities,
        days=args.days,
        start_date=start_date,
        people=args.people,
        budget_usd=args.budget_usd,
        cuisines=tuple(dict.fromkeys(args.cuisines)),
        room_type=None if args.room_type == "any" else args.room_type,
        house_rule=None if args.house_rule == "none" else args.house_rule,
        transport=None if args.transport == "any" else args.transport,
    )


def sketch(_: ToolContext, args: SandboxScheduleArgs, result: Result) -> Sketch:
    """What came out, in words."""
    days = counted(len(rows_in(result, "plan")), "day")
    status = text_in(result, "status") or "nothing"
    return drawn(f"{args.origin}, {counted(args.days, 'day')} → {status}, {days}")


sandbox_schedule = Tool(
    name="sandbox_schedule",
    description="Find a trip that keeps every rule for the needs you state, or prove that there is none.",
    args=SandboxScheduleArgs,
    run=run,
    sketch=sketch,
    needs=TravelSandbox,
)
