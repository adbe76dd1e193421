"""The travel time and the length of the way between two places, by mode, as a map service gives them.

Ways are as asked, from start to end: the way back may take another time. Modes that are not known for the
two places are left out.

Error: `duration_error_s` 30: the service gives whole minutes; `distance_error_m` is the rounding of the
length.
"""

from typing import Literal

from pydantic import Field

from gnomon_published.map_record.answers import DURATION_ERROR_S, AmountsRow, amounts_fields, record_of
from gnomon_published.map_record.names import ways_between
from gnomon_published.map_record.record import MapRecord
from gnomon_tools.core.marks import counted, drawn, rows_in, text_in
from gnomon_tools.core.name_match import plain_name
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult

MAX_LISTED = 12


class MapTravelArgs(ToolArgs):
    """From where to where, and how."""

    start: str = Field(min_length=1, max_length=300, description="name of the place where the way starts")
    end: str = Field(min_length=1, max_length=300, description="name of the place where the way ends")
    mode: Literal["foot", "car", "bicycle", "transit"] | None = Field(
        None, description="how to travel; left out: every mode that is known"
    )


class WayRow(AmountsRow):
    """One way; what is not known is left out."""

    mode: str = Field(description="foot, car, bicycle or transit")
    distance_error_m: float | None = Field(None, description="how far off the length may be by rounding")


class MapTravelAnswer(ToolResult):
    """The ways by mode."""

    start: str = Field(description="the place where the ways start")
    end: str = Field(description="the place where the ways end")
    duration_error_s: float = Field(description="how far off each time may be by rounding")
    ways: list[WayRow] = Field(description="one way for each mode that is known")


def run(context: ToolContext, args: MapTravelArgs) -> MapTravelAnswer:
    """Find the ways.

    Raises:
        ToolError: a name is not known or may mean several places, or the way is not known.
    """
    legs = record_of(context).legs
    if not legs:
        raise ToolError("Not known: the map data hold no travel times.")
    start, end, between = ways_between(legs, args.start, args.end)
    ways = [leg for leg in between if args.mode in (None, leg.mode)]
    if not ways:
        modes = ", ".join(leg.mode for leg in between)
        ends = dict.fromkeys(leg.end for leg in legs if plain_name(leg.start) == plain_name(start))
        also = f"Known by: {modes}." if between else f"Known from there to: {_some(ends)}."
        raise ToolError(f"Not known: the way from {start} to {end} by {args.mode or 'any mode'}. {also}")
    return MapTravelAnswer(
        start=start,
        end=end,
        duration_error_s=DURATION_ERROR_S,
        ways=[
            WayRow.model_validate(
                {
                    "mode": leg.mode,
                    "distance_error_m": leg.amounts.distance_error_m,
                    **amounts_fields(leg.amounts),
                }
            )
            for leg in ways
        ],
    )


def _some(names: dict[str, None]) -> str:
    return "; ".join(list(names)[:MAX_LISTED]) or "no place"


def sketch(_: ToolContext, args: MapTravelArgs, result: Result) -> Sketch:
    """The ways in words: their ends have no position."""
    rows = rows_in(result, "ways")
    said = f"{text_in(rows[0], 'duration')} by {text_in(rows[0], 'mode')}" if len(rows) == 1 else ""
    return drawn(f"{args.start} to {args.end} → {said or counted(len(rows), 'way')}")


map_travel = Tool(
    name="map_travel",
    description="Tell the travel time and the length of the way from one place to another, by foot, car,"
    " bicycle or transit, as a map service gives them.",
    args=MapTravelArgs,
    run=run,
    sketch=sketch,
    needs=MapRecord,
)
