"""Generate: the task behind a number; the same number always gives the same task."""

import functools
import random

from gnomon.benchmarks.itinerary.change import change
from gnomon.benchmarks.itinerary.city_day import draw, task_of
from gnomon.benchmarks.itinerary.numbering import Number
from gnomon.benchmarks.itinerary.pool import pool_of
from gnomon.benchmarks.itinerary.rail_trip import draw_rail
from gnomon.benchmarks.itinerary.refuse import make_infeasible
from gnomon.benchmarks.itinerary.task import Task
from gnomon.benchmarks.itinerary.visit_graph import draw_graph
from gnomon.core.ids import stable_hash, stable_seed

ONE_DAY, TWO_DAYS = (4, 7), (8, 10)


@functools.lru_cache(maxsize=512)
def task_for(number: Number, folder: str | None = None) -> Task:
    """The task; `folder` holds the extract, where the area is not an embedded one.

    Raises:
        DataError: there is no such city.
    """
    family = number.family
    request_id = "trip-" + stable_hash(number.seed, number.k, number.area, size=8)
    chance = random.Random(stable_seed("itinerary", number.seed, number.k, number.area))
    if family == "rail-trip":
        return draw_rail(chance, request_id)
    if family == "graph":
        return draw_graph(chance, request_id)
    pool = pool_of(number.area, folder)
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
