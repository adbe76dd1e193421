"""Floors and ceiling: what comes out without any model, by chance, by thumb, and by exact search."""

import itertools
import random

from gnomon.benchmarks.itinerary.city_day import draft_text
from gnomon.benchmarks.itinerary.scoring import score
from gnomon.benchmarks.itinerary.task import Task
from tools.itinerary.draft import DraftDay, DraftPlan, DraftVisit
from tools.itinerary.hours import clock_of
from tools.itinerary.problem import Problem
from tools.itinerary.schedule import DayProblem, first_fit, walk_through

POLICIES = ("random", "nearest_neighbour", "earliest_closing", "exact")


def floors_of(task: Task) -> dict[str, float]:
    """What each policy scores on a generated task, by its name in reports; nothing on one's own request."""
    if not task.witness:
        return {}
    found = {"exact search (ceiling)": _scored(task, task.witness)}
    if task.form == "plan":
        found["always refuse"] = float(task.trip.answerable is False)
    if task.problem is not None:
        for policy in POLICIES[:3]:
            found[policy.replace("_", " ")] = _scored(task, play(policy, task))
    return found


def _scored(task: Task, answer: str) -> float:
    return score(task, answer).value or 0.0


def play(policy: str, task: Task, *, seed: int = 0) -> str:
    """What a policy answers. Only `exact` ever refuses; the others write down the order they took.

    Raises:
        ValueError: there is no such policy, or the task is no plan of days.
    """
    if policy not in POLICIES:
        raise ValueError(f"no policy {policy!r}; there are: {', '.join(POLICIES)}")
    if policy == "exact":
        return task.witness
    if task.problem is None:
        raise ValueError(f"{task.family} is no plan of days")
    days = task.problem.days()
    chance = random.Random(f"{seed} {task.trip.request.id}")
    drafted: list[DraftDay] = []
    left = list(range(len(task.problem.places)))
    share = -(-len(left) // len(days))
    if policy == "random":
        chance.shuffle(left)
    for day in days:
        order = _ordered(policy, day, left)[:share]
        left = [spot for spot in left if spot not in order]
        drafted.append(_written(task.problem, day, order))
    return draft_text(DraftPlan(days=drafted))


def _ordered(policy: str, day: DayProblem, left: list[int]) -> list[int]:
    if policy == "random":
        return list(left)
    if policy == "earliest_closing":
        return sorted(left, key=lambda spot: (_closing(day, spot), spot))
    order: list[int] = []
    at = len(day.spots)
    waiting = list(left)
    while waiting:
        nearest = min(waiting, key=lambda spot: (_metres(day, at, spot), spot))
        waiting.remove(nearest)
        order.append(nearest)
        at = nearest
    return order


def _closing(day: DayProblem, spot: int) -> int:
    hours = day.spots[spot].open_min
    return max((end for _, end in hours), default=0) if hours is not None else day.end_min


def _metres(day: DayProblem, start: int, end: int) -> float:
    metres = day.metres[start][end]
    return float("inf") if metres is None else metres


def _written(problem: Problem, day: DayProblem, order: list[int]) -> DraftDay:
    """The order with the earliest times, waiting for doors to open; a closed door is visited all the same."""
    visits: list[DraftVisit] = []
    clock, at = day.start_min, len(day.spots)
    for spot in order:
        clock += day.minutes[at][spot] or 0
        fit = first_fit(day.spots[spot], clock)
        arrive = clock if fit is None else fit
        clock = arrive + day.spots[spot].stay_min
        at = spot
        visits.append(
            DraftVisit(place=problem.places[spot].id, arrive=clock_of(arrive), leave=clock_of(clock))
        )
    return DraftDay(visits=visits)


def chance_of_an_order(problem: Problem) -> float | None:
    """The share of all orders of a one-day trip that keep every constraint; None beyond 7 places.

    How hard a task is: at 0.5 a coin plans half of all trips.
    """
    day, count = problem.days()[0], len(problem.places)
    if count > 7 or problem.trip.request.days != 1:
        return None
    orders = list(itertools.permutations(range(count)))
    return sum(walk_through(day, order) is not None for order in orders) / len(orders)
