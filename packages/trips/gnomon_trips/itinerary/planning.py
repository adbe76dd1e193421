"""Plans a trip, or refuses it: chooses meals, wishes and nights, and says what its search proves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from gnomon_trips.itinerary.bound import Bound, bound_of, least_of
from gnomon_trips.itinerary.comfort import at_comfort, is_comfortable, settled, stays_of
from gnomon_trips.itinerary.draft import DraftDay, DraftPlan, DraftVisit
from gnomon_trips.itinerary.effort import Effort, IsOver
from gnomon_trips.itinerary.ground import Ground, gathered_ways
from gnomon_trips.itinerary.haversine import apart_m
from gnomon_trips.itinerary.hours import clock_of
from gnomon_trips.itinerary.kinds import a_kind, singular
from gnomon_trips.itinerary.local_search import Search
from gnomon_trips.itinerary.place import PROVABLE, Place, spread_min
from gnomon_trips.itinerary.plan import NO_ROOM, SECONDS, Skipped
from gnomon_trips.itinerary.plan import Search as SearchWord
from gnomon_trips.itinerary.proof import is_ruled_out, proven_conflict
from gnomon_trips.itinerary.schedule import Stopped
from gnomon_trips.itinerary.solve import constraints
from gnomon_trips.itinerary.terrain import Candidates, Ways, candidates_of, has_fixed_homes
from gnomon_trips.itinerary.tours import CODE, Solution
from gnomon_trips.itinerary.trip import Trip

STEPS, PART_STEPS = 1_800_000, 100_000
"""Stops that a search tries and prices at most; for a part of what is proven impossible fewer."""
EXACT_CALLS, CONFLICT_CALLS = 1_000, 600
"""How often an exact search asks whether it is over: a thousand labels each time."""
TRIAL_ROUNDS = 25
"""Where not everything fits with comfortable stays after so many rounds, the least stays are taken."""
NEAR_BED_M = 5_000.0
EVEN = 1e-6  # costs that differ by less, as a share, are alike


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


async def find_plan(trip: Trip, *, seconds: float = SECONDS) -> Found:
    """The best plan found in that time, or a refusal; `Found.search` tells what is proven.

    Raises:
        PlaceError: the provider failed.
    """
    effort = Effort(seconds)
    request = trip.request
    places = list({place.id: place for place in trip.places()}.values())
    every = await _gathered(trip, places, effort, more=1) if places or request.wishes else None
    if every is None or not (places or any(choice for _, choice in every.choice.wishes)):
        lost = [f"place:{name}" for name in trip.lost] or ["places"]
        return _refusal(trip, lost, effort, holds=False)
    if is_comfortable(request):
        ground = every.ground(at_comfort(trip))
        bound = _bound(ground, effort, share=0.35)
        if not bound.is_impossible:
            best = _best(ground, bound, effort, share=0.75, is_trial=True)
            if best.is_whole and not _unserved_kinds(best):
                return _planned(best, bound, effort, trip)
    ground = every.ground(trip)
    bound = _bound(ground, effort, share=0.6)
    best = _best(ground, bound, effort, share=0.8)
    if best.is_whole:
        return _planned(best, bound, effort, trip)
    if bound.is_impossible:
        return _ruled_out(ground, best, effort)
    if request.meals and not best.is_fed:
        wider = (await _gathered(trip, places, effort, more=4)).ground(trip)
        bound = replace(bound, least=least_of(wider, bound.exact))
        best = min(best, _best(wider, bound, effort, share=0.88, seed=1), key=lambda tour: tour.cost)
        if best.is_whole:
            return _planned(best, bound, effort, trip)
    return _refused_with(best.ground, best, _unserved(best), effort, holds=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gathered:
    """Everything that a plan may be made of, found once."""

    places: list[Place]
    choice: Candidates
    every: list[Place]
    ways: Ways

    def ground(self, trip: Trip) -> Ground:
        return Ground(trip, self.places, self.choice, (self.every, self.ways))


async def _gathered(trip: Trip, places: list[Place], effort: Effort, *, more: int) -> _Gathered:
    is_first = more == 1
    choice = await candidates_of(trip, more=more, is_over=effort.until(0.2 if is_first else 0.8))
    every, ways = await gathered_ways(trip, places, choice, effort.until(0.3 if is_first else 0.82))
    return _Gathered(places=places, choice=choice, every=every, ways=ways)


async def arrange(trip: Trip, places: Sequence[Place]) -> Found:
    """The same for these places alone: none is added for meals, wishes or nights.

    Raises:
        PlaceError: the provider failed.
    """
    effort = Effort(SECONDS)
    distinct = list({place.id: place for place in places}.values())
    every = await gathered_ways(trip, distinct, Candidates(), effort.until(0.3))
    ground = Ground(trip, distinct, Candidates(), every)
    bound = _bound(ground, effort, share=0.5)
    best = _best(ground, bound, effort, share=0.8)
    if best.is_whole:
        return _planned(best, bound, effort, trip)
    if bound.is_impossible:
        return _ruled_out(ground, best, effort)
    return _refused_with(ground, best, _unserved(best) or ("no_way",), effort, holds=False)


def _bound(ground: Ground, effort: Effort, *, share: float) -> Bound:
    """The bound of a trip; with many places, impossibility is tried only where a trip looks impossible."""
    bound = bound_of(ground, effort.until(share, EXACT_CALLS))
    if bound.is_impossible or bound.is_searched or not ground.places:
        return bound
    search = ground.search(0, ground.beds[0] if ground.beds else None)
    solution: Solution = [() for _ in range(ground.trip.request.days)]
    if search.days_cost(solution) is not None:
        search.fill(solution, range(len(solution)), has_noise=False)
        if search.is_whole(solution):
            return bound
    try:
        is_impossible = is_ruled_out(ground.problem, (), effort.until(share, EXACT_CALLS))
    except Stopped:
        return bound
    return replace(bound, is_impossible=is_impossible)


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
        """Whether all that must be seen is, and every meal is had.

        Too few rooms, and places both asked for and barred, are unknown to the search: nothing is whole then.
        """
        is_barred = self.ground.trip.request.lacks_rooms or self.ground.problem.barred()
        return not is_barred and self.search.is_whole(self.solution)

    @property
    def ways_min(self) -> list[int]:
        """The minutes of each of its ways, as far as both ends are known."""
        homes = self.search.places_of(self.solution)
        chains = [
            [start, *(code // CODE for code in order), end]
            for order, (start, end) in zip(self.solution, homes, strict=True)
        ]
        pairs = [pair for chain in chains for pair in pairwise(chain) if min(pair) >= 0]
        return [self.search.minutes[start][end] for start, end in pairs]

    @property
    def is_fed(self) -> bool:
        return not self.search.unfed(self.solution)


def _best(
    ground: Ground, bound: Bound, effort: Effort, *, share: float, seed: int = 0, is_trial: bool = False
) -> _Tour:
    """The best tour found: from one bed in a town, else with nights on the way.

    `is_trial` gives up early where not everything fits.
    """
    request = ground.trip.request
    beds: list[Place | None] = [None]
    if not has_fixed_homes(request) and ground.beds:
        beds = [ground.beds[0], None]
    best: _Tour | None = None
    for number, bed in enumerate(beds, 1):
        is_over = effort.until(effort.spent_s / effort.seconds + number / len(beds) * (
            share - effort.spent_s / effort.seconds
        ))  # fmt: skip
        tour = _toured(ground, bound, is_over, seed, bed, is_trial=is_trial)
        best = tour if best is None or tour.cost < best.cost else best
        if best.is_whole:
            break
    assert best is not None  # noqa: S101 (for the type checker: there is at least one)
    return best if best.bed is not None else _with_beds(best)


def _toured(
    ground: Ground, bound: Bound, is_over: IsOver, seed: int, bed: Place | None, *, is_trial: bool
) -> _Tour:
    search = ground.search(seed, bed)
    solution: Solution = [() for _ in range(ground.trip.request.days)]
    if bound.rounds is not None and has_fixed_homes(ground.trip.request):
        exact = [tuple(stay.spot * CODE for stay in done.stays) for done in bound.rounds]
        if search.days_cost(exact) is not None:
            solution = exact
    if search.days_cost(solution) is not None:
        search.fill(solution, range(len(solution)), has_noise=False)
        size = len(search.musts) + len(solution) * (len(search.meals) + 1)
        patience = 60 + 15 * size
        if bound.is_impossible:
            patience = 20
        solution = search.improve(
            solution,
            is_over=is_over,
            rounds=3 * patience,
            patience=patience,
            steps=PART_STEPS if bound.is_impossible else STEPS,
            whole_within=TRIAL_ROUNDS if is_trial else None,
            floor=bound.least,
        )
    cost = search.cost(solution)
    return _Tour(
        solution=solution, search=search, ground=ground, cost=math.inf if cost is None else cost, bed=bed
    )


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
            bed for bed in ground.choice.beds if apart_m(bed.at, ground.every[at].at) <= NEAR_BED_M
        ]  # fmt: skip
        for bed in sorted(near, key=lambda bed: (search.metres[at][ground.number[bed.id]], bed.id)):
            search.ends[day] = search.starts[day + 1] = ground.number[bed.id]
            if search.days_cost(tour.solution) is not None:
                break
            search.ends[day] = search.starts[day + 1] = -1
    cost = search.cost(tour.solution)
    return tour if cost is None else replace(tour, cost=cost)


def _planned(tour: _Tour, bound: Bound, effort: Effort, trip: Trip) -> Found:
    gap = gap_of(tour.cost, bound.least)
    is_best = gap is not None and gap < EVEN
    exactness = tour.ground.ways.exactness
    is_proven = is_best and exactness in PROVABLE
    word = SearchWord(
        is_proven=is_proven,
        spread_min=max((spread_min(way, exactness) for way in tour.ways_min), default=0),
        seconds=math.ceil(effort.spent_s),
        gap=None if gap is None else round(gap, 4),
        is_cut=effort.is_cut and not is_best,
    )
    left_out = tuple(Skipped(place=kind, reason=reason) for kind, reason in _unmet(tour))
    draft = _draft(tour, trip).model_copy(update={"search": word, "left_out": list(left_out)})
    return Found(
        draft=draft, search=word, cost=round(tour.cost, 1), least=round(bound.least, 1), left_out=left_out
    )


def gap_of(cost: float, least: float) -> float | None:
    """The share by which a cost exceeds the least possible; None where no bound is known.

    A plan below its bound shows that the bound is none: then nothing is proven.

    >>> gap_of(110.0, 100.0), gap_of(100.0, 100.0), gap_of(90.0, 100.0), gap_of(5.0, 0.0)
    (0.10000000000000009, 0.0, None, None)
    """
    if cost < least - EVEN * max(1.0, least):
        return None
    if least > 0:
        return max(0.0, cost / least - 1)
    return 0.0 if cost <= 0 else None


def _unserved_kinds(tour: _Tour) -> list[str]:
    missing = dict(tour.ground.choice.missing)
    return [kind for kind, _ in _unmet(tour) if kind not in missing]


def _unmet(tour: _Tour) -> list[tuple[str, str]]:
    """Wishes that the plan does not serve, with the reason."""
    served = {
        tour.search.spots.wish[code // CODE] for order in tour.solution for code in order
    }  # fmt: skip
    missing = dict(tour.ground.choice.missing)
    return [
        (kind, missing.get(kind, f"no {singular(kind)} fits into the days beside the rest"))
        for number, (kind, _) in enumerate(tour.ground.choice.wishes)
        if number not in served
    ]


def _draft(tour: _Tour, trip: Trip) -> DraftPlan:
    search, ground = tour.search, tour.ground
    homes = search.places_of(tour.solution)
    stays = stays_of(trip.request, [place.kind for place in ground.every])
    days = []
    for day, order in enumerate(tour.solution):
        start, end = homes[day]
        rows = search.times(day, order, start)
        if is_comfortable(trip.request):
            rows = settled(search, day, order, start, end, stays)
        visits = [
            DraftVisit(
                place=ground.every[spot].id,
                arrive=clock_of(arrive),
                leave=clock_of(leave),
                why=_why(tour, code),
            )
            for code, (spot, arrive, leave) in zip(order, rows, strict=True)
        ]
        is_own_bed = trip.home(day, at_end=True) is None and search.ends[day] >= 0
        night = ground.every[search.ends[day]].id if is_own_bed and day < len(tour.solution) - 1 else None
        days.append(DraftDay(visits=visits, night=night))
    return DraftPlan(days=days)


def _why(tour: _Tour, code: int) -> str:
    spot, meal = code // CODE, code % CODE
    reasons = []
    if spot in tour.search.musts:
        reasons.append("asked for")
    elif not meal:
        reasons.append(f"{a_kind(tour.ground.choice.wishes[tour.search.spots.wish[spot]][0])}, as wished")
    if meal:
        reasons.append(tour.search.meals[meal - 1].name)
    return ", ".join(reasons)


def _unserved(tour: _Tour) -> tuple[str, ...]:
    """The constraints, by id, that stand in the way of what the best plan could not do."""
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


def _ruled_out(ground: Ground, best: _Tour, effort: Effort) -> Found:
    """The refusal of what has no plan; it holds if there is none with the shortest ways that may be."""
    problem, is_over = ground.problem.favourable, effort.until(0.95, CONFLICT_CALLS)
    holds = problem is ground.problem
    if not holds:
        try:
            holds = is_ruled_out(problem, (), is_over)
        except Stopped:
            holds = False
    conflict = proven_conflict(problem if holds else ground.problem, is_over)
    return _refused_with(ground, best, conflict or ("no_way",), effort, holds=holds)


def _refused_with(
    ground: Ground, tour: _Tour, conflict: Sequence[str], effort: Effort, *, holds: bool
) -> Found:
    visited = {code // CODE for order in tour.solution for code in order}
    reason = NO_ROOM[0] if holds else NO_ROOM[1]
    left_out = [
        Skipped(
            place=ground.problem.asked_as(place),
            reason=reason if ground.has_way(spot) else f"no way leads there by {ground.trip.request.mode}",
        )
        for spot, place in enumerate(ground.places)
        if spot not in visited
    ]
    left_out += [
        Skipped(place=f"{tour.search.meals[meal - 1].name}, day {day + 1}", reason=reason)
        for day, meal in tour.search.unfed(tour.solution)
    ]
    refusal = _refusal(ground.trip, conflict, effort, holds=holds, spread_min=ground.problem.spread_min)
    has_visits = any(tour.solution) and math.isfinite(tour.cost)
    return replace(
        refusal, partial=_draft(tour, ground.trip) if has_visits else None, left_out=tuple(left_out)
    )


def _refusal(
    trip: Trip, conflict: Sequence[str], effort: Effort, *, holds: bool, spread_min: int = 0
) -> Found:
    word = SearchWord(
        is_proven=holds and not spread_min,
        spread_min=spread_min,
        holds_at_best=holds,
        seconds=math.ceil(effort.spent_s),
        is_cut=effort.is_cut and not holds,
    )
    left_out = [Skipped(place=name, reason=reason) for name, reason in trip.lost.items()]
    draft = DraftPlan(status="refused", conflict=list(conflict), left_out=left_out, search=word)
    return Found(draft=draft, search=word, left_out=tuple(left_out))
