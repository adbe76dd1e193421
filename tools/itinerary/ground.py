"""A trip with its candidates as numbers: a problem for proofs, and a search over everything."""

import random
from collections.abc import Sequence

from tools.itinerary.hours import minutes_of
from tools.itinerary.kinds import serves
from tools.itinerary.local_search import Search
from tools.itinerary.objective import (
    IDEAL_MEAL,
    MINUTE_AS_M,
    MUST_M,
    Weights,
    fame_of,
    weights_of,
    wish_values,
)
from tools.itinerary.place import Place
from tools.itinerary.problem import Problem
from tools.itinerary.request import MEALS
from tools.itinerary.terrain import Candidates, Ways, is_one_town, opening, straight_m, ways_of
from tools.itinerary.tours import MealTime, SpotTable
from tools.itinerary.trip import Trip


async def gathered_ways(trip: Trip, places: Sequence[Place], choice: Candidates) -> tuple[list[Place], Ways]:
    """Every place of the trip, those to visit first, and the ways among them."""
    homes = [
        home
        for day in range(trip.request.days)
        for at_end in (False, True)
        if (home := trip.home(day, at_end=at_end)) is not None
    ]
    wished = [place for _, kind_places in choice.wishes for place in kind_places]
    stops = [*places, *wished, *choice.meals, *homes, *choice.beds]
    every = list({place.id: place for place in stops}.values())
    return every, await ways_of(trip, every)


class Ground:
    """A trip with its candidates: what must be seen, for proofs, and a search over everything."""

    def __init__(
        self, trip: Trip, places: list[Place], choice: Candidates, every: tuple[list[Place], Ways]
    ) -> None:
        self.trip, self.places, self.choice = trip, places, choice
        self.every, self.ways = every
        self.number = {place.id: index for index, place in enumerate(self.every)}
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
            table=self.ways.table(),
            homes=homes,
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
            self.choice.beds, key=lambda bed: (sum(straight_m(bed.at, p.at) for p in around), bed.id)
        )

    def search(self, seed: int, bed: Place | None = None) -> Search:
        """The search; `bed` is where the nights are spent for which the request names nothing."""
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
            worth=[MUST_M * (0.5 + fame_of(place)) if place.id in must else 0.0 for place in every],
            wish=[wish_of.get(place.id, -1) for place in every],
            fame=[fame_of(place) for place in every],
            is_unsure=[
                place.id not in must and opening(place, trip, 0) is None for place in every
            ],
        )  # fmt: skip
        starts, ends = self.homes(bed)
        before = self._before()
        return Search(
            spots=spots,
            minutes=self.ways.minutes,
            metres=self.ways.metres,
            starts=starts,
            ends=ends,
            start_min=minutes_of(request.window.start),
            end_min=minutes_of(request.window.end),
            before=before,
            after={
                spot: frozenset(then for then, firsts in before.items() if spot in firsts)
                for spot in {first for firsts in before.values() for first in firsts}
            },
            meals=tuple(
                MealTime(
                    name=meal.name,
                    start_min=minutes_of(meal.start),
                    end_min=minutes_of(meal.end),
                    minutes=meal.minutes,
                    ideal_min=min(
                        max(IDEAL_MEAL[meal.name], minutes_of(meal.start)),
                        minutes_of(meal.end) - meal.minutes,
                    ),
                )
                for meal in request.meals
            ),
            wish_values=self.wish_values,
            weights=self.weights,
            is_on_foot=request.mode == "walk",
            minute_as_m=MINUTE_AS_M,
            max_walk_m=request.max_walk_m,
            max_leg_min=request.max_leg_min,
            budget=request.budget.amount if request.budget else None,
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
