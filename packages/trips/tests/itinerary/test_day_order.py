"""A day's order is the best of all its orders, whatever the hours of the day."""

import itertools
import random

import pytest

from gnomon_trips.itinerary.local_search import best_days
from gnomon_trips.itinerary.objective import EASY
from gnomon_trips.itinerary.tours import CODE, SpotTable, Tours

STOPS = 5
DAYS = ((360, 1320), (900, 1320))
"""From 6:00 and from 15:00."""


def drawn_tours(seed: int) -> Tours:
    """Two days over drawn ways from one home, the last of the places; nothing is ever closed."""
    chance = random.Random(seed)
    at = [(chance.random(), chance.random()) for _ in range(STOPS + 1)]
    minutes = [[round(45 * (abs(a - c) + abs(b - d))) for c, d in at] for a, b in at]
    nothing = [0.0] * (STOPS + 1)
    return Tours(
        spots=SpotTable(
            stay_min=[20] * (STOPS + 1),
            price=nothing,
            open_min=[[None, None] for _ in at],
            feeds=[False] * (STOPS + 1),
            worth=[1.0] * (STOPS + 1),
            wish=[-1] * (STOPS + 1),
            fame=nothing,
            chosen_m=nothing,
            crowd_m=nothing,
            meal_m=[() for _ in at],
            group=list(range(STOPS + 1)),
        ),
        minutes=minutes,
        metres=[[80 * ways for ways in row] for row in minutes],
        starts=[STOPS, STOPS],
        ends=[STOPS, STOPS],
        hours=list(DAYS),
        before={},
        after={},
        apart={},
        meals=(),
        wish_values=[],
        weights=EASY,
        is_on_foot=True,
        minute_as_m=80,
        max_walk_m=None,
        max_leg_min=None,
        budget=None,
        musts=list(range(STOPS)),
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_day_that_begins_later_than_others_has_its_best_order_too(seed: int) -> None:
    tours = drawn_tours(seed)
    codes = tuple(CODE * spot for spot in range(STOPS))
    costs = [tours.days_cost([(), order]) for order in itertools.permutations(codes)]
    found = tours.days_cost(best_days(tours, [(), codes]))
    assert found == min(cost for cost in costs if cost is not None)


def test_a_delay_counts_from_the_hours_of_its_own_day_and_is_not_shared_with_a_day_like_it() -> None:
    tours = drawn_tours(0)
    tours.hours[:] = [DAYS[1], DAYS[1]]
    tours.__post_init__()
    tours.late_min[1] = 30
    tours.__post_init__()
    ends = [priced[2] for day in (0, 1) if (priced := tours.day(day, STOPS, STOPS, (0,)))]
    assert ends[1] - ends[0] == 30
