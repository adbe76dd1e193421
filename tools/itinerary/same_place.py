"""Tells when two entries of a map are one place."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from tools.itinerary.haversine import metres_between
from tools.itinerary.name_match import plain_name
from tools.itinerary.place import Place

ONE_SPOT_M, ONE_PLACE_M = 50.0, 200.0
OF_CHAINS = frozenset(
    ("restaurant", "cafe", "fast_food", "pub", "bar", "shop", "supermarket", "bank", "kiosk")
)
"""Kinds of which two branches of one name may stand side by side."""


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


def distinct(places: Iterable[Place], *, besides: Iterable[Place] = ()) -> Iterator[Place]:
    """The places, each once, whatever their ids; those of `besides` are not among them."""
    kept: dict[tuple[str, str], list[Place]] = defaultdict(list)
    for place in besides:
        kept[plain_name(place.name), place.kind].append(place)
    for place in places:
        namesakes = kept[plain_name(place.name), place.kind]
        if not any(is_one_place(place, other) for other in namesakes):
            namesakes.append(place)
            yield place
