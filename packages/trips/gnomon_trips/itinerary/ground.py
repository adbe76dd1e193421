"""Turns a trip and its candidates into numbers: a problem for proofs, and a search over everything."""

import itertools
import random
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from gnomon_trips.itinerary.effort import IsOver
from gnomon_trips.itinerary.haversine import apart_m
from gnomon_trips.itinerary.kinds import serves
from gnomon_trips.itinerary.local_search import Search
from gnomon_trips.itinerary.objective import (
    MINUTE_AS_M,
    Weights,
    fame_of,
    meal_kind_m,
    usual_min,
    weights_of,
    wish_values,
    worth_of,
)
from gnomon_trips.itinerary.place import Place, Table
from gnomon_trips.itinerary.preferences import crowd_m, preference_m
from gnomon_trips.itinerary.problem import Problem
from gnomon_trips.itinerary.request import MEALS
from gnomon_trips.itinerary.terrain import (
    FAR,
    Candidates,
    Ways,
    groups_of,
    has_choice,
    is_one_town,
    opening,
    ways_of,
)
from gnomon_trips.itinerary.tours import MealTime, SpotTable
from gnomon_trips.itinerary.trip import Trip


async def gathered_ways(
    trip: Trip, places: Sequence[Place], choice: Candidates, is_over: IsOver = lambda: False
) -> tuple[list[Place], Ways]:
    """Every place of the trip, those to visit first, and the ways among them.

    When `is_over`, those to choose from whose ways are known by then.

    Raises:
        PlaceError: the provider failed.
    """
    homes = [
        home
        for day in range(trip.request.days)
        for at_end in (False, True)
        if (home := trip.home(day, at_end=at_end)) is not None
    ]
    # The first of each kind first: the last ones are left out where time is short.
    rows = [choice.beds, choice.meals, *(row for _, row in choice.wishes)]
    chosen = [place for rank in itertools.zip_longest(*rows) for place in rank if place is not None]
    needed = {place.id: place for place in [*places, *homes]}
    every = list((needed | {place.id: place for place in chosen if place.id not in needed}).values())
    ways = await ways_of(trip, every, is_over=is_over)
    count = max(len(needed), ways.complete)
    return every[:count], ways.first(count)


