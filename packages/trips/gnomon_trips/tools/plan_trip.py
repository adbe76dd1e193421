"""The whole trip planned: meals, wishes and nights chosen, days shared out, every visit with its times.

A search over everything the provider knows around the trip. It refuses only with a proof, which holds for
any place to eat, to see and to sleep at; what it merely did not find it calls "not found". `gap` says by
what share the plan may cost more than the best one, by the objective of packages/trips/README.md.

Error: ways are as exact as in `travel`; `gap` bounds how far the plan may be from the best.
"""

from typing import Literal

from pydantic import Field

from gnomon_tools.core.marks import counted, drawn, number_in, rows_in, some
from gnomon_tools.core.sketch import Mark, Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_trips.itinerary.context import ask, day_line, place_named, trip_of, visit_dots
from gnomon_trips.itinerary.draft import DraftDay
from gnomon_trips.itinerary.plan import SECONDS
from gnomon_trips.itinerary.selection import narrowed
from gnomon_trips.itinerary.trip import Trip


class PlanTripArgs(ToolArgs):
    """How long to search."""

    seconds: float = Field(SECONDS, gt=0, le=60, description="how long to search at most")


class PlannedVisit(ToolResult):
    """One visit with its times."""

    place: str
    name: str
    kind: str
    arrive: str
    leave: str
    why: str


class PlannedDay(ToolResult):
    """One day's visits in order, and where the night after it is spent, if the planner chose that."""

    visits: list[PlannedVisit]
    night: str | None = Field(
        description="id of the place to sleep at; left out: as requested, or the last stop"
    )


class LeftOut(ToolResult):
    """What is not in the plan, and why."""

    place: str
    reason: str


class PlanTrip(ToolResult):
    """The plan, or the refusal with the best plan for a part of what was asked for."""

    status: Literal["planned", "refused"]
    days: list[PlannedDay]
    conflict: list[str] = Field(description="of a refusal: constraints that cannot be kept together")
    is_proven: bool = Field(
        description="no better plan exists, or none at all; false: a better one, or any, was not found"
    )
    spread_min: int = Field(description="minutes by which one way may be off; 0: no way is an estimate")
    holds_at_best: bool = Field(
        description="of a refusal: there is no plan either with every way as short as it may be"
    )
    cost_error_share: float | None = Field(
        description="share by which the plan may cost more than the best; none: unknown"
    )
    seconds: float
    is_cut: bool = Field(description="the time was over before the search was")
    left_out: list[LeftOut]
    part: list[PlannedDay] = Field(description="of a refusal: the best plan for a part of the request")


def run(context: ToolContext, args: PlanTripArgs) -> PlanTrip:
    """Search.

    Raises:
        ToolError: the provider failed.
    """
    from gnomon_trips.itinerary.planning import find_plan  # late: NumPy and SciPy are slow to load

    trip = narrowed(trip_of(context))
    found = ask(trip, find_plan(trip.unjudged(), seconds=args.seconds))
    part = found.partial.days if found.partial else []
    return PlanTrip(
        status=found.draft.status,
        days=[_day(day, trip) for day in found.draft.days],
        conflict=list(found.draft.conflict),
        is_proven=found.search.is_proven,
        spread_min=found.search.spread_min,
        holds_at_best=found.search.holds_at_best,
        cost_error_share=found.search.gap,
        seconds=found.search.seconds,
        is_cut=found.search.is_cut,
        left_out=[LeftOut(place=item.place, reason=item.reason) for item in found.left_out],
        part=[_day(day, trip) for day in part],
    )


def _day(day: DraftDay, trip: Trip) -> PlannedDay:
    visits = []
    for visit in day.visits:
        place = place_named(trip, visit.place)
        visits.append(
            PlannedVisit(
                place=place.id,
                name=place.name,
                kind=place.kind,
                arrive=visit.arrive,
                leave=visit.leave,
                why=visit.why,
            )
        )
    return PlannedDay(visits=visits, night=day.night)


def sketch(context: ToolContext, _: PlanTripArgs, result: Result) -> Sketch:
    """The visits of each day, numbered, with a dashed line from each to the next."""
    days, marks, count = rows_in(result, "days"), list[Mark | None](), 0
    for day_index, day in enumerate(days):
        dots = visit_dots(context, day)
        marks += [day_line(context, day_index, dots, f"day {day_index + 1}"), *dots]
        count += len(dots)
    gap = number_in(result, "cost_error_share")
    if days:
        quality = "" if gap is None else f", at most {100 * gap:.0f} % above the best"
        words = f"{counted(count, 'visit')} on {counted(len(days), 'day')}{quality}"
    else:
        conflict = result.get("conflict")
        reasons = [str(name) for name in conflict] if isinstance(conflict, list) else []
        words = f"{'impossible' if result.get('holds_at_best') else 'not found'}: {some(reasons)}"
    return drawn(f"plan → {words}", marks, plane="earth")


plan_trip = Tool(
    name="plan_trip",
    description="Plan the whole trip: chooses where to eat and sleep and which wishes to serve, shares the"
    " places out over the days and times every visit; refuses only what is proven impossible.",
    args=PlanTripArgs,
    run=run,
    sketch=sketch,
    needs=Trip,
    is_slow=True,  # a provider may be far away
    example={"seconds": 5.0},
)
