"""Keeps time free to eat near a place where no source knows anywhere to eat."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon_trips.itinerary.haversine import apart_m
from gnomon_trips.itinerary.place import LatLon, Place
from gnomon_trips.itinerary.request import KEPT_FREE

if TYPE_CHECKING:
    from gnomon_trips.itinerary.trip import Trip  # which looks ids up by this module

REACH_M = 1_200.0
"""Somewhere to eat within it, in a straight line, and no time is kept free."""
_NEAR_DEG = 0.0005
"""Some 55 m beside the place: a minute on foot, for every provider."""
_ID, _NAME = "free:", "Time to eat near "


def is_kept_free(place_id: str) -> bool:
    """Whether an id stands for time that is kept free."""
    return place_id.startswith(_ID)


def kept_free(place: Place, number: int = 1) -> Place:
    """Time to eat near a place; the `number`th there.

    >>> from gnomon_trips.itinerary.place import LatLon
    >>> at = LatLon(lat_deg=35.7, lon_deg=139.7)
    >>> tower = Place(id="jp:1", name="Tokyo Tower", at=at, kind="attraction")
    >>> kept_free(tower).id, kept_free(tower, 2).name
    ('free:1:jp:1', 'Time to eat near Tokyo Tower (2)')
    """
    at = LatLon(lat_deg=place.at.lat_deg + _NEAR_DEG, lon_deg=place.at.lon_deg)
    name = f"{_NAME}{place.name}" + (f" ({number})" if number > 1 else "")
    place_id = f"{_ID}{number}:{place.id}"
    return replace(place, id=place_id, name=name, at=at, kind=KEPT_FREE, hours=None, also=(), tags=())


def meals_kept_free(trip: "Trip", eateries: Iterable[Place]) -> Mapping[str, Place]:
    """Times to eat near the places round which nowhere to eat is known, for all meals of a trip, by id."""
    others, request = list(eateries), trip.request
    need = sum(len(request.meals_on(day)) for day in range(request.days))
    places = {place.id: place for place in trip.places()}.values()
    bare = [place for place in places if not any(apart_m(place.at, other.at) <= REACH_M for other in others)]
    if not bare:
        return {}
    times = math.ceil(need / len(bare))
    free = [kept_free(place, number) for number in range(1, times + 1) for place in bare]
    return {place.id: place for place in free}


def near(name: str) -> str:
    """The place itself, of a name for time kept free near it; any other name stays.

    >>> near("Time to eat near Tokyo Tower (2)"), near("Ateneum")
    ('Tokyo Tower', 'Ateneum')
    """
    return re.sub(r" \(\d+\)$", "", name.removeprefix(_NAME)) if name.startswith(_NAME) else name


def told(name: str) -> str:
    """What a plan says of time that it keeps free."""
    return f"{name}: no place to eat is known there, so the time is kept free."
