"""Tells whether two spellings, or two entries of a map, mean the same place."""

import re
import unicodedata
from difflib import SequenceMatcher

from tools.itinerary.haversine import metres_between
from tools.itinerary.place import Place

GOOD_NAME = 0.7
"""VIR-Bench counts two names as one above this ratio."""


def plain_name(name: str) -> str:
    """A name without case, accents, punctuation and doubled spaces.

    >>> plain_name("  Café  Ekberg (1852)"), plain_name("Temppeliaukion-kirkko")
    ('cafe ekberg 1852', 'temppeliaukion kirkko')
    """
    decomposed = unicodedata.normalize("NFKD", name).casefold()
    bare = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return " ".join(re.sub(r"[^\w]+", " ", bare).split())


def likeness(name: str, other: str) -> float:
    """How alike two names are, 0 to 1; 1 only where nothing but case, accents and punctuation differ.

    >>> likeness("Ateneum", "ATENEUM"), round(likeness("Ateneum", "Ateneumin museo"), 2)
    (1.0, 0.85)
    """
    first, second = plain_name(name), plain_name(other)
    if not first or not second:
        return 0.0
    if first == second:
        return 1.0
    ratio = SequenceMatcher(None, first, second, autojunk=False).ratio()
    short, long = sorted((first, second), key=len)
    if short in long and len(short) >= max(5, 0.4 * len(long)):
        ratio = max(ratio, 0.85)
    return min(ratio, 0.99)


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
