"""What is known for a trip: its cities, and between which cities there are flights on which dates, and roads.

Error: `cities_error` 0: the list is whole; what is not in it is not known.
"""

from pydantic import Field

from gnomon_tools.core.marks import counted, drawn, rows_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_trips.sandbox.answers import sandbox_of
from gnomon_trips.sandbox.record import TravelSandbox


class SandboxContentsArgs(ToolArgs):
    """Nothing."""


class FlightsRow(ToolResult):
    """Two cities between which there are flights on a date."""

    origin: str
    destination: str
    date: str = Field(description="YYYY-MM-DD")
    flights: int = Field(description="how many there are")


class RoadRow(ToolResult):
    """Two cities between which one can drive or take a taxi."""

    origin: str
    destination: str


class SandboxContents(ToolResult):
    """What there is to look up."""

    cities: list[str] = Field(description="cities with known lodgings, restaurants and attractions")
    flights: list[FlightsRow] = Field(description="flights by cities and date")
    roads: list[RoadRow] = Field(description="ways by one's own car or taxi")
    cities_error: int = Field(description="how many cities may be missing: none")


def run(context: ToolContext, _: SandboxContentsArgs) -> SandboxContents:
    """List what there is."""
    sandbox = sandbox_of(context)
    counts: dict[tuple[str, str, str], int] = {}
    for flight in sandbox.flights:
        key = (flight.origin, flight.destination, flight.date.isoformat())
        counts[key] = counts.get(key, 0) + 1
    roads = dict.fromkeys((ride.origin, ride.destination) for ride in sandbox.rides)
    return SandboxContents(
        cities=list(sandbox.cities),
        flights=[
            FlightsRow(origin=origin, destination=destination, date=date, flights=count)
            for (origin, destination, date), count in counts.items()
        ],
        roads=[RoadRow(origin=origin, destination=destination) for origin, destination in roads],
        cities_error=0,
    )


def sketch(_: ToolContext, __: SandboxContentsArgs, result: Result) -> Sketch:
    """How much there is, in words."""
    flights = counted(len(rows_in(result, "flights")), "flight pair")
    return drawn(f"contents → {flights}, {counted(len(rows_in(result, 'roads')), 'road')}")


sandbox_contents = Tool(
    name="sandbox_contents",
    description="List what is known for this trip: cities, flights by cities and date, and roads.",
    args=SandboxContentsArgs,
    run=run,
    sketch=sketch,
    needs=TravelSandbox,
)
