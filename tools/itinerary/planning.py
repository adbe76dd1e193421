"""Plans a trip, or refuses it: chooses meals, wishes and nights, and says what its search proves."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tools.itinerary.draft import DraftDay, DraftPlan, DraftVisit
from tools.itinerary.ground import Ground, gathered_ways
from tools.itinerary.hours import clock_of
from tools.itinerary.local_search import Search
from tools.itinerary.objective import (
    MINUTE_AS_M,
    fame_of,
)
from tools.itinerary.place import Place
from tools.itinerary.plan import SECONDS, Skipped
from tools.itinerary.plan import Search as SearchWord
from tools.itinerary.problem import Problem
from tools.itinerary.proof import (
    is_plainly_impossible,
    is_ruled_out,
    least_cost,
    least_plan,
    least_wish,
    proven_conflict,
)
from tools.itinerary.schedule import Round, Stopped
from tools.itinerary.solve import constraints
from tools.itinerary.terrain import (
    Candidates,
    candidates_of,
    has_fixed_homes,
    straight_m,
)
from tools.itinerary.tours import CODE, Order, Solution
from tools.itinerary.trip import Trip

EXACT_SPOTS = 10
"""Up to that many places the least cost is searched exactly, before anything else."""
NEAR_BED_M = 5_000.0
EVEN = 1e-6  # costs that differ by less, as a share, are alike
NOTHING: Callable[[], bool] = lambda: False  # noqa: E731 (a default that asks nobody)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A plan or a refusal as a draft, and how it was searched for.

    `cost` is by the objective, in metres, `least` what no plan can cost less than; `partial` is the best plan
    for a part of what a refused request asks for, `left_out` what it leaves out.
    """

    draft: DraftPlan
    search: SearchWord
    cost: float | None = None
    least: float | None = None
    partial: DraftPlan | None = None
    left_out: tuple[Skipped, ...] = ()


@dataclass(slots=True)
class Clock:
    """The time for a search, and whether it was cancelled."""

    seconds: float
    is_cancelled: Callable[[], bool]
    started: float = 0.0

    def __post_init__(self) -> None:
        self.started = time.monotonic()

    @property
    def spent_s(self) -> float:
        return time.monotonic() - self.started

    def until(self, share: float) -> Callable[[], bool]:
        """Whether that share of the time is over."""
        return lambda: self.spent_s >= share * self.seconds or self.is_cancelled()


async def find_plan(
    trip: Trip, *, seconds: float = SECONDS, is_cancelled: Callable[[], bool] = NOTHING, seed: int = 0
) -> Found:
    """The best plan found in that time, or a refusal; `Found.search` tells what is proven.

    A cancelled search answers with the best it has.

    Raises:
        PlaceError: the provider failed.
    """
    clock = Clock(seconds, is_cancelled)
    request = trip.request
    places = list({place.id: place for place in trip.places()}.values())
    if not places and not request.wishes:
        lost = [f"place:{name}" for name in trip.lost] or ["places"]
        return _refusal(trip, lost, clock, is_proven=False)
    choice = await candidates_of(trip)
    ground = Ground(trip, places, choice, await gathered_ways(trip, places, choice))
    bound = _bound(ground, clock)
    if bound.is_impossible:
        conflict = proven_conflict(ground.problem, clock.until(0.6))
        partial = _best(ground, bound, clock, seed, share=0.8)
        return _refused_with(ground, partial, conflict or ("no_way",), clock, is_proven=True)
    best = _best(ground, bound, clock, seed, share=0.6)
    if not best.is_whole and not clock.until(0.7)() and request.meals:
        wider = await candidates_of(trip, more=4)
        ground = Ground(trip, places, wider, await gathered_ways(trip, places, wider))
        best = min(best, _best(ground, bound, clock, seed + 1, share=0.8), key=lambda tour: tour.cost)
    if best.is_whole:
        return _planned(best, bound, clock)
    if _is_impossible(best.ground.problem, clock):
        conflict = proven_conflict(ground.problem, clock.until(1.0))
        return _refused_with(ground, best, conflict or ("no_way",), clock, is_proven=True)
    return _refused_with(best.ground, best, _unserved(best), clock, is_proven=False)


async def arrange(trip: Trip, places: Sequence[Place], *, seconds: float = SECONDS, seed: int = 0) -> Found:
    """The same for these places alone: none is added to eat, to see or to sleep at.

    Raises:
        PlaceError: the provider failed.
    """
    clock = Clock(seconds, NOTHING)
    distinct = list({place.id: place for place in places}.values())
    ground = Ground(trip, distinct, Candidates(), await gathered_ways(trip, distinct, Candidates()))
    bound = _bound(ground, clock)
    best = _best(ground, bound, clock, seed, share=0.8)
    if best.is_whole:
        return _planned(best, bound, clock)
    is_proven = bound.is_impossible or _is_impossible(ground.problem, clock)
    conflict = proven_conflict(ground.problem, clock.until(1.0)) if is_proven else _unserved(best)
    return _refused_with(ground, best, conflict or ("no_way",), clock, is_proven=is_proven)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bound:
    """What is certain before any plan is there: the least cost, and the exact plan where there is one."""

    least: float = 0.0
    rounds: tuple[Round, ...] | None = None
    is_impossible: bool = False
    is_searched: bool = False


