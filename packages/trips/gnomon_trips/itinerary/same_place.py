"""Tells when two entries of a map are one place."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from gnomon_tools.core.name_match import likeness, plain_name
from gnomon_trips.itinerary.haversine import apart_m
from gnomon_trips.itinerary.place import Place

ONE_SPOT_M, ONE_PLACE_M = 50.0, 200.0
OF_CHAINS = frozenset(
    ("restaurant", "cafe", "fast_food", "pub", "bar", "shop", "supermarket", "bank", "kiosk")
)
"""Kinds of which two branches of one name may stand side by side."""


def is_one_place(place: Place, other: Place) -> bool:
    """Whether two entries of a map are one place: one name, one kind, one Wikidata item or one spot."""
    if place.id == other.id:
        return True
    is_namesake = plain_name(place.name) == plain_name(other.name) and place.kind == other.kind
    if not is_namesake or place.kind in OF_CHAINS:
        return False
    item, other_item = (dict(entry.tags).get("wikidata") for entry in (place, other))
    is_one_item = item is not None and item == other_item
    return apart_m(place.at, other.at) < (ONE_PLACE_M if is_one_item else ONE_SPOT_M)


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


def likeness_to(place: Place, name: str) -> float:
    """How alike a name is to the likest of a place's own, 0 to 1."""
    return max(likeness(name, own) for own in (place.name, *place.also))
