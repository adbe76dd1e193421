"""The lodgings of a city: price of a room and night, type of room, house rules, least nights, occupancy.

Error: `price_error_usd` 0: prices are those that a plan is charged.
"""

from pydantic import Field

from gnomon_tools.core.marks import counted, drawn, rows_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolContext, ToolResult
from gnomon_trips.sandbox.answers import CityArgs, city_of, sandbox_of
from gnomon_trips.sandbox.record import TravelSandbox


class LodgingRow(ToolResult):
    """One lodging."""

    name: str
    price_usd: int = Field(description="of one room for one night")
    room_type: str = Field(description="Entire home/apt, Private room or Shared room")
    house_rules: str = Field(description="what is not allowed")
    min_nights: int = Field(description="the least nights of a stay")
    max_occupancy: int = Field(description="how many people fit into one room")
    review_rate: str | None = Field(None, description="of 5")


class SandboxLodgings(ToolResult):
    """The lodgings of the city."""

    city: str
    lodgings: list[LodgingRow] = Field(description="all that are known")
    price_error_usd: int = Field(description="how far off a price may be")


def run(context: ToolContext, args: CityArgs) -> SandboxLodgings:
    """List the lodgings.

    Raises:
        ToolError: nothing is known of the city.
    """
    sandbox = sandbox_of(context)
    city = city_of(sandbox, args.city)
    return SandboxLodgings(
        city=city,
        lodgings=[
            LodgingRow(
                name=lodging.name,
                price_usd=lodging.price_usd,
                room_type=lodging.room_type,
                house_rules=lodging.house_rules,
                min_nights=lodging.min_nights,
                max_occupancy=lodging.max_occupancy,
                review_rate=None if lodging.rating is None else f"{lodging.rating:g}",
            )
            for lodging in sandbox.lodgings_in(city)
        ],
        price_error_usd=0,
    )


def sketch(_: ToolContext, args: CityArgs, result: Result) -> Sketch:
    """How many there are, in words."""
    return drawn(f"{args.city} → {counted(len(rows_in(result, 'lodgings')), 'lodging')}")


sandbox_lodgings = Tool(
    name="sandbox_lodgings",
    description="List the lodgings of a city: price, type of room, house rules, least nights, occupancy.",
    args=CityArgs,
    run=run,
    sketch=sketch,
    needs=TravelSandbox,
)
