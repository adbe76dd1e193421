"""Judges the days of a plan by the 13 rules of TravelPlanner's paper, each fault in words.

The rules are written from the definitions of Xie et al. (2024), arXiv 2402.01622, table 1. Where the
definition leaves room, the reading is the strict one: names are whole names, a flight flies on its date,
the traveller sleeps where the day ends, and what cannot be read is not there.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gnomon_trips.sandbox.plan import FIELDS, Days, Named, PlanDay, read_days
from gnomon_trips.sandbox.record import Flight, Ride, TravelSandbox, TripNeeds, plain_words

COMMONSENSE = (
    "in_sandbox",
    "complete",
    "in_current_city",
    "city_route",
    "diverse_restaurants",
    "diverse_attractions",
    "transport_conflict",
    "minimum_nights",
)
HARD = ("budget", "house_rule", "room_type", "cuisine", "transport")
GATES = ("in_sandbox", "complete")  # without both, no hard rule counts as kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is wrong with a plan, by rule; `asked` are the rules that apply.

    Hard rules are judged only of a plan that is complete and in the sandbox; without, none is kept.
    """

    faults: Mapping[str, tuple[str, ...]]
    asked: tuple[str, ...]

    @property
    def hard_is_judged(self) -> bool:
        """Whether the plan is complete and in the sandbox."""
        return not any(self.faults.get(rule) for rule in GATES)

    def holds(self, rule: str) -> bool:
        return not self.faults.get(rule) and (rule in COMMONSENSE or self.hard_is_judged)

    @property
    def commonsense_passed(self) -> int:
        """How many of the eight rules are kept."""
        return sum(map(self.holds, COMMONSENSE))

    @property
    def hard_asked(self) -> int:
        return sum(rule in HARD for rule in self.asked)

    @property
    def hard_passed(self) -> int:
        return sum(self.holds(rule) for rule in self.asked if rule in HARD)

    @property
    def commonsense_pass(self) -> bool:
        return self.commonsense_passed == len(COMMONSENSE)

    @property
    def hard_pass(self) -> bool:
        return self.hard_is_judged and self.hard_passed == self.hard_asked

    @property
    def final_pass(self) -> bool:
        return self.commonsense_pass and self.hard_pass


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """One thing to pay for on a day."""

    day: int
    item: str
    cost_usd: int


def judge(days: Days, sandbox: TravelSandbox) -> Judgement:
    """Every fault of a plan."""
    needs, plan = sandbox.needs, read_days(days)
    rules: dict[str, Iterable[str]] = {
        "in_sandbox": _in_sandbox(plan, sandbox),
        "complete": _complete(plan, needs),
        "in_current_city": _in_current_city(plan),
        "city_route": _city_route(plan, sandbox),
        **_of_the_plan_alone(plan),
        "minimum_nights": _minimum_nights(plan, sandbox),
        "budget": _budget(plan, sandbox),
        "house_rule": _house_rule(plan, sandbox),
        "room_type": _room_type(plan, sandbox),
        "cuisine": _cuisine(plan, sandbox),
        "transport": _transport_rule(plan, needs),
    }
    asked = (*COMMONSENSE, *needs.hard_rules())
    faults = {rule: tuple(words) for rule, words in rules.items() if rule in asked}
    return Judgement(faults={rule: words for rule, words in faults.items() if words}, asked=asked)


def faults_of_days(days: Days) -> dict[str, tuple[str, ...]]:
    """The faults by the three rules that need neither a query nor information: repeats and transport."""
    return {rule: tuple(words) for rule, words in _of_the_plan_alone(read_days(days)).items()}


def _of_the_plan_alone(plan: Sequence[PlanDay]) -> dict[str, Iterable[str]]:
    return {
        "diverse_restaurants": _repeated(
            (number, place) for number, day in _numbered(plan) for place in day.meals.values()
        ),
        "diverse_attractions": _repeated(
            (number, place) for number, day in _numbered(plan) for place in day.attractions
        ),
        "transport_conflict": _transport_conflict(plan),
    }


def cost_lines(days: Days, sandbox: TravelSandbox) -> list[CostLine]:
    """All costs of the plan, for all people; a place outside the sandbox has no price and no line."""
    return list(_cost_lines(read_days(days), sandbox))


