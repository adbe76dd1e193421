"""The attractions of a city with their addresses; they cost nothing.

Error: `list_error` 0: the list is whole; what is not in it is not known.
"""

from pydantic import Field

from gnomon_tools.core.marks import counted, drawn, rows_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolContext, ToolResult
from gnomon_trips.sandbox.answers import CityArgs, city_of, sandbox_of
from gnomon_trips.sandbox.record import TravelSandbox


class AttractionRow(ToolResult):
    """One attraction."""

    name: str
    address: str | None = None


class SandboxAttractions(ToolResult):
    """The attractions of the city."""

    city: str
    attractions: list[AttractionRow] = Field(description="all that are known")
    list_error: int = Field(description="how many may be missing: none")


def run(context: ToolContext, args: CityArgs) -> SandboxAttractions:
    """List the attractions.

    Raises:
        ToolError: nothing is known of the city.
    """
    sandbox = sandbox_of(context)
    city = city_of(sandbox, args.city)
    rows = sandbox.attractions_in(city)
    return SandboxAttractions(
        city=city,
        attractions=[AttractionRow(name=row.name, address=row.address or None) for row in rows],
        list_error=0,
    )


def sketch(_: ToolContext, args: CityArgs, result: Result) -> Sketch:
    """How many there are, in words."""
    return drawn(f"{args.city} → {counted(len(rows_in(result, 'attractions')), 'attraction')}")


sandbox_attractions = Tool(
    name="sandbox_attractions",
    description="List the attractions of a city with their addresses; a visit costs nothing.",
    args=CityArgs,
    run=run,
    sketch=sketch,
    needs=TravelSandbox,
)
