"""Another sample's map record in the form of the record that a question is about.

Places, ways and routes are as many as in the question's record, lists of places nearby as long as in the
other's, and what is said of them is the other's. A name that the question says stays. Names that it offers as
answers are given out by chance among themselves. Every other name is one of the other record's: it would tell
around which answer the question's record was made. So a stand-in tells only which kinds of facts there
are.
"""

import random
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from functools import partial
from math import cos, radians
from typing import Generic, TypeVar

from gnomon_published.map_record.names import is_same_name
from gnomon_published.map_record.record import (
    Amounts,
    Leg,
    MapNames,
    MapPlace,
    MapRecord,
    MapRoute,
    NearbyList,
)
from gnomon_tools.core.name_match import plain_name

Fact = TypeVar("Fact")
Spot = tuple[float, float]  # lat_deg, lon_deg


def stand_in_record(asked: MapRecord, other: MapRecord, names: MapNames, seed: int) -> MapRecord:
    """`other` in the form of `asked`; with `other` the same record, its things are exchanged.

    A place has the fields that it has in `asked`. A way that is short by one mode is short by all.
    """
    return _StandIn(asked, other, names, random.Random(f"stand-in record {seed}")).record()


class _Dealt(Generic[Fact]):
    """A value for each key, by chance, and none again before all were dealt."""

    def __init__(self, values: Iterable[Fact], chance: random.Random) -> None:
        self._values, self._chance = list(dict.fromkeys(values)), chance
        self._left: list[Fact] = []
        self._dealt: dict[Hashable, Fact] = {}

    def to(self, key: Hashable) -> Fact:
        if key not in self._dealt:
            if not self._left:
                self._left = self._chance.sample(self._values, len(self._values))
            self._dealt[key] = self._left.pop()
        return self._dealt[key]


class _StandIn:
    """What is dealt to the names of one question's record."""

    def __init__(self, asked: MapRecord, other: MapRecord, names: MapNames, chance: random.Random) -> None:
        self._asked, self._other, self._names, self._chance = asked, other, names, chance
        self._said = {plain_name(name) for name in names.said}
        self._offered = _Dealt(names.offered, chance)
        self._place_names = _Dealt(
            [name for name in other.place_names() if plain_name(name) not in self._said]
            or asked.place_names(),
            chance,
        )
        self._vias = _Dealt([route.via for route in (other.routes or asked.routes)], chance)
        fact = partial(_facts_of, asked, other, chance)
        self._hours = fact(lambda place: tuple(place.hours.items()))
        self._rating = fact(lambda place: place.rating)
        self._ratings = fact(lambda place: place.ratings)
        self._price_level = fact(lambda place: place.price_level)
        self._features = fact(lambda place: place.features)
        self._street = fact(lambda place: place.address.partition(", ")[0])
        # The country would show in the other's telephone numbers.
        self._phone = _facts_of(asked, asked, chance, lambda place: place.phone)
        self._spot = _facts_of(asked, _moved(other, asked), chance, _spot)
        self._quantile: dict[frozenset[str], float] = {}

    def record(self) -> MapRecord:
        asked = self._asked
        counts = _Dealt((len(listed.places) for listed in self._other.nearby or asked.nearby), self._chance)
        return MapRecord(
            places=tuple(self._place(place, self._name(place.name)) for place in asked.places),
            nearby=tuple(
                self._nearby(listed, counts.to(number)) for number, listed in enumerate(asked.nearby)
            ),
            legs=tuple(
                replace(leg, start=self._name(leg.start), end=self._name(leg.end), amounts=self._amounts(leg))
                for leg in asked.legs
            ),
            routes=self._routes(),
        )

    def _name(self, name: str) -> str:
        plain = plain_name(name)
        if plain in self._said:
            return name
        return self._offered.to(plain) if self._is_offered(plain) else self._place_names.to(plain)

    def _via(self, via: str) -> str:
        plain = plain_name(via)
        if self._is_offered(plain):
            return self._offered.to(plain).removeprefix("Via ")
        return self._vias.to(plain)

    def _is_offered(self, plain: str) -> bool:
        return any(is_same_name(plain, name) for name in self._names.offered)

    def _place(self, place: MapPlace, name: str) -> MapPlace:
        """A place of this name with facts of the other record, in the fields that `place` has."""
        key = plain_name(name)
        lat_deg, lon_deg = self._spot.to(key) if _spot(place) else (None, None)
        return replace(
            place,
            name=name,
            address=_address(place.address, self._street.to(key)) if place.address else "",
            lat_deg=lat_deg,
            lon_deg=lon_deg,
            hours=dict(self._hours.to(key)) if place.hours else {},
            rating=self._rating.to(key) if place.rating else "",
            ratings=self._ratings.to(key) if place.ratings else place.ratings,
            price_level=self._price_level.to(key) if place.price_level else "",
            features=self._features.to(key) if place.features else (),
            phone=self._phone.to(key) if place.phone else "",
        )

    def _nearby(self, listed: NearbyList, count: int) -> NearbyList:
        """A list of so many places: those that the question names, and others."""
        places = list(listed.places)
        self._chance.shuffle(places)
        places.sort(key=lambda place: not self._is_offered(plain_name(place.name)))  # offered ones are kept
        needed = sum(self._is_offered(plain_name(place.name)) for place in places)
        rows = [self._place(place, self._name(place.name)) for place in places[: max(count, needed)]]
        while places and len(rows) < count:
            form = self._chance.choice(places)
            rows.append(self._place(form, self._name(f"{listed.around} {listed.kind} {len(rows)}")))
        self._chance.shuffle(rows)
        return replace(listed, around=self._name(listed.around), places=tuple(rows))

    def _amounts(self, leg: Leg) -> Amounts:
        """Those of the other record's leg of the same mode that is at the quantile drawn for these ends."""
        quantile = self._quantile.setdefault(
            frozenset((plain_name(leg.start), plain_name(leg.end))), self._chance.random()
        )
        pools = [
            [way.amounts for way in record.legs if way.mode == leg.mode]
            for record in (self._other, self._asked)
        ]
        ranked = sorted(
            pools[0] or pools[1], key=lambda amounts: amounts.duration_s or amounts.distance_m or 0.0
        )
        return ranked[int(quantile * len(ranked))]

    def _routes(self) -> tuple[MapRoute, ...]:
        """As many, with times, lengths and directions of the other's, by the same mode where it has one."""
        asked, other = self._asked.routes, self._other.routes
        drawn = {
            mode: _Dealt([route for route in other if route.mode == mode] or other or asked, self._chance)
            for mode in dict.fromkeys(route.mode for route in asked)
        }
        return tuple(
            replace(
                route,
                start=self._name(route.start),
                end=self._name(route.end),
                via=self._via(route.via),
                amounts=route.amounts and drawn[route.mode].to(number).amounts,
                steps=drawn[route.mode].to(number).steps,
            )
            for number, route in enumerate(asked)
        )