def way_of(day: PlanDay, number: int, sandbox: TravelSandbox) -> Flight | Ride | None:
    """The flight or ride that a day names; None where the sandbox has none of it on that date."""
    transport = day.transport
    if transport is None or transport.mode is None or not transport.origin or not transport.destination:
        return None
    if transport.mode == "flight":
        date = sandbox.needs.date(number)
        flights = sandbox.flights_on(transport.origin, transport.destination, date)
        return next((flight for flight in flights if flight.number == transport.number), None)
    return sandbox.ride(transport.mode, transport.origin, transport.destination)


def _numbered(plan: Sequence[PlanDay]) -> Iterator[tuple[int, PlanDay]]:
    return enumerate(plan, start=1)


def _in_sandbox(plan: Sequence[PlanDay], sandbox: TravelSandbox) -> Iterator[str]:
    for number, day in _numbered(plan):
        if day.transport and way_of(day, number, sandbox) is None:
            date = sandbox.needs.date(number)
            yield f"day {number}: no such transport is known on {date}: {day.transport.text[:80]}"
        for meal, place in day.meals.items():
            if sandbox.restaurant(place.name, place.city) is None:
                yield f"day {number}: {meal} at an unknown restaurant, {place}"
        for place in day.attractions:
            if sandbox.attraction(place.name, place.city) is None:
                yield f"day {number}: unknown attraction, {place}"
        if day.lodging and sandbox.lodging(day.lodging.name, day.lodging.city) is None:
            yield f"day {number}: unknown lodging, {day.lodging}"


def _complete(plan: Sequence[PlanDay], needs: TripNeeds) -> Iterator[str]:
    if len(plan) != needs.days:
        yield f"{len(plan)} days instead of {needs.days}"
    visited = {plain_words(city) for day in plan for city in day.cities} - {plain_words(needs.origin)}
    if len(visited) != needs.cities:
        yield f"{len(visited)} cities instead of {needs.cities}"
    for number, day in _numbered(plan):
        if day.absent:
            yield f"day {number}: without {', '.join(day.absent)}"
        if not day.cities:
            yield f"day {number}: no city"
        elif day.is_travel and not day.transport:
            yield f"day {number}: no transport to {day.cities[1]}"
        elif not day.is_travel and not day.attractions:
            yield f"day {number}: no attraction"
        if day.cities and not day.is_travel and len(day.meals) < 3:
            yield f"day {number}: fewer than three meals"
        if number < needs.days and not day.lodging:
            yield f"day {number}: no lodging"
    filled = sum(day.filled for day in plan)
    if 2 * filled < len(FIELDS) * needs.days:
        yield f"only {filled} of {len(FIELDS) * needs.days} fields say something"


def _in_current_city(plan: Sequence[PlanDay]) -> Iterator[str]:
    for number, day in _numbered(plan):
        cities = [plain_words(city) for city in day.cities]
        transport = day.transport
        if transport and transport.origin and transport.destination:
            ends = [plain_words(transport.origin), plain_words(transport.destination)]
            if ends != cities:
                yield f"day {number}: the transport is from {transport.origin} to {transport.destination}"
        for meal, place in day.meals.items():
            if plain_words(place.city) not in cities:
                yield f"day {number}: {meal} in {place.city or 'no city'}"
        for place in day.attractions:
            if plain_words(place.city) not in cities:
                yield f"day {number}: {place.name} is in {place.city or 'no city'}"
        if day.lodging and plain_words(day.lodging.city) not in cities[-1:]:
            yield f"day {number}: the lodging is in {day.lodging.city or 'no city'}"


def _city_route(plan: Sequence[PlanDay], sandbox: TravelSandbox) -> Iterator[str]:
    needs = sandbox.needs
    origin = plain_words(needs.origin)
    at, left = origin, set[str]()
    for number, day in _numbered(plan):
        cities = [plain_words(city) for city in day.cities]
        if not cities:
            continue
        if cities[0] != at:
            yield f"day {number} begins in {day.cities[0]}, where the day before did not end"
        for city in day.cities:
            if sandbox.city(city) is None:
                yield f"day {number}: {city} is not among the known cities"
        is_elsewhere = needs.cities == 1 and plain_words(needs.destination) not in (cities[-1], at)
        if is_elsewhere and cities[-1] != origin:
            yield f"day {number}: {day.cities[-1]} is not {needs.destination}"
        if cities[-1] != at:
            left.add(at)
            if cities[-1] in left and not (cities[-1] == origin and number == len(plan)):
                yield f"day {number}: back in {day.cities[-1]}"
        at = cities[-1]
    if plan and not plan[0].is_travel:
        yield f"day 1 does not leave {needs.origin}"
    if at != origin or len(plan) < 2:
        yield f"the trip does not end in {needs.origin}"


