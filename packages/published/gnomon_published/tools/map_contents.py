"""What the map data hold: names of places, lists of places nearby, and the ends and modes of ways and routes.

It names what can be looked up, and says nothing else about it.

Error: `position_error_m` is the largest rounding of a position, left out where no position is known.
"""

from pydantic import Field

from gnomon_published.map_record.answers import record_of
from gnomon_published.map_record.record import MapRecord
from gnomon_tools.core.marks import counted, drawn, rows_in, texts_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult


class MapContentsArgs(ToolArgs):
    """Nothing."""


class ListName(ToolResult):
    """A list of places nearby."""

    around: str
    kind: str
    place_count: int = Field(description="number of places in the list")


class RouteName(ToolResult):
    """The routes between two places by one mode."""

    start: str
    end: str
    mode: str = Field(description="foot, car, bicycle or transit")
    route_count: int = Field(description="number of routes")


class MapContents(ToolResult):
    """Names alone; the other tools say what is known of each."""

    places: list[str] = Field(description="places that can be looked up by themselves")
    position_error_m: float | None = Field(description="how far off positions may be by rounding")
    nearby: list[ListName] = Field(description="lists of places nearby")
    travel_between: list[str] = Field(description="places among which travel times are known")
    travel_modes: list[str] = Field(description="modes by which travel times are known")
    routes: list[RouteName] = Field(description="ends and modes for which routes are known")


def run(context: ToolContext, _: MapContentsArgs) -> MapContents:
    """List the names.

    Raises:
        ToolError: the question has no map data.
    """
    record = record_of(context)
    between = dict.fromkeys((route.start, route.end, route.mode) for route in record.routes)
    errors = [place.position_error_m for place in record.every_place() if place.position_error_m is not None]
    return MapContents(
        places=list(dict.fromkeys(place.name for place in record.places)),
        position_error_m=max(errors, default=None),
        nearby=[
            ListName(around=listed.around, kind=listed.kind, place_count=len(listed.places))
            for listed in record.nearby
        ],
        travel_between=list(dict.fromkeys(name for leg in record.legs for name in (leg.start, leg.end))),
        travel_modes=list(dict.fromkeys(leg.mode for leg in record.legs)),
        routes=[
            RouteName(
                start=start,
                end=end,
                mode=mode,
                route_count=sum(
                    (route.start, route.end, route.mode) == (start, end, mode) for route in record.routes
                ),
            )
            for start, end, mode in between
        ],
    )


def sketch(_: ToolContext, args: MapContentsArgs, result: Result) -> Sketch:  # noqa: ARG001 (it has none)
    """The numbers of what there is."""
    places, lists = texts_in(result, "places"), rows_in(result, "nearby")
    return drawn(f"contents → {counted(len(places), 'place')}, {counted(len(lists), 'list')}")


map_contents = Tool(
    name="map_contents",
    description="List what the map data hold: names of places, lists of places nearby, and the ends and modes"
    " of known ways and routes.",
    args=MapContentsArgs,
    run=run,
    sketch=sketch,
    needs=MapRecord,
)
