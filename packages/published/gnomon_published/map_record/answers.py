"""What several `map_*` tools take and return."""

from pydantic import Field

from gnomon_published.map_record.record import Amounts, MapPlace, MapRecord
from gnomon_tools.core.tool import ToolContext, ToolError, ToolResult

DURATION_ERROR_S = 30.0  # services give whole minutes


class HoursRow(ToolResult):
    """The opening hours of one weekday."""

    weekday: str
    open: str = Field(description="such as 9:00 AM - 5:00 PM, Open 24 hours or Closed")


class PlaceRow(ToolResult):
    """A place; what is not known is left out."""

    name: str
    address: str | None = None
    lat_deg: float | None = None
    lon_deg: float | None = None
    position_error_m: float | None = Field(None, description="how far off the position may be by rounding")
    rating: str | None = Field(None, description="mean of the users' ratings, of 5")
    ratings: int | None = Field(None, description="how many users rated it")
    price_level: str | None = None
    hours: list[HoursRow] | None = Field(None, description="opening hours by weekday")
    features: list[str] | None = Field(None, description="what the place offers")
    phone: str | None = None


def record_of(context: ToolContext) -> MapRecord:
    """The record that the question comes with.

    Raises:
        ToolError: there is none.
    """
    record = context.find(MapRecord)
    if record is None:
        raise ToolError("This question has no map data.")
    return record


def place_row(place: MapPlace) -> PlaceRow:
    """A place as tools return it."""
    return PlaceRow(
        name=place.name,
        address=place.address or None,
        lat_deg=place.lat_deg,
        lon_deg=place.lon_deg,
        position_error_m=place.position_error_m,
        rating=place.rating or None,
        ratings=place.ratings,
        price_level=place.price_level or None,
        hours=[HoursRow(weekday=day, open=text) for day, text in place.hours.items()] or None,
        features=list(place.features) or None,
        phone=place.phone or None,
    )


class AmountsRow(ToolResult):
    """A time and a length; what is not known is left out."""

    duration: str | None = Field(None, description="the time in words")
    duration_s: float | None = Field(None, description="the time in seconds")
    distance: str | None = Field(None, description="the length in words")
    distance_m: float | None = Field(None, description="the length in metres")


def amounts_fields(amounts: Amounts | None) -> dict[str, str | float | None]:
    """The fields of an `AmountsRow`."""
    if amounts is None:
        return {}
    return {
        "duration": amounts.duration or None,
        "duration_s": amounts.duration_s,
        "distance": amounts.distance or None,
        "distance_m": amounts.distance_m,
    }
