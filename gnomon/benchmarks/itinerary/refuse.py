"""Must refuse: a trip that nobody can make, with the proof that an exhaustive search gives."""

import json
import random
from dataclasses import replace

from gnomon.benchmarks.itinerary.city_day import Drawn, changed, facts_of
from gnomon.benchmarks.itinerary.task import Task
from tools.itinerary.hours import clock_of, minutes_of
from tools.itinerary.problem import Problem
from tools.itinerary.solve import solve

KINDS = ("budget", "window", "max_walk_m", "order")


def make_infeasible(chance: random.Random, drawn: Drawn) -> Task:
    """One constraint of a feasible trip tightened until no plan keeps all of them."""
    kinds = list(KINDS)
    chance.shuffle(kinds)
    for kind in kinds:
        problem = _tightened(kind, drawn)
        if problem is None:
            continue
        solution = solve(problem)
        if solution.rounds is None and solution.conflict:
            trip = replace(problem.trip, answerable=False)
            answer = {"status": "refused", "conflict": list(solution.conflict)}
            return Task(
                family="must-refuse",
                form="plan",
                trip=trip,
                problem=replace(problem, trip=trip),
                witness=json.dumps(answer, ensure_ascii=False),
                facts=facts_of(problem),
                truth={"conflict": solution.conflict},
            )
    raise RuntimeError("nothing made the trip infeasible")


def _tightened(kind: str, drawn: Drawn) -> Problem | None:
    request = drawn.trip.request
    if kind == "budget" and drawn.problem.cost() >= 2:
        budget = {"amount": int(drawn.problem.cost() * 0.9), "currency": request.rules.currency}
        return changed(drawn, budget=budget)
    if kind == "window":
        # No day is shorter than its stays alone.
        stays = sum(request.rules.stay_min(place.kind) for place in drawn.problem.places)
        start = minutes_of(request.window.start)
        end = start + stays - 5
        if start < end < 24 * 60:
            return changed(drawn, window={"start": request.window.start, "end": clock_of(end)})
    if kind == "max_walk_m":
        return changed(drawn, max_walk_m=int(drawn.metres * 0.95))
    if kind == "order" and len(drawn.sequence()) > 2:
        first, second, third = drawn.sequence()[:3]
        return changed(drawn, order=[(first, second), (second, third), (third, first)])
    return None
