"""The time and distance from one place to another.

Minutes on foot are at 4.8 km/h along the streets, rounded up. `exactness` is `network`, `timetable`,
`estimate` or `lower_bound`.

Error: `minutes_error` is a tenth along a network, a quarter or ten minutes for an estimate.
"""

from pydantic import Field

from gnomon_tools.core.marks import amount, drawn, line_of, number_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_trips.itinerary.context import ask, known_dot, minutes_error, place_named, trip_of
from gnomon_trips.itinerary.place import Mode
from gnomon_trips.itinerary.trip import Trip


class TravelArgs(ToolArgs):
    """From where to where, and how."""

    start: str = Field(min_length=1, max_length=300, description="id or exact name of the first place")
    end: str = Field(min_length=1, max_length=300, description="id or exact name of the second place")
    mode: Mode = Field("walk", description="how to travel; not every provider knows every mode")


class Travel(ToolResult):
    """Whole minutes and metres."""

    minutes: int = Field(description="whole minutes, rounded up")
    minutes_error: int = Field(description="how far off the minutes may be")
    metres: int
    mode: str
    exactness: str = Field(description="network, timetable, estimate or lower_bound")
    changes: int | None = Field(description="changes of train, where that is known")
    source: str = Field(description="who says so, and the state of the data")


def run(context: ToolContext, args: TravelArgs) -> Travel:
    """Ask for the way.

    Raises:
        ToolError: a place is not found, or no way joins them.
    """
    trip = trip_of(context)
    start, end = place_named(trip, args.start), place_named(trip, args.end)
    answer = ask(trip, trip.provider.route(start.at, end.at, mode=args.mode))
    way = answer.value
    return Travel(
        minutes=way.minutes,
        minutes_error=minutes_error(way.minutes, way.exactness),
        metres=way.metres,
        mode=way.mode,
        exactness=way.exactness,
        changes=way.changes,
        source=answer.source,
    )


def sketch(context: ToolContext, args: TravelArgs, result: Result) -> Sketch:
    """Both places; the streets between them are not known, so a straight dashed line joins them."""
    start, end = known_dot(context, args.start), known_dot(context, args.end)
    minutes = number_in(result, "minutes")
    took = f"{'?' if minutes is None else f'{minutes:.0f}'} min, {amount(number_in(result, 'metres'), 'm')}"
    way = line_of([start.at, end.at], took, has_arrow=True, is_dashed=True) if start and end else None
    return drawn(f"{args.start} to {args.end}, {args.mode} → {took}", [way, start, end], plane="earth")


travel = Tool(
    name="travel",
    description="Tell how many minutes and metres it is from one place to another on foot or by another mode,"
    " and how exactly that is known.",
    args=TravelArgs,
    run=run,
    sketch=sketch,
    needs=Trip,
    is_slow=True,  # a provider may be far away
    example={"start": "Hotelli Torni", "end": "Ateneum"},
)
