"""The best order of visits with its times, found exactly; or which constraints rule it out.

Exact: dynamic programming over all subsets of places with hours, stays, meals, order, window and caps;
"infeasible" comes with a conflict from which no constraint can be left out.

Error: `metres_error` is 0, on the provider's table of ways.
"""

from pydantic import Field

from tools.core.marks import amount, counted, drawn, number_in, rows_in, text_in
from tools.core.sketch import Mark, Result, Sketch
from tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from tools.itinerary.context import ask, day_line, known_dot, place_named, trip_of
from tools.itinerary.hours import clock_of
from tools.itinerary.problem import problem_of
from tools.itinerary.schedule import MAX_SPOTS
from tools.itinerary.solve import solve


class OrderVisitsArgs(ToolArgs):
    """Which places, and on which day."""

    places: list[str] = Field(
        min_length=1, max_length=MAX_SPOTS, description="ids or exact names of the places to visit"
    )
    day: int | None = Field(
        None,
        ge=1,
        le=14,
        description="the day of the trip, from 1; left out: shared out over all of its days",
    )


class TimedVisit(ToolResult):
    """One visit with its times."""

    place: str
    name: str
    arrive: str
    leave: str


class OrderedDay(ToolResult):
    """One day's visits in order."""

    day: int
    visits: list[TimedVisit]
    metres: int
    back: str = Field(description="when the day's end is reached")


class OrderVisits(ToolResult):
    """The best order, by walk or by end as the trip prefers; where the end counts, days are shared evenly."""

    days: list[OrderedDay]
    metres: int
    metres_error: int = Field(description="0: the search is exact on the table of ways")


def run(context: ToolContext, args: OrderVisitsArgs) -> OrderVisits:
    """Search.

    Raises:
        ToolError: a place is not found, or no order keeps the trip's constraints.
    """
    trip = trip_of(context)
    if args.day is not None and args.day > trip.request.days:
        raise ToolError(f"bad_argument: day is {args.day}; the trip has {trip.request.days}")
    places = list({place.id: place for place in (place_named(trip, name) for name in args.places)}.values())
    problem = ask(trip, problem_of(trip, places))
    # Whoever wants the shortest walk gets it, be one day full and another empty.
    solution = solve(problem, day=args.day, fair=trip.request.prefer != "short_walk")
    if solution.rounds is None:
        because = ", ".join(solution.conflict) or "no way joins the places"
        raise ToolError(f"infeasible: these cannot be kept together: {because}")
    first = args.day or 1
    days = [
        OrderedDay(
            day=first + number,
            visits=[
                TimedVisit(
                    place=places[stay.spot].id,
                    name=places[stay.spot].name,
                    arrive=clock_of(stay.arrive_min),
                    leave=clock_of(stay.leave_min),
                )
                for stay in done.stays
            ],
            metres=done.metres,
            back=clock_of(done.back_min),
        )
        for number, done in enumerate(solution.rounds)
    ]
    return OrderVisits(days=days, metres=solution.metres, metres_error=0)


def sketch(context: ToolContext, args: OrderVisitsArgs, result: Result) -> Sketch:
    """The visits of each day, numbered, with a dashed line from each to the next."""
    days, marks, count = rows_in(result, "days"), list[Mark | None](), 0
    for day in days:
        dots = []
        for number_in_day, visit in enumerate(rows_in(day, "visits"), 1):
            hours = f"{text_in(visit, 'arrive')}–{text_in(visit, 'leave')}"
            label = f"{number_in_day} {text_in(visit, 'name')} {hours}"
            dots.append(known_dot(context, text_in(visit, "place"), label, "result"))
        day_number = int(number_in(day, "day") or 0)
        label = f"day {day_number or '?'}, {amount(number_in(day, 'metres'), 'm')}"
        marks += [day_line(context, day_number - 1, dots, label), *dots]
        count += len(dots)
    total = amount(number_in(result, "metres"), "m")
    visits = f"{counted(count, 'visit')} on {counted(len(days), 'day')}"
    return drawn(f"{counted(len(args.places), 'place')} → {visits}, {total}", marks, plane="earth")


order_visits = Tool(
    name="order_visits",
    description="Find the best order of visits with times that keeps hours, order, stays, walking cap and"
    " day window; proves it when there is none and names the conflicting constraints.",
    args=OrderVisitsArgs,
    run=run,
    sketch=sketch,
    needs="trip",
    example={"places": ["Ateneum", "Kiasma", "Amos Rex"]},
)
