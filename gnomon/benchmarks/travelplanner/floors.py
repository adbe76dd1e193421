"""Plans without a model and without looking ahead: the cheapest of each thing, or the first listed."""

from collections.abc import Callable, Mapping
from typing import Any

from gnomon.benchmarks.travelplanner.scoring import score_plan
from tools.sandbox.plan import MEALS, Days
from tools.sandbox.record import Flight, Lodging, Ride, TravelSandbox


def floors_of(sandbox: TravelSandbox) -> Mapping[str, float]:
    """What each rule scores strictly."""
    plans = {"greedy by cost": greedy_plan(sandbox), "first listed": first_listed_plan(sandbox)}
    return {
        name: score_plan(sandbox, days, scoring="strict").value or 0.0 if days else 0.0
        for name, days in plans.items()
    }


def greedy_plan(sandbox: TravelSandbox) -> Days | None:
    """At every step the cheapest, whatever it breaks later; None where a leg has no way."""
    return _plan(sandbox, lambda price: price)


def first_listed_plan(sandbox: TravelSandbox) -> Days | None:
    """At every step the first that is listed; None where a leg has no way."""
    return _plan(sandbox, lambda _: 0)


def _plan(sandbox: TravelSandbox, price: Callable[[int], int]) -> Days | None:
    """Cities as listed with two nights each, the last one with the rest."""
    needs, cities = sandbox.needs, sandbox.cities[: sandbox.needs.cities]
    starts = [1 + 2 * at for at in range(len(cities))]
    travel_days = [*starts, needs.days]
    stops = [needs.origin, *cities, needs.origin]
    days: list[dict[str, Any]] = []
    restaurants = {
        city: iter(sorted(sandbox.restaurants_in(city), key=lambda row: price(row.cost_usd)))
        for city in cities
    }
    sights = {city: iter(sandbox.attractions_in(city)) for city in cities}
    for number in range(1, needs.days + 1):
        at = sum(day <= number for day in travel_days)
        city = stops[at] if number < needs.days else stops[-2]
        is_travel = number in travel_days
        way = _way(sandbox, stops[at - 1], stops[at], number, price) if is_travel else None
        if is_travel and way is None:
            return None
        beds = sorted(sandbox.lodgings_in(city), key=lambda bed: price(_bed_usd(bed, needs.people)))
        sight = next(sights[city], None)
        day: dict[str, Any] = {
            "days": number,
            "current_city": f"from {stops[at - 1]} to {stops[at]}" if is_travel else city,
            "transportation": _way_text(way) if way else "-",
            "attraction": f"{sight.name}, {city};" if sight else "-",
            "accommodation": f"{beds[0].name}, {city}" if beds and number < needs.days else "-",
        }
        for meal in MEALS:
            row = next(restaurants[city], None)
            day[meal] = f"{row.name}, {city}" if row else "-"
        days.append(day)
    return days


def _way(
    sandbox: TravelSandbox, origin: str, destination: str, day: int, price: Callable[[int], int]
) -> Flight | Ride | None:
    people = sandbox.needs.people
    rides = (sandbox.ride(mode, origin, destination) for mode in ("self-driving", "taxi"))
    flights = sandbox.flights_on(origin, destination, sandbox.needs.date(day))
    ways: list[Flight | Ride] = [*flights, *(ride for ride in rides if ride)]
    return min(ways, key=lambda way: price(way.cost_usd(people)), default=None)


def _way_text(way: Flight | Ride) -> str:
    ends = f"from {way.origin} to {way.destination}"
    return (
        f"Flight Number: {way.number}, {ends}"
        if isinstance(way, Flight)
        else f"{way.mode.capitalize()}, {ends}"
    )


def _bed_usd(bed: Lodging, people: int) -> int:
    return bed.night_usd(people)
