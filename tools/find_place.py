"""The places that a name may mean.

Several hits with the best `score` mean that the name is ambiguous.

Error: `position_error_m` 25 m: a mapped point may lie that far from the door; the point of an area stands for
all of it.
"""

from pydantic import Field

from tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from tools.itinerary.context import POSITION_ERROR_M, FoundPlace, ask, found, trip_of


class FindPlaceArgs(ToolArgs):
    """What to look for."""

    name: str = Field(min_length=1, max_length=200, description="the name, as far as it is known")
    within: str | None = Field(None, description="an area the place must lie in, by name or id")
    kinds: list[str] = Field([], max_length=10, description="only places of these kinds, such as museum")
    limit: int = Field(5, ge=1, le=30, description="how many hits at most")


class FindPlace(ToolResult):
    """The hits, best first."""

    hits: list[FoundPlace]
    position_error_m: float = Field(description="how far a position may be from the entrance")
    source: str = Field(description="who says so, and the state of the data")


def run(context: ToolContext, args: FindPlaceArgs) -> FindPlace:
    """Look a name up.

    Raises:
        ToolError: nothing is called that.
    """
    trip = trip_of(context)
    told = ask(
        trip,
        trip.provider.resolve(
            args.name,
            within=args.within,
            bias=trip.hotel.at if trip.hotel else None,
            kinds=args.kinds,
            limit=args.limit,
        ),
    )
    return FindPlace(hits=found(told.value), position_error_m=POSITION_ERROR_M, source=told.source)


find_place = Tool(
    name="find_place",
    description="Find places by name: ids, kinds, positions and how well each name fits, best first. Several"
    " equally good hits mean that the name is ambiguous.",
    args=FindPlaceArgs,
    run=run,
    needs="trip",
)
