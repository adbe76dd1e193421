"""Computes a lower bound on a plan's cost: ways, stays, meals and wishes at their least."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnomon_trips.itinerary.effort import IsOver
from gnomon_trips.itinerary.ground import Ground
from gnomon_trips.itinerary.kinds import kind_of, serves
from gnomon_trips.itinerary.objective import FULL_WISH, MINUTE_AS_M, PLAIN_WISH, fame_of
from gnomon_trips.itinerary.proof import LeastWays, is_plainly_impossible, least_plan, least_ways
from gnomon_trips.itinerary.request import MEALS
from gnomon_trips.itinerary.schedule import Round, Stopped

EXACT_SPOTS = 10
"""Up to that many places the least cost is searched exactly, before anything else."""
UNIT_MIN = 5
"""Stays of wishes are summed up in units of that many minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What is certain before any plan is there: the least cost, and the exact plan where there is one.

    `is_searched`: all splits of the places over the days were tried.
    """

    least: float = 0.0
    exact: float | None = None
    rounds: tuple[Round, ...] | None = None
    is_impossible: bool = False
    is_searched: bool = False


def bound_of(ground: Ground, is_over: IsOver) -> Bound:
    """A bound on the cost of every plan; exact for few places."""
    problem, weights = ground.problem, ground.weights
    try:
        if is_plainly_impossible(problem):
            return Bound(is_impossible=True)
        if not 0 < len(problem.places) <= EXACT_SPOTS:
            return Bound(least=least_of(ground))
        exact = least_plan(problem, weights, MINUTE_AS_M, is_over)
    except Stopped:
        return Bound(least=least_of(ground))
    if exact is None:
        return Bound(is_impossible=True, is_searched=True)
    return Bound(least=least_of(ground, exact[0]), exact=exact[0], rounds=tuple(exact[1]), is_searched=True)


def least_of(ground: Ground, exact: float | None = None) -> float:
    """The least cost of ways, stays, meals and wishes; `exact` is the least cost of the places alone.

    The more wishes are served, the longer the days: of all numbers of wishes served the best one counts.
    """
    request, weights = ground.trip.request, ground.weights
    ways = least_ways(ground.problem, weights, MINUTE_AS_M) if ground.places else LeastWays()
    wished = _wished(ground)
    added = np.arange(len(wished)) * UNIT_MIN
    stays = sum(request.rules.stay_min(place.kind) for place in ground.places)
    meals_on = [request.meals_on(day) for day in range(request.days)]
    meals = sorted(meal.minutes for row in meals_on for meal in row)
    lacking = max(0, len(meals) - sum(place.kind in MEALS for place in ground.places))
    busy = stays + sum(meals[:lacking]) + added
    rides = ways.ride_min
    even = busy + rides - (1 - weights.wish_even) * added
    days_min = request.total_min()
    # Every day lasts until its last meal.
    last_min = sum(
        max(0, *(meal.start_min + meal.minutes - request.hours(day)[0] for meal in row), 0)
        for day, row in enumerate(meals_on)
    )
    by_sums = weights.even_m * even**2 / days_min + np.maximum(
        ways.with_time + weights.minute_m * busy, ways.alone + weights.minute_m * last_min
    )
    if exact is not None:
        by_sums = np.maximum(by_sums, exact + weights.even_m * (even - stays) ** 2 / days_min)
    return float((by_sums + wished).min()) + lacking * _least_meal(ground)


def _least_meal(ground: Ground) -> float:
    choice = ground.choice
    places = [*choice.meals, *(place for _, row in choice.wishes for place in row if place.kind in MEALS)]
    costs = [ground.chosen_m(place) + min(ground.meal_m(place), default=0.0) for place in places]
    return min(costs, default=0.0)


def _wished(ground: Ground) -> NDArray[np.float64]:
    """The least cost of the wishes when their stays take so many units of time together."""
    request = ground.trip.request
    sums = np.full(1 + request.total_min() // UNIT_MIN, np.inf)
    sums[0] = 0.0
    for (kind, row), values in zip(ground.choice.wishes, ground.wish_values, strict=True):
        own = [place for place in ground.places if serves(place, kind)]
        fames = sorted((fame_of(place) for place in [*row, *own]), reverse=True)
        is_meal = kind_of(kind) in MEALS and bool(request.meals)  # one stop may serve both
        extra = [0.0] * len(own) + sorted(0.0 if is_meal else ground.chosen_m(place) for place in row)
        stays = [request.rules.stay_min(place.kind) for place in (*row, *own)]
        stay_min = 0 if is_meal else min(stays, default=0)
        new = np.full(len(sums), np.inf)
        for count in range(len(values) + 1):
            cost = _wish_cost(values, fames[:count]) + sum(extra[:count])
            shift = max(0, count - len(own)) * stay_min // UNIT_MIN
            if shift < len(sums):
                new[shift:] = np.minimum(new[shift:], sums[: len(sums) - shift] + cost)
        sums = new
    return sums


def _wish_cost(values: Sequence[float], fames: Sequence[float]) -> float:
    """The cost of a wish when places of that fame serve it, one for each of its values."""
    shares = [PLAIN_WISH + fame for fame in fames] + [0.0] * (len(values) - len(fames))
    return sum(value * (FULL_WISH - share) for value, share in zip(values, shares, strict=True))
