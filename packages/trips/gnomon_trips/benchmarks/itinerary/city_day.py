"""Draws city days: must-visits with real hours, from a hotel's door and back, on one day or two."""

import datetime as dt
import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnomon_trips.benchmarks.itinerary.pool import Pool
from gnomon_trips.benchmarks.itinerary.task import Task
from gnomon_trips.itinerary.draft import DraftPlan
from gnomon_trips.itinerary.hours import open_on, told_hours
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.problem import Problem, problem_of
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.request import Rules, TripRequest, Window
from gnomon_trips.itinerary.schedule import Round
from gnomon_trips.itinerary.solve import draft_of, solve
from gnomon_trips.itinerary.trip import Trip

PRICES = {
    "museum": 15.0, "gallery": 6.0, "attraction": 8.0, "castle": 10.0, "zoo": 18.0, "theatre": 25.0,
    "cafe": 9.0, "restaurant": 22.0, "fast_food": 11.0, "bar": 12.0, "pub": 12.0,
}  # fmt: skip
"""A rule of the tasks, not a fact: no open source has prices."""
STAYS = {"museum": 60, "gallery": 30, "attraction": 30, "restaurant": 50, "cafe": 30, "shop": 20}
ONE_DAY, SHORT_DAYS = Window(), Window(start="10:00", end="15:30")
"""Two days are short, so that one of them does not hold everything."""
FIRST_DAY, DAYS_DRAWN = dt.date(2026, 4, 1), 200
CAP = 1.05
"""The walking cap over the optimum: without it a random order passes half of the time."""
TRIES = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A trip with its exact solution."""

    problem: Problem
    rounds: tuple[Round, ...]

    @property
    def trip(self) -> Trip:
        return self.problem.trip

    @property
    def metres(self) -> int:
        return sum(walk.metres for walk in self.rounds)

    def sequence(self) -> list[str]:
        return [
            self.problem.asked_as(self.problem.places[stay.spot])
            for walk in self.rounds
            for stay in walk.stays
        ]


def draw(chance: random.Random, pool: Pool, *, days: int, places: tuple[int, int], request_id: str) -> Drawn:
    """A trip that has a plan, with an order to keep, a budget and a walking cap just above the optimum.

    Raises:
        RuntimeError: none of TRIES draws fits the city.
    """
    for _ in range(TRIES):
        hotel = chance.choice(pool.hotels)
        chosen = pool.draw(chance, hotel, chance.randint(*places))
        if len(chosen) < min(3, places[0]):
            continue
        request = TripRequest(
            id=request_id,
            area=pool.city.name,
            start_date=FIRST_DAY + dt.timedelta(days=chance.randrange(DAYS_DRAWN)),
            days=days,
            party=chance.randint(1, 3),
            hotel=hotel.name,
            places=[place.name for place in chosen],
            window=ONE_DAY if days == 1 else SHORT_DAYS,
            prefer="short_walk",
            rules=Rules(price=PRICES, dwell_min=STAYS),
        )
        trip = trip_to(pool, request, [hotel, *chosen])
        if any(_is_closed(place, trip) for place in chosen):
            continue
        solution = solved(trip)
        if solution is not None and all(walk.stays for walk in solution.rounds):
            return _bound(chance, solution)
    raise RuntimeError(f"no trip of {days} days fits in {pool.city.name}")


def trip_to(pool: Pool, request: TripRequest, places: Sequence[Place]) -> Trip:
    """The trip of a request whose names are those of the places."""
    return Trip(
        request=request,
        provider=pool.provider,
        named={place.name: place for place in places},
        country=pool.city.about.country,
    )


def solved(trip: Trip) -> Drawn | None:
    """The trip with its optimum; None if it has no plan."""
    problem = answered(problem_of(trip), is_local=True)
    rounds = solve(problem).rounds
    return None if rounds is None else Drawn(problem=problem, rounds=rounds)


def changed(drawn: Drawn, **changes: Any) -> Problem:
    """The same problem with another request over the same places, read from plain values."""
    request = TripRequest.model_validate({**drawn.trip.request.model_dump(mode="json"), **changes})
    return replace(drawn.problem, trip=replace(drawn.trip, request=request))


def _is_closed(place: Place, trip: Trip) -> bool:
    """Whether a place is closed on every day of the trip: no need to search then."""
    if place.hours is None:
        return False
    return not any(open_on(place, date, trip.country) for date in trip.request.dates())


def _bound(chance: random.Random, drawn: Drawn) -> Drawn:
    """Add constraints that the optimum keeps, so that it stays the optimum."""
    sequence, request = drawn.sequence(), drawn.trip.request
    first, then = sorted(chance.sample(range(len(sequence)), 2))
    longest = max(walk.metres for walk in drawn.rounds)
    budget = drawn.problem.cost() * chance.uniform(1.0, 1.25)
    problem = changed(
        drawn,
        order=[(sequence[first], sequence[then])],
        max_walk_m=math.ceil(CAP * longest),
        budget={"amount": math.ceil(budget), "currency": request.rules.currency},
    )
    return Drawn(problem=problem, rounds=drawn.rounds)


def plan_text(drawn: Drawn) -> str:
    """The solution as a model would write it."""
    return draft_text(draft_of(drawn.problem, drawn.rounds))


def draft_text(draft: DraftPlan) -> str:
    """A draft as JSON, without its empty fields."""
    return json.dumps(draft.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)


def task_of(family: str, drawn: Drawn, **more: Any) -> Task:
    """A task with a plan: its witness is the optimum."""
    trip = replace(drawn.trip, answerable=True)
    return Task(
        family=family,
        form="plan",
        trip=trip,
        problem=replace(drawn.problem, trip=trip),
        witness=plan_text(drawn),
        optimum_m=drawn.metres,
        facts=facts_of(drawn.problem),
        **more,
    )


def refusal_of(family: str, problem: Problem, conflict: Sequence[str]) -> Task:
    """A task without a plan: its witness names the constraints in conflict."""
    trip = replace(problem.trip, answerable=False)
    return Task(
        family=family,
        form="plan",
        trip=trip,
        problem=replace(problem, trip=trip),
        witness=json.dumps({"status": "refused", "conflict": list(conflict)}, ensure_ascii=False),
        facts=facts_of(problem),
        truth={"conflict": conflict},
    )


def facts_of(problem: Problem) -> dict[str, Any]:
    """What tools would answer, for the arm that shows facts instead."""
    trip = problem.trip
    request = trip.request
    rows = [*problem.places]
    homes = [home for home in (trip.home(0, at_end=False),) if home is not None]
    keep = [*range(len(rows)), *(problem.homes[home.id] for home in homes)]
    return {
        "places": [
            {
                "name": problem.asked_as(place),
                "id": place.id,
                "kind": place.kind,
                "stay_minutes": request.rules.stay_min(place.kind),
                "cost_party": request.price(place.kind),
                "open": {
                    date.isoformat(): told_hours(open_on(place, date, trip.country))
                    for date in request.dates()
                }
                if place.hours
                else "not known",
            }
            for place in rows
        ],
        "table_of": [*(problem.asked_as(place) for place in rows), *(problem.asked_as(h) for h in homes)],
        "walking_minutes": [[problem.table.minutes[a][b] for b in keep] for a in keep],
        "walking_metres": [[problem.table.metres[a][b] for b in keep] for a in keep],
    }
