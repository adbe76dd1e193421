"""A few drawn places on a plane, and every plan over them tried one by one, without the planner's code."""

import datetime as dt
import itertools
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

from gnomon_trips.itinerary.embedded import Embedded
from gnomon_trips.itinerary.errors import NoSuchPlace, Unreachable
from gnomon_trips.itinerary.place import AdminPath, Answer, Exactness, LatLon, Mode, Place, PlaceHit, Way
from gnomon_trips.itinerary.provider import NameQuery, NearbyQuery
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.trip import Trip

EATERIES = ("restaurant", "cafe")
HOURS = (
    None,
    None,
    "Mo-Su 08:00-12:00",
    "Mo-Su 11:00-15:00",
    "We 10:00-18:00",
    "Mo-Su 10:00-11:00,14:00-16:00",
)
MEALS = (
    {"name": "lunch", "start": "11:30", "end": "13:30", "minutes": 45},
    {"name": "dinner", "start": "17:00", "end": "19:00", "minutes": 60},
)


class Plane(Embedded):
    """A provider of the places drawn; some pairs have no way between them."""

    name, version, attribution, retrieved_at, is_local = "plane", "1", "drawn", "2026-01-01", True
    exactness: Exactness = "exact"

    def __init__(self, places: Sequence[Place], cut: set[frozenset[LatLon]]) -> None:
        self.places, self.cut = {place.id: place for place in places}, cut

    async def resolve(self, query: NameQuery) -> Answer[tuple[PlaceHit, ...]]:
        raise NoSuchPlace(query.name)

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        return self.answer(AdminPath(country="FI"), "exact")

    async def nearby(self, query: NearbyQuery) -> Answer[tuple[PlaceHit, ...]]:
        near = (place for place in self.places.values() if _far_m(place.at, query.at) <= query.radius_m)
        hits = (PlaceHit(place=place) for place in near if place.kind in query.kinds)
        return self.answer(tuple(hits), "exact")

    async def details(self, place_id: str) -> Answer[Place]:
        if place_id not in self.places:
            raise NoSuchPlace(place_id)
        return self.answer(self.places[place_id], "exact")

    def way(self, start: LatLon, end: LatLon, mode: Mode) -> Way:
        if frozenset((start, end)) in self.cut:
            raise Unreachable("no way")
        metres = round(_far_m(start, end))
        return Way(minutes=max(1, math.ceil(metres / 80)), metres=metres, mode=mode, exactness="exact")


def _far_m(start: LatLon, end: LatLon) -> float:
    return math.dist((start.lat_deg, start.lon_deg), (end.lat_deg, end.lon_deg)) * 111_000


def drawn_trip(seed: int) -> Trip:
    """One to four places and up to two places to eat, on one day or two, at times more than fits."""
    chance = random.Random(seed)
    count, eateries = chance.randint(1, 4), chance.randint(0, 2)
    kinds = [chance.choice(("museum", "park", "gallery", "cafe")) for _ in range(count)]
    kinds += [chance.choice(EATERIES) for _ in range(eateries)] + ["hotel"]
    places = [
        Place(
            id=f"plane/{number}",
            name=f"place {number}",
            at=LatLon(lat_deg=chance.uniform(0.0, 0.05), lon_deg=chance.uniform(0.0, 0.05)),
            kind=kind,
            hours=None if kind == "hotel" else chance.choice(HOURS),
        )
        for number, kind in enumerate(kinds)
    ]
    pairs = list(itertools.combinations([place.at for place in places], 2))
    cut = {frozenset(pair) for pair in pairs if chance.random() < 0.05}
    fields: dict[str, Any] = {
        "area": "plane",
        "start_date": "2026-06-09",
        "days": chance.randint(1, 2),
        "places": [place.name for place in places[:count]],
        "hotel": places[-1].name if chance.random() < 0.7 else None,
        "window": {"start": "09:00", "end": chance.choice(("13:00", "15:30", "19:30", "21:00"))},
        "meals": [meal for meal in MEALS if chance.random() < 0.4],
    }
    if chance.random() < 0.3:
        fields["max_walk_m"] = chance.choice((4_000, 9_000, 14_000))
    if chance.random() < 0.3:
        fields["max_leg_min"] = chance.choice((25, 45, 60))
    if count > 1 and chance.random() < 0.3:
        fields["order"] = [fields["places"][:2]]
    return Trip(
        request=read_request(fields),
        provider=Plane(places, cut),
        named={place.name: place for place in [*places[:count], places[-1]]},
        country="FI",
    )


