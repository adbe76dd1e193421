"""What a map service knows about a place: address, position, opening hours, rating, price level, features.

A name is matched without regard to case, accents and punctuation, and by its words; what may mean several
places is refused with all of them. One name at several addresses gives all of them.

Error: `position_error_m` is the rounding of the position that the service gives.
"""

from collections.abc import Iterable

from pydantic import Field

from gnomon_published.map_record.answers import PlaceRow, place_row, record_of
from gnomon_published.map_record.names import resolve
from gnomon_published.map_record.record import MapPlace, MapRecord
from gnomon_tools.core.marks import counted, drawn, place_dot, rows_in, text_in
from gnomon_tools.core.name_match import plain_name
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult


class MapPlaceArgs(ToolArgs):
    """Which place."""

    place: str = Field(min_length=1, max_length=300, description="name of the place, as far as it is known")


class MapPlaceAnswer(ToolResult):
    """The places of this name; what is not known is left out."""

    places: list[PlaceRow] = Field(description="usually one; several where the name is at several addresses")


def run(context: ToolContext, args: MapPlaceArgs) -> MapPlaceAnswer:
    """Look the name up.

    Raises:
        ToolError: no place has the name, or several names fit.
    """
    places = record_of(context).every_place()
    name = plain_name(resolve(args.place, (place.name for place in places)))
    return MapPlaceAnswer(
        places=[place_row(place) for place in _merged(p for p in places if plain_name(p.name) == name)]
    )


def _merged(places: Iterable[MapPlace]) -> list[MapPlace]:
    """Entries that repeat a place, as lists do, are left out where they say no more than another."""
    kept: list[MapPlace] = []
    for place in sorted(places, key=_facts, reverse=True):
        if not any(_repeats(place, other) for other in kept):
            kept.append(place)
    return kept


def _facts(place: MapPlace) -> int:
    values = (place.address, place.lat_deg, place.hours, place.rating, place.price_level, place.features)
    return sum(bool(value) for value in values)


def _repeats(place: MapPlace, other: MapPlace) -> bool:
    says_no_more = all(
        not value or value == known
        for value, known in (
            (place.hours, other.hours),
            (place.rating, other.rating),
            (place.price_level, other.price_level),
        )
    )
    return (
        _same_address(place.address, other.address)
        and says_no_more
        and (place.lat_deg is None or other.lat_deg is not None)
    )


def _same_address(address: str, other: str) -> bool:
    """Whether two addresses may be one, written at different length: their numbers and codes agree."""
    words, other_words = set(plain_name(address).split()), set(plain_name(other).split())
    if not words or not other_words:
        return True
    numbers, other_numbers = _with_digits(words), _with_digits(other_words)
    agree = numbers <= other_numbers or other_numbers <= numbers
    return agree and 2 * len(words & other_words) >= min(len(words), len(other_words))


def _with_digits(words: set[str]) -> set[str]:
    return {word for word in words if any(letter.isdigit() for letter in word)}


def sketch(_: ToolContext, args: MapPlaceArgs, result: Result) -> Sketch:
    """The places, where a position is known."""
    rows = rows_in(result, "places")
    says = text_in(rows[0], "address") or "no address" if len(rows) == 1 else counted(len(rows), "place")
    return drawn(f"{args.place} → {says}", [place_dot(row) for row in rows], plane="earth")


map_place = Tool(
    name="map_place",
    description="Look a place up by name in the map data: address, position, opening hours by weekday,"
    " rating, price level and what it offers.",
    args=MapPlaceArgs,
    run=run,
    sketch=sketch,
    needs=MapRecord,
)
