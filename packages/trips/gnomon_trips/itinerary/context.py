"""Access of a tool to the trip of its sample and the trip's provider."""

import math
from collections.abc import Coroutine, Sequence
from typing import Any, Self, TypeVar

from pydantic import Field

from gnomon_tools.core.marks import dot_at, line_of, rows_in, text_in
from gnomon_tools.core.sketch import Dot, Line, Result, Role
from gnomon_tools.core.tool import ToolContext, ToolError, ToolResult
from gnomon_trips.itinerary.errors import AmbiguousPlace, PlaceError, RateLimited
from gnomon_trips.itinerary.place import PROVABLE, Answer, Exactness, Place, PlaceHit
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.trip import Trip, find

T = TypeVar("T")

POSITION_ERROR_M = 25.0
"""How far a mapped point may lie from the door; an area's point stands for all of it and is farther off."""


def trip_of(context: ToolContext) -> Trip:
    """The trip that this sample plans.

    Raises:
        ToolError: the sample plans no trip.
    """
    trip = context.find(Trip)
    if trip is None:
        raise ToolError("unsupported: this question is not about a trip")
    return trip


def ask(trip: Trip, question: Coroutine[Any, Any, T]) -> T:
    """A provider's answer; its failure as a message to the model: a code, what is wrong, what to do.

    Raises:
        ToolError: the provider has no answer.
    """
    try:
        return answered(question, is_local=trip.provider.is_local)
    except PlaceError as error:
        message = f"{error.code}: {error}"
        if isinstance(error, AmbiguousPlace):
            names = (f"{hit.place.id} = {hit.place.name} ({hit.place.kind})" for hit in error.candidates)
            message += f"; candidates: {', '.join(names)}"
        if error.retryable:
            wait_s = error.retry_after_s if isinstance(error, RateLimited) else None
            message += f"; try again in {wait_s:g} s" if wait_s else "; try again"
        raise ToolError(message) from None


def place_named(trip: Trip, name: str) -> Place:
    """The place of an id, or of a name that means only one.

    Raises:
        ToolError: no place has the name, or several have it.
    """
    place = trip.named.get(name)
    if place is not None:
        return place
    return ask(trip, find(trip.provider, name, bias=trip.hotel.at if trip.hotel else None)).value


def known_dot(context: ToolContext, name: str, label: str = "", role: Role = "asked") -> Dot | None:
    """The dot of a place of the trip, by name or id; asks only providers that need no network."""
    trip = context.find(Trip)
    if trip is None:
        return None
    place = trip.named.get(name) or next((place for place in trip.named.values() if place.id == name), None)
    if place is None and trip.provider.is_local:
        try:
            place = place_named(trip, name)
        except ToolError:
            return None
    if place is None:
        return None
    return dot_at((place.at.lon_deg, place.at.lat_deg), label or place.name, role)


def day_line(
    context: ToolContext, day: int, stops: Sequence[Dot | None], label: str, role: Role = "result"
) -> Line | None:
    """The stops of a day (from 0), from its start to its end; dashed, as the streets are not known."""
    trip = context.find(Trip)
    homes = [trip.home(day, at_end=at_end) if trip else None for at_end in (False, True)]
    start, end = ([(home.at.lon_deg, home.at.lat_deg)] if home else [] for home in homes)
    track = [*start, *(stop.at for stop in stops if stop), *end]
    return line_of(track, label, role, has_arrow=True, is_dashed=True)


def visit_dots(context: ToolContext, day: Result) -> list[Dot | None]:
    """A dot for each visit of a day of a result, numbered, with its hours."""
    dots = []
    for number, visit in enumerate(rows_in(day, "visits"), 1):
        label = f"{number} {text_in(visit, 'name')} {text_in(visit, 'arrive')}–{text_in(visit, 'leave')}"
        dots.append(known_dot(context, text_in(visit, "place"), label, "result"))
    return dots


def minutes_error(minutes: int, exactness: Exactness) -> int:
    """How far off a time may be: a tenth along mapped streets, else a quarter or ten minutes.

    >>> minutes_error(21, "network"), minutes_error(100, "timetable")
    (3, 25)
    """
    if exactness in PROVABLE:
        return math.ceil(0.1 * minutes)
    return math.ceil(max(10.0, 0.25 * minutes))


class FoundPlace(ToolResult):
    """A place as a search shows it."""

    id: str = Field(description="pass this to the other tools")
    name: str
    kind: str
    lat_deg: float
    lon_deg: float
    area: str | None = Field(None, description="municipality, prefecture, country")
    distance_m: float | None = Field(None, description="from where the search started")
    score: int = Field(description="how well the name fits, in percent")


class FoundPlaces(ToolResult):
    """Base of the results of searches."""

    hits: list[FoundPlace]
    position_error_m: float = Field(description="how far a position may be from the entrance")
    source: str = Field(description="who says so, and the state of the data")

    @classmethod
    def of(cls, answer: Answer[Sequence[PlaceHit]]) -> Self:
        hits = [
            FoundPlace(
                id=hit.place.id,
                name=hit.place.name,
                kind=hit.place.kind,
                lat_deg=hit.place.at.lat_deg,
                lon_deg=hit.place.at.lon_deg,
                area=str(hit.place.admin) if hit.place.admin else None,
                distance_m=hit.distance_m,
                score=round(100 * hit.score),
            )
            for hit in answer.value
        ]
        return cls(hits=hits, position_error_m=POSITION_ERROR_M, source=answer.source)
