"""Says in a plan's assumptions where stops do not fit the traveller's preferences, or nobody knows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gnomon_trips.itinerary.hours import minutes_of
from gnomon_trips.itinerary.objective import fame_of
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.plan import Day
from gnomon_trips.itinerary.preferences import ASPECTS, Aspect, crowd_m, crowded_minutes, fit_of, is_asked
from gnomon_trips.itinerary.request import Preferences

WORDS: Mapping[str, str] = {
    "vegetarian": "a vegetarian meal",
    "vegan": "a vegan meal",
    "halal": "halal food",
    "kosher": "kosher food",
    "gluten_free": "a meal without gluten",
}


def preference_words(
    preferences: Preferences, days: Sequence[Day], places: Mapping[str, Place]
) -> Iterator[str]:
    """What a plan says of its stops for these preferences: what is not known, and what does not fit."""
    stops = list(
        dict.fromkeys(
            stop.id
            for day in days
            for stop in (
                *(visit.place for visit in day.visits),
                *((day.night.place,) if day.night and day.night.basis != "assumed" else ()),
            )
        )
    )
    for aspect in ASPECTS:
        concerned = [
            places[stop]
            for stop in stops
            if stop in places and is_asked(places[stop].kind, aspect, preferences)
        ]
        fits = [(place, fit_of(place, aspect, preferences)) for place in concerned]
        if unknown := _names(place for place, fit in fits if fit is None):
            yield f"No source says {_what(aspect, preferences)} at {unknown}: ask before you go."
        if partly := _names(place for place, fit in fits if fit is not None and 0 < fit < 1):
            yield f"By the map only in part {_whether(aspect, preferences)}: {partly}."
        if not_so := _names(place for place, fit in fits if fit == 0):
            yield f"By the map not {_whether(aspect, preferences)}: {not_so}."
    if preferences.crowds == "avoid" and days:
        full = [
            visit.place.name
            for day in days
            for visit in day.visits
            if (place := places.get(visit.place.id)) is not None
            and crowd_m(fame_of(place), preferences)
            and crowded_minutes(minutes_of(visit.arrive), minutes_of(visit.leave))
        ]
        rule = "Famous places are put before 11:00 or after 15:00 where that fits: a rule of thumb, as no"
        yield f"{rule} source counts visitors." + (f" Within these hours: {', '.join(full)}." if full else "")


def _names(places: Iterable[Place]) -> str:
    return ", ".join(dict.fromkeys(place.name for place in places))


def _what(aspect: Aspect, preferences: Preferences) -> str:
    if aspect == "diet":
        return f"whether there is {_diets(preferences)}"
    if aspect == "wheelchair":
        return "whether a wheelchair gets in"
    return "whether it suits children"


def _whether(aspect: Aspect, preferences: Preferences) -> str:
    if aspect == "diet":
        return f"a place with {_diets(preferences)}"
    return "accessible by wheelchair" if aspect == "wheelchair" else "for children"


def _diets(preferences: Preferences) -> str:
    return " and ".join(WORDS[diet] for diet in preferences.diet)
