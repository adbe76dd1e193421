"""Generates the task behind a number; the same number always gives the same task."""

import functools
import json
import random
from typing import Any

from gnomon.core.ids import stable_hash, stable_seed
from gnomon_trips.benchmarks.itinerary.changed_mind import draw_changed_mind
from gnomon_trips.benchmarks.itinerary.city_day import (
    Drawn,
    changed,
    draw,
    plan_text,
    refusal_of,
    solved,
    task_of,
)
from gnomon_trips.benchmarks.itinerary.pool import pool_of
from gnomon_trips.benchmarks.itinerary.rail_trip import draw_rail
from gnomon_trips.benchmarks.itinerary.task import Number, Task
from gnomon_trips.benchmarks.itinerary.visit_graph import draw_graph
from gnomon_trips.itinerary.hours import clock_of, minutes_of
from gnomon_trips.itinerary.problem import Problem
from gnomon_trips.itinerary.solve import solve


def change(chance: random.Random, drawn: Drawn) -> Task | None:
    """The task with the first change, in drawn order, that can be met and that the old plan does not meet."""
    changes = [*_reorderings(drawn), *_later_starts(drawn)]
    chance.shuffle(changes)
    for candidate in changes:
        loose = {**candidate, "max_walk_m": None}
        solution = solved(changed(drawn, **loose).trip)
        if solution is None:
            continue
        cap = max(int(1.05 * solution.metres) + 1, drawn.trip.request.max_walk_m or 0)
        new = Drawn(problem=changed(solution, max_walk_m=cap), rounds=solution.rounds)
        change_fields = {**candidate, "max_walk_m": cap}
        before = json.loads(plan_text(drawn))
        old_request = drawn.trip.request.model_dump(mode="json", exclude_defaults=True)
        return task_of(
            "change-request",
            new,
            details={"current_plan": before, "change": change_fields, "asked": old_request},
        )
    return None


def _reorderings(drawn: Drawn) -> list[dict[str, Any]]:
    sequence, order = drawn.sequence(), list(drawn.trip.request.order)
    pairs = [
        (sequence[later], sequence[earlier]) for later in range(len(sequence)) for earlier in range(later)
    ]
    allowed = [pair for pair in pairs if pair[::-1] not in order][:8]
    return [{"order": [list(one) for one in (*order, pair)]} for pair in allowed]


def _later_starts(drawn: Drawn) -> list[dict[str, Any]]:
    window, first = drawn.trip.request.window, drawn.rounds[0].stays[0].arrive_min
    start = first + 30 - first % 30
    if minutes_of(window.start) < start < minutes_of(window.end) - 240:
        return [{"window": {"start": clock_of(start), "end": window.end}}]
    return []


KINDS = ("budget", "window", "max_walk_m", "order")


def make_infeasible(chance: random.Random, drawn: Drawn) -> Task:
    """Tighten one constraint of a feasible trip until no plan keeps all of them."""
    kinds = list(KINDS)
    chance.shuffle(kinds)
    for kind in kinds:
        problem = _tightened(kind, drawn)
        if problem is None:
            continue
        solution = solve(problem)
        if solution.rounds is None and solution.conflict:
            return refusal_of("must-refuse", problem, solution.conflict)
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


ONE_DAY, TWO_DAYS = (4, 7), (8, 10)


@functools.lru_cache(maxsize=512)
def task_for(number: Number, folder: str | None = None) -> Task:
    """The task; `folder` holds the extract, where the area is not an embedded one.

    Raises:
        DataError: the city does not exist.
    """
    family = number.family
    request_id = "trip-" + stable_hash(number.seed, number.k, number.area, size=8)
    chance = random.Random(stable_seed("itinerary", number.seed, number.k, number.area))
    if family == "rail-trip":
        return draw_rail(chance, request_id)
    if family == "graph":
        return draw_graph(chance, request_id)
    pool = pool_of(number.area, folder)
    if family == "changed-mind":
        chance = random.Random(stable_seed("changed-mind", number.seed, number.k, number.area))
        return draw_changed_mind(chance, pool, request_id=f"talk-{request_id.removeprefix('trip-')}")
    if family == "two-day":
        return task_of(family, draw(chance, pool, days=2, places=TWO_DAYS, request_id=request_id))
    drawn = draw(chance, pool, days=1, places=ONE_DAY, request_id=request_id)
    if family == "must-refuse":
        return make_infeasible(chance, drawn)
    if family == "change-request":
        while (task := change(chance, drawn)) is None:
            drawn = draw(chance, pool, days=1, places=ONE_DAY, request_id=request_id)
        return task
    return task_of(family, drawn)
