"""A trip in central Helsinki with every kind of constraint, and the plan that solves it."""

from typing import Any

import pytest

from gnomon_trips.itinerary.draft import plan_of
from gnomon_trips.itinerary.plan import Plan
from gnomon_trips.itinerary.problem import Problem, problem_of
from gnomon_trips.itinerary.provider import Provider, answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.solve import draft_of, solve
from gnomon_trips.itinerary.trip import Trip, open_trip

REQUEST: dict[str, Any] = {
    "id": "t1",
    "area": "helsinki",
    "start_date": "2026-06-10",
    "days": 2,
    "party": 2,
    "rooms": 1,
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kiasma", "Amos Rex", "Vanha Kauppahalli", "Kampin kappeli", "Ravintola Kosmos"],
    "avoid": ["Casino Helsinki"],
    "order": [["Kiasma", "Ateneum"]],
    "window": {"start": "09:00", "end": "18:00"},
    "budget": {"amount": 120, "currency": "EUR"},
    "max_walk_m": 4000,
    "max_leg_min": 30,
    "rules": {"price": {"museum": 15.0, "restaurant": 15.0}},
}


@pytest.fixture(scope="session")
def helsinki() -> Provider:
    return embedded("helsinki")


@pytest.fixture(scope="session")
def trip(helsinki: Provider) -> Trip:
    return answered(open_trip(read_request(REQUEST), helsinki), is_local=True)


@pytest.fixture(scope="session")
def problem(trip: Trip) -> Problem:
    return answered(problem_of(trip), is_local=True)


@pytest.fixture(scope="session")
def plan(trip: Trip, problem: Problem) -> Plan:
    rounds = solve(problem, fair=True).rounds
    assert rounds is not None
    return answered(plan_of(draft_of(problem, rounds), trip), is_local=True)
