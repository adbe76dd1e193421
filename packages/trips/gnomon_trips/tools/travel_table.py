"""Minutes and metres between many places at once.

Error: `minutes_error` of the longest way, as in `travel`.
"""

from pydantic import Field

from gnomon_tools.core.marks import counted, drawn, numbers_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_trips.itinerary.context import ask, known_dot, minutes_error, place_named, trip_of
from gnomon_trips.itinerary.place import Mode
from gnomon_trips.itinerary.trip import Trip


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
    answer = ask(trip, trip.provider.matrix([place.at for place in places], mode=args.mode))
    longest = max((minutes or 0 for row in answer.value.minutes for minutes in row), default=0)
    return TravelTable(
        places=[place.id for place in places],
        minutes=[[-1 if value is None else value for value in row] for row in answer.value.minutes],
        metres=[[-1 if value is None else value for value in row] for row in answer.value.metres],
        minutes_error=minutes_error(longest, answer.exactness),
        source=answer.source,
    )


def sketch(context: ToolContext, args: TravelTableArgs, result: Result) -> Sketch:
    """The places; the summary has the shortest and the longest way."""
    table = result.get("minutes")
    cells = [numbers_in({"row": row}, "row") for row in table] if isinstance(table, list) else []
    minutes = [value for row in cells for value in row if value > 0]
    ways = f"{min(minutes):.0f} to {max(minutes):.0f} min" if minutes else "no way"
    summary = f"{counted(len(args.places), 'place')}, {args.mode} → {ways}"
    return drawn(summary, [known_dot(context, name) for name in args.places], plane="earth")


travel_table = Tool(
    name="travel_table",
    description="Give two tables, minutes and metres, from each of up to 25 places to each other one, on foot"
    " or by another mode.",
    args=TravelTableArgs,
    run=run,
    sketch=sketch,
    needs=Trip,
    is_slow=True,  # a provider may be far away
    example={"places": ["Hotelli Torni", "Ateneum", "Kiasma"]},
)
