"""Finds a trip that keeps every rule, or proves that the sandbox holds none.

Once the order of the cities and the days of travel are chosen, the rules bind ways, lodgings and meals apart
from one another, and only the budget joins them: so the least cost is the sum of three least costs. Ways are
the cheapest of each leg, all by one's own car or none. Lodgings are the cheapest that house rules, room type
and minimum nights allow, by dynamic programming over the nights in a city. Meals are the cheapest distinct
restaurants that serve all cuisines together, by dynamic programming over sets of cuisines; a meal on a day
of travel is added where a cuisine needs it. All orders and all days of travel are tried.

The proof is for the rules of `rules.py`. A trip leaves on day 1 and returns on the last day, as nothing is
known of meals and lodgings at home.
"""

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gnomon_trips.sandbox.plan import MEALS, Days
from gnomon_trips.sandbox.record import Flight, Lodging, Restaurant, Ride, TravelSandbox
from gnomon_trips.sandbox.rules import cost_lines, judge

SECONDS = 10.0  # longer than any published task takes; then nothing is proven
_LATE, _LONG_RIDE_H = "19:00", 9

Way = Flight | Ride


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTrip:
    """The days of a trip with its cost; or None, and whether that is proven and why."""

    days: Days | None
    cost_usd: int | None = None
    is_proven: bool = True
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outline:
    """Cities in order, the days of travel from first to last, ways, lodgings by night, meals by city."""

    cities: tuple[str, ...]
    travel_days: tuple[int, ...]
    ways: tuple[Way, ...]
    lodgings: tuple[Lodging, ...]
    meals: tuple[tuple[Restaurant, ...], ...]
    cost_usd: int

    @property
    def unevenness(self) -> int:
        nights = [end - start for start, end in itertools.pairwise(self.travel_days)]
        return max(nights) - min(nights)


def find_trip(sandbox: TravelSandbox, *, seconds: float = SECONDS) -> FoundTrip:
    """A trip within the budget whose stays are as even as they can be, then the cheapest; or a refusal."""
    search = _Search(sandbox, time.monotonic() + seconds)
    best: _Outline | None = None
    cheapest: int | None = None
    for outline in search.outlines():
        if cheapest is None or outline.cost_usd < cheapest:
            cheapest = outline.cost_usd
        if outline.cost_usd <= sandbox.needs.budget_usd and (best is None or _rank(outline) < _rank(best)):
            best = outline
    if best is not None:
        days = _written(best, sandbox)
        judgement = judge(days, sandbox)
        if not judgement.final_pass:
            broken = ", ".join(judgement.faults)
            return FoundTrip(days=None, is_proven=False, why=f"what was found breaks {broken}")
        cost_usd = sum(line.cost_usd for line in cost_lines(days, sandbox))
        return FoundTrip(days=days, cost_usd=cost_usd, is_proven=not search.is_cut)
    if search.is_cut:
        return FoundTrip(days=None, is_proven=False, why="the search ran out of time")
    if cheapest is None:
        return FoundTrip(days=None, why=search.missing())
    over = f"the cheapest trip costs ${cheapest:,}, the budget is ${sandbox.needs.budget_usd:,}"
    return FoundTrip(days=None, cost_usd=cheapest, why=over)


def _rank(outline: _Outline) -> tuple[int, int]:
    return outline.unevenness, outline.cost_usd


