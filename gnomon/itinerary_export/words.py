"""Times, lengths and ways as people write them."""

from tools.itinerary.place import Mode
from tools.itinerary.plan import ItineraryLeg

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


def way_text(leg: ItineraryLeg) -> str:
    """A leg; nothing where it leads from a stop to itself, as where a day starts at its first visit."""
    if leg.from_id == leg.to_id:
        return ""
    return f"{time_text(leg.minutes)}, {length_text(leg.metres)} {BY[leg.mode]}"
