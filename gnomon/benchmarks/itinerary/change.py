"""Change requests: a plan is there, then the traveller adds a constraint that it breaks."""

import json
import random
from typing import Any

from gnomon.benchmarks.itinerary.city_day import Drawn, changed, plan_text, solved, task_of
from gnomon.benchmarks.itinerary.task import Task
from tools.itinerary.hours import clock_of, minutes_of


def change(chance: random.Random, drawn: Drawn) -> Task | None:
    """The task with the first change, in drawn order, that can be met and that the old plan does not meet."""
    changes = [*_reorderings(drawn), *_later_starts(drawn)]
    chance.shuffle(changes)
    for one in changes:
        loose = {**one, "max_walk_m": None}
        found = solved(changed(drawn, **loose).trip)
        if found is None:
            continue
        cap = max(int(1.05 * found.metres) + 1, drawn.trip.request.max_walk_m or 0)
        new = Drawn(problem=changed(found, max_walk_m=cap), rounds=found.rounds)
        told = {**one, "max_walk_m": cap}
        before = json.loads(plan_text(drawn))
        asked = drawn.trip.request.model_dump(mode="json", exclude_defaults=True)
        return task_of("change-request", new, told={"current_plan": before, "change": told, "asked": asked})
    return None


def _reorderings(drawn: Drawn) -> list[dict[str, Any]]:
    sequence, order = drawn.sequence(), list(drawn.trip.request.order)
    pairs = [
        (sequence[later], sequence[earlier]) for later in range(len(sequence)) for earlier in range(later)
    ]
    return [{"order": [list(pair) for pair in [*order, pair]]} for pair in pairs if pair[::-1] not in order][
        :8
    ]


def _later_starts(drawn: Drawn) -> list[dict[str, Any]]:
    window, first = drawn.trip.request.window, drawn.rounds[0].stays[0].arrive_min
    start = first + 30 - first % 30
    if minutes_of(window.start) < start < minutes_of(window.end) - 240:
        return [{"window": {"start": clock_of(start), "end": window.end}}]
    return []