class _Search:
    def __init__(self, sandbox: TravelSandbox, deadline: float) -> None:
        self.sandbox, self.needs, self.deadline = sandbox, sandbox.needs, deadline
        self.is_cut = False
        self._missing: dict[str, None] = {}  # in the order in which they were met
        self._stays: dict[str, list[tuple[Lodging, ...] | None]] = {}
        self._tables: dict[str, _Meals] = {}

    def missing(self) -> str:
        """What is lacking for every order and division of the days, in words."""
        return "; ".join(list(self._missing)[:6]) or "there are no cities to visit"

    def outlines(self) -> Iterator[_Outline]:
        """The cheapest outline of each order, division of the days and kind of transport."""
        needs = self.needs
        named = self.sandbox.city(needs.destination)
        cities = (named,) if needs.cities == 1 and named else self.sandbox.cities
        inner = range(2, needs.days)
        for order in itertools.permutations(cities, needs.cities):
            for changes in itertools.combinations(inner, needs.cities - 1):
                if time.monotonic() > self.deadline:
                    self.is_cut = True
                    return
                yield from self._outlines(order, (1, *changes, needs.days))

    def _outlines(self, order: tuple[str, ...], travel_days: tuple[int, ...]) -> Iterator[_Outline]:
        ways = self._ways(order, travel_days)
        if ways is None:
            return
        lodgings: list[Lodging] = []
        for city, (start, end) in zip(order, itertools.pairwise(travel_days), strict=True):
            stay = self._lodgings(city, end - start)
            if stay is None:
                self._missing[f"no lodging in {city} for {end - start} nights keeps what is asked"] = None
                return
            lodgings += stay
        meals = self._meals(order, travel_days)
        if meals is None:
            return
        people = self.needs.people
        cost_usd = sum(way.cost_usd(people) for way in ways)
        cost_usd += sum(lodging.night_usd(people) for lodging in lodgings)
        cost_usd += sum(meal.cost_usd * people for eaten in meals for meal in eaten)
        yield _Outline(
            cities=order,
            travel_days=travel_days,
            ways=ways,
            lodgings=tuple(lodgings),
            meals=meals,
            cost_usd=cost_usd,
        )

    def _ways(self, order: tuple[str, ...], travel_days: tuple[int, ...]) -> tuple[Way, ...] | None:
        """The cheapest ways of all legs: all by one's own car, or none."""
        stops = (self.needs.origin, *order, self.needs.origin)
        legs = list(zip(itertools.pairwise(stops), travel_days, strict=True))
        drives = [self._cars(*ends) for ends, _ in legs]
        others = [self._hired(*ends, day) for ends, day in legs]
        plans = [tuple(way for way in ways if way) for ways in (drives, others) if all(way for way in ways)]
        if not plans:
            for (ends, day), drive, other in zip(legs, drives, others, strict=True):
                if drive is None and other is None:
                    words = f"no way from {ends[0]} to {ends[1]} on {self.needs.date(day)} that is allowed"
                    self._missing[words] = None
            return None
        return min(plans, key=lambda ways: sum(way.cost_usd(self.needs.people) for way in ways))

    def _cars(self, origin: str, destination: str) -> Way | None:
        if self.needs.transport == "no self-driving":
            return None
        return self.sandbox.ride("self-driving", origin, destination)

    def _hired(self, origin: str, destination: str, day: int) -> Way | None:
        ways: list[Way] = []
        if self.needs.transport != "no flight":
            ways += self.sandbox.flights_on(origin, destination, self.needs.date(day))
        taxi = self.sandbox.ride("taxi", origin, destination)
        ways += [taxi] if taxi else []
        return min(ways, key=lambda way: way.cost_usd(self.needs.people), default=None)

    def _lodgings(self, city: str, nights: int) -> tuple[Lodging, ...] | None:
        """The cheapest lodging of each night; a stay in one is as long as it asks for."""
        if city not in self._stays:
            self._stays[city] = self._stays_in(city)
        return self._stays[city][nights]

    def _stays_in(self, city: str) -> list[tuple[Lodging, ...] | None]:
        needs = self.needs
        allowed = [
            lodging
            for lodging in self.sandbox.lodgings_in(city)
            if lodging.allows(needs.house_rule) and lodging.is_of(needs.room_type)
        ]
        best: list[tuple[int, tuple[Lodging, ...]] | None] = [(0, ())]
        for nights in range(1, needs.days):
            options = [
                (before[0] + (nights - start) * lodging.night_usd(needs.people), before[1], lodging, start)
                for start in range(nights)
                if (before := best[start]) is not None
                for lodging in allowed
                if nights - start >= max(1, lodging.min_nights)
            ]
            if not options:
                best.append(None)
                continue
            cost_usd, before_nights, lodging, start = min(options, key=lambda option: (option[0], -option[3]))
            best.append((cost_usd, (*before_nights, *[lodging] * (nights - start))))
        return [stay[1] if stay else None for stay in best]

    def _meals(
        self, order: tuple[str, ...], travel_days: tuple[int, ...]
    ) -> tuple[tuple[Restaurant, ...], ...] | None:
        """The cheapest meals by city: three on every full day, and more where cuisines need them."""
        full_days = [end - start - 1 for start, end in itertools.pairwise(travel_days)]
        for city, days in zip(order, full_days, strict=True):
            if len(self.sandbox.attractions_in(city)) < days:
                self._missing[f"fewer attractions in {city} than days"] = None
                return None
        best: tuple[int, tuple[tuple[Restaurant, ...], ...]] | None = None
        least = _missing_fields(self.needs.days, len(order))
        most = max(least, len(self.needs.cuisines))
        for extras in itertools.product(range(most + 1), repeat=len(order)):
            if not least <= sum(extras) <= most or not _fits(extras):
                continue
            if time.monotonic() > self.deadline:
                self.is_cut = True
                return None
            tables = [
                self._table(city).cheapest(3 * days + extra)
                for city, days, extra in zip(order, full_days, extras, strict=True)
            ]
            meals = _joined(tables, (1 << len(self.needs.cuisines)) - 1)
            if meals and (best is None or meals[0] < best[0]):
                best = meals
        if best is None:
            cuisines = ", ".join(self.needs.cuisines)
            serving = f" that serve {cuisines}" if cuisines else ""
            self._missing[f"too few restaurants{serving} in {', '.join(order)}"] = None
            return None
        return best[1]

    def _table(self, city: str) -> "_Meals":
        if city not in self._tables:
            restaurants = tuple(self.sandbox.restaurants_in(city))
            most = 3 * (self.needs.days - 2) + max(4, len(self.needs.cuisines))
            self._tables[city] = _Meals(restaurants, self.needs.cuisines, most)
        return self._tables[city]


