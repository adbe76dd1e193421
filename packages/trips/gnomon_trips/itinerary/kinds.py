"""Kinds of place as travellers call them, and the kinds by which data sets know them."""

import itertools
from collections.abc import Mapping

from gnomon_tools.core.name_match import plain_name
from gnomon_trips.itinerary.place import Place

CALLED: Mapping[str, str] = {
    **dict.fromkeys(
        ("church", "chapel", "cathedral", "temple", "shrine", "mosque", "synagogue"), "place_of_worship"
    ),
    "coffee shop": "cafe", "coffeehouse": "cafe", "theater": "theatre", "movie theater": "cinema",
    "movie theatre": "cinema", "market": "marketplace", "shopping mall": "mall", "shopping centre": "mall",
    "shopping center": "mall", "art gallery": "gallery", "lookout": "viewpoint", "view": "viewpoint",
    "public library": "library", "botanical garden": "garden", "food hall": "food_court",
}  # fmt: skip
"""The kind of the data that a word means, where that is another word."""
FAITHS: Mapping[str, frozenset[str]] = {
    **{word: frozenset(("christian",)) for word in ("church", "chapel", "cathedral")},
    "temple": frozenset(("buddhist", "hindu", "sikh", "jain", "taoist")),
    "shrine": frozenset(("shinto",)),
    "mosque": frozenset(("muslim",)),
    "synagogue": frozenset(("jewish",)),
}
"""Of whom a house of worship is, by the word for it."""
NO_KINDS = frozenset(("wheelchair", "fee", "website", "addr:street", "addr:housenumber", "wikidata"))
"""Tags whose value is no word for what a place is."""
OTHERS = frozenset((
    "restaurant", "cafe", "fast_food", "pub", "bar", "food_court", "biergarten", "nightclub", "hotel",
    "hostel", "guest_house", "apartment", "motel", "ryokan", "shop", "supermarket", "bank", "tram_stop",
    "bus_stop", "bus_station", "station", "halt", "ferry_terminal", "taxi", "parking", "pharmacy", "clinic",
    "dentist", "doctors", "school", "kindergarten", "car_rental", "suburb",
))  # fmt: skip
"""Kinds that are often called after a sight and are none: Park Hotel is no park, Museum is a tram stop."""
AREAS = frozenset((
    "district", "neighbourhood", "quarter", "suburb", "borough", "town", "village", "hamlet", "city",
    "municipality", "prefecture",
))  # fmt: skip
"""Kinds of place that are larger than a door: where one is there, their middle stands for it."""
OPEN_GROUND = AREAS | {"crossing", "street", "square", "bridge"}
"""Kinds of place that have no opening hours: one can be there at any time."""
SIGHT_WORDS = frozenset((*CALLED, *CALLED.values())) | frozenset(
    ("museum", "park", "garden", "zoo", "castle", "palace", "monument", "memorial", "square", "attraction")
)
"""Words that mean something to see: an eatery or hotel with one in its name is none."""
KIND_WORDS = frozenset(kind.replace("_", " ") for kind in (*SIGHT_WORDS, *OTHERS))
"""Words for kinds of place."""


def singular(words: str) -> str:
    """A kind in the plainest form of its words.

    >>> singular("Churches"), singular("art_galleries"), singular("parks"), singular("glass")
    ('church', 'art gallery', 'park', 'glass')
    """
    plain = plain_name(words.replace("_", " "))
    if plain.endswith("ies"):
        return f"{plain[:-3]}y"
    if plain.endswith(("ches", "shes", "xes", "sses")):
        return plain[:-2]
    return plain if plain.endswith("ss") else plain.removesuffix("s")


def a_kind(wish: str) -> str:
    """One place of a kind that was wished for, in words.

    >>> a_kind("parks"), a_kind("art_gallery")
    ('a park', 'an art gallery')
    """
    word = singular(wish)
    return f"{'an' if word[:1] in 'aeio' else 'a'} {word}"


def kind_of(wish: str) -> str:
    """The kind by which data sets know what a word for a kind means.

    >>> kind_of("churches"), kind_of("Parks"), kind_of("place_of_worship"), kind_of("Fast food")
    ('place_of_worship', 'park', 'place_of_worship', 'fast_food')
    """
    word = singular(wish)
    return CALLED.get(word, word.replace(" ", "_"))


def is_kind_word(name: str) -> bool:
    """Whether a name is a word for a kind of place.

    >>> is_kind_word("Pubs"), is_kind_word("Kiasma")
    (True, False)
    """
    return singular(name) in KIND_WORDS


def is_of_kind(place: Place, wish: str) -> bool:
    """Whether a place is of a kind by its kind and its tags."""
    wanted, tags = singular(wish), dict(place.tags)
    if place.kind == kind_of(wish):
        faiths, faith = FAITHS.get(wanted), tags.get("religion")
        return faiths is None or faith is None or faith in faiths
    values = [value for key, text in tags.items() if key not in NO_KINDS for value in text.split(";")]
    return wanted in {singular(word) for word in (place.kind, *values)}


def serves(place: Place, wish: str) -> bool:
    """Whether a place is of a kind that was wished for: by its kind, its tags or its name.

    >>> from gnomon_trips.itinerary.place import LatLon
    >>> middle = LatLon(lat_deg=60.0, lon_deg=24.9)
    >>> serves(Place(id="1", name="Esplanadi", at=middle, kind="park"), "Parks")
    True
    >>> serves(Place(id="2", name="Park Hotel", at=middle, kind="hotel"), "park")
    False
    """
    if is_of_kind(place, wish):
        return True
    wanted = singular(wish)
    if place.kind == kind_of(wish):
        return False
    if wanted in SIGHT_WORDS and place.kind in OTHERS:
        return False
    words = plain_name(place.name).split()
    pairs = (f"{first} {then}" for first, then in itertools.pairwise(words))
    return any(word == wanted or (len(wanted) > 3 and word.endswith(wanted)) for word in (*words, *pairs))
