"""The best order of visits with its times, found exactly; or which constraints rule it out.

Exact: dynamic programming over all subsets of places with hours, stays, meals, order, window and caps;
"infeasible" comes with a conflict from which no constraint can be left out. "not_found" is no proof: other
places to eat at may serve. A trip of several days without a hotel sleeps near where each day ends.

Error: `metres_error` is 0, on the provider's table of ways.
"""

from dataclasses import replace

from pydantic import Field

from gnomon_tools.core.marks import amount, counted, drawn, number_in, rows_in
from gnomon_tools.core.sketch import Mark, Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_trips.itinerary.context import ask, day_line, place_named, trip_of, visit_dots
from gnomon_trips.itinerary.draft import plan_of
from gnomon_trips.itinerary.hours import clock_of
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.schedule import MAX_SPOTS
from gnomon_trips.itinerary.trip import Trip


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
    start: str | None = Field(
        None,
        max_length=300,
        description="with `day`: where the night before was spent, for a trip without a hotel",
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
    # Late: NumPy and SciPy are slow to load.
    from gnomon_trips.itinerary.problem import problem_of
    from gnomon_trips.itinerary.proof import is_conflict
    from gnomon_trips.itinerary.solve import comfortable, solve
    from gnomon_trips.itinerary.terrain import has_fixed_homes

    trip = trip_of(context)
    if args.day is not None and args.day > trip.request.days:
        raise ToolError(f"bad_argument: day is {args.day}; the trip has {trip.request.days}")
    if args.start is not None and args.day is not None and args.day > 1:
        trip = _waking_at(trip, args.day, place_named(trip, args.start))
    places = list({place.id: place for place in (place_named(trip, name) for name in args.places)}.values())
    if args.day is None and not has_fixed_homes(trip.request):
        return _over_open_nights(trip, places)
    problem = ask(trip, problem_of(trip, places))
    # Whoever wants the shortest walk gets it, be one day full and another empty.
    fair = trip.request.prefer != "short_walk"
    solution = comfortable(problem, day=args.day, fair=fair) or solve(problem, day=args.day, fair=fair)
    if solution.rounds is None:
        because = ", ".join(solution.conflict) or "no way joins the places"
        eats = any(name.startswith("meal:") for name in solution.conflict)
        # Another place to eat at may serve: only what fails with meals anywhere is impossible.
        if eats and not is_conflict(problem, solution.conflict):
            raise ToolError(f"not_found: with these places alone there is no {because}; add places to eat")
        shortest = problem.favourable
        if shortest is not problem and solution.conflict and not is_conflict(shortest, solution.conflict):
            spread = f"by estimates of ± {problem.spread_min} min a way"
            raise ToolError(f"not_found: {spread} these cannot be kept together: {because}")
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


def _waking_at(trip: Trip, day: int, place: Place) -> Trip:
    """The trip with the night before that day spent at a place, where the request names none."""
    if trip.home(day - 1, at_end=False) is not None:
        return trip
    nights = list(trip.request.nights) or [None] * (trip.request.days - 1)
    nights[day - 2] = place.id
    request = trip.request.model_copy(update={"nights": nights})
    return replace(trip, request=request, named={**trip.named, place.id: place})


def _over_open_nights(trip: Trip, places: list[Place]) -> OrderVisits:
    """All days of a trip whose nights are spent near where each day ends.

    Raises:
        ToolError: no plan was found.
    """
    from gnomon_trips.itinerary.planning import arrange

    found = ask(trip, arrange(trip, places))
    if found.draft.status == "refused":
        because = ", ".join(found.draft.conflict)
        if found.search.holds_at_best:
            raise ToolError(f"infeasible: these cannot be kept together: {because}")
        raise ToolError(f"not_found: with these places alone there is no {because}")
    plan = ask(trip, plan_of(found.draft, trip))
    days = [
        OrderedDay(
            day=number,
            visits=[
                TimedVisit(
                    place=visit.place.id, name=visit.place.name, arrive=visit.arrive, leave=visit.leave
                )
                for visit in day.visits
            ],
            metres=sum(leg.metres for leg in day.legs),
            back=day.visits[-1].leave if day.visits else clock_of(trip.request.hours(number - 1)[0]),
        )
        for number, day in enumerate(plan.days, 1)
    ]
    return OrderVisits(days=days, metres=plan.totals.metres, metres_error=0)


def sketch(context: ToolContext, args: OrderVisitsArgs, result: Result) -> Sketch:
    """The visits of each day, numbered, with a dashed line from each to the next."""
    days, marks, count = rows_in(result, "days"), list[Mark | None](), 0
    for day in days:
        dots = visit_dots(context, day)
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
    needs=Trip,
    is_slow=True,  # a provider may be far away
    example={"places": ["Ateneum", "Kiasma", "Amos Rex"]},
)
