"""Tells visits to one place apart: the second and later ones have a name and an id of their own."""

import re
from collections import Counter
from dataclasses import replace

from gnomon_trips.itinerary.kept_free import kept_free
from gnomon_trips.itinerary.place import Answer, Place
from gnomon_trips.itinerary.provider import Provider
from gnomon_trips.itinerary.request import TripRequest

_ID = "again:"
_NAME = re.compile(r"(.+) \((\d+)\)")


def later_visit(place: Place, number: int) -> Place:
    """The `number`th visit to a place.

    >>> from gnomon_trips.itinerary.place import LatLon
    >>> at = LatLon(lat_deg=35.7, lon_deg=139.7)
    >>> tower = Place(id="jp:1", name="Tokyo Tower", at=at, kind="attraction")
    >>> later_visit(tower, 2).id, later_visit(tower, 2).name
    ('again:2:jp:1', 'Tokyo Tower (2)')
    """
    return replace(place, id=f"{_ID}{number}:{place.id}", name=f"{place.name} ({number})")


def is_later_visit(place_id: str) -> bool:
    """Whether an id stands for a second or later visit."""
    return place_id.startswith(_ID)


def own_id(place_id: str) -> str:
    """The id of the place itself.

    >>> own_id("again:2:jp:1"), own_id("jp:1")
    ('jp:1', 'jp:1')
    """
    return place_id.split(":", 2)[2] if is_later_visit(place_id) else place_id


async def details_of(provider: Provider, place_id: str) -> Answer[Place]:
    """A place by its id, also one that stands for a later visit, or for time kept free.

    Raises:
        NoSuchPlace: no place has that id.
    """
    stands_for, _, numbered = place_id.partition(":")
    number, _, inner = numbered.partition(":")
    make = {"again": later_visit, "free": kept_free}.get(stands_for)
    if make is None or not number.isdecimal():
        return await provider.details(place_id)
    answer = await details_of(provider, inner)
    return answer.of(make(answer.value, int(number)))


def with_visits_named(request: TripRequest) -> TripRequest:
    """The request with a name for each visit: `Ateneum`, `Ateneum (2)`; set times go to them in order."""
    changed = {
        "places": _numbered(request.places),
        "fixed": [
            fixed.model_copy(update={"place": name})
            for fixed, name in zip(
                request.fixed, _numbered([fixed.place for fixed in request.fixed]), strict=True
            )
        ],
    }
    return request.model_copy(update=changed)


def _numbered(names: list[str]) -> list[str]:
    counts, numbered = Counter[str](), list[str]()
    for name in names:
        counts[name] += 1
        numbered.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return numbered


def later_visits(request: TripRequest) -> dict[str, tuple[str, int]]:
    """The names of second and later visits, each with the name of the place and its number."""
    matches = ((name, _NAME.fullmatch(name)) for name in request.places)
    return {
        name: (match[1], int(match[2])) for name, match in matches if match and match[1] in request.places
    }
