"""What a map service answered: places, lists of places nearby, travel times and routes.

A field that the service left out is None or empty; nothing is worked out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from gnomon_tools.core.inputs import BlindInput

Mode = Literal["foot", "car", "bicycle", "transit"]
MODES: tuple[Mode, ...] = ("foot", "car", "bicycle", "transit")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPlace:
    """A place; `hours` are texts by weekday, `features` what it offers, as the service words them."""

    name: str
    address: str = ""
    lat_deg: float | None = None
    lon_deg: float | None = None
    position_error_m: float | None = None
    hours: Mapping[str, str] = field(default_factory=dict)
    rating: str = ""
    ratings: int | None = None
    price_level: str = ""
    features: tuple[str, ...] = ()
    phone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearbyList:
    """The places of one kind around another; `order` and `radius_m` are as the service says them."""

    around: str
    kind: str
    order: Literal["nearest first", "not sorted"]
    radius_m: float | None = None
    places: tuple[MapPlace, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """A time and a length, as the service words them, and in seconds and metres with their rounding."""

    duration: str = ""
    duration_s: float | None = None
    distance: str = ""
    distance_m: float | None = None
    distance_error_m: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """The way between two places by one mode."""

    start: str
    end: str
    mode: Mode
    amounts: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteStep:
    """One direction of a route, such as "Turn left onto High Street"; its length where it is said."""

    text: str
    amounts: Amounts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MapRoute:
    """One of the routes between two places by one mode, named by the roads it takes."""

    start: str
    end: str
    mode: Mode
    via: str
    amounts: Amounts | None = None
    steps: tuple[RouteStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MapNames:
    """Names of a record that its question says, and names of places or roads that it offers as answers."""

    said: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MapRecord(BlindInput):
    """All that is known. `places` may hold a place more than once: by itself, and in lists of others.

    `names` are those that a question about it gives away; no tool reads them.
    """

    heading: ClassVar[str] = "On the answers of a map service"
    in_words: ClassVar[str] = "what a map service answered about the places of a question"

    places: tuple[MapPlace, ...] = ()
    nearby: tuple[NearbyList, ...] = ()
    legs: tuple[Leg, ...] = ()
    routes: tuple[MapRoute, ...] = ()
    names: MapNames = field(default_factory=MapNames, compare=False)

    def is_like(self, other: "MapRecord") -> bool:
        """Whether the other one has all kinds of facts that this one has."""
        return self.kinds() <= other.kinds()

    def kinds(self) -> set[str]:
        """Which kinds of facts it has: places, nearby, routes, and the modes of its ways."""
        kinds = {"places": self.places, "nearby": self.nearby, "routes": self.routes}
        return {kind for kind, facts in kinds.items() if facts} | {leg.mode for leg in self.legs}

    def stand_in(self, other: "MapRecord | None", *, seed: int) -> "MapRecord":
        """The record that answers under a blind placebo: its names are never what the true ones are."""
        from gnomon_published.map_record.stand_in_record import stand_in_record  # late: few samples have one

        return stand_in_record(self, other or self, self.names, seed)

    def place_names(self) -> tuple[str, ...]:
        """Names of places, of ends of ways, and of what lists are around, each once."""
        ends = [(leg.start, leg.end) for leg in self.legs] + [
            (route.start, route.end) for route in self.routes
        ]
        listed = [place.name for place in self.every_place()] + [nearby.around for nearby in self.nearby]
        return tuple(dict.fromkeys([*listed, *(name for pair in ends for name in pair)]))

    def every_place(self) -> tuple[MapPlace, ...]:
        """Places of the record's own first, then those in lists."""
        return (*self.places, *(place for listed in self.nearby for place in listed.places))