def has_plan(trip: Trip) -> bool:
    """Whether any order of the places, and of any places to eat, on any days keeps everything."""
    provider = trip.provider
    assert isinstance(provider, Plane)
    musts = trip.places()
    others = [place for place in provider.places.values() if place.kind in EATERIES and place not in musts]
    for size in range(len(others) + 1):
        for extra in itertools.combinations(others, size):
            for order in itertools.permutations([*musts, *extra]):
                if not _in_order(trip, [place.name for place in order]):
                    continue
                for cuts in itertools.combinations_with_replacement(
                    range(len(order) + 1), trip.request.days - 1
                ):
                    bounds = [0, *cuts, len(order)]
                    parts = [order[first:last] for first, last in itertools.pairwise(bounds)]
                    if _holds(trip, provider, parts):
                        return True
    return False


def _in_order(trip: Trip, names: list[str]) -> bool:
    return all(names.index(first) < names.index(then) for first, then in trip.request.order)


def _holds(trip: Trip, provider: Plane, parts: Sequence[Sequence[Place]]) -> bool:
    at = trip.hotel
    for number, part in enumerate(parts):
        if not any(True for _ in _days(trip, provider, number, list(part), at)):
            return False
        at = trip.hotel or (part[-1] if part else at)
    return True


def _days(trip: Trip, provider: Plane, number: int, part: list[Place], start: Place | None) -> Iterator[None]:
    """Every way to have a day's stops in that order that keeps its rules."""
    request = trip.request
    opens, closes = (_minutes(text) for text in (request.window.start, request.window.end))
    date = request.start_date + dt.timedelta(days=number)

    def visit(index: int, at: Place | None, clock: int, walked: int, eaten: frozenset[str]) -> Iterator[None]:
        if index == len(part):
            home = trip.hotel
            if home is not None and at is not None and at != home:
                way = _way(provider, at, home, request.max_leg_min)
                if way is None:
                    return
                clock, walked = clock + way.minutes, walked + way.metres
            is_within = request.max_walk_m is None or walked <= request.max_walk_m
            if clock <= closes and is_within and len(eaten) == len(request.meals):
                yield None
            return
        place = part[index]
        if at is not None and at != place:
            way = _way(provider, at, place, request.max_leg_min)
            if way is None:
                return
            clock, walked = clock + way.minutes, walked + way.metres
        stay = request.rules.stay_min(place.kind)
        options: list[tuple[int, int, frozenset[str]]] = [(clock, stay, eaten)]
        if place.kind in EATERIES:
            options += [
                (max(clock, _minutes(meal.start)), max(stay, meal.minutes), eaten | {meal.name})
                for meal in request.meals
                if max(clock, _minutes(meal.start)) + meal.minutes <= _minutes(meal.end)
            ]
        for ready, lasts, fed in options:
            for first, last in _open(place, date):
                arrive = max(ready, first)
                is_meal = fed != eaten
                if arrive + lasts <= last and not (is_meal and not _in_time(request, fed - eaten, arrive)):
                    yield from visit(index + 1, place, arrive + lasts, walked, fed)
                    break

    return visit(0, start, opens, 0, frozenset())


def _in_time(request: Any, names: frozenset[str], arrive: int) -> bool:
    return all(
        arrive + meal.minutes <= _minutes(meal.end) for meal in request.meals if meal.name in names
    )  # fmt: skip


def _way(provider: Plane, start: Place, end: Place, most: int | None) -> Way | None:
    try:
        way = provider.way(start.at, end.at, "walk")
    except Unreachable:
        return None
    return None if most is not None and way.minutes > most else way


def _open(place: Place, date: dt.date) -> list[tuple[int, int]]:
    """The hours of HOURS, read for themselves."""
    if place.hours is None:
        return [(0, 1440)]
    days, _, spans = place.hours.partition(" ")
    if days == "We" and date.weekday() != 2:
        return []
    return [
        (_minutes(first), _minutes(last))
        for first, _, last in (span.partition("-") for span in spans.split(","))
    ]


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)
