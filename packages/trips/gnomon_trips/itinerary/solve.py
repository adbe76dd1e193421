"""Finds the exact best plan of a trip, or a smallest set of constraints that rules out every plan."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gnomon_trips.itinerary.comfort import at_comfort, is_comfortable
from gnomon_trips.itinerary.draft import DraftDay, DraftPlan, DraftVisit
from gnomon_trips.itinerary.hours import clock_of
from gnomon_trips.itinerary.problem import Problem
from gnomon_trips.itinerary.schedule import DayProblem, Round, rounds
from gnomon_trips.itinerary.split import Costs, cheapest_split


def best_split(
    days: Sequence[DayProblem],
    before: Sequence[tuple[int, int]] = (),
    *,
    fair: bool = False,
) -> list[Round] | None:
    """One round a day over the same spots, each spot on exactly one day; None proves that there is none.

    All days list the same spots in the same order; their hours may differ. `before` holds over days: the
    first of a pair must not come on a later day than the second. Minimises what all days cost together;
    `fair` first shares the stays out as evenly as it goes, so that no day is left empty for a shorter walk.

    Raises:
        ValueError: there are no days, or more than MAX_SPOTS spots.
    """
    if not days:
        raise ValueError("a trip has at least one day")
    count = len(days[0].spots)
    tables = rounds_by_day(days)
    for least in range(count // len(days) if fair else 0, -1, -1):
        costs = [_costs(day, table, least) for day, table in zip(days, tables, strict=True)]
        split = cheapest_split(costs, before)
        if split is not None:
            return [table[part] for table, part in zip(tables, split[1], strict=True)]
    return None


def rounds_by_day(
    days: Sequence[DayProblem], is_over: Callable[[], bool] | None = None
) -> list[dict[int, Round]]:
    """The best rounds of each day; days that are alike are searched once.

    Raises:
        ValueError: there are more than MAX_SPOTS spots.
        Stopped: `is_over` says so.
    """
    by_problem: dict[DayProblem, dict[int, Round]] = {}
    for day in days:
        if day not in by_problem:
            by_problem[day] = rounds(day, is_over)
    return [by_problem[day] for day in days]


def _costs(day: DayProblem, table: Mapping[int, Round], least: int) -> Costs:
    """The cost of each subset; of equal ones the one with the earlier end."""
    costs = np.full(1 << len(day.spots), np.inf)
    for mask, done in table.items():
        if mask.bit_count() >= least:
            costs[mask] = day.cost_m(done.metres, done.back_min) + done.back_min * 1e-6
    return costs


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """Rounds, one a day, with the metres of them all; or None and the constraints in conflict."""

    rounds: tuple[Round, ...] | None
    metres: int = 0
    conflict: tuple[str, ...] = ()


def solve(problem: Problem, *, day: int | None = None, fair: bool = False) -> Solution:
    """The exact optimum; where there is none, a conflict from which no constraint can be taken away.

    `day`, counted from 1, asks for that one day instead of a split over all of them; `fair` shares the
    places out evenly where that is possible, and then the plan is the best of an even split.

    Raises:
        ValueError: there are more places than can be searched exactly.
    """
    best = _search(problem, (), day, fair=fair)
    if best is not None:
        return Solution(rounds=tuple(best), metres=sum(day_round.metres for day_round in best))
    return Solution(rounds=None, conflict=conflict_of(problem, day=day))


def comfortable(problem: Problem, *, day: int | None = None, fair: bool = False) -> Solution | None:
    """The same with comfortable stays; None where they do not fit, or are not asked for.

    Raises:
        ValueError: there are more places than can be searched exactly.
    """
    if not is_comfortable(problem.trip.request):
        return None
    best = _search(replace(problem, trip=at_comfort(problem.trip)), (), day, fair=fair)
    if best is None:
        return None
    return Solution(rounds=tuple(best), metres=sum(day_round.metres for day_round in best))


def constraints(problem: Problem) -> tuple[str, ...]:
    """The ids of all constraints of a trip that can be in a conflict."""
    request = problem.trip.request
    names = [f"hours:{problem.asked_as(place)}" for place in problem.places if place.hours is not None]
    names += dict.fromkeys(f"fixed:{fixed.place}" for fixed in request.fixed)
    names += [f"order:{first}>{then}" for first, then in request.order]
    names += [f"meal:{meal.name}" for meal in request.meals]
    names += [f"avoid:{name}" for name in problem.barred()]
    if request.max_walk_m is not None:
        names.append("max_walk_m")
    if request.max_leg_min is not None:
        names.append("max_leg_min")
    if request.budget is not None:
        names.append("budget")
    if request.rooms is not None:
        names.append("rooms")
    return (*names, "window")


def conflict_of(problem: Problem, *, day: int | None = None) -> tuple[str, ...]:
    """Leave constraints out one by one while no plan appears; the rest cannot be kept together.

    Empty where even without all of them there is no plan: then no way joins the places.
    """
    every = constraints(problem)
    left_out: list[str] = []
    for name in every:
        if _search(problem, (*left_out, name), day) is None:
            left_out.append(name)
    return tuple(name for name in every if name not in left_out)


def _search(
    problem: Problem, without: Collection[str], day: int | None = None, *, fair: bool = False
) -> list[Round] | None:
    if problem.breaks_sums(without):
        return None
    days = problem.days(without)
    if day is not None:
        return best_split([days[day - 1]], problem.before(without))
    return best_split(days, problem.before(without), fair=fair)


def draft_of(problem: Problem, rounds: Sequence[Round]) -> DraftPlan:
    """Rounds as a draft, to become a plan like any other."""
    days = [
        DraftDay(
            visits=[
                DraftVisit(
                    place=problem.places[stay.spot].id,
                    arrive=clock_of(stay.arrive_min),
                    leave=clock_of(stay.leave_min),
                )
                for stay in done.stays
            ]
        )
        for done in rounds
    ]
    return DraftPlan(days=days)
