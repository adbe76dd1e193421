"""What a plan costs by the objective: stops by number, day by day at the earliest times."""

from dataclasses import dataclass, field

from tools.itinerary.hours import Interval
from tools.itinerary.objective import FULL_WISH, MEAL_M, PLAIN_WISH, Weights
from tools.itinerary.preferences import crowded_minutes
from tools.itinerary.terrain import FAR

CODE = 4
"""A stop is its spot times CODE, plus the number of the meal that is had there, from 1; 0: none."""
KEPT_DAYS = 400_000

Order = tuple[int, ...]
Solution = list[Order]
Priced = tuple[float, int, int]
"""What a day costs, its metres, and when it is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MealTime:
    """A meal of every day: from when to when, how long, and when people have it."""

    name: str
    start_min: int
    end_min: int
    minutes: int
    ideal_min: int


@dataclass(slots=True, kw_only=True)
class SpotTable:
    """The places by number: how long one stays, prices, hours by day, what they are good for.

    `worth` is what a place that was asked for is worth; `wish` the number of the kind that wishes for it, −1
    for none. Those with neither are there for meals alone. `preference_m` is what a stop costs by what the
    traveller prefers, `crowd_m` each minute of it in the hours in which famous places are full.
    """

    stay_min: list[int]
    price: list[float]
    open_min: list[list[tuple[Interval, ...] | None]]
    feeds: list[bool]
    worth: list[float]
    wish: list[int]
    fame: list[float]
    is_unsure: list[bool]
    preference_m: list[float]
    crowd_m: list[float]


@dataclass(slots=True, kw_only=True)
class Tours:
    """One trip, and what each way to make it costs.

    `starts` and `ends` hold the number of the place where each day starts and ends; −1: where the night
    before was spent, and wherever the last stop is. `before` has, by spot, those that must come earlier.
    `late_min` says by how many minutes a day begins later than the others.
    """

    spots: SpotTable
    minutes: list[list[int]]
    metres: list[list[int]]
    starts: list[int]
    ends: list[int]
    start_min: int
    end_min: int
    before: dict[int, frozenset[int]]
    after: dict[int, frozenset[int]]
    meals: tuple[MealTime, ...]
    wish_values: list[list[float]]
    weights: Weights
    is_on_foot: bool
    minute_as_m: int
    max_walk_m: int | None
    max_leg_min: int | None
    budget: float | None
    musts: list[int]
    late_min: dict[int, int] = field(default_factory=dict)
    _kept: dict[tuple[int, int, int, Order], Priced | None] = field(default_factory=dict)
    _like: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Days on which everything is open at the same times share what was computed for them."""
        profiles: dict[tuple[object, ...], int] = {}
        for day in range(len(self.starts)):
            hours = tuple(row[day] for row in self.spots.open_min)
            profile = (self.late_min.get(day, 0), *hours)
            self._like.append(profiles.setdefault(profile, day))

    # One day

    def day(self, day: int, start: int, end: int, order: Order) -> Priced | None:
        """What a day costs in that order at the earliest times; None: a rule forbids it."""
        key = (self._like[day], start, end, order)
        try:
            return self._kept[key]
        except KeyError:
            pass
        if len(self._kept) > KEPT_DAYS:
            self._kept.clear()
        priced = self._kept[key] = self._priced(day, start, end, order)
        return priced

    def _priced(self, day: int, start: int, end: int, order: Order) -> Priced | None:
        weights, spots = self.weights, self.spots
        clock, metres, way_cost, soft, busy = self.start_min + self.late_min.get(day, 0), 0, 0, 0.0, 0
        at = start
        for code in order:
            spot, meal = code // CODE, code % CODE
            if at >= 0:
                step_min, step_m = self.minutes[at][spot], self.metres[at][spot]
                if step_min >= FAR or (self.max_leg_min is not None and step_min > self.max_leg_min):
                    return None
                clock += step_min
                metres += step_m
                way_cost += step_m if self.is_on_foot else self.minute_as_m * step_min
                busy += 0 if self.is_on_foot else step_min
            timed = self.stay(day, spot, meal, clock)
            if timed is None:
                return None
            arrive, leave, closes = timed
            if meal:
                soft += weights.meal_m * abs(arrive - self.meals[meal - 1].ideal_min)
            if closes is not None and closes - leave < weights.closing_min:
                soft += weights.closing_m * (weights.closing_min - (closes - leave))
            if spots.is_unsure[spot]:
                soft += weights.unknown_hours_m
            soft += spots.preference_m[spot]
            if spots.crowd_m[spot]:
                soft += spots.crowd_m[spot] * crowded_minutes(arrive, leave)
            busy += leave - arrive
            clock, at = leave, spot
        if end >= 0 and at >= 0 and at != end:
            step_min, step_m = self.minutes[at][end], self.metres[at][end]
            if step_min >= FAR or (self.max_leg_min is not None and step_min > self.max_leg_min):
                return None
            clock += step_min
            metres += step_m
            way_cost += step_m if self.is_on_foot else self.minute_as_m * step_min
            busy += 0 if self.is_on_foot else step_min
        if clock > self.end_min or (
            self.is_on_foot and self.max_walk_m is not None and metres > self.max_walk_m
        ):
            return None
        cost = way_cost + weights.minute_m * (clock - self.start_min) + soft + self.even_cost(busy)
        return cost, metres, clock

    def even_cost(self, busy_min: int) -> float:
        """What so many minutes of stays and rides cost: twice as many cost four times as much."""
        return self.weights.even_m * busy_min * busy_min / (self.end_min - self.start_min)

    def stay(self, day: int, spot: int, meal: int, ready: int) -> tuple[int, int, int | None] | None:
        """The earliest stay from `ready` on: arrival, end, and when the door closes (None: not known)."""
        stay_min = self.spots.stay_min[spot]
        latest = self.end_min
        if meal:
            wanted = self.meals[meal - 1]
            stay_min = max(stay_min, wanted.minutes)
            ready = max(ready, wanted.start_min)
            latest = wanted.end_min - wanted.minutes
            if ready > latest:
                return None
        hours = self.spots.open_min[spot][day]
        if hours is None:
            return (ready, ready + stay_min, None) if ready + stay_min <= self.end_min else None
        for opens, closes in hours:
            arrive = max(ready, opens)
            if arrive + stay_min <= closes:
                if arrive + stay_min > self.end_min or (meal and arrive > latest):
                    return None
                return arrive, arrive + stay_min, closes
        return None

    def times(self, day: int, order: Order, start: int) -> list[tuple[int, int, int]]:
        """Spot, arrival and end of every stay of a day that can be kept."""
        clock, at, rows = self.start_min + self.late_min.get(day, 0), start, []
        for code in order:
            clock += self.minutes[at][code // CODE] if at >= 0 else 0
            timed = self.stay(day, code // CODE, code % CODE, clock)
            if timed is None:
                raise ValueError("the day cannot be kept")
            rows.append((code // CODE, timed[0], timed[1]))
            clock, at = timed[1], code // CODE
        return rows

    # A whole trip

    def places_of(self, solution: Solution) -> list[tuple[int, int]]:
        """Where each day starts and ends; −1: nowhere in particular."""
        pairs, at = [], self.starts[0]
        for day, order in enumerate(solution):
            start = self.starts[day] if self.starts[day] >= 0 else at
            end = self.ends[day]
            at = end if end >= 0 else (order[-1] // CODE if order else start)
            pairs.append((start, end))
        return pairs

    def days_cost(self, solution: Solution, first: int = 0) -> float | None:
        """What the days from `first` on cost; None: one of them cannot be kept."""
        total = 0.0
        for day, (start, end) in enumerate(self.places_of(solution)):
            if day >= first:
                priced = self.day(day, start, end, solution[day])
                if priced is None:
                    return None
                total += priced[0]
        return total

    def missing_cost(self, solution: Solution) -> float:
        """What is not done costs: places asked for above all, then meals, then wishes."""
        visited = {code // CODE for order in solution for code in order}
        total = sum(self.spots.worth[spot] for spot in self.musts if spot not in visited)
        total += MEAL_M * len(self.unfed(solution))
        for kind, values in enumerate(self.wish_values):
            served = sorted(
                (self.spots.fame[spot] for spot in visited if self.spots.wish[spot] == kind), reverse=True
            )
            shares = [PLAIN_WISH + fame for fame in served] + [0.0] * len(values)
            total += sum(value * (FULL_WISH - share) for value, share in zip(values, shares, strict=False))
        return total

    def cost(self, solution: Solution) -> float | None:
        """What a whole plan costs; None: it cannot be kept."""
        days = self.days_cost(solution)
        return None if days is None else days + self.missing_cost(solution)

    def unfed(self, solution: Solution) -> list[tuple[int, int]]:
        """The meals that are missing: day and number of the meal, from 1."""
        return [
            (day, meal)
            for day, order in enumerate(solution)
            for meal in range(1, len(self.meals) + 1)
            if all(code % CODE != meal for code in order)
        ]

    def spent(self, solution: Solution) -> float:
        """What all stops cost in money."""
        return sum(self.spots.price[code // CODE] for order in solution for code in order)