class Ground:
    """A trip with its candidates: what must be seen, for proofs, and a search over everything."""

    def __init__(
        self, trip: Trip, places: list[Place], choice: Candidates, every: tuple[list[Place], Ways]
    ) -> None:
        self.trip, self.places = trip, places
        self.every, self.ways = every
        self.number = {place.id: index for index, place in enumerate(self.every)}
        self.choice = choice.among(self.number)
        request = trip.request
        self.weights: Weights = weights_of(request)
        homes = {
            home.id: self.number[home.id]
            for day in range(request.days)
            for at_end in (False, True)
            if (home := trip.home(day, at_end=at_end)) is not None
        }
        self.problem = Problem(
            trip=trip,
            places=tuple(places),
            table=self._proof_table(homes),
            homes=homes,
            exactness=self.ways.exactness,
        )

    def _proof_table(self, homes: Collection[str]) -> Table:
        """The ways among places and homes, as short as over any place that the planner may choose."""
        count = len({place.id for place in self.places} | set(homes))
        if not has_choice(self.trip.request):
            return self.ways.first(count).table()
        grids = []
        for grid in (self.ways.minutes, self.ways.metres):
            least = np.array(grid, dtype=np.int64).reshape(len(grid), len(grid))  # also of none
            for middle in range(len(least)):  # Floyd 1962
                np.minimum(least, least[:, middle, None] + least[None, middle, :], out=least)
            grids.append(least[:count, :count].tolist())
        return replace(self.ways, minutes=grids[0], metres=grids[1], complete=count).table()

    def has_way(self, spot: int) -> bool:
        return len(self.every) < 2 or any(
            row[spot] < FAR for start, row in enumerate(self.ways.minutes) if start != spot
        )

    @property
    def wish_values(self) -> list[list[float]]:
        """By wish, what its first, second … place is worth."""
        return [
            wish_values(
                self.weights,
                kind,
                self.trip.request.days,
                len(row) + sum(serves(place, kind) for place in self.places),
            )
            for kind, row in self.choice.wishes
        ]

    @property
    def beds(self) -> list[Place]:
        """Beds for a trip within one town, the nearest to all places first."""
        if not self.choice.beds or not is_one_town([*self.places, *self.choice.beds[:1]]):
            return []
        around = self.places or [place for _, row in self.choice.wishes for place in row[:3]]
        return sorted(
            self.choice.beds,
            key=lambda bed: (
                sum(apart_m(bed.at, place.at) for place in around)
                + len(around) * preference_m(bed, self.trip.request.preferences),
                bed.id,
            ),
        )

    def chosen_m(self, place: Place) -> float:
        is_unsure = place.hours is None or opening(place, self.trip, 0) is None
        taste_m = preference_m(place, self.trip.request.preferences)
        return taste_m + (self.weights.unknown_hours_m if is_unsure else 0)

    def meal_m(self, place: Place) -> tuple[float, ...]:
        """The cost of each meal beside its time, by the kind of place."""
        has_kinds, request = self.weights.has_meal_kinds, self.trip.request
        return tuple(
            meal_kind_m(meal.name, place.kind, request.party) if has_kinds else 0.0 for meal in request.meals
        )

    def search(self, seed: int, bed: Place | None = None) -> Search:
        """The search; `bed` is where nights are spent if the request names nothing."""
        trip, request, every = self.trip, self.trip.request, self.every
        must = {place.id for place in self.places}
        wish_of = {
            place.id: kind
            for kind, (_, row) in reversed(list(enumerate(self.choice.wishes)))
            for place in row
        }
        for place in self.places:  # a place to be visited serves a wish of its kind
            for kind, (name, _) in enumerate(self.choice.wishes):
                if serves(place, name):
                    wish_of.setdefault(place.id, kind)
        spots = SpotTable(
            stay_min=[request.rules.stay_min(place.kind) for place in every],
            price=[request.price(place.kind) or 0.0 for place in every],
            open_min=[[opening(place, trip, day) for day in range(request.days)] for place in every],
            feeds=[place.kind in MEALS for place in every],
            worth=[
                worth_of(place, is_must_see=place.id in trip.must_see) if place.id in must else 0.0
                for place in every
            ],
            wish=[wish_of.get(place.id, -1) for place in every],
            fame=[fame_of(place) for place in every],
            chosen_m=[0.0 if place.id in must else self.chosen_m(place) for place in every],
            crowd_m=[crowd_m(fame_of(place), request.preferences) for place in every],
            meal_m=[self.meal_m(place) for place in every],
            group=groups_of(every),
        )
        starts, ends = self.homes(bed)
        before, apart = self._before(), self.problem.apart()
        return Search(
            spots=spots,
            minutes=self.ways.minutes,
            metres=self.ways.metres,
            starts=starts,
            ends=ends,
            hours=[request.hours(day) for day in range(request.days)],
            before=before,
            after={
                spot: frozenset(then for then, firsts in before.items() if spot in firsts)
                for spot in {first for firsts in before.values() for first in firsts}
            },
            apart={
                spot: frozenset(other for pair in apart if spot in pair for other in pair if other != spot)
                for spot in {spot for pair in apart for spot in pair}
            },
            meals=tuple(
                MealTime(
                    name=meal.name,
                    start_min=meal.start_min,
                    end_min=meal.end_min,
                    minutes=meal.minutes,
                    ideal_min=usual_min(meal),
                    days=frozenset(day for day in range(request.days) if meal in request.meals_on(day)),
                )
                for meal in request.meals
            ),
            wish_values=self.wish_values,
            weights=self.weights,
            is_on_foot=request.mode == "walk",
            minute_as_m=MINUTE_AS_M,
            max_walk_m=request.max_walk_m,
            max_leg_min=request.max_leg_min,
            budget=request.budget.amount - request.nights_cost() if request.budget else None,
            musts=list(range(len(self.places))),
            wished=[self.number[key] for key, kind in wish_of.items() if key not in must and kind >= 0],
            eateries=[self.number[place.id] for place in self.choice.meals],
            chance=random.Random(seed),
        )

    def homes(self, bed: Place | None) -> tuple[list[int], list[int]]:
        """Where each day starts and ends, as numbers; −1: wherever the trip is then."""
        request, trip = self.trip.request, self.trip
        starts, ends = [-1] * request.days, [-1] * request.days
        for day in range(request.days):
            start, end = trip.home(day, at_end=False), trip.home(day, at_end=True)
            if start is not None:
                starts[day] = self.number[start.id]
            elif bed is not None and day > 0:
                starts[day] = self.number[bed.id]
            if end is not None:
                ends[day] = self.number[end.id]
            elif bed is not None and day < request.days - 1:
                ends[day] = self.number[bed.id]
        return starts, ends

    def _before(self) -> dict[int, frozenset[int]]:
        """By place, all that must come earlier, directly or not."""
        firsts: dict[int, set[int]] = {}
        for first, then in self.problem.before():
            firsts.setdefault(then, set()).add(first)
        for _ in range(len(firsts)):
            for own in firsts.values():
                own |= {earlier for first in list(own) for earlier in firsts.get(first, ())}
        return {spot: frozenset(own - {spot}) for spot, own in firsts.items()}
