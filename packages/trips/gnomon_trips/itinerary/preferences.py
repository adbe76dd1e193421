"""Says how well a place fits a traveller's preferences, as far as the tags of its source say.

What no tag says is unknown: it counts neither for a place nor against it, and a plan says so.
"""

from collections.abc import Mapping
from typing import Literal

from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.request import MEALS, Preferences

Aspect = Literal["diet", "wheelchair", "children"]
ASPECTS: tuple[Aspect, ...] = ("diet", "wheelchair", "children")

DIET_TAGS: Mapping[str, float] = {"only": 1.0, "yes": 1.0, "limited": 0.5, "no": 0.0}
WHEELCHAIR_TAGS: Mapping[str, float] = {"designated": 1.0, "yes": 1.0, "limited": 0.5, "no": 0.0}
FOR_CHILDREN = frozenset(("playground", "zoo", "aquarium", "theme_park", "water_park", "miniature_golf"))
"""Kinds of place that are made for children."""
FOR_ADULTS = frozenset(
    ("bar", "pub", "biergarten", "nightclub", "casino", "gambling", "adult_gaming_centre", "stripclub")
)
"""Kinds of place to which nobody takes a child to eat, or may not."""
CHILDREN_TAGS = ("kids_area", "highchair", "playground")
ADULT_AGE = 16

PREFERENCE_M = 3000
"""Metres on foot that a chosen place which does not fit is worth less than one that does; half of it where
no tag says."""
FAMOUS = 0.6
"""From that fame on a place draws a crowd."""
CROWDED = (11 * 60, 15 * 60)
"""When famous places are fullest, in minutes from midnight: a rule of thumb, not a count of visitors."""
CROWD_M = 20
"""Metres on foot that each minute at a famous place within CROWDED is worth, times its fame."""


def fit_of(place: Place, aspect: Aspect, preferences: Preferences) -> float | None:
    """How well a place fits one preference: 1 it does, 0 it does not; None: no tag says, or nobody asks."""
    if not is_asked(place.kind, aspect, preferences):
        return None
    tags = dict(place.tags)
    if aspect == "wheelchair":
        return WHEELCHAIR_TAGS.get(tags.get("wheelchair", ""))
    if aspect == "children":
        return _for_children(place.kind, tags)
    fits = [_serves(diet, tags) for diet in preferences.diet]
    if 0.0 in fits:
        return 0.0
    return min((fit for fit in fits if fit is not None), default=None) if None not in fits else None


def is_asked(kind: str, aspect: Aspect, preferences: Preferences) -> bool:
    """Whether the traveller has this preference and it concerns places of this kind."""
    if aspect == "diet":
        return bool(preferences.diet) and kind in MEALS
    return preferences.wheelchair if aspect == "wheelchair" else preferences.children


def _serves(diet: str, tags: Mapping[str, str]) -> float | None:
    """By `diet:*`; who serves vegans serves vegetarians, and a cuisine of a diet's name serves it."""
    cuisines = {word.strip() for word in tags.get("cuisine", "").lower().split(";")}
    stated = DIET_TAGS.get(tags.get(f"diet:{diet}", ""))
    if stated is not None:
        return stated
    if diet in cuisines:
        return 1.0
    if diet == "vegetarian" and ("vegan" in cuisines or tags.get("diet:vegan") in ("yes", "only")):
        return 1.0
    return None


def _for_children(kind: str, tags: Mapping[str, str]) -> float | None:
    kinds = set(kind.split(";"))
    age = tags.get("min_age", "")
    if kinds & FOR_ADULTS or (age.isdigit() and int(age) >= ADULT_AGE):
        return 0.0
    if kinds & FOR_CHILDREN or tags.get("museum") == "children":
        return 1.0
    stated = {tags[key] for key in CHILDREN_TAGS if key in tags}
    return 1.0 if stated - {"no"} else None


def preference_m(place: Place, preferences: Preferences) -> float:
    """The cost of choosing that place beside one that fits, in metres: 0 without a preference."""
    return sum(
        PREFERENCE_M * (1 - (0.5 if (fit := fit_of(place, aspect, preferences)) is None else fit))
        for aspect in ASPECTS
        if is_asked(place.kind, aspect, preferences)
    )


def crowd_m(fame: float, preferences: Preferences) -> float:
    """The cost of a minute within CROWDED at a place so well known, in metres: none for plain places."""
    return CROWD_M * fame if preferences.crowds == "avoid" and fame >= FAMOUS else 0.0


def crowded_minutes(arrive_min: int, leave_min: int) -> int:
    """The minutes of a stay in which famous places are fullest.

    >>> crowded_minutes(10 * 60, 12 * 60), crowded_minutes(16 * 60, 17 * 60)
    (60, 0)
    """
    return max(0, min(leave_min, CROWDED[1]) - max(arrive_min, CROWDED[0]))
