"""The time and distance from one place to another.

Minutes on foot are at 4.8 km/h along the streets, rounded up. `exactness` is `network`, `timetable`,
`estimate` or `lower_bound`.

Error: `minutes_error` is a tenth along a network, a quarter or ten minutes for an estimate.
"""

from pydantic import Field

from tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from tools.itinerary.context import ask, minutes_error, place_named, trip_of
from tools.itinerary.place import Mode


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
    told = ask(trip, trip.provider.route(start.at, end.at, mode=args.mode))
    way = told.value
    return Travel(
        minutes=way.minutes,
        minutes_error=minutes_error(way.minutes, way.exactness),
        metres=way.metres,
        mode=way.mode,
        exactness=way.exactness,
        changes=way.changes,
        source=told.source,
    )


travel = Tool(
    name="travel",
    description="Tell how many minutes and metres it is from one place to another on foot or by another mode,"
    " and how exactly that is known.",
    args=TravelArgs,
    run=run,
    needs="trip",
)
