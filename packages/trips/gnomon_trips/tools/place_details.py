"""What is known about one place: kind, hours on the days of the trip, stay and price by the rules.

Stay and cost are rules of the trip; what the source does not say is left out.

Error: `position_error_m` as in `find_place`; hours are those of the day the data were taken.
"""

from pydantic import Field

from gnomon_tools.core.marks import drawn, number_in, place_dot, rows_in, text_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_trips.itinerary.context import POSITION_ERROR_M, place_named, trip_of
from gnomon_trips.itinerary.hours import open_on, told_hours
from gnomon_trips.itinerary.trip import Trip


class PlaceDetailsArgs(ToolArgs):
    """Which place."""

    place: str = Field(min_length=1, max_length=300, description="id of the place, or its exact name")


class OpenDay(ToolResult):
    """When the place is open on one day of the trip."""

    date: str
    weekday: str
    open: str = Field(description="HH:MM-HH:MM, closed, or not known")


class PlaceDetails(ToolResult):
    """The facts; what is not known is left out."""

    id: str
    name: str
    kind: str
    lat_deg: float
    lon_deg: float
    position_error_m: float = Field(description="how far the position may be from the entrance")
    area: str | None = Field(description="municipality, prefecture, country")
    hours_text: str | None = Field(description="opening hours as the source writes them")
    days: list[OpenDay] = Field(description="opening hours on the days of the trip")
    stay_minutes: int = Field(description="the least stay, by the rules of the trip")
    cost: str | None = Field(description="what it costs the whole party, by the rules of the trip")
    tags: list[str] = Field(description="more facts, as key=value")


def run(context: ToolContext, args: PlaceDetailsArgs) -> PlaceDetails:
    """Look the place up.

    Raises:
        ToolError: no place has the name, or several have it.
    """
    trip = trip_of(context)
    place, request = place_named(trip, args.place), trip.request
    price = request.price(place.kind)
    dates = request.dates() if place.hours else ()
    return PlaceDetails(
        id=place.id,
        name=place.name,
        kind=place.kind,
        lat_deg=place.at.lat_deg,
        lon_deg=place.at.lon_deg,
        position_error_m=POSITION_ERROR_M,
        area=str(place.admin) if place.admin else None,
        hours_text=place.hours,
        days=[
            OpenDay(
                date=date.isoformat(),
                weekday=f"{date:%A}",
                open=told_hours(open_on(place, date, trip.country)),
            )
            for date in dates
        ],
        stay_minutes=request.rules.stay_min(place.kind),
        cost=None if price is None else f"{price:.2f} {request.rules.currency}",
        tags=[f"{key}={value}" for key, value in place.tags],
    )


def sketch(_: ToolContext, args: PlaceDetailsArgs, result: Result) -> Sketch:
    """The place, with its hours on the first day in the summary."""
    days, stay_min = rows_in(result, "days"), number_in(result, "stay_minutes")
    hours = f"open {text_in(days[0], 'open')}" if days else "hours not known"
    stay = "" if stay_min is None else f", at least {stay_min:.0f} min"
    summary = f"{text_in(result, 'name') or args.place} → {text_in(result, 'kind') or 'place'}, {hours}{stay}"
    return drawn(summary, [place_dot(result)], plane="earth")


place_details = Tool(
    name="place_details",
    description="Tell what is known about a place: position, opening hours on the days of the trip, the least"
    " stay and the price by the trip's rules.",
    args=PlaceDetailsArgs,
    run=run,
    sketch=sketch,
    needs=Trip,
    is_slow=True,  # a provider may be far away
    example={"place": "Ateneum"},
)
