"""Minutes and metres between many places at once.

Error: `minutes_error` of the longest way, as in `travel`.
"""

from pydantic import Field

from tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from tools.itinerary.context import ask, minutes_error, place_named, trip_of
from tools.itinerary.place import Mode


class TravelTableArgs(ToolArgs):
    """Between which places, and how."""

    places: list[str] = Field(min_length=2, max_length=25, description="ids or exact names, 2 to 25")
    mode: Mode = Field("walk", description="how to travel; not every provider knows every mode")


class TravelTable(ToolResult):
    """Two tables, row to column, in the order of `places`; −1 where there is no way."""

    places: list[str] = Field(description="ids, in the order of rows and columns")
    minutes: list[list[int]]
    metres: list[list[int]]
    minutes_error: int = Field(description="how far off the longest of the minutes may be")
    source: str = Field(description="who says so, and the state of the data")


def run(context: ToolContext, args: TravelTableArgs) -> TravelTable:
    """Ask for all ways.

    Raises:
        ToolError: a place is not found, or the provider has no such mode.
    """
    trip = trip_of(context)
    places = [place_named(trip, name) for name in args.places]
    told = ask(trip, trip.provider.matrix([place.at for place in places], mode=args.mode))
    longest = max((minutes or 0 for row in told.value.minutes for minutes in row), default=0)
    return TravelTable(
        places=[place.id for place in places],
        minutes=[[-1 if one is None else one for one in row] for row in told.value.minutes],
        metres=[[-1 if one is None else one for one in row] for row in told.value.metres],
        minutes_error=minutes_error(longest, told.exactness),
        source=told.source,
    )


travel_table = Tool(
    name="travel_table",
    description="Give two tables, minutes and metres, from each of up to 25 places to each other one, on foot"
    " or by another mode.",
    args=TravelTableArgs,
    run=run,
    needs="trip",
)
