"""Tells which places a traveller wants to keep away from, and when two entries of a map are one place."""

from tools.itinerary.haversine import metres_between
from tools.itinerary.name_match import plain_name
from tools.itinerary.place import Place
from tools.itinerary.trip import Trip

ONE_SPOT_M, ONE_PLACE_M = 50.0, 200.0
OF_CHAINS = frozenset(
    ("restaurant", "cafe", "fast_food", "pub", "bar", "shop", "supermarket", "bank", "kiosk")
)
"""Kinds of which two branches of one name may stand side by side."""


def barred_as(trip: Trip, place: Place | None, place_id: str = "") -> str | None:
    """The name to avoid that means this place; None: it is not to be avoided.

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


def is_one_place(place: Place, other: Place) -> bool:
    """Whether two entries of a map are one place: one name, one kind, one Wikidata item or one spot."""
    if place.id == other.id:
        return True
    if (plain_name(place.name), place.kind) != (plain_name(other.name), other.kind):
        return False
    at, to = place.at, other.at
    off_m = float(metres_between(at.lat_deg, at.lon_deg, to.lat_deg, to.lon_deg))
    items = {dict(one.tags).get("wikidata") for one in (place, other)}
    is_one_item = len(items) == 1 and None not in items
    if place.kind in OF_CHAINS:
        return False
    return off_m < (ONE_PLACE_M if is_one_item else ONE_SPOT_M)
