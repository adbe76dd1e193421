"""Writes times, lengths and ways as people write them."""

import datetime as dt
import re
from collections.abc import Sequence

from gnomon_trips.itinerary.place import Mode
from gnomon_trips.itinerary.plan import ItineraryLeg
from gnomon_trips.itinerary.track import ALL_ON_FOOT

BY: dict[Mode, str] = {
    "walk": "on foot",
    "rail": "by train",
    "bus": "by bus",
    "car": "by car",
    "ferry": "by ferry",
    "air": "by plane",
}


def time_text(minutes: int) -> str:
    """A length of time.

    >>> time_text(45), time_text(60), time_text(134)
    ('45 min', '1 h', '2 h 14 min')
    """
    hours, rest = divmod(minutes, 60)
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{rest} min"] if rest or not hours else [])])


def length_text(metres: int) -> str:
    """A length.

    >>> length_text(470), length_text(6056), length_text(483_623)
    ('470 m', '6.1 km', '484 km')
    """
    if metres < 1000:
        return f"{metres} m"
    return f"{metres / 1000:.1f} km" if metres < 100_000 else f"{metres / 1000:,.0f} km"


def means_text(leg: ItineraryLeg) -> str:
    """The means of transport of a leg; a ride that takes no train is a walk."""
    return BY["walk" if ALL_ON_FOOT in leg.via else leg.mode]


def way_text(leg: ItineraryLeg) -> str:
    """A leg in words; empty where it leads from a stop to itself."""
    if leg.from_id == leg.to_id:
        return ""
    return f"{time_text(leg.minutes)} {means_text(leg)}, {length_text(leg.metres)}"


def parts_of(leg: ItineraryLeg) -> list[str]:
    """The streets of a leg, or the parts of its ride."""
    return [part for part in leg.via if part != ALL_ON_FOOT]


def route_text(leg: ItineraryLeg) -> str:
    """A leg with its streets, or with the parts of its ride."""
    way, parts = way_text(leg), parts_of(leg)
    return f"{way}: {(', ' if leg.mode == 'walk' else '; ').join(parts)}" if way and parts else way


WISHED = re.compile(r"(an?) ([\w ]+), as wished")
MEALS = ("breakfast", "lunch", "dinner")


def why_text(why: str) -> str:
    """Why a stop is in the plan: the planner's own marks as sentences, anything else as it is.

    >>> why_text("asked for, lunch"), why_text("a park, as wished"), why_text("It is old.")
    ('You asked for it. For lunch.', 'You wished for a park.', 'It is old.')
    """
    sentences = []
    rest = why
    if match := WISHED.match(rest):
        sentences.append(f"You wished for {match[1]} {match[2].replace('_', ' ')}.")
        rest = rest[match.end() :].removeprefix(", ")
    elif rest == "asked for" or rest.startswith("asked for, "):
        sentences.append("You asked for it.")
        rest = rest.removeprefix("asked for").removeprefix(", ")
    if rest in MEALS:
        sentences.append(f"For {rest}.")
    elif rest:
        return why
    return " ".join(sentences)


DATED = re.compile(r"(\S+) osm (\d{4}-\d\d-\d\d)")


def source_text(source: str) -> str:
    """The source of a place, with the date of its data.

    >>> source_text("helsinki osm 2019-04-21"), source_text("japan gazetteer 2022")
    ('OpenStreetMap (helsinki), 21 April 2019', 'japan gazetteer 2022')
    """
    match = DATED.fullmatch(source)
    if match is None:
        return source
    return f"OpenStreetMap ({match[1]}), {dt.date.fromisoformat(match[2]):%-d %B %Y}"


def clock_text(clock: str) -> str:
    """A clock time of a plan, where hours above 23 are of the next day.

    >>> clock_text("09:30"), clock_text("24:10")
    ('09:30', '00:10 (next day)')
    """
    hours, minutes = clock.split(":")
    return clock if int(hours) < 24 else f"{int(hours) - 24:02d}:{minutes} (next day)"


def listed(words: Sequence[str]) -> str:
    """Words with commas, and "and" before the last.

    >>> listed(["A"]), listed(["A", "B", "C"])
    ('A', 'A, B and C')
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
