"""The restaurants of a city: the cost of a meal for one person, the cuisines and the rating.

Branches of one name are one restaurant, with the least cost and all their cuisines: a plan cannot tell them
apart.

Error: `cost_error_usd` 0: costs are those that a plan is charged.
"""

from pydantic import Field

from gnomon_tools.core.marks import counted, drawn, rows_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolContext, ToolResult
from gnomon_trips.sandbox.answers import CityArgs, city_of, sandbox_of
from gnomon_trips.sandbox.record import TravelSandbox


class RestaurantRow(ToolResult):
    """One restaurant."""

    name: str
    cost_usd: int = Field(description="of one meal for one person")
    cuisines: list[str] = Field(description="what it serves")
    rating: str | None = Field(None, description="of 5")


class SandboxRestaurants(ToolResult):
    """The restaurants of the city."""

    city: str
    restaurants: list[RestaurantRow] = Field(description="all that are known")
    cost_error_usd: int = Field(description="how far off a cost may be")


def run(context: ToolContext, args: CityArgs) -> SandboxRestaurants:
    """List the restaurants.

    Raises:
        ToolError: nothing is known of the city.
    """
    sandbox = sandbox_of(context)
    city = city_of(sandbox, args.city)
    return SandboxRestaurants(
        city=city,
        restaurants=[
            RestaurantRow(
                name=row.name,
                cost_usd=row.cost_usd,
                cuisines=list(row.cuisines),
                rating=None if row.rating is None else f"{row.rating:g}",
            )
            for row in sandbox.restaurants_in(city)
        ],
        cost_error_usd=0,
    )


def sketch(_: ToolContext, args: CityArgs, result: Result) -> Sketch:
    """How many there are, in words."""
    return drawn(f"{args.city} → {counted(len(rows_in(result, 'restaurants')), 'restaurant')}")


sandbox_restaurants = Tool(
    name="sandbox_restaurants",
    description="List the restaurants of a city with the cost of a meal for one person, cuisines and rating.",
    args=CityArgs,
    run=run,
    sketch=sketch,
    needs=TravelSandbox,
)