def _bound(ground: Ground, clock: Clock) -> _Bound:
    """A bound on the cost of every plan; exact for few places."""
    problem, weights = ground.problem, ground.weights
    try:
        if is_plainly_impossible(problem):
            return _Bound(is_impossible=True)
        wishes = sum(
            least_wish(values, max((fame_of(place) for place in [*row, *ground.places]), default=1.0))
            for (_, row), values in zip(ground.choice.wishes, ground.wish_values, strict=True)
        )
        least = wishes + (least_cost(problem, weights, MINUTE_AS_M) if problem.places else 0.0)
        if not 0 < len(problem.places) <= EXACT_SPOTS:
            return _Bound(least=least)
        exact = least_plan(problem, weights, MINUTE_AS_M, clock.until(0.35))
    except Stopped:
        return _Bound(least=least)
    if exact is None:
        return _Bound(is_impossible=True, is_searched=True)
    return _Bound(least=max(least, wishes + exact[0]), rounds=tuple(exact[1]), is_searched=True)


def _is_impossible(problem: Problem, clock: Clock) -> bool:
    try:
        return bool(problem.places) and is_ruled_out(problem, (), clock.until(0.9))
    except Stopped:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tour:
    """A solution with the search that made it."""

    solution: Solution
    search: Search
    ground: Ground
    cost: float
    bed: Place | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all that must be seen is, and every meal is had."""
        visited = {code // CODE for order in self.solution for code in order}
        return visited >= set(self.search.musts) and not self.search.unfed(self.solution)


def _best(ground: Ground, bound: _Bound, clock: Clock, seed: int, *, share: float) -> _Tour:
    """The best tour found in that share of the time: from one bed in a town, else with nights on the way."""
    request = ground.trip.request
    beds: list[Place | None] = [None]
    if not has_fixed_homes(request) and ground.beds:
        beds = [ground.beds[0], None]
    part = clock.spent_s / clock.seconds
    first_share = share if len(beds) == 1 else part + 0.6 * (share - part)
    best = _toured(ground, bound, clock.until(first_share), seed, beds[0])
    if not best.is_whole and len(beds) > 1:
        best = min(best, _toured(ground, bound, clock.until(share), seed, None), key=lambda tour: tour.cost)
    return best if best.bed is not None else _with_beds(best)


def _toured(
    ground: Ground, bound: _Bound, is_over: Callable[[], bool], seed: int, bed: Place | None
) -> _Tour:
    search = ground.search(seed, bed)
    solution: Solution = [() for _ in range(ground.trip.request.days)]
    if bound.rounds is not None and has_fixed_homes(ground.trip.request):
        exact = [_order_of(done) for done in bound.rounds]
        if search.days_cost(exact) is not None:
            solution = exact
    if search.days_cost(solution) is not None:
        search.fill(solution, range(len(solution)), has_noise=False)
        size = len(search.musts) + len(solution) * (len(search.meals) + 1)
        solution = search.improve(
            solution, is_over=is_over, rounds=150 + 40 * size, patience=60 + 15 * size, floor=bound.least
        )
    cost = search.cost(solution)
    return _Tour(
        solution=solution, search=search, ground=ground, cost=math.inf if cost is None else cost, bed=bed
    )


def _order_of(done: Round) -> Order:
    return tuple(stay.spot * CODE for stay in done.stays)


def _with_beds(tour: _Tour) -> _Tour:
    """The tour with each night that the request leaves open in a bed near its last stop, where that holds."""
    search, ground = tour.search, tour.ground
    if has_fixed_homes(ground.trip.request) or not ground.choice.beds:
        return tour
    for day in range(len(tour.solution) - 1):
        places = search.places_of(tour.solution)
        at = tour.solution[day][-1] // CODE if tour.solution[day] else places[day][0]
        if search.ends[day] >= 0 or at < 0:
            continue
        near = [
            bed for bed in ground.choice.beds if straight_m(bed.at, ground.every[at].at) <= NEAR_BED_M
        ]  # fmt: skip
        for bed in sorted(near, key=lambda bed: (search.metres[at][ground.number[bed.id]], bed.id)):
            search.ends[day] = search.starts[day + 1] = ground.number[bed.id]
            if search.days_cost(tour.solution) is not None:
                break
            search.ends[day] = search.starts[day + 1] = -1
    cost = search.cost(tour.solution)
    return tour if cost is None else replace(tour, cost=cost)


def _planned(tour: _Tour, bound: _Bound, clock: Clock) -> Found:
    gap = gap_of(tour.cost, bound.least)
    is_proven = gap is not None and gap < EVEN
    word = SearchWord(
        is_proven=is_proven, seconds=round(clock.spent_s, 1), gap=None if gap is None else round(gap, 4)
    )
    left_out = tuple(Skipped(place=kind, reason=reason) for kind, reason in _unmet(tour))
    draft = _draft(tour).model_copy(update={"search": word, "left_out": list(left_out)})
    return Found(
        draft=draft, search=word, cost=round(tour.cost, 1), least=round(bound.least, 1), left_out=left_out
    )


def gap_of(cost: float, least: float) -> float | None:
    """By what share a cost is above the least possible; None where no bound is known.

    A plan below its bound shows that the bound is none: then nothing is proven.

    >>> gap_of(110.0, 100.0), gap_of(100.0, 100.0), gap_of(90.0, 100.0), gap_of(5.0, 0.0)
    (0.10000000000000009, 0.0, None, None)
    """
    if cost < least - EVEN * max(1.0, least):
        return None
    if least > 0:
        return max(0.0, cost / least - 1)
    return 0.0 if cost <= 0 else None


def _unmet(tour: _Tour) -> list[tuple[str, str]]:
    """Wishes that the plan does not serve, with the reason."""
    served = {
        tour.search.spots.wish[code // CODE] for order in tour.solution for code in order
    }  # fmt: skip
    missing = dict(tour.ground.choice.missing)
    return [
        (kind, missing.get(kind, f"no {kind} fits into the days beside the rest"))
        for number, (kind, _) in enumerate(tour.ground.choice.wishes)
        if number not in served
    ]


def _draft(tour: _Tour) -> DraftPlan:
    search, ground = tour.search, tour.ground
    homes = search.places_of(tour.solution)
    days = []
    for day, order in enumerate(tour.solution):
        visits = [
            DraftVisit(
                place=ground.every[spot].id,
                arrive=clock_of(arrive),
                leave=clock_of(leave),
                why=_why(tour, code),
            )
            for code, (spot, arrive, leave) in zip(
                order, search.times(day, order, homes[day][0]), strict=True
            )
        ]
        is_own_bed = ground.trip.home(day, at_end=True) is None and search.ends[day] >= 0
        night = ground.every[search.ends[day]].id if is_own_bed and day < len(tour.solution) - 1 else None
        days.append(DraftDay(visits=visits, night=night))
    return DraftPlan(days=days)


def _why(tour: _Tour, code: int) -> str:
    spot, meal = code // CODE, code % CODE
    reasons = []
    if spot in tour.search.musts:
        reasons.append("asked for")
    elif not meal:
        reasons.append(f"a {tour.ground.choice.wishes[tour.search.spots.wish[spot]][0]}, as wished")
    if meal:
        reasons.append(tour.search.meals[meal - 1].name)
    return ", ".join(reasons)


def _unserved(tour: _Tour) -> tuple[str, ...]:
    """What the best plan could not do, as ids of the constraints that stand in its way."""
    meals = {tour.search.meals[meal - 1].name for _, meal in tour.search.unfed(tour.solution)}
    visited = {code // CODE for order in tour.solution for code in order}
    names = [f"meal:{name}" for name in sorted(meals)]
    missed = [place for spot, place in enumerate(tour.ground.places) if spot not in visited]
    if missed:
        problem = tour.ground.problem
        closing = {f"hours:{problem.asked_as(place)}" for place in missed}
        sums = {"window", "max_walk_m", "max_leg_min", "budget"}
        names += [name for name in constraints(problem) if name in closing | sums]
    return tuple(names)


def _refused_with(
    ground: Ground, tour: _Tour, conflict: Sequence[str], clock: Clock, *, is_proven: bool
) -> Found:
    """A refusal with the best plan for a part of the request."""
    visited = {code // CODE for order in tour.solution for code in order}
    reason = "does not fit beside the rest" if is_proven else "no room was found for it"
    left_out = [
        Skipped(place=ground.problem.asked_as(place), reason=reason)
        for spot, place in enumerate(ground.places)
        if spot not in visited
    ]
    left_out += [
        Skipped(place=f"{tour.search.meals[meal - 1].name}, day {day + 1}", reason=reason)
        for day, meal in tour.search.unfed(tour.solution)
    ]
    found = _refusal(ground.trip, conflict, clock, is_proven=is_proven)
    has_visits = any(tour.solution) and math.isfinite(tour.cost)
    return replace(found, partial=_draft(tour) if has_visits else None, left_out=tuple(left_out))


def _refusal(trip: Trip, conflict: Sequence[str], clock: Clock, *, is_proven: bool) -> Found:
    word = SearchWord(is_proven=is_proven, seconds=round(clock.spent_s, 1))
    left_out = [Skipped(place=name, reason=reason) for name, reason in trip.lost.items()]
    draft = DraftPlan(status="refused", conflict=list(conflict), left_out=left_out, search=word)
    return Found(draft=draft, search=word, left_out=tuple(left_out))
