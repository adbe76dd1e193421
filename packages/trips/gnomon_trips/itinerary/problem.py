"""A trip as the scheduler sees it; constraints can be left out to find those that conflict."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from gnomon_trips.itinerary.barred import barred_as
from gnomon_trips.itinerary.hours import Interval, open_on, within
from gnomon_trips.itinerary.later_visits import later_visits
from gnomon_trips.itinerary.place import ESTIMATED, Exactness, Place, Table
from gnomon_trips.itinerary.request import MEALS
from gnomon_trips.itinerary.schedule import DayProblem, Eating, Spot
from gnomon_trips.itinerary.terrain import ways_of
from gnomon_trips.itinerary.trip import Trip

MINUTE_M = 40
"""For an earlier end one walks on: a minute of waiting weighs as much as half a minute on foot."""
LAST_MIN = 20 * 24 * 60
"""The end of a day without a window: late enough for anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A trip's places, the ways among them, and one DayProblem a day over all of these places."""

    trip: Trip
    places: tuple[Place, ...]
    table: Table
    homes: Mapping[str, int]
    exactness: Exactness = "exact"

    @property
    def favourable(self) -> "Problem":
        """The same with every way as short as its spread allows: what has no plan then has none at all.

        The problem itself where no way is an estimate.
        """
        if self.exactness not in ESTIMATED:
            return self
        return replace(self, table=self.table.favourable(self.exactness))

    @property
    def spread_min(self) -> int:
        """By how many minutes the longest way may be off; 0: no way is an estimate."""
        return self.table.spread_min(self.exactness)

    def days(self, without: Collection[str] = ()) -> list[DayProblem]:
        """One problem a day; constraints whose id is in `without` do not bind."""
        return [self._day(number, without) for number in range(self.trip.request.days)]

    def before(self, without: Collection[str] = ()) -> tuple[tuple[int, int], ...]:
        """Pairs of places, the first before the second, by index."""
        index = {place.id: number for number, place in enumerate(self.places)}
        named, pairs = self.trip.named, []
        for first, then in self.trip.request.order:
            earlier, later = named.get(first), named.get(then)
            is_known = earlier and later and earlier.id in index and later.id in index
            if earlier and later and is_known and f"order:{first}>{then}" not in without:
                pairs.append((index[earlier.id], index[later.id]))
        pairs += [pair for pair in self.apart() if not any(map(self._has_set_time, pair))]
        return tuple(pairs)

    def apart(self) -> tuple[tuple[int, int], ...]:
        """Pairs of visits to one place, by index, that are on different days: not both have a set time."""
        index = {place.id: number for number, place in enumerate(self.places)}

        def is_here(name: str) -> bool:
            return name in self.trip.named and self.trip.named[name].id in index

        visits: dict[str, list[str]] = {}
        for name, (first, _) in later_visits(self.trip.request).items():
            visits.setdefault(first, [first]).append(name)
        pairs = [
            (index[self.trip.named[first].id], index[self.trip.named[then].id])
            for names in visits.values()
            for first, then in itertools.combinations(filter(is_here, names), 2)
        ]
        return tuple(pair for pair in pairs if not all(map(self._has_set_time, pair)))

    def _has_set_time(self, spot: int) -> bool:
        return self.trip.fixed_hours(self.places[spot], 0) is not None

    def _day(self, number: int, without: Collection[str]) -> DayProblem:
        request, count = self.trip.request, len(self.places)
        spots = [self._spot(place, number, without) for place in self.places]
        homes = [self.trip.home(number, at_end=at_end) for at_end in (False, True)]
        rows = list(range(count)) + [self.homes[home.id] if home else -1 for home in homes]
        has_window = "window" not in without
        return DayProblem(
            spots=tuple(spots),
            minutes=_picked(self.table.minutes, rows),
            metres=_picked(self.table.metres, rows),
            start_min=request.hours(number)[0] if has_window else 0,
            end_min=request.hours(number)[1] if has_window else LAST_MIN,
            before=self.before(without),
            apart=self.apart(),
            minute_m=0 if request.prefer == "short_walk" else MINUTE_M,
            max_walk_m=request.max_walk_m if "max_walk_m" not in without and request.mode == "walk" else None,
            max_leg_min=None if "max_leg_min" in without else request.max_leg_min,
            eating=tuple(
                Eating(start_min=meal.start_min, end_min=meal.end_min, minutes=meal.minutes)
                for meal in request.meals_on(number)
                if f"meal:{meal.name}" not in without
            ),
        )

    def _spot(self, place: Place, number: int, without: Collection[str]) -> Spot:
        trip = self.trip
        hours: tuple[Interval, ...] | None = None
        name = self.asked_as(place)
        if place.hours is not None and f"hours:{name}" not in without:
            hours = open_on(place, trip.request.dates()[number], trip.country)
        if f"fixed:{name}" not in without:
            hours = within(hours, trip.fixed_hours(place, number))
        return Spot(
            id=place.id,
            stay_min=trip.request.rules.stay_min(place.kind),
            open_min=hours,
            feeds=place.kind in MEALS,
        )

    def asked_as(self, place: Place) -> str:
        """The name by which the request asks for a place; its own where it was added."""
        return next(
            (name for name, own_place in self.trip.named.items() if own_place.id == place.id), place.name
        )

    def barred(self) -> list[str]:
        """Names of the request that are both to be visited and to be avoided."""
        return list(dict.fromkeys(filter(None, (barred_as(self.trip, place) for place in self.places))))

    def breaks_sums(self, without: Collection[str] = ()) -> bool:
        """Whether prices, beds, or a place that is to be avoided too rule out every plan."""
        request = self.trip.request
        if "budget" not in without and request.budget and self.cost() > request.budget.amount + 0.005:
            return True
        if request.lacks_rooms and "rooms" not in without:
            return True
        return any(f"avoid:{name}" not in without for name in self.barred())

    def cost(self) -> float:
        request = self.trip.request
        return request.nights_cost() + sum(request.price(place.kind) or 0.0 for place in self.places)


def _picked(grid: Sequence[Sequence[int | None]], rows: Sequence[int]) -> tuple[tuple[int | None, ...], ...]:
    """A grid over `rows`; row −1 is nowhere, from where and to where every way is free."""
    return tuple(tuple(0 if -1 in (row, column) else grid[row][column] for column in rows) for row in rows)


async def problem_of(trip: Trip, places: Sequence[Place] | None = None) -> Problem:
    """A trip's problem over its own places, or over others.

    Raises:
        PlaceError: the provider failed.
    """
    chosen = tuple(trip.places() if places is None else places)
    stops = [*chosen]
    homes: dict[str, int] = {}
    for number in range(trip.request.days):
        for at_end in (False, True):
            home = trip.home(number, at_end=at_end)
            if home is not None and home.id not in homes:
                homes[home.id] = len(stops)
                stops.append(home)
    ways = await ways_of(trip, stops)
    return Problem(trip=trip, places=chosen, table=ways.table(), homes=homes, exactness=ways.exactness)
