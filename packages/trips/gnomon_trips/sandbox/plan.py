"""Reads the days of a plan as TravelPlanner writes them: a text for each of eight fields, "-" for nothing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gnomon_trips.sandbox.record import plain_words

MEALS = ("breakfast", "lunch", "dinner")
FIELDS = ("transportation", "breakfast", "attraction", "lunch", "dinner", "accommodation")
Mode = Literal["flight", "self-driving", "taxi"]
MODES: tuple[Mode, ...] = ("flight", "self-driving", "taxi")

_FROM_TO = re.compile(r"\bfrom\s+(.+?)\s+to\s+([^,;]+)", re.IGNORECASE)
_STATE = re.compile(r"\s*\([^)]*\)")
_FLIGHT = re.compile(r"\bF\d{4,9}\b")

Days = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Named:
    """A place as a plan names it: `NAME, CITY`."""

    name: str
    city: str

    @property
    def key(self) -> tuple[str, str]:
        """The key that two mentions of one place share."""
        return plain_words(self.name), plain_words(self.city)

    def __str__(self) -> str:
        return f"{self.name}, {self.city}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    """A way as a plan writes it; what it does not say is None."""

    text: str
    mode: Mode | None
    origin: str | None = None
    destination: str | None = None
    number: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDay:
    """One day; `cities` is the city of a stay, or those of departure and arrival."""

    cities: tuple[str, ...]
    transport: Transport | None
    meals: Mapping[str, Named]
    attractions: tuple[Named, ...]
    lodging: Named | None
    absent: tuple[str, ...] = ()  # fields that are not there at all

    @property
    def is_travel(self) -> bool:
        """Whether the traveller changes cities."""
        return len(self.cities) == 2

    @property
    def filled(self) -> int:
        more = (self.transport, self.attractions, self.lodging)
        return len(self.meals) + sum(bool(value) for value in more)


def read_days(days: Days) -> list[PlanDay]:
    """The days of a plan; what is no text counts as nothing."""
    return [_day(day) for day in days]


def read_place(text: str) -> Named:
    """The name and the city of a place, parted by the last comma; the city's state is left out.

    >>> read_place("Museum, the Old, Houston(Texas)")
    Named(name='Museum, the Old', city='Houston')
    """
    name, _, city = text.rpartition(",")
    return Named(name.strip(), without_state(city))


def without_state(city: str) -> str:
    """The name of a city without the state behind it.

    >>> without_state(" Houston (Texas)")
    'Houston'
    """
    return _STATE.sub("", city).strip()


def _day(day: Mapping[str, Any]) -> PlanDay:
    where = _text(day, "current_city")
    ends = _FROM_TO.search(where)
    cities = (without_state(ends[1]), without_state(ends[2])) if ends else (without_state(where),)
    attractions = (item.strip() for item in _text(day, "attraction").split(";"))
    return PlanDay(
        cities=tuple(city for city in cities if city),
        transport=_transport(_text(day, "transportation"), cities),
        meals={meal: read_place(text) for meal in MEALS if (text := _text(day, meal))},
        attractions=tuple(read_place(item) for item in attractions if item),
        lodging=read_place(text) if (text := _text(day, "accommodation")) else None,
        absent=tuple(field for field in FIELDS if not isinstance(day.get(field), str)),
    )


def _text(day: Mapping[str, Any], field: str) -> str:
    value = day.get(field)
    text = value.strip() if isinstance(value, str) else ""
    return "" if text == "-" else text


def _transport(text: str, cities: tuple[str, ...]) -> Transport | None:
    if not text:
        return None
    words = text.casefold().replace("self driving", "self-driving")
    modes = [mode for mode in MODES if mode in words]
    ends = _FROM_TO.search(text)
    number = _FLIGHT.search(text)
    origin, destination = (without_state(ends[1]), without_state(ends[2])) if ends else (None, None)
    if ends is None and len(cities) == 2:
        origin, destination = cities
    return Transport(
        text=text,
        mode=modes[0] if len(modes) == 1 else None,
        origin=origin,
        destination=destination,
        number=number[0] if number else None,
    )
