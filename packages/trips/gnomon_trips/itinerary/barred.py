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
    branch.
    """
    names = trip.request.avoid
    meant = [(name, trip.named[name]) for name in names if name in trip.named]
    meant += [(name, hit.place) for name in names for hit in trip.candidates.get(name, ())]
    for name, other in meant:
        if other.id == (place.id if place else place_id) or (
            place is not None and is_one_place(place, other)
        ):
            return name
    if place is None:
        return None
    own_names = [f"{plain_name(own)} " for own in (place.name, *place.also)]
    is_branch = place.kind in (*OF_CHAINS, *BEDS)
    for name in names:
        if is_kind_word(name):
            if is_of_kind(place, name):
                return name
        elif is_branch and any(own.startswith(f"{plain_name(name)} ") for own in own_names):
            return name
    return None
