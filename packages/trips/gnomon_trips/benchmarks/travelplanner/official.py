"""Judges a plan as the released evaluation does, its quirks included; written anew from its behaviour.

Known places are those of the task's reference information, where the released code looks into its whole
database. `quirks.json` names where the released code lets a plan pass that the paper's definitions do not.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from gnomon_trips.sandbox.plan import MEALS, Days
from gnomon_trips.sandbox.record import Attraction, Lodging, Restaurant, RideMode, TravelSandbox, TripNeeds
from gnomon_trips.sandbox.rules import COMMONSENSE, GATES, Judgement

_FROM_TO = re.compile(r"from\s+(.+?)\s+to\s+([^,]+)(?=[,\s]|$)")
_NOT_A_DAY = "You don't need to fill in the information for this or later days."
_NOTHING = (None, "", "-")
_PRINTED_FIELDS = ("transportation", "breakfast", "lunch", "dinner", "attraction", "accommodation")

Row = TypeVar("Row", Lodging, Restaurant, Attraction)
Rule = Callable[[Sequence[Mapping[str, Any]], TravelSandbox], str | None]


class OfficialRaisesError(Exception):
    """The released code would stop with this error on the plan."""


def is_delivered(plan: object) -> bool:
    """Whether there is a plan at all."""
    return bool(plan)


def judge_officially(days: Days, sandbox: TravelSandbox) -> Judgement:
    """What the released code finds: the first fault of each rule.

    Raises:
        OfficialRaisesError: it would stop with an error.
    """
    asked = (*COMMONSENSE, *sandbox.needs.hard_rules())
    faults: dict[str, tuple[str, ...]] = {}
    try:
        counted = days[: sandbox.needs.days]
        for rule in COMMONSENSE:
            fault = RULES[rule](counted, sandbox)
            if fault:
                faults[rule] = (fault,)
        if not any(rule in faults for rule in GATES):
            for rule in asked[len(COMMONSENSE) :]:
                fault = RULES[rule](counted, sandbox)
                if fault:
                    faults[rule] = (fault,)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise OfficialRaisesError(type(error).__name__) from None
    return Judgement(faults=faults, asked=asked)


def restaurants_differ(days: Sequence[Mapping[str, Any]]) -> str | None:
    """No restaurant's text twice."""
    return _repeated(day[meal] for day in days for meal in MEALS if day.get(meal) not in _NOTHING)


def attractions_differ(days: Sequence[Mapping[str, Any]]) -> str | None:
    """No attraction's text twice, as far as they are looked at."""
    return _repeated(name for day in days for name in _attractions(day))


def transport_agrees(days: Sequence[Mapping[str, Any]]) -> str | None:
    """Transport on day 1, and no own car beside flights or taxis."""
    if days[0]["transportation"] in _NOTHING:
        return "no transport on day 1"
    modes = {_mode(day["transportation"]) for day in days if day.get("transportation") not in _NOTHING}
    if "self-driving" in modes and modes & {"flight", "taxi"}:
        return "the transport conflicts"
    return None


def _in_sandbox(days: Sequence[Mapping[str, Any]], sandbox: TravelSandbox) -> str | None:
    for number, day in enumerate(days, start=1):
        if day["transportation"] not in _NOTHING and not _is_known_way(day, sandbox):
            return f"day {number}: unknown transport"
        for meal in MEALS:
            if day.get(meal) not in _NOTHING and not _matches(day[meal], sandbox.restaurants):
                return f"day {number}: unknown {meal}"
        for name in _attractions(day):
            if not _matches(name, sandbox.attractions):
                return f"day {number}: unknown attraction {name}"
        if day.get("accommodation") not in _NOTHING and not _matches(day["accommodation"], sandbox.lodgings):
            return f"day {number}: unknown lodging"
    return None


def _is_known_way(day: Mapping[str, Any], sandbox: TravelSandbox) -> bool:
    text = day["transportation"]
    ends = _ends(text) or _ends(day["current_city"])
    words = text.lower()
    if "flight number" in words:
        if ends is None:
            raise ValueError("no ends")
        number = text.split("Flight Number: ")[1].split(",")[0]
        return any(
            (flight.number, flight.origin, flight.destination) == (number, *ends)
            for flight in sandbox.flights
        )
    mode = _ride_mode(words)
    if mode is None:
        return True
    return ends is not None and sandbox.ride(mode, *ends) is not None