Table = Mapping[int, tuple[int, tuple[Restaurant, ...]]]
"""The least cost of so many meals and the meals, by the set of cuisines they serve."""


@dataclass(frozen=True)
class _Meals:
    """The cheapest distinct restaurants of a city, by their number and the cuisines they serve."""

    restaurants: tuple[Restaurant, ...]
    cuisines: tuple[str, ...]
    most: int

    def cheapest(self, count: int) -> Table:
        """The cheapest choices of so many; empty where there are fewer restaurants."""
        return self._by_count[count] if count <= self.most else {}

    @cached_property
    def _by_count(self) -> list[Table]:
        tables: list[dict[int, tuple[int, tuple[Restaurant, ...]]]] = [{} for _ in range(self.most + 1)]
        tables[0][0] = (0, ())
        for restaurant in self.restaurants:
            mask = self._mask(restaurant)
            for count in range(self.most - 1, -1, -1):
                for served, (cost_usd, chosen) in list(tables[count].items()):
                    total = cost_usd + restaurant.cost_usd
                    at = tables[count + 1].get(served | mask)
                    if at is None or total < at[0]:
                        tables[count + 1][served | mask] = (total, (*chosen, restaurant))
        return [_undominated(table) for table in tables]

    def _mask(self, restaurant: Restaurant) -> int:
        served = {cuisine.casefold() for cuisine in restaurant.cuisines}
        return sum(1 << at for at, cuisine in enumerate(self.cuisines) if cuisine.casefold() in served)


def _undominated(table: Table) -> Table:
    """The choices without those that serve no more than a choice that costs no more."""
    kept: dict[int, tuple[int, tuple[Restaurant, ...]]] = {}
    for served, choice in sorted(table.items(), key=lambda item: (item[1][0], -item[0].bit_count())):
        if not any(served & other == served for other in kept):
            kept[served] = choice
    return kept


def _joined(tables: Sequence[Table], every: int) -> tuple[int, tuple[tuple[Restaurant, ...], ...]] | None:
    """The cheapest meals of all cities that serve every cuisine together."""
    joined: dict[int, tuple[int, tuple[tuple[Restaurant, ...], ...]]] = {0: (0, ())}
    for table in tables:
        more: dict[int, tuple[int, tuple[tuple[Restaurant, ...], ...]]] = {}
        for served, (cost_usd, meals) in joined.items():
            for mask, (added_usd, chosen) in table.items():
                at, total = more.get(served | mask), cost_usd + added_usd
                if at is None or total < at[0]:
                    more[served | mask] = (total, (*meals, chosen))
        joined = more
    return joined.get(every)


def _fits(extras: Sequence[int]) -> bool:
    """Whether meals on days of travel find room: three a day, in the city left or reached."""
    room = 3  # of the day of arrival
    for extra in extras:
        room = 3 - max(0, extra - room)
        if room < 0:
            return False
    return True


def _missing_fields(days: int, cities: int) -> int:
    """How many meals on days of travel a plan needs so that half of its fields say something.

    A full day has five of six; a day of travel has transport, an attraction and, but for the last, a lodging.

    >>> _missing_fields(7, 3), _missing_fields(3, 2)
    (0, 1)
    """
    travel = cities + 1
    return max(0, 3 * days - 5 * (days - travel) - 3 * travel + 1)


