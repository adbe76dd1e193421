"""All places a trip may stop at, the ways among them and when they are open, as the search needs them."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from tools.itinerary.errors import BadArgument, PlaceError, Unsupported
from tools.itinerary.haversine import metres_between
from tools.itinerary.hours import LATEST_MIN, Interval, minutes_of, open_intervals
from tools.itinerary.kept_free import meals_kept_free
from tools.itinerary.place import LatLon, Place, Table
from tools.itinerary.provider import MAX_HITS, MAX_RADIUS_M, MAX_TABLE, NameQuery, NearbyQuery, Provider
from tools.itinerary.request import MEALS, Meal, TripRequest
from tools.itinerary.trip import Trip

BEDS = ("hotel", "hostel", "guest_house", "apartment", "motel")
"""Kinds of place to sleep at."""
RADII_M = (1_200.0, 5_000.0, MAX_RADIUS_M)
"""How far around a trip one looks for meals, wishes and beds: farther only where there are too few."""
ONE_TOWN_M = 12_000.0
"""Places that lie within it are seen from one bed."""
FAR = 10**7
"""Minutes and metres where there is no way."""
MOST_LOCAL_HITS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What the planner may choose from; `missing` tells why a wish has nothing to choose from."""

    meals: tuple[Place, ...] = ()
    wishes: tuple[tuple[str, tuple[Place, ...]], ...] = ()
    beds: tuple[Place, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()

    def of_kind(self, kind: str) -> tuple[Place, ...]:
        return next((places for wish, places in self.wishes if wish == kind), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """Minutes and metres between places, by their number; FAR where there is no way."""

    minutes: list[list[int]]
    metres: list[list[int]]

    def table(self) -> Table:
        """The same, None where there is no way."""
        return Table(minutes=_without_far(self.minutes), metres=_without_far(self.metres))


def _without_far(grid: Sequence[Sequence[int]]) -> tuple[tuple[int | None, ...], ...]:
    return tuple(tuple(None if way >= FAR else way for way in row) for row in grid)


async def candidates_of(trip: Trip, *, more: int = 1) -> Candidates:
    """Places to eat, to see and to sleep at around those of the trip; `more` times as many as usual.

    Raises:
        PlaceError: the provider failed.
    """
    request = trip.request
    anchors = await _anchors(trip)
    taken = {place.id for place in trip.named.values()}
    eateries: dict[str, Place] = {}
    for meal in request.meals:
        count = more * (12 + 3 * request.days)
        around = await _around(trip, anchors, tuple(sorted(MEALS)), count, taken, meal)
        eateries |= {place.id: place for place in around[: min(count, 80)]}
    eateries |= meals_kept_free(trip, eateries.values())
    wishes, missing = [], []
    for kind in dict.fromkeys(request.wishes):
        count = more * (5 + 3 * request.days)
        places = (await _around(trip, anchors, (kind,), count, taken))[: min(count, 30)]
        wishes.append((kind, places))
        if not places:
            missing.append((kind, f"no {kind} that is open on these days is known around the trip"))
    beds: tuple[Place, ...] = ()
    if request.days > 1 and request.hotel is None and not all(request.nights or [None]):
        beds = (await _around(trip, anchors, BEDS, 12, taken))[:12]
    return Candidates(meals=tuple(eateries.values()), wishes=tuple(wishes), beds=beds, missing=tuple(missing))


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
    for point in points:
        if all(straight_m(point, anchor) > RADII_M[0] / 2 for anchor in anchors):
            anchors.append(point)
    return anchors


async def _around(
    trip: Trip,
    anchors: Sequence[LatLon],
    kinds: tuple[str, ...],
    count: int,
    taken: set[str],
    meal: Meal | None = None,
) -> tuple[Place, ...]:
    """Places of those kinds, anchor by anchor: first those whose hours are known, of these the near ones."""
    limit = MOST_LOCAL_HITS if trip.provider.is_local else MAX_HITS
    rows: list[list[Place]] = []
    for radius_m in RADII_M:
        rows = []
        for anchor in anchors:
            near = await _near(trip.provider, NearbyQuery(anchor, radius_m, kinds=kinds, limit=limit))
            usable = [place for place in near if place.id not in taken and is_ever_open(place, trip, meal)]
            rows.append(sorted(usable, key=lambda place: place.hours is None))
        if len({place.id for row in rows for place in row if place.hours or kinds == BEDS}) >= count:
            break
    ordered: dict[str, Place] = {}
    for rank in range(max(map(len, rows), default=0)):
        for row in rows:
            if rank < len(row):
                ordered.setdefault(row[rank].id, row[rank])
    return tuple(ordered.values())


async def _near(provider: Provider, query: NearbyQuery) -> list[Place]:
    try:
        return [hit.place for hit in (await provider.nearby(query)).value]
    except (Unsupported, BadArgument):
        return []


def is_ever_open(place: Place, trip: Trip, meal: Meal | None = None) -> bool:
    """Whether a place may be open on any day of the trip, and for the meal; unknown hours may be any."""
    first, last, need = 0, LATEST_MIN, 1
    if meal is not None:
        first, last, need = minutes_of(meal.start), minutes_of(meal.end), meal.minutes
    for day in range(trip.request.days):
        hours = opening(place, trip, day)
        if hours is None or any(min(end, last) - max(start, first) >= need for start, end in hours):
            return True
    return False


def opening(place: Place, trip: Trip, day: int) -> tuple[Interval, ...] | None:
    """When a place is open on a day of the trip, counted from 0; None: not known."""
    if place.hours is None:
        return None
    return open_intervals(place.hours, trip.request.dates()[day], trip.country or None)


async def ways_of(trip: Trip, places: Sequence[Place]) -> Ways:
    """The ways among any number of places, asked for in as many tables as that takes.

    Raises:
        PlaceError: the provider failed.
    """
    points = [place.at for place in places]
    count, half = len(points), MAX_TABLE // 2
    minutes = [[FAR] * count for _ in range(count)]
    metres = [[FAR] * count for _ in range(count)]
    blocks = [range(first, min(first + half, count)) for first in range(0, count, half)]
    pairs = [[*rows, *columns] for rows, columns in itertools.combinations(blocks, 2)]
    for joined in pairs if count > MAX_TABLE else [list(range(count))]:
        table = (await trip.provider.matrix([points[i] for i in joined], mode=trip.request.mode)).value
        for row, start in enumerate(joined):
            for column, end in enumerate(joined):
                way_min, way_m = table.minutes[row][column], table.metres[row][column]
                if way_min is not None and way_m is not None:
                    minutes[start][end], metres[start][end] = way_min, way_m
    return Ways(minutes=minutes, metres=metres)


def straight_m(start: LatLon, end: LatLon) -> float:
    """The straight line between two points."""
    return float(metres_between(start.lat_deg, start.lon_deg, end.lat_deg, end.lon_deg))


def is_one_town(places: Sequence[Place]) -> bool:
    """Whether all places lie so near that one bed serves every night."""
    return all(straight_m(places[0].at, place.at) <= ONE_TOWN_M for place in places)


def has_fixed_homes(request: TripRequest) -> bool:
    """Whether the request itself says where every day starts and ends, or there is one day alone."""
    return request.days == 1 or request.hotel is not None
