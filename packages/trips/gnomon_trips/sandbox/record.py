"""The cities, lodgings, restaurants, attractions, flights and rides of one trip, and what is asked of it."""

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from gnomon_tools.core.inputs import BlindInput, OtherCall

HouseRule = Literal["smoking", "parties", "children under 10", "visitors", "pets"]
RoomType = Literal["shared room", "not shared room", "private room", "entire room"]
TransportRule = Literal["no flight", "no self-driving"]
RideMode = Literal["self-driving", "taxi"]

SEATS = {"self-driving": 5, "taxi": 4}
_ROOMS: dict[RoomType, str] = {
    "shared room": "Shared room",
    "private room": "Private room",
    "entire room": "Entire home/apt",
}


def plain_words(text: str) -> str:
    """A name without regard to case and spaces.

    >>> plain_words(" The  Zoo ")
    'the zoo'
    """
    return " ".join(text.split()).casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class TripNeeds:
    """What a traveller asks for. `destination` is a city where `cities` is 1, else a state."""

    origin: str
    destination: str
    cities: int
    days: int
    start_date: dt.date
    people: int
    budget_usd: int
    cuisines: tuple[str, ...] = ()
    house_rule: HouseRule | None = None
    room_type: RoomType | None = None
    transport: TransportRule | None = None

    def date(self, day: int) -> dt.date:
        """The date of a day, the first being 1."""
        return self.start_date + dt.timedelta(days=day - 1)

    def hard_rules(self) -> tuple[str, ...]:
        asked = {
            "budget": True,
            "house_rule": self.house_rule,
            "room_type": self.room_type,
            "cuisine": self.cuisines,
            "transport": self.transport,
        }
        return tuple(rule for rule, need in asked.items() if need)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lodging:
    """A place to sleep; the price is of one room and night."""

    name: str
    city: str
    price_usd: int
    room_type: str
    house_rules: str
    min_nights: int
    max_occupancy: int
    rating: float | None = None

    def allows(self, rule: HouseRule | None) -> bool:
        forbidden = {words.strip().casefold() for words in self.house_rules.split("&")}
        return rule is None or f"no {rule}" not in forbidden

    def is_of(self, room_type: RoomType | None) -> bool:
        if room_type is None:
            return True
        if room_type == "not shared room":
            return self.room_type != _ROOMS["shared room"]
        return self.room_type == _ROOMS[room_type]

    def night_usd(self, people: int) -> int:
        """The price of a night in as many rooms as the people need."""
        return self.price_usd * math.ceil(people / self.max_occupancy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restaurant:
    """A place to eat; the cost is of one person's meal."""

    name: str
    city: str
    cost_usd: int
    cuisines: tuple[str, ...]
    rating: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attraction:
    """A sight; it costs nothing."""

    name: str
    city: str
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """A flight on a date; the price is of one person."""

    number: str
    origin: str
    destination: str
    date: dt.date
    departs: str
    arrives: str
    price_usd: int

    def cost_usd(self, people: int) -> int:
        return self.price_usd * people


@dataclass(frozen=True, slots=True, kw_only=True)
class Ride:
    """A way by one's own car or by taxi; the price is of one car."""

    mode: RideMode
    origin: str
    destination: str
    duration: str
    distance: str
    price_usd: int

    def cost_usd(self, people: int) -> int:
        """The price of as many cars as the people need: 5 to one's own, 4 to a taxi."""
        return self.price_usd * math.ceil(people / SEATS[self.mode])


@dataclass(frozen=True, kw_only=True)
class TravelSandbox(BlindInput):
    """All that is known for one trip: what is not in it does not exist for a plan."""

    heading: ClassVar[str] = "On all that is known of a trip"
    in_words: ClassVar[str] = "all that is known of the cities and ways of a trip"

    needs: TripNeeds
    cities: tuple[str, ...]
    lodgings: tuple[Lodging, ...] = ()
    restaurants: tuple[Restaurant, ...] = ()
    attractions: tuple[Attraction, ...] = ()
    flights: tuple[Flight, ...] = ()
    rides: tuple[Ride, ...] = ()
    _rows: dict[tuple[str, str, str], tuple[Lodging | Restaurant | Attraction, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def of(
        cls,
        needs: TripNeeds,
        cities: Iterable[str],
        rows: Sequence[Lodging | Restaurant | Attraction | Flight | Ride],
    ) -> "TravelSandbox":
        """The sandbox of these rows, each kind in their order."""
        return cls(
            needs=needs,
            cities=tuple(cities),
            lodgings=tuple(row for row in rows if isinstance(row, Lodging)),
            restaurants=tuple(row for row in rows if isinstance(row, Restaurant)),
            attractions=tuple(row for row in rows if isinstance(row, Attraction)),
            flights=tuple(row for row in rows if isinstance(row, Flight)),
            rides=tuple(row for row in rows if isinstance(row, Ride)),
        )

    def __post_init__(self) -> None:
        groups: dict[tuple[str, str, str], list[Lodging | Restaurant | Attraction]] = {}
        rows: list[Lodging | Restaurant | Attraction]
        rows = [*self.lodgings, *self.restaurants, *self.attractions]
        for row in rows:
            key = (type(row).__name__, plain_words(row.name), plain_words(row.city))
            groups.setdefault(key, []).append(row)
        self._rows.update({key: tuple(rows) for key, rows in groups.items()})

    def stand_in(self, other: "TravelSandbox | None", *, seed: int) -> "TravelSandbox | None":  # noqa: ARG002
        """The sandbox that answers under a blind placebo; None where no other question has one."""
        from gnomon_trips.sandbox.stand_in_sandbox import stand_in_sandbox  # late: few samples have one

        return stand_in_sandbox(self, other) if other else None

    def other_plan(self, *, key: str, call: OtherCall) -> object | None:  # noqa: ARG002
        """A plan for tools that judge plans: half of them hold."""
        from gnomon_trips.sandbox.stand_in_sandbox import other_plan  # late, as above

        return other_plan(self, key)

    def lodging(self, name: str, city: str) -> Lodging | None:
        """The lodging of exactly this name in the city."""
        rows = self._rows.get(("Lodging", plain_words(name), plain_words(city)), ())
        return next((row for row in rows if isinstance(row, Lodging)), None)

    def restaurant(self, name: str, city: str) -> Restaurant | None:
        """The restaurant of exactly this name in the city.

        Branches of one name are read in the plan's favour: the least cost and all their cuisines.
        """
        rows = self._rows.get(("Restaurant", plain_words(name), plain_words(city)), ())
        branches = [row for row in rows if isinstance(row, Restaurant)]
        if len(branches) < 2:
            return branches[0] if branches else None
        return Restaurant(
            name=branches[0].name,
            city=branches[0].city,
            cost_usd=min(branch.cost_usd for branch in branches),
            cuisines=tuple(dict.fromkeys(cuisine for branch in branches for cuisine in branch.cuisines)),
            rating=branches[0].rating,
        )

    def attraction(self, name: str, city: str) -> Attraction | None:
        """The attraction of exactly this name in the city."""
        rows = self._rows.get(("Attraction", plain_words(name), plain_words(city)), ())
        return next((row for row in rows if isinstance(row, Attraction)), None)

    def restaurants_in(self, city: str) -> Iterator[Restaurant]:
        """Each restaurant of the city once, in the order of the record."""
        names = dict.fromkeys(
            plain_words(row.name) for row in self.restaurants if plain_words(row.city) == plain_words(city)
        )
        for name in names:
            row = self.restaurant(name, city)
            if row is not None:
                yield row

    def attractions_in(self, city: str) -> list[Attraction]:
        """Each attraction of the city once, in the order of the record."""
        rows = {
            plain_words(row.name): row
            for row in reversed(self.attractions)
            if plain_words(row.city) == plain_words(city)
        }
        return list(rows.values())[::-1]

    def lodgings_in(self, city: str) -> list[Lodging]:
        return [row for row in self.lodgings if plain_words(row.city) == plain_words(city)]

    def flights_on(self, origin: str, destination: str, date: dt.date) -> list[Flight]:
        ends = (plain_words(origin), plain_words(destination))
        return [
            flight
            for flight in self.flights
            if (plain_words(flight.origin), plain_words(flight.destination)) == ends and flight.date == date
        ]

    def ride(self, mode: RideMode, origin: str, destination: str) -> Ride | None:
        """The ride between two cities; None where there is none, or none is known."""
        ends = (plain_words(origin), plain_words(destination))
        rides = (ride for ride in self.rides if ride.mode == mode)
        return next(
            (ride for ride in rides if (plain_words(ride.origin), plain_words(ride.destination)) == ends),
            None,
        )

    def city(self, name: str) -> str | None:
        """The known city of this name, the origin among them."""
        cities = (*self.cities, self.needs.origin)
        return next((city for city in cities if plain_words(city) == plain_words(name)), None)