def _written(outline: _Outline, sandbox: TravelSandbox) -> Days:
    """The outline as days in the published form, with more meals on days of travel as the budget allows."""
    needs = sandbox.needs
    days = [_blank(number, outline, needs.origin) for number in range(1, needs.days + 1)]
    for at, (city, meals) in enumerate(zip(outline.cities, outline.meals, strict=True)):
        start, end = outline.travel_days[at], outline.travel_days[at + 1]
        eaten = iter(sorted(meals, key=lambda meal: meal.cost_usd))
        slots = [(day, meal) for day in range(start + 1, end) for meal in MEALS]
        slots += [(start, meal) for meal in reversed(MEALS)] + [(end, meal) for meal in MEALS]
        for day, meal in slots:
            if days[day - 1][meal] == "-" and (restaurant := next(eaten, None)):
                days[day - 1][meal] = f"{restaurant.name}, {city}"
        _add_attractions(days, outline, at, sandbox)
    _add_meals(days, outline, sandbox)
    return days


def _blank(number: int, outline: _Outline, origin: str) -> dict[str, str | int]:
    """A day with its city, way and lodging, as yet without meals and attractions."""
    at = sum(day < number for day in outline.travel_days)  # legs that are behind
    is_travel = number in outline.travel_days
    here = outline.cities[at - 1] if at else origin
    there = outline.cities[at] if at < len(outline.cities) else origin
    night = outline.lodgings[number - 1] if number <= len(outline.lodgings) else None
    return {
        "days": number,
        "current_city": f"from {here} to {there}" if is_travel else here,
        "transportation": _way_text(outline.ways[at]) if is_travel else "-",
        "breakfast": "-",
        "attraction": "-",
        "lunch": "-",
        "dinner": "-",
        "accommodation": f"{night.name}, {night.city}" if night else "-",
    }


def _way_text(way: Way) -> str:
    ends = f"from {way.origin} to {way.destination}"
    if isinstance(way, Flight):
        return (
            f"Flight Number: {way.number}, {ends}, Departure Time: {way.departs}, Arrival Time: {way.arrives}"
        )
    amounts = f"duration: {way.duration}, distance: {way.distance}, cost: {way.price_usd}"
    return f"{way.mode.capitalize()}, {ends}, {amounts}"


def _add_attractions(
    days: list[dict[str, str | int]], outline: _Outline, at: int, sandbox: TravelSandbox
) -> None:
    """One or two on every full day, one on the day of leaving, one on that of an early arrival."""
    start, end = outline.travel_days[at], outline.travel_days[at + 1]
    city = outline.cities[at]
    rows = sandbox.attractions_in(city)
    full = list(range(start + 1, end))
    is_short = _missing_fields(sandbox.needs.days, len(outline.cities)) > 0
    wanted = [*full, end, *([start] if is_short or _arrives_early(outline.ways[at]) else []), *full]
    for day, row in zip(wanted, rows, strict=False):
        text = days[day - 1]["attraction"]
        written = "" if text == "-" else str(text)
        days[day - 1]["attraction"] = f"{written}{row.name}, {row.city};"


def _add_meals(days: list[dict[str, str | int]], outline: _Outline, sandbox: TravelSandbox) -> None:
    """Dinner where one arrives early and breakfast where one leaves, the cheapest that are left."""
    spare = sandbox.needs.budget_usd - sum(line.cost_usd for line in cost_lines(days, sandbox))
    for at, city in enumerate(outline.cities):
        used = {str(day[meal]) for day in days for meal in MEALS}
        rows = sorted(sandbox.restaurants_in(city), key=lambda row: row.cost_usd)
        left = [row for row in rows if f"{row.name}, {city}" not in used]
        slots = [(outline.travel_days[at + 1], "breakfast")]
        if _arrives_early(outline.ways[at]):
            slots.append((outline.travel_days[at], "dinner"))
        for (day, meal), row in zip(slots, left, strict=False):
            cost_usd = row.cost_usd * sandbox.needs.people
            if days[day - 1][meal] == "-" and cost_usd <= spare:
                days[day - 1][meal] = f"{row.name}, {city}"
                spare -= cost_usd


def _arrives_early(way: Way) -> bool:
    """Whether there is an evening left: a flight that lands by 19:00 on its day, or a ride of a day."""
    if isinstance(way, Flight):
        return way.departs < way.arrives <= _LATE
    hours = way.duration.split(" hour")[0] if " hour" in way.duration else "0"
    return "day" not in way.duration and hours.isdigit() and int(hours) <= _LONG_RIDE_H
