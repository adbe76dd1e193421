"""Proves that no plan of a trip exists, or that none costs less, by trips easier than the real one."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from gnomon_trips.itinerary.effort import IsOver
from gnomon_trips.itinerary.haversine import apart_m
from gnomon_trips.itinerary.objective import Weights
from gnomon_trips.itinerary.place import Table, least_minutes
from gnomon_trips.itinerary.problem import Problem
from gnomon_trips.itinerary.request import MEALS
from gnomon_trips.itinerary.schedule import MAX_SPOTS, DayProblem, Round, Stopped
from gnomon_trips.itinerary.solve import constraints, rounds_by_day
from gnomon_trips.itinerary.split import cheapest_split
from gnomon_trips.itinerary.terrain import has_choice

ROUNDS = 80
STEP = 0.7
"""Of the step that would close the gap at once; it gets smaller from round to round."""
TINY = 1e-6


def least_tour(ways: NDArray[np.float64], ends: tuple[int, int] | None = None) -> float:
    """The least length of a way through all stops once, between `ends`; None: from anywhere to anywhere.

    `ways` is symmetric and finite. Every round gives a bound; the best of them is taken.

    >>> square = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]], dtype=float)
    >>> round(least_tour(square), 3), round(least_tour(square, (0, 1)), 3)
    (3.0, 3.0)
    """
    count = len(ways)
    if count < 2:
        return 0.0
    # A stop nowhere closes the way: both its legs cost nothing.
    may_end = np.isin(np.arange(count), ends or np.arange(count))
    prices = np.zeros(count)
    best, scale = -np.inf, STEP * max(TINY, float(ways.max()))
    graph = csr_array(np.ones((count, count)))  # to make one of a plain array costs more than its tree
    for number in range(ROUNDS):
        priced = ways + prices[:, None] + prices[None, :]
        lift = max(0.0, -float(priced.min())) + 1.0  # a tree takes no way of no length
        graph.data[:] = (priced + lift).ravel()
        tree = minimum_spanning_tree(graph)
        degrees = np.bincount(tree.indices, minlength=count) + np.diff(tree.indptr)
        last = np.flatnonzero(may_end)[np.argsort(prices[may_end], kind="stable")[:2]]
        total = float(tree.data.sum()) - lift * (count - 1) + float(prices[last].sum())
        bound = total - 2 * float(prices.sum())
        best = max(best, bound)
        degrees[last] += 1
        slack = degrees - 2
        norm = float((slack**2).sum())
        if norm == 0:
            break
        prices = prices + scale * 0.93**number / np.sqrt(norm) * slack
    return max(0.0, best - TINY * count)


def _is_longer(ways: NDArray[np.float64], ends: tuple[int, int] | None, limit: float) -> bool:
    """Whether every way through all stops exceeds a limit; no, where the one in their order does not."""
    start, end = ends or (0, -1)
    order = sorted(range(len(ways)), key=lambda stop: (stop == end, stop != start))
    return float(ways[order[:-1], order[1:]].sum()) > limit and least_tour(ways, ends) > limit


HARDEST = 8
"""Of more places than can be searched exactly, that many with the shortest hours are searched for a proof."""
ROUNDING = 1e-3


def is_conflict(problem: Problem, named: Collection[str], is_over: IsOver | None = None) -> bool:
    """Whether these constraints alone already rule out every plan, wherever one eats and sleeps."""
    every = constraints(problem)
    without = [name for name in every if name not in named]
    try:
        return set(named) <= set(every) and is_ruled_out(problem, without, is_over)
    except Stopped:
        return False


def proven_conflict(problem: Problem, is_over: IsOver | None = None) -> tuple[str, ...]:
    """Constraints that rule out every plan and of which none can be left out; more of them if time is over.

    To be asked for a trip that is ruled out. Empty where no way joins the places at all.
    """
    every = constraints(problem)
    left_out: list[str] = []
    kinds = dict.fromkeys(name.partition(":")[0] for name in every)
    groups = [[name for name in every if name.partition(":")[0] == kind] for kind in kinds]
    try:
        for group in groups:
            if is_ruled_out(problem, [*left_out, *group], is_over):
                left_out += group
                continue
            for name in group if len(group) > 1 else ():
                if is_ruled_out(problem, [*left_out, name], is_over):
                    left_out.append(name)
    except Stopped:
        pass
    return tuple(name for name in every if name not in left_out)


def is_ruled_out(problem: Problem, without: Collection[str] = (), is_over: IsOver | None = None) -> bool:
    """Whether even an easier trip has no plan: meals anywhere at no way, nights anywhere.

    Constraints whose id is in `without` do not bind. False is no proof that there is a plan.

    Raises:
        Stopped: `is_over` says so.
    """
    if is_plainly_impossible(problem, without):
        return True
    return _is_too_tight(_bridged(problem), without, is_over)


def is_plainly_impossible(problem: Problem, without: Collection[str] = ()) -> bool:
    """Whether sums alone rule out every plan: of prices, of beds, of the shortest net over all places."""
    return problem.breaks_sums(without) or _is_too_far(_bridged(problem), without)


def _is_too_far(problem: Problem, without: Collection[str]) -> bool:
    """Whether the shortest net over all places is longer than all days together allow."""
    request = problem.trip.request
    rows, ends = _stops(problem)
    minutes, metres = (_weights(grid, rows) for grid in (problem.table.minutes, problem.table.metres))
    if not (np.isfinite(minutes).all() and np.isfinite(metres).all()):
        np.fill_diagonal(minutes, np.inf)
        is_alone = ~np.isfinite(minutes).any(axis=1)
        return len(rows) > 1 and not has_choice(request) and bool(is_alone.any())
    is_capped = request.mode == "walk" and request.max_walk_m is not None and "max_walk_m" not in without
    # A table's metres are rounded one by one.
    if is_capped and _is_longer(metres, ends, request.days * (request.max_walk_m or 0) + len(rows)):
        return True
    if "window" in without:
        return False
    stays = sum(request.rules.stay_min(place.kind) for place in problem.places)
    meals = sorted(
        meal.minutes
        for day in range(request.days)
        for meal in request.meals_on(day)
        if f"meal:{meal.name}" not in without
    )
    fed = sum(place.kind in MEALS for place in problem.places)
    eaten = sum(meals[: max(0, len(meals) - fed)])
    return _is_longer(minutes, ends, request.total_min() + ROUNDING - stays - eaten)


def _stops(problem: Problem) -> tuple[list[int], tuple[int, int] | None]:
    """The rows of all places and of every home where a day begins or ends, and where the trip does."""
    trip, count = problem.trip, len(problem.places)
    homes = [trip.home(0, at_end=False)]
    homes += [trip.home(day, at_end=True) for day in range(trip.request.days)]
    rows = [*range(count), *(problem.homes[home.id] for home in homes if home is not None)]
    has_ends = homes[0] is not None and homes[-1] is not None
    return rows, (count, len(rows) - 1) if has_ends else None


def _weights(grid: Sequence[Sequence[int | None]], rows: Sequence[int]) -> NDArray[np.float64]:
    """The lesser of the two ways between each two of these rows; infinite where there is none."""
    one_way = np.array(
        [[math.inf if (way := grid[a][b]) is None else float(way) for b in rows] for a in rows],
        dtype=np.float64,
    ).reshape(len(rows), len(rows))
    least: NDArray[np.float64] = np.minimum(one_way, one_way.T)
    return least


def _bridged(problem: Problem) -> Problem:
    """The problem with the straight line at top speed where no way is known.

    A stop of the planner's own choice may lie between two places that no way joins. Without such stops the
    problem stays as it is.
    """
    request, table = problem.trip.request, problem.table
    if not has_choice(problem.trip.request):
        return problem
    if all(way is not None for row in table.minutes for way in row):
        return problem
    at = {number: place.at for number, place in enumerate(problem.places)}
    at |= {
        problem.homes[place.id]: place.at
        for place in problem.trip.named.values()
        if place.id in problem.homes
    }
    minutes, metres = ([list(row) for row in grid] for grid in (table.minutes, table.metres))
    for start, start_at in at.items():
        for end, end_at in at.items():
            if minutes[start][end] is None or metres[start][end] is None:
                straight = apart_m(start_at, end_at)
                metres[start][end] = int(straight)
                minutes[start][end] = int(least_minutes(straight, request.mode))
    bridged = Table(minutes=tuple(map(tuple, minutes)), metres=tuple(map(tuple, metres)))
    return replace(problem, table=bridged)


def _is_too_tight(problem: Problem, without: Collection[str], is_over: IsOver | None) -> bool:
    """Whether no split over the days keeps hours, windows, order, meals and caps."""
    whole = range(len(problem.places))
    if has_choice(problem.trip.request):  # a stop in between makes two short legs of a long one
        without = [*without, "max_leg_min"]
    if len(whole) <= MAX_SPOTS:
        return _least_split(problem, without, whole, is_over) is None
    days = problem.days(without)
    open_for = [
        sum(
            day.end_min - day.start_min if hours is None else sum(end - start for start, end in hours)
            for day in days
            for hours in (day.spots[spot].open_min,)
        )
        for spot in whole
    ]
    hardest = sorted(whole, key=lambda spot: (open_for[spot], spot))[:HARDEST]
    # Without a place in between a leg may be longer: the cap on legs says nothing of a part of the places.
    return _least_split(problem, [*without, "max_leg_min"], sorted(hardest), is_over) is None


def _least_split(
    problem: Problem, without: Collection[str], spots: Sequence[int], is_over: IsOver | None
) -> float | None:
    days = [_easier(day, spots) for day in problem.days(without)]
    index = {spot: number for number, spot in enumerate(spots)}
    before = [
        (index[a], index[b]) for a, b in problem.before(without) if a in index and b in index
    ]  # fmt: skip
    costs = []
    for day, table in zip(days, rounds_by_day(days, is_over), strict=True):
        cost = np.full(1 << len(spots), np.inf)
        for mask, done in table.items():
            cost[mask] = day.cost_m(done.metres, done.back_min)
        costs.append(cost)
    split = cheapest_split(costs, before, is_over)
    return None if split is None else split[0]


def _easier(day: DayProblem, spots: Sequence[int]) -> DayProblem:
    """A day with some of its places, on which one can eat anywhere."""
    index = {spot: number for number, spot in enumerate(spots)}
    rows = [*spots, len(day.spots), len(day.spots) + 1]
    return replace(
        day,
        spots=tuple(day.spots[spot] for spot in spots),
        minutes=tuple(tuple(day.minutes[a][b] for b in rows) for a in rows),
        metres=tuple(tuple(day.metres[a][b] for b in rows) for a in rows),
        before=tuple((index[a], index[b]) for a, b in day.before if a in index and b in index),
        apart=tuple((index[a], index[b]) for a, b in day.apart if a in index and b in index),
        eats_anywhere=bool(day.eating),
    )


def least_plan(
    problem: Problem, weights: Weights, minute_as_m: int, is_over: IsOver
) -> tuple[float, list[Round]] | None:
    """The least cost of ways, ends and evenness of the easier trip, and its rounds; None: there is none.

    Where nothing is eaten or slept on the planner's choice, this is the real trip.

    Raises:
        ValueError: there are more than MAX_SPOTS places.
        Stopped: `is_over` says so.
    """
    request = problem.trip.request
    without = ("max_leg_min",) if has_choice(problem.trip.request) else ()
    days = [
        replace(_easier(day, range(len(problem.places))), minute_m=weights.minute_m)
        for day in _bridged(problem).days(without)
    ]
    if request.mode != "walk":
        days = [replace(day, metres=_as_metres(day, minute_as_m), max_walk_m=None) for day in days]
    tables = rounds_by_day(days, is_over)
    stays = [spot.stay_min for spot in days[0].spots]
    costs = []
    for day, table in zip(days, tables, strict=True):
        cost = np.full(1 << len(stays), np.inf)
        for mask, done in table.items():
            busy = sum(stay for spot, stay in enumerate(stays) if mask >> spot & 1)
            even = weights.even_m * busy * busy / (day.end_min - day.start_min)
            cost[mask] = day.cost_m(done.metres, done.back_min) + even
        costs.append(cost)
    split = cheapest_split(costs, problem.before(), is_over)
    if split is None:
        return None
    return split[0], [table[part] for table, part in zip(tables, split[1], strict=True)]


def _as_metres(day: DayProblem, minute_as_m: int) -> tuple[tuple[int | None, ...], ...]:
    return tuple(tuple(None if way is None else minute_as_m * way for way in row) for row in day.minutes)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastWays:
    """The least cost of the ways of a trip, alone and with the time that they take; minutes of rides."""

    alone: float = 0.0
    with_time: float = 0.0
    ride_min: float = 0.0


def least_ways(problem: Problem, weights: Weights, minute_as_m: int) -> LeastWays:
    """The least cost of ways that see all places, for any number of them.

    One way goes through all places, and home after each day; where the nights are open, on from day to day.
    """
    rows, ends = _stops(problem)
    table = _bridged(problem).table
    minutes, metres = (_weights(grid, rows) for grid in (table.minutes, table.metres))
    minutes, metres = (np.where(np.isfinite(grid), grid, 0.0) for grid in (minutes, metres))
    is_on_foot = problem.trip.request.mode == "walk"
    rides = metres if is_on_foot else minute_as_m * minutes
    alone = least_tour(rides, ends)
    return LeastWays(
        alone=alone,
        with_time=least_tour(rides + weights.minute_m * minutes, ends),
        ride_min=0.0 if is_on_foot else alone / minute_as_m,
    )