def _complete(days: Sequence[Mapping[str, Any]], sandbox: TravelSandbox) -> str | None:
    needs = sandbox.needs
    if sum(day != {} and day["current_city"] != _NOT_A_DAY for day in days) != needs.days:
        return "another number of days"
    fault = _count_of_cities(days, needs)
    if fault:
        return fault
    filled = 0
    for number, day in enumerate(days, start=1):
        for field in _PRINTED_FIELDS:
            if field not in day:
                return f"day {number}: no {field}"
        city = day["current_city"]
        if ("from " in city or "to " in city) and day["transportation"] in ("", "-"):
            return f"day {number}: no transport"
        if "from " not in city and " to " not in city and day["attraction"] in ("", "-"):
            return f"day {number}: no attraction"
        if number != needs.days and day["accommodation"] in ("", "-"):
            return f"day {number}: no lodging"
        if "from " not in city and any(day[meal] in ("", "-") for meal in MEALS):
            return f"day {number}: no meal"
        filled += sum(bool(value) and value != "-" for value in day.values())
    return "more than half is absent" if filled < 3 * needs.days else None


def _count_of_cities(days: Sequence[Mapping[str, Any]], needs: TripNeeds) -> str | None:
    cities: set[str] = set()
    for number, day in enumerate(days, start=1):
        named = _cities(day)
        if number == 1 and len(named) == 2 and named[0] != needs.origin:
            return "the first day begins elsewhere"
        cities |= set(named)
    if len(cities - {needs.origin}) != needs.cities:
        return "another number of cities"
    return None


def _in_current_city(days: Sequence[Mapping[str, Any]], _: TravelSandbox) -> str | None:
    for number, day in enumerate(days, start=1):
        is_way = "from" in day["current_city"]
        # On a day in one city the released code walks through the letters of its name.
        parts: Sequence[str] = _cities(day) if is_way else _cities(day)[0]
        if day.get("transportation") not in _NOTHING and not all(
            part in day["transportation"] for part in parts
        ):
            return f"day {number}: transport elsewhere"
        for meal in MEALS:
            if day.get(meal) not in _NOTHING and not any(part in day[meal] for part in parts):
                return f"day {number}: {meal} elsewhere"
        for name in _attractions(day):
            if not any(part in name for part in parts):
                return f"day {number}: {name} is elsewhere"
        if day.get("accommodation") not in _NOTHING and parts[-1] not in day["accommodation"]:
            return f"day {number}: lodging elsewhere"
    return None


def _city_route(days: Sequence[Mapping[str, Any]], sandbox: TravelSandbox) -> str | None:
    needs = sandbox.needs
    cities: list[str] = []
    for number, day in enumerate(days, start=1):
        named = _cities(day)
        if number == 1 and len(named) == 2 and named[0] != needs.origin:
            return f"the first day begins elsewhere than in {needs.origin}"
        cities += named
    if cities[0] != cities[-1]:
        return "the trip is not closed"
    if len(cities) < 3:
        return "too few cities"
    behind: set[str] = set()
    at = 0
    for city, run in itertools.groupby(cities):
        count = len(list(run))
        is_end = at in (0, len(cities) - 1)
        if city in behind and not is_end:
            return f"back in {city}"
        if count == 1 and 0 < at < len(cities) - 1:
            return f"{city} only once"
        at += count
        behind.add(city)
    allowed = {*sandbox.cities, needs.origin}
    for city in cities:
        if city not in allowed:
            return f"{city} is not known"
    if needs.days > 3 and any(city not in sandbox.cities for city in cities[1:-1]):
        return f"a city is not in {needs.destination}"
    return None


def _minimum_nights(days: Sequence[Mapping[str, Any]], sandbox: TravelSandbox) -> str | None:
    if any("accommodation" not in day for day in days):
        return "no lodging is said"
    for text, run in itertools.groupby(day["accommodation"] for day in days):
        nights = len(list(run))
        rows = _matches(text, sandbox.lodgings) if text not in ("-", "") else []
        if len(rows) == 1 and nights < rows[0].min_nights:
            return f"{text}: {nights} of at least {rows[0].min_nights} nights"
    return None


def _budget(days: Sequence[Mapping[str, Any]], sandbox: TravelSandbox) -> str | None:
    needs = sandbox.needs
    total = 0
    for day in days:
        if day["transportation"] not in _NOTHING:
            total += _way_usd(day, sandbox)
        for meal in MEALS:
            rows = _matches(day[meal], sandbox.restaurants) if day[meal] not in _NOTHING else []
            total += rows[0].cost_usd * needs.people if rows else 0
        lodging = _lodging(day, sandbox)
        total += lodging.price_usd * math.ceil(needs.people / lodging.max_occupancy) if lodging else 0
    return f"costs ${total:,} of ${needs.budget_usd:,}" if total > needs.budget_usd else None


def _way_usd(day: Mapping[str, Any], sandbox: TravelSandbox) -> int:
    text = day["transportation"]
    ends = _ends(text) or _ends(day["current_city"])
    if ends is None:
        return 0
    if "flight number" in text.lower():
        number = text.split("Flight Number: ")[1].split(",")[0]
        prices = (flight.price_usd for flight in sandbox.flights if flight.number == number)
        return next(prices, 0) * sandbox.needs.people
    mode = _ride_mode(text.lower())
    ride = sandbox.ride(mode, *ends) if mode else None
    return ride.cost_usd(sandbox.needs.people) if ride else 0


