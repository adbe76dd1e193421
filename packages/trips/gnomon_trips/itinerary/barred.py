"""Tells which places a traveller wants to keep away from."""

from gnomon_tools.core.name_match import plain_name
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.same_place import OF_CHAINS, is_one_place
from gnomon_trips.itinerary.trip import Trip


def barred_as(trip: Trip, place: Place | None, place_id: str = "") -> str | None:
    """The name to avoid that means this place; None: it need not be avoided.

    A name that means several places bars all of them, the name of a chain every branch of it.
    """
    request = trip.request
    names = dict.fromkeys((*request.avoid, *trip.unsure_avoid))
    meant = [(name, trip.named[name]) for name in request.avoid if name in trip.named]
    meant += [(name, hit.place) for name in names for hit in trip.candidates.get(name, ())]
    for name, other in meant:
        if other.id == (place.id if place else place_id) or (
            place is not None and is_one_place(place, other)
        ):
            return name
    if place is None or place.kind not in OF_CHAINS:
        return None
    own_names = {plain_name(own) for own in (place.name, *place.also)}
    return next((name for name in names if plain_name(name) in own_names), None)