def _facts_of(
    asked: MapRecord, other: MapRecord, chance: random.Random, fact: Callable[[MapPlace], Fact | None]
) -> _Dealt[Fact]:
    """The other record's facts of one field; the question's own where the other has none."""
    facts = [[value for place in record.every_place() if (value := fact(place))] for record in (other, asked)]
    return _Dealt(facts[0] or facts[1], chance)


def _spot(place: MapPlace) -> Spot | None:
    return None if place.lat_deg is None or place.lon_deg is None else (place.lat_deg, place.lon_deg)


def _address(own: str, street: str) -> str:
    """The other's street in the question's town, without postal codes, which would tell the place.

    >>> _address("5 Rue de Rivoli, 75001 Paris, France", "Lange Strasse 7")
    'Lange Strasse 7, Paris, France'
    """
    parts = [
        " ".join(word for word in part.split() if not any(letter.isdigit() for letter in word))
        for part in own.split(", ")
    ]
    return ", ".join([street, *(part for part in parts[1:][-2:] if part)])


def _moved(other: MapRecord, asked: MapRecord) -> MapRecord:
    """The other record's places around the middle of the question's, as far from each other as they are."""
    theirs, ours = (
        [spot for place in record.every_place() if (spot := _spot(place))] for record in (other, asked)
    )
    if not theirs or not ours:
        return MapRecord()
    (their_lat, their_lon), (our_lat, our_lon) = _middle(theirs), _middle(ours)
    widening = cos(radians(their_lat)) / max(cos(radians(our_lat)), 0.01)
    return MapRecord(
        places=tuple(
            replace(
                place,
                lat_deg=round(our_lat + spot[0] - their_lat, 4),
                lon_deg=round(our_lon + (spot[1] - their_lon) * widening, 4),
            )
            for place in other.every_place()
            if (spot := _spot(place))
        )
    )


def _middle(spots: list[Spot]) -> Spot:
    lats, lons = zip(*spots, strict=True)
    return sum(lats) / len(lats), sum(lons) / len(lons)
