"""The places that a name may mean.

Several hits with the best `score` mean that the name is ambiguous.

Error: `position_error_m` 25 m: a mapped point may lie that far from the door; the point of an area stands for
all of it.
"""

from pydantic import Field

from gnomon_tools.core.marks import counted, drawn, place_dot, rows_in, text_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext
from gnomon_trips.itinerary.context import FoundPlaces, ask, trip_of
from gnomon_trips.itinerary.provider import NameQuery
from gnomon_trips.itinerary.trip import Trip


class FindPlaceArgs(ToolArgs):
    """What to look for."""

    name: str = Field(min_length=1, max_length=200, description="the name, as far as it is known")
    within: str | None = Field(None, description="an area the place must lie in, by name or id")
    kinds: list[str] = Field([], max_length=10, description="only places of these kinds, such as museum")
    limit: int = Field(5, ge=1, le=30, description="how many hits at most")


class FindPlace(FoundPlaces):
    """The hits, best first."""


def run(context: ToolContext, args: FindPlaceArgs) -> FindPlace:
    """Look a name up.

    Raises:
        ToolError: no place has that name.
    """
    trip = trip_of(context)
    query = NameQuery(
        args.name,
        within=args.within,
        bias=trip.hotel.at if trip.hotel else None,
        kinds=tuple(args.kinds),
        limit=args.limit,
    )
    return FindPlace.of(ask(trip, trip.provider.resolve(query)))


def sketch(_: ToolContext, args: FindPlaceArgs, result: Result) -> Sketch:
    """The hits, where they are."""
    hits = rows_in(result, "hits")
    best = (
        f"{text_in(hits[0], 'name')} ({text_in(hits[0], 'kind')}), {counted(len(hits), 'hit')}"
        if hits
        else "nothing"
    )
    within = f" in {args.within}" if args.within else ""
    return drawn(f"“{args.name}”{within} → {best}", [place_dot(hit) for hit in hits], plane="earth")


find_place = Tool(
    name="find_place",
    description="Find places by name: ids, kinds, positions and how well each name fits, best first. Several"
    " equally good hits mean that the name is ambiguous.",
    args=FindPlaceArgs,
    run=run,
    sketch=sketch,
    needs=Trip,
    is_slow=True,  # a provider may be far away
    example={"name": "ateneum"},
)
