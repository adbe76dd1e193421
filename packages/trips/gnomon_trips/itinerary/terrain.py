"""Gathers all places that a trip may stop at, with ways and opening hours, for the search."""

import itertools
import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from gnomon_tools.core.name_match import plain_name
from gnomon_trips.itinerary.barred import barred_as
from gnomon_trips.itinerary.effort import IsOver
from gnomon_trips.itinerary.errors import BadArgument, PlaceError, Unsupported
from gnomon_trips.itinerary.haversine import apart_m
from gnomon_trips.itinerary.hours import LATEST_MIN, Interval, open_on, within
from gnomon_trips.itinerary.kept_free import meals_kept_free
from gnomon_trips.itinerary.kinds import a_kind, kind_of, serves, singular
from gnomon_trips.itinerary.place import PROVABLE, Exactness, LatLon, Place, Table
from gnomon_trips.itinerary.preferences import preference_m
from gnomon_trips.itinerary.provider import (
    MAX_HITS,
    MAX_RADIUS_M,
    MAX_TABLE,
    NameQuery,
    NearbyQuery,
    Provider,
)
from gnomon_trips.itinerary.request import BEDS, MEALS, Meal, TripRequest
from gnomon_trips.itinerary.same_place import OF_CHAINS, is_one_place
from gnomon_trips.itinerary.trip import Trip