def _repeated(places: Iterable[tuple[int, Named]]) -> Iterator[str]:
    """Each place that is named again, with the number of its day and of the first one."""
    first_days: dict[tuple[str, str], int] = {}
    for number, place in places:
        if place.key in first_days:
            yield f"day {number}: {place} again, as on day {first_days[place.key]}"
        first_days.setdefault(place.key, number)


def _transport_conflict(plan: Sequence[PlanDay]) -> Iterator[str]:
    if not plan or not plan[0].transport:
        yield "no transport on day 1"
    for number, day in _numbered(plan):
        if day.transport and day.transport.mode is None:
            yield f"day {number}: not one of flight, self-driving, taxi: {day.transport.text[:80]}"
    modes = {day.transport.mode for day in plan if day.transport}
    for mode in ("flight", "taxi"):
        if {"self-driving", mode} <= modes:
            yield f"self-driving beside {mode}"


def _minimum_nights(plan: Sequence[PlanDay], sandbox: TravelSandbox) -> Iterator[str]:
    nights = [day.lodging for day in plan[: sandbox.needs.days - 1]]
    for _, run in itertools.groupby(nights, key=lambda place: place and place.key):
        stays = list(run)
        place = stays[0]
        lodging = sandbox.lodging(place.name, place.city) if place else None
        if lodging and len(stays) < lodging.min_nights:
            yield f"{place}: {len(stays)} of at least {lodging.min_nights} nights"


def _cost_lines(plan: Sequence[PlanDay], sandbox: TravelSandbox) -> Iterator[CostLine]:
    people = sandbox.needs.people
    for number, day in _numbered(plan):
        way = way_of(day, number, sandbox)
        if way is not None and day.transport:
            yield CostLine(day=number, item=day.transport.text[:80], cost_usd=way.cost_usd(people))
        for meal, place in day.meals.items():
            restaurant = sandbox.restaurant(place.name, place.city)
            if restaurant:
                yield CostLine(day=number, item=f"{meal}: {place}", cost_usd=restaurant.cost_usd * people)
        lodging = sandbox.lodging(day.lodging.name, day.lodging.city) if day.lodging else None
        if lodging:
            item = f"lodging: {day.lodging}"
            yield CostLine(day=number, item=item, cost_usd=lodging.night_usd(people))


def _budget(plan: Sequence[PlanDay], sandbox: TravelSandbox) -> Iterator[str]:
    total = sum(line.cost_usd for line in _cost_lines(plan, sandbox))
    if total > sandbox.needs.budget_usd:
        yield f"costs ${total:,} of ${sandbox.needs.budget_usd:,}"


def _lodgings(plan: Sequence[PlanDay]) -> dict[tuple[str, str], Named]:
    return {day.lodging.key: day.lodging for day in plan if day.lodging}


def _house_rule(plan: Sequence[PlanDay], sandbox: TravelSandbox) -> Iterator[str]:
    for place in _lodgings(plan).values():
        lodging = sandbox.lodging(place.name, place.city)
        if lodging and not lodging.allows(sandbox.needs.house_rule):
            yield f"{place}: {lodging.house_rules}"


def _room_type(plan: Sequence[PlanDay], sandbox: TravelSandbox) -> Iterator[str]:
    for place in _lodgings(plan).values():
        lodging = sandbox.lodging(place.name, place.city)
        if lodging and not lodging.is_of(sandbox.needs.room_type):
            yield f"{place} is of type {lodging.room_type}, not {sandbox.needs.room_type}"


def _cuisine(plan: Sequence[PlanDay], sandbox: TravelSandbox) -> Iterator[str]:
    eaten: set[str] = set()
    for day in plan:
        for place in day.meals.values():
            restaurant = sandbox.restaurant(place.name, place.city)
            if restaurant and plain_words(place.city) != plain_words(sandbox.needs.origin):
                eaten |= {cuisine.casefold() for cuisine in restaurant.cuisines}
    for cuisine in sandbox.needs.cuisines:
        if cuisine.casefold() not in eaten:
            yield f"no {cuisine} meal"


def _transport_rule(plan: Sequence[PlanDay], needs: TripNeeds) -> Iterator[str]:
    forbidden = (needs.transport or "").removeprefix("no ")
    for number, day in _numbered(plan):
        if day.transport and forbidden and day.transport.mode == forbidden:
            yield f"day {number}: {forbidden}"
