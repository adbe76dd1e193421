"""A travel sandbox that stands in for a question's own: its cities and ways, with another one's places.

Cities, pairs of cities and dates are those of the question, so that good calls are answered; lodgings,
restaurants and attractions are those of the other sandbox's cities in turn, prices, times and numbers of
flights those of its flights, prices of rides those of its rides. What is planned by it names places that the
question's sandbox does not hold.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any, TypeVar

from gnomon_trips.sandbox.record import TravelSandbox
from gnomon_trips.sandbox.scheduler import find_trip

EXCHANGED = ("breakfast", "lunch", "dinner", "accommodation", "attraction", "transportation")

_T = TypeVar("_T")


def stand_in_sandbox(asked: TravelSandbox, other: TravelSandbox) -> TravelSandbox:
    """The sandbox that answers all calls of a trial."""
    cities = list(zip(asked.cities, cycle(other.cities or asked.cities), strict=False))
    return TravelSandbox(
        needs=asked.needs,
        cities=asked.cities,
        lodgings=tuple(replace(row, city=city) for city, donor in cities for row in other.lodgings_in(donor)),
        restaurants=tuple(
            replace(row, city=city) for city, donor in cities for row in other.restaurants_in(donor)
        ),
        attractions=tuple(
            replace(row, city=city) for city, donor in cities for row in other.attractions_in(donor)
        ),
        flights=tuple(
            replace(flight, origin=own.origin, destination=own.destination, date=own.date)
            for own, flight in _paired(asked.flights, other.flights)
        ),
        rides=tuple(
            replace(ride, mode=own.mode, origin=own.origin, destination=own.destination)
            for own, ride in _paired(asked.rides, other.rides)
        ),
    )


def other_plan(sandbox: TravelSandbox, key: str) -> list[dict[str, Any]] | None:
    """The schedule of the sandbox that stands in, in half of the cases with fields of days exchanged."""
    days = find_trip(sandbox).days
    if days is None:
        return None
    chance = random.Random(f"judged {key}")
    plan = [dict(day) for day in days]
    if chance.random() < 0.5:
        for field in chance.sample(EXCHANGED, 2):
            first, second = chance.sample(range(len(plan)), 2)
            plan[first][field], plan[second][field] = plan[second][field], plan[first][field]
    return plan


def _paired(own: Sequence[_T], other: Sequence[_T]) -> list[tuple[_T, _T]]:
    """Each of one's own with one of the other's, in turn; nothing where the other has none."""
    return list(zip(own, cycle(other), strict=False)) if other else []
