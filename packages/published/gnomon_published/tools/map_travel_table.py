"""The travel times and lengths of all ways among some places by one mode, as a map service gives them.

Ways that are not known are left out.

Error: `duration_error_s` 30: the service gives whole minutes.
"""

from typing import Literal

from pydantic import Field

from gnomon_published.map_record.answers import DURATION_ERROR_S, AmountsRow, amounts_fields, record_of
from gnomon_published.map_record.names import resolve
from gnomon_published.map_record.record import MapRecord
from gnomon_tools.core.marks import counted, drawn, rows_in, some
from gnomon_tools.core.name_match import plain_name
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult


class MapTravelTableArgs(ToolArgs):
    """Among which places, and how."""

    places: list[str] = Field(min_length=2, max_length=12, description="names of the places")
    mode: Literal["foot", "car", "bicycle", "transit"] = Field(description="how to travel")


class TableWay(AmountsRow):
    """The way from one of the places to another."""

    start: str = Field(description="the place where the way starts")
    end: str = Field(description="the place where the way ends")


class MapTravelTable(ToolResult):
    """The ways that are known, in each direction by itself."""

    mode: str = Field(description="how to travel")
    duration_error_s: float = Field(description="how far off each time may be by rounding")
    ways: list[TableWay] = Field(description="one for each start and end")


def run(context: ToolContext, args: MapTravelTableArgs) -> MapTravelTable:
    """Find the ways.

    Raises:
        ToolError: a name is not known or may mean several places, or no way among them is known.
    """
    legs = record_of(context).legs
    names = [name for leg in legs for name in (leg.start, leg.end)]
    places = {plain_name(resolve(place, names)) for place in args.places}
    ways = [
        leg
        for leg in legs
        if leg.mode == args.mode and {plain_name(leg.start), plain_name(leg.end)} <= places
    ]
    if not ways:
        raise ToolError(f"Not known: any way among these places by {args.mode}.")
    return MapTravelTable(
        mode=args.mode,
        duration_error_s=DURATION_ERROR_S,
        ways=[
            TableWay.model_validate({"start": leg.start, "end": leg.end, **amounts_fields(leg.amounts)})
            for leg in ways
        ],
    )


def sketch(_: ToolContext, args: MapTravelTableArgs, result: Result) -> Sketch:
    """The number of ways: their ends have no position."""
    return drawn(f"{some(args.places)} by {args.mode} → {counted(len(rows_in(result, 'ways')), 'way')}")


map_travel_table = Tool(
    name="map_travel_table",
    description="Tell the travel times and lengths of all known ways among several places by foot, car,"
    " bicycle or transit, in one table.",
    args=MapTravelTableArgs,
    run=run,
    sketch=sketch,
    needs=MapRecord,
)