def _house_rule(days: Sequence[Mapping[str, Any]], sandbox: TravelSandbox) -> str | None:
    rule = sandbox.needs.house_rule
    for day in days:
        lodging = _lodging(day, sandbox)
        if lodging and rule != "parties" and f"No {rule}" in lodging.house_rules:
            return f"{lodging.name}: {lodging.house_rules}"
    return None


def _room_type(days: Sequence[Mapping[str, Any]], sandbox: TravelSandbox) -> str | None:
    for day in days:
        lodging = _lodging(day, sandbox)
        if lodging and not lodging.is_of(sandbox.needs.room_type):
            return f"{lodging.name} is of type {lodging.room_type}"
    return None


def _cuisine(days: Sequence[Mapping[str, Any]], sandbox: TravelSandbox) -> str | None:
    needs = sandbox.needs
    served: set[str] = set()
    for day in days:
        for meal in MEALS:
            if day[meal] in _NOTHING:
                continue
            if _name_and_city(day[meal])[1] == needs.origin:
                break
            rows = _matches(day[meal], sandbox.restaurants)
            cuisines = ", ".join(rows[0].cuisines) if rows else ""
            served |= {cuisine for cuisine in needs.cuisines if cuisine in cuisines}
    missing = [cuisine for cuisine in needs.cuisines if cuisine not in served]
    return f"no {missing[0]} meal" if missing else None


def _transport(days: Sequence[Mapping[str, Any]], sandbox: TravelSandbox) -> str | None:
    word = {"no flight": "Flight", "no self-driving": "Self-driving"}[str(sandbox.needs.transport)]
    for number, day in enumerate(days, start=1):
        if day["transportation"] not in _NOTHING and word in day["transportation"]:
            return f"day {number}: {word}"
    return None


def _lodging(day: Mapping[str, Any], sandbox: TravelSandbox) -> Lodging | None:
    text = day["accommodation"]
    rows = _matches(text, sandbox.lodgings) if text not in _NOTHING else []
    return rows[0] if rows else None


def _matches(text: str, rows: Iterable[Row]) -> list[Row]:
    """The rows of the city whose names hold the name of a text."""
    name, city = _name_and_city(text)
    return [row for row in rows if name in row.name and row.city == city]


def _name_and_city(text: str) -> tuple[str, str]:
    name, comma, city = text.rpartition(",")
    if not comma or not city.strip():
        return "-", "-"
    return name.strip(), _before_parenthesis(city.strip()).strip()


def _attractions(day: Mapping[str, Any]) -> Iterator[str]:
    """The attractions that are looked at: what follows the last semicolon is left out."""
    if day.get("attraction") not in _NOTHING:
        yield from day["attraction"].split(";")[:-1]


def _cities(day: Mapping[str, Any]) -> list[str]:
    """The cities of a day's text: two where the text names a way.

    Raises:
        TypeError: it says “from”, but no way can be read.
    """
    text = day["current_city"]
    if "from" not in text:
        return [_before_parenthesis(text)]
    ends = _ends(text)
    if ends is None:
        raise TypeError("no ends")
    return list(ends)


def _ends(text: str) -> tuple[str, str] | None:
    match = _FROM_TO.search(text)
    return (_before_parenthesis(match[1]), _before_parenthesis(match[2])) if match else None


def _before_parenthesis(text: str) -> str:
    match = re.search(r"^(.*?)\([^)]*\)", text)
    return match[1] if match else text


def _mode(text: str) -> str | None:
    words = text.lower()
    return next((mode for mode in ("taxi", "self-driving", "flight") if mode in words), None)


def _ride_mode(words: str) -> RideMode | None:
    modes: tuple[RideMode, ...] = ("self-driving", "taxi")
    return next((mode for mode in modes if mode in words), None)


def _repeated(texts: Iterable[str]) -> str | None:
    behind: set[str] = set()
    for text in texts:
        if text in behind:
            return f"{text} is repeated"
        behind.add(text)
    return None


RULES: Mapping[str, Rule] = {
    "in_sandbox": _in_sandbox,
    "complete": _complete,
    "in_current_city": _in_current_city,
    "city_route": _city_route,
    "diverse_restaurants": lambda days, _: restaurants_differ(days),
    "diverse_attractions": lambda days, _: attractions_differ(days),
    "transport_conflict": lambda days, _: transport_agrees(days),
    "minimum_nights": _minimum_nights,
    "budget": _budget,
    "house_rule": _house_rule,
    "room_type": _room_type,
    "cuisine": _cuisine,
    "transport": _transport,
}
