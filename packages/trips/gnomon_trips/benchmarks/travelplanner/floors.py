"""Makes plans without a model or looking ahead, of the cheapest of each thing or of the first listed."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from gnomon_trips.benchmarks.travelplanner.scoring import score_plan
from gnomon_trips.sandbox.plan import MEALS, Days
from gnomon_trips.sandbox.record import Flight, Lodging, Restaurant, Ride, TravelSandbox, TripNeeds

Price = Callable[[int], int]


def floors_of(sandbox: TravelSandbox) -> Mapping[str, float]:
    """What each rule scores strictly."""
    plans = {"greedy by cost": greedy_plan(sandbox), "first listed": first_listed_plan(sandbox)}
    return {
        name: (score_plan(sandbox, days, scoring="strict").value or 0.0) if days else 0.0
        for name, days in plans.items()
    }


def greedy_plan(sandbox: TravelSandbox, minding: Collection[str] = ()) -> Days | None:
    """Take the cheapest at every step, without looking ahead except for the rules that are minded.

    None where a leg has no way.
    """
    return _plan(sandbox, lambda price: price, minding)


def first_listed_plan(sandbox: TravelSandbox) -> Days | None:
    """At every step the first that is listed; None where a leg has no way."""
    return _plan(sandbox, lambda _: 0, ())


def legs_of(needs: TripNeeds, cities: Sequence[str]) -> list[tuple[str, str, int]]:
    """Origin, destination and day of each leg: two nights in each city as listed, the rest in the last."""
    stops = [needs.origin, *cities[: needs.cities], needs.origin]
    days = [*(1 + 2 * at for at in range(len(stops) - 2)), needs.days]
    return list(zip(stops, stops[1:], days, strict=False))


def _plan(sandbox: TravelSandbox, price: Price, minding: Collection[str]) -> Days | None:
    needs = sandbox.needs
    legs = legs_of(needs, sandbox.cities)
    ways = _ways(sandbox, legs, price, minding)
    if ways is None:
        return None
    restaurants = _restaurants(sandbox, [leg[1] for leg in legs[:-1]], price, minding)
    sights = {leg[1]: iter(sandbox.attractions_in(leg[1])) for leg in legs[:-1]}
    days: list[dict[str, Any]] = []
    for number in range(1, needs.days + 1):
        at = max(at for at, leg in enumerate(legs) if leg[2] <= number)
        origin, destination, travel_day = legs[at]
        city = origin if number == needs.days else destination
        is_travel = travel_day == number
        bed = (
            _bed(sandbox, city, legs[at + 1][2] - travel_day, price, minding) if number < needs.days else None
        )
        sight = next(sights[city], None)
        days.append(
            {
                "days": number,
                "current_city": f"from {origin} to {destination}" if is_travel else city,
                "transportation": _way_text(ways[at]) if is_travel else "-",
                "attraction": f"{sight.name}, {city};" if sight else "-",
                "accommodation": f"{bed.name}, {city}" if bed else "-",
                **{meal: _meal_text(next(restaurants[city], None)) for meal in MEALS},
            }
        )
    return days


def _ways(
    sandbox: TravelSandbox, legs: Sequence[tuple[str, str, int]], price: Price, minding: Collection[str]
) -> list[Flight | Ride] | None:
    """The way of each leg; by one kind of transport where conflicts are minded."""
    needs = sandbox.needs
    options = [list(_options(sandbox, leg, minding)) for leg in legs]
    if "transport_conflict" in minding:
        driven = [[way for way in ways if _is_driven(way)] for ways in options]
        others = [[way for way in ways if not _is_driven(way)] for ways in options]
        options = driven if all(driven) else others
    if not all(options):
        return None
    return [min(ways, key=lambda way: price(way.cost_usd(needs.people))) for ways in options]


def _options(
    sandbox: TravelSandbox, leg: tuple[str, str, int], minding: Collection[str]
) -> Iterator[Flight | Ride]:
    origin, destination, day = leg
    forbidden = sandbox.needs.transport if "transport" in minding else None
    if forbidden != "no flight":
        yield from sandbox.flights_on(origin, destination, sandbox.needs.date(day))
    for mode in ("self-driving", "taxi"):
        ride = sandbox.ride(mode, origin, destination)
        if ride and forbidden != f"no {mode}":
            yield ride


def _is_driven(way: Flight | Ride) -> bool:
    return isinstance(way, Ride) and way.mode == "self-driving"


def _bed(
    sandbox: TravelSandbox, city: str, nights: int, price: Price, minding: Collection[str]
) -> Lodging | None:
    needs = sandbox.needs
    beds = [
        bed
        for bed in sandbox.lodgings_in(city)
        if ("house_rule" not in minding or bed.allows(needs.house_rule))
        and ("room_type" not in minding or bed.is_of(needs.room_type))
        and ("minimum_nights" not in minding or bed.min_nights <= nights)
    ]
    return min(beds, key=lambda bed: price(bed.night_usd(needs.people)), default=None)


def _restaurants(
    sandbox: TravelSandbox, cities: Sequence[str], price: Price, minding: Collection[str]
) -> dict[str, Iterator[Restaurant]]:
    """The restaurants of each city in the order of eating; those with an asked cuisine first, if minded."""
    missing = set(sandbox.needs.cuisines) if "cuisine" in minding else set[str]()
    orders: dict[str, Iterator[Restaurant]] = {}
    for city in cities:
        rows = sorted(sandbox.restaurants_in(city), key=lambda row: price(row.cost_usd))
        first: list[Restaurant] = []
        for row in rows:
            if missing & set(row.cuisines):
                missing -= set(row.cuisines)
                first.append(row)
        orders[city] = iter([*first, *(row for row in rows if row not in first)])
    return orders


def _meal_text(row: Restaurant | None) -> str:
    return f"{row.name}, {row.city}" if row else "-"


def _way_text(way: Flight | Ride) -> str:
    ends = f"from {way.origin} to {way.destination}"
    return (
        f"Flight Number: {way.number}, {ends}"
        if isinstance(way, Flight)
        else f"{way.mode.capitalize()}, {ends}"
    )
