"""Tells which places a traveller wants to keep away from."""

from gnomon_tools.core.name_match import plain_name
from gnomon_trips.itinerary.kinds import is_kind_word, is_of_kind
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.request import BEDS
from gnomon_trips.itinerary.same_place import OF_CHAINS, is_one_place
from gnomon_trips.itinerary.trip import Trip


def barred_as(trip: Trip, place: Place | None, place_id: str = "") -> str | None:
    """The name to avoid that means this place; None: it need not be avoided.

    A name that means several places bars all of them, a kind every place of it, the name of a chain every
    branch; but none of them bars a place that is asked for by name.
    """
    own_id = place.id if place else place_id
    avoid = trip.request.avoid
    is_asked_for = bool(avoid) and any(asked.id == own_id for asked in trip.places())
    for name in avoid:
        is_it = name in trip.named and _is_one(trip.named[name], place, own_id)
        if is_asked_for:
            if is_it and (name in trip.request.places or not _is_wide(name, place)):
                return name
        elif is_it or _may_mean(trip, name, place, own_id):
            return name
    return None


def overruled(trip: Trip, place: Place) -> str | None:
    """The name to avoid that would bar a place, were it not asked for by name."""
    if barred_as(trip, place) is not None:
        return None
    return next((name for name in trip.request.avoid if _may_mean(trip, name, place, place.id)), None)


def _may_mean(trip: Trip, name: str, place: Place | None, own_id: str) -> bool:
    hits = trip.candidates.get(name, ())
    return _is_wide(name, place) or any(_is_one(hit.place, place, own_id) for hit in hits)


def _is_one(other: Place, place: Place | None, own_id: str) -> bool:
    return other.id == own_id or (place is not None and is_one_place(place, other))


def _is_wide(name: str, place: Place | None) -> bool:
    """Whether a name is that of a kind or a chain which the place is of."""
    if place is None:
        return False
    if is_kind_word(name):
        return is_of_kind(place, name)
    own_names = (f"{plain_name(own)} " for own in (place.name, *place.also))
    is_branch = place.kind in (*OF_CHAINS, *BEDS)
    return is_branch and any(own.startswith(f"{plain_name(name)} ") for own in own_names)
