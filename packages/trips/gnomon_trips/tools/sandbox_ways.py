"""The ways from one city to another: flights on a date, one's own car, a taxi, with prices.

Error: `price_error_usd` 0: prices are those that a plan is charged.
"""

import datetime as dt

from pydantic import Field

from gnomon_tools.core.marks import counted, drawn, rows_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_trips.sandbox.answers import sandbox_of
from gnomon_trips.sandbox.record import TravelSandbox


class SandboxWaysArgs(ToolArgs):
    """From where to where, and when."""

    origin: str = Field(min_length=1, max_length=100, description="city of departure, without its state")
    destination: str = Field(min_length=1, max_length=100, description="city of arrival, without its state")
    date: str = Field(min_length=10, max_length=10, description="date of the flights, YYYY-MM-DD")


class FlightRow(ToolResult):
    """One flight."""

    number: str = Field(description="such as F1234567")
    price_usd: int = Field(description="of one person")
    departs: str = Field(description="HH:MM")
    arrives: str = Field(description="HH:MM")


class RideRow(ToolResult):
    """A way by car."""

    mode: str = Field(description="self-driving (5 people a car) or taxi (4)")
    price_usd: int = Field(description="of one car")
    duration: str = Field(description="as written in the data")
    distance: str = Field(description="as written in the data")


class SandboxWays(ToolResult):
    """The ways that are known."""

    flights: list[FlightRow] = Field(description="flights on the date")
    rides: list[RideRow] = Field(description="by one's own car or taxi, on any date")
    price_error_usd: int = Field(description="how far off a price may be")


def run(context: ToolContext, args: SandboxWaysArgs) -> SandboxWays:
    """List the ways.

    Raises:
        ToolError: a city is not known, or the date is none.
    """
    sandbox = sandbox_of(context)
    for name in (args.origin, args.destination):
        if sandbox.city(name) is None:
            cities = ", ".join((sandbox.needs.origin, *sandbox.cities))
            raise ToolError(f"Nothing is known of {name!r}. Known cities: {cities}.")
    try:
        date = dt.date.fromisoformat(args.date)
    except ValueError:
        raise ToolError("`date` must be written YYYY-MM-DD.") from None
    rides = (sandbox.ride(mode, args.origin, args.destination) for mode in ("self-driving", "taxi"))
    return SandboxWays(
        flights=[
            FlightRow(
                number=flight.number,
                price_usd=flight.price_usd,
                departs=flight.departs,
                arrives=flight.arrives,
            )
            for flight in sandbox.flights_on(args.origin, args.destination, date)
        ],
        rides=[
            RideRow(mode=ride.mode, price_usd=ride.price_usd, duration=ride.duration, distance=ride.distance)
            for ride in rides
            if ride
        ],
        price_error_usd=0,
    )


def sketch(_: ToolContext, args: SandboxWaysArgs, result: Result) -> Sketch:
    """How many there are, in words."""
    flights = counted(len(rows_in(result, "flights")), "flight")
    rides = counted(len(rows_in(result, "rides")), "ride")
    return drawn(f"{args.origin} to {args.destination} → {flights}, {rides}")


sandbox_ways = Tool(
    name="sandbox_ways",
    description="List the ways from one city to another on a date: flights, own car, taxi, with prices.",
    args=SandboxWaysArgs,
    run=run,
    sketch=sketch,
    needs=TravelSandbox,
)