RADII_M = (1_200.0, 5_000.0, MAX_RADIUS_M)
"""How far around a trip one looks for meals, wishes and beds: farther only where there are too few."""
ONE_TOWN_M = 12_000.0
"""Places that lie within it are seen from one bed."""
FAR = 10**7
"""Minutes and metres where there is no way."""
MOST_LOCAL_HITS = 400
MOST_ANCHORS = 12
"""At so many neighbourhoods of a trip, those farthest from each other, one looks around."""
MOST_CHOSEN = 140
"""So many places to choose from are enough, of all kinds together."""
EVENING_MIN: Mapping[str, int] = {"bar": 17 * 60, "nightclub": 22 * 60}
"""Kinds of place to which one goes from that minute of the day on."""
NOON_MIN: Mapping[str, int] = {"restaurant": 11 * 60, "pub": 11 * 60, "biergarten": 11 * 60}
"""The same where the hours are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What the planner may choose from; `missing` tells why a wish has nothing to choose from."""

    meals: tuple[Place, ...] = ()
    wishes: tuple[tuple[str, tuple[Place, ...]], ...] = ()
    beds: tuple[Place, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()

    def among(self, ids: Container[str]) -> "Candidates":
        return replace(
            self,
            meals=tuple(place for place in self.meals if place.id in ids),
            wishes=tuple((kind, tuple(p for p in row if p.id in ids)) for kind, row in self.wishes),
            beds=tuple(place for place in self.beds if place.id in ids),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """Minutes and metres between places, by their number; FAR where there is no way.

    Of the first `complete` places all ways were asked for.
    """

    minutes: list[list[int]]
    metres: list[list[int]]
    complete: int
    exactness: Exactness

    def first(self, count: int) -> "Ways":
        minutes, metres = ([row[:count] for row in grid[:count]] for grid in (self.minutes, self.metres))
        return replace(self, minutes=minutes, metres=metres, complete=min(count, self.complete))

    def table(self) -> Table:
        """The same, None where there is no way."""
        return Table(minutes=_without_far(self.minutes), metres=_without_far(self.metres))


def _without_far(grid: Sequence[Sequence[int]]) -> tuple[tuple[int | None, ...], ...]:
    return tuple(tuple(None if way >= FAR else way for way in row) for row in grid)


async def candidates_of(trip: Trip, *, more: int = 1, is_over: IsOver = lambda: False) -> Candidates:
    """Places to eat, to see and to sleep at around those of the trip; `more` times as many as usual.

    Near a place without anywhere to eat time may be kept free. When `is_over`, those found so far.

    Raises:
        PlaceError: the provider failed.
    """
    request = trip.request
    around_trip = await _Around.of_trip(trip, is_over)
    eateries: dict[str, Place] = {}
    for meal in request.meals:
        count = more * (12 + 3 * request.days)
        around = await around_trip.of(tuple(sorted(MEALS)), count, meal)
        eateries |= {place.id: place for place in around[: min(count, 80)]}
    eateries |= meals_kept_free(trip, eateries.values())
    wishes, missing = [], []
    for kind in dict.fromkeys(request.wishes):
        count = more * (5 + 3 * request.days)
        places = await around_trip.of((kind_of(kind),), count)
        places = tuple(place for place in places if serves(place, kind))[: min(count, 30)]
        wishes.append((kind, places))
        if not places:
            none = f"no {singular(kind)} that is open on these days is known around the trip"
            if singular(kind) in map(singular, request.avoid):
                none = f"{a_kind(kind)} is to be avoided"
            missing.append((kind, f"the search ended before one was found for {kind}" if is_over() else none))
    beds: tuple[Place, ...] = ()
    if request.days > 1 and request.hotel is None and not all(request.nights or [None]):
        beds = (await around_trip.of(BEDS, 12))[:12]
    share = min(1.0, more * MOST_CHOSEN / max(1, len(eateries) + sum(len(places) for _, places in wishes)))
    return Candidates(
        meals=_first_of(tuple(eateries.values()), share),
        wishes=tuple((kind, _first_of(places, share)) for kind, places in wishes),
        beds=beds,
        missing=tuple(missing),
    )


def _first_of(places: tuple[Place, ...], share: float) -> tuple[Place, ...]:
    return places[: math.ceil(share * len(places))]


async def _anchors(trip: Trip) -> list[LatLon]:
    """Points to look around at: homes and places, one for each neighbourhood, or the middle of the area."""
    request = trip.request
    names = [request.hotel, *request.nights, request.ends_at, *request.places]
    points = [trip.named[name].at for name in names if name and name in trip.named]
    if not points:
        try:
            hits = await trip.provider.resolve(NameQuery(request.area.title(), kinds=("city",), limit=1))
        except PlaceError:
            return []
        points = [hit.place.at for hit in hits.value]
    anchors: list[LatLon] = []
    far_m = [math.inf] * len(points)
    while points and len(anchors) < MOST_ANCHORS and max(far_m) > RADII_M[0] / 2:
        anchors.append(points[far_m.index(max(far_m))])
        far_m = [min(far, apart_m(point, anchors[-1])) for far, point in zip(far_m, points, strict=True)]
    return anchors


@dataclass(frozen=True, slots=True, kw_only=True)
class _Around:
    """Looks for places around the points of a trip.

    `named` has the places of the request by their plain names, `lost` the plain names of those that are lost.
    """

    trip: Trip
    anchors: Sequence[LatLon]
    is_over: IsOver
    named: Mapping[str, Sequence[Place]]
    lost: Container[str]

    @classmethod
    async def of_trip(cls, trip: Trip, is_over: IsOver) -> "_Around":
        """Around all that the request names, or the middle of its area."""
        named: dict[str, list[Place]] = {}
        for place in trip.named.values():
            named.setdefault(plain_name(place.name), []).append(place)
        lost = {plain_name(name) for name in trip.lost}
        return cls(trip=trip, anchors=await _anchors(trip), is_over=is_over, named=named, lost=lost)

    async def of(self, kinds: tuple[str, ...], count: int, meal: Meal | None = None) -> tuple[Place, ...]:
        """Places of those kinds, anchor by anchor: what fits and has known hours first, by distance."""
        trip = self.trip
        limit = MOST_LOCAL_HITS if trip.provider.is_local else MAX_HITS
        rows: list[list[Place]] = []
        for radius_m in RADII_M:
            if self.is_over() and rows:
                break
            rows = []
            for anchor in self.anchors:
                near = await _near(trip.provider, NearbyQuery(anchor, radius_m, kinds=kinds, limit=limit))
                usable = [
                    place for place in near if not self._is_taken(place) and is_ever_open(place, trip, meal)
                ]
                rows.append(sorted(usable, key=lambda place: _rank(place, trip)))
                if self.is_over():
                    break
            if len({place.id for row in rows for place in row if place.hours or kinds == BEDS}) >= count:
                break
        ordered: dict[str, Place] = {}
        for rank in range(max(map(len, rows), default=0)):
            for row in rows:
                if rank < len(row):
                    ordered.setdefault(row[rank].id, row[rank])
        return tuple(ordered.values())

    def _is_taken(self, place: Place) -> bool:
        """Whether it is a place that the request names, to visit it or to avoid it, or may be one."""
        if barred_as(self.trip, place) is not None:
            return True
        name = plain_name(place.name)
        alike = self.named.get(name, ())
        return name in self.lost or any(is_one_place(place, named) for named in alike)


def _rank(place: Place, trip: Trip) -> tuple[float, bool]:
    """What speaks against a place, before its distance: that it does not fit, unknown hours."""
    return preference_m(place, trip.request.preferences), place.hours is None


async def _near(provider: Provider, query: NearbyQuery) -> list[Place]:
    try:
        return [hit.place for hit in (await provider.nearby(query)).value]
    except (Unsupported, BadArgument):
        return []


def is_ever_open(place: Place, trip: Trip, meal: Meal | None = None) -> bool:
    """Whether a place may be open on any day of the trip, and for the meal; unknown hours may be any."""
    within_min = (0, LATEST_MIN, 1) if meal is None else (meal.start_min, meal.end_min, meal.minutes)
    return any(may_be_open(place, trip, day, *within_min) for day in range(trip.request.days))


def may_be_open(place: Place, trip: Trip, day: int, first: int, last: int, need: int) -> bool:
    """Whether a place may be open so many minutes between two minutes of a day, counted from 0."""
    hours = opening(place, trip, day)
    return hours is None or any(min(end, last) - max(start, first) >= need for start, end in hours)


def groups_of(places: Sequence[Place]) -> list[int]:
    """By place, the first of those that are one place with it, or branches of one chain."""
    by_name: dict[str, list[int]] = {}
    groups = list(range(len(places)))
    for number, place in enumerate(places):
        alike = by_name.setdefault(plain_name(place.name), [])
        for other in alike:
            if is_one_place(place, places[other]) or {place.kind, places[other].kind} <= OF_CHAINS:
                groups[number] = groups[other]
                break
        alike.append(number)
    return groups


def opening(place: Place, trip: Trip, day: int) -> tuple[Interval, ...] | None:
    """When a place is open on a day of the trip, counted from 0; None: not known.

    Unless it was asked for by name, it counts as open from EVENING_MIN or NOON_MIN on.
    """
    open_spans = open_on(place, trip.request.dates()[day], trip.country)
    first_min = EVENING_MIN.get(place.kind, NOON_MIN.get(place.kind) if open_spans is None else None)
    if first_min is not None and not trip.is_asked_for(place):
        spans = ((0, LATEST_MIN),) if open_spans is None else open_spans
        open_spans = tuple((max(start, first_min), end) for start, end in spans if end > first_min)
    return within(open_spans, trip.fixed_hours(place, day))


async def ways_of(trip: Trip, places: Sequence[Place], *, is_over: IsOver = lambda: False) -> Ways:
    """The ways among any number of places, asked for in as many tables as that takes.

    When `is_over`, those of the first places, as far as they go.

    Raises:
        PlaceError: the provider failed.
    """
    points = [place.at for place in places]
    count, half = len(points), MAX_TABLE // 2
    minutes = [[FAR] * count for _ in range(count)]
    metres = [[FAR] * count for _ in range(count)]
    blocks = [range(first, min(first + half, count)) for first in range(0, count, half)]
    pairs = sorted(itertools.combinations(range(len(blocks)), 2), key=lambda pair: pair[1])
    tables = [[*blocks[a], *blocks[b]] for a, b in pairs] if count > MAX_TABLE else [list(range(count))]
    complete, exactness = 0, PROVABLE[0]
    for number, joined in enumerate(tables):
        if number and is_over():
            break
        answer = await trip.provider.matrix([points[i] for i in joined], mode=trip.request.mode)
        table, exactness = answer.value, answer.exactness
        for row, start in enumerate(joined):
            for column, end in enumerate(joined):
                way_min, way_m = table.minutes[row][column], table.metres[row][column]
                if way_min is not None and way_m is not None:
                    minutes[start][end], metres[start][end] = way_min, way_m
        if number + 1 == len(tables):
            complete = count
        elif pairs[number][1] != pairs[number + 1][1]:
            complete = blocks[pairs[number][1]].stop
    return Ways(minutes=minutes, metres=metres, complete=complete, exactness=exactness)


def is_one_town(places: Sequence[Place]) -> bool:
    """Whether all places lie so near that one bed serves every night."""
    return all(apart_m(places[0].at, place.at) <= ONE_TOWN_M for place in places)


def has_fixed_homes(request: TripRequest) -> bool:
    """Whether the request itself says where every day starts and ends, or there is one day alone."""
    return request.days == 1 or request.hotel is not None


def has_choice(request: TripRequest) -> bool:
    """Whether the planner may add stops of its own, to eat, to see or to sleep at."""
    return bool(request.meals or request.wishes or not has_fixed_homes(request))
