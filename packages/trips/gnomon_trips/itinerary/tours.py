"""Computes a plan's cost by the objective: stops by number, day by day at the earliest times."""

from dataclasses import dataclass, field

from gnomon_trips.itinerary.hours import Interval
from gnomon_trips.itinerary.objective import FULL_WISH, MEAL_M, PLAIN_WISH, Weights
from gnomon_trips.itinerary.preferences import crowded_minutes
from gnomon_trips.itinerary.terrain import FAR

CODE = 4
"""A stop is its spot times CODE, plus the number of the meal that is had there, from 1; 0: none."""
KEPT_DAYS, KEPT_FRAMES = 400_000, 50_000
LATE_MIN = 60  # nobody minds so long a wait for the first door of a day

Order = tuple[int, ...]
Solution = list[Order]
Priced = tuple[float, int, int]
"""What a day costs, its metres, and when it is over."""
State = tuple[int, int, int, float, float, int]
"""On the way: the minute, metres, what the ways cost, what else costs, minutes of stays and rides, where."""
NEVER = -(10**9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A day that can be kept, as a place to put stops into.

    `states` has what is so before each stop and after the last, `latest` until when each stop, and the end
    of the day, must be reached for the rest of the day to be kept.
    """

    day: int
    start: int
    end: int
    order: Order
    priced: Priced
    states: tuple[State, ...]
    latest: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MealTime:
    """A meal: on which days, from when to when, how long, and when people have it."""

    name: str
    start_min: int
    end_min: int
    minutes: int
    ideal_min: int
    days: frozenset[int]


@dataclass(slots=True, kw_only=True)
class SpotTable:
    """The places by number: how long one stays, prices, hours by day, what they are good for.

    `worth` is what a place that was asked for is worth; `wish` the number of the kind that wishes for it, −1
    for none. Those with neither are there for meals alone. `chosen_m` is what a stop costs that nobody asked
    for, `crowd_m` each minute of a stay in the hours in which famous places are full, `meal_m` what each meal
    there costs; spots of one `group` are one place or branches of one chain.
    """

    stay_min: list[int]
    price: list[float]
    open_min: list[list[tuple[Interval, ...] | None]]
    feeds: list[bool]
    worth: list[float]
    wish: list[int]
    fame: list[float]
    chosen_m: list[float]
    crowd_m: list[float]
    meal_m: list[tuple[float, ...]]
    group: list[int]


@dataclass(slots=True, kw_only=True)
class Tours:
    """One trip, and what each way to make it costs.

    `starts` and `ends` hold the number of the place where each day starts and ends; −1: where the night
    before was spent, and wherever the last stop is. `hours` say from when to when each day lasts.
    `before` has, by spot, those that must come earlier, `apart` those that must be on another day.
    `late_min` says by how many minutes a day begins later than the others. `steps` counts the stops that
    were tried and priced: what a search has spent, the same on every machine.
    """

    spots: SpotTable
    minutes: list[list[int]]
    metres: list[list[int]]
    starts: list[int]
    ends: list[int]
    hours: list[tuple[int, int]]
    before: dict[int, frozenset[int]]
    after: dict[int, frozenset[int]]
    apart: dict[int, frozenset[int]]
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
    steps: int = 0
    _kept: dict[tuple[int, int, int, Order], Priced | None] = field(default_factory=dict)
    _frames: dict[tuple[int, int, int, Order], Frame | None] = field(default_factory=dict)
    _like: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Days on which everything is open at the same times share what was computed for them."""
        profiles: dict[tuple[object, ...], int] = {}
        self._like.clear()
        for day in range(len(self.starts)):
            hours = tuple(row[day] for row in self.spots.open_min)
            profile = (self.first_min(day), *self.hours[day], *hours)
            self._like.append(profiles.setdefault(profile, day))

    # One day

    def first_min(self, day: int) -> int:
        return self.hours[day][0] + self.late_min.get(day, 0)

    def day(self, day: int, start: int, end: int, order: Order) -> Priced | None:
        """The cost of a day in that order at the earliest times; None: a rule forbids it."""
        key = (self._like[day], start, end, order)
        try:
            return self._kept[key]
        except KeyError:
            pass
        if len(self._kept) > KEPT_DAYS:
            self._kept.clear()
        state = self._walked(day, self._first(day, start), order)
        priced = self._kept[key] = None if state is None else self._closed(day, state, end)
        return priced

    def _first(self, day: int, start: int) -> State:
        return self.first_min(day), 0, 0, 0.0, 0.0, start

    def _walked(self, day: int, state: State, codes: Order) -> State | None:
        """The state after these stops; None: a rule forbids one of them."""
        weights, spots = self.weights, self.spots
        clock, metres, way_cost, soft, busy, at = state
        is_first = clock == self.first_min(day)
        self.steps += len(codes)
        for code in codes:
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
            if is_first:
                soft += weights.late_m * max(0, arrive - clock - LATE_MIN)
                is_first = False
            if meal:
                soft += weights.meal_m * abs(arrive - self.meals[meal - 1].ideal_min)
                soft += spots.meal_m[spot][meal - 1]
            if closes is not None and closes - leave < weights.closing_min:
                soft += weights.closing_m * (weights.closing_min - (closes - leave))
            soft += spots.chosen_m[spot]
            if spots.crowd_m[spot]:
                soft += spots.crowd_m[spot] * crowded_minutes(arrive, leave)
            is_wish = not meal and not spots.worth[spot]
            busy += weights.wish_even * (leave - arrive) if is_wish else leave - arrive
            clock, at = leave, spot
        return clock, metres, way_cost, soft, busy, at

    def _closed(self, day: int, state: State, end: int) -> Priced | None:
        """The cost of a day that ends after this state; None: it ends too late or too far."""
        clock, metres, way_cost, soft, busy, at = state
        soft += 0 if busy else self.weights.empty_m
        if end >= 0 and at >= 0 and at != end:
            step_min, step_m = self.minutes[at][end], self.metres[at][end]
            if step_min >= FAR or (self.max_leg_min is not None and step_min > self.max_leg_min):
                return None
            clock += step_min
            metres += step_m
            way_cost += step_m if self.is_on_foot else self.minute_as_m * step_min
            busy += 0 if self.is_on_foot else step_min
        first_min, last_min = self.hours[day]
        is_too_far = self.is_on_foot and self.max_walk_m is not None and metres > self.max_walk_m
        if clock > last_min or is_too_far:
            return None
        even = self.weights.even_m * busy * busy / (last_min - first_min)
        cost = way_cost + self.weights.minute_m * (clock - first_min) + soft + even
        return cost, metres, clock

    # A stop put into a day

    def frame(self, day: int, start: int, end: int, order: Order) -> Frame | None:
        """A day as a place to put stops into; None: it cannot be kept as it is."""
        key = (self._like[day], start, end, order)
        try:
            return self._frames[key]
        except KeyError:
            pass
        if len(self._frames) > KEPT_FRAMES:
            self._frames.clear()
        framed = self._frames[key] = self._framed(day, start, end, order)
        return framed

    def _framed(self, day: int, start: int, end: int, order: Order) -> Frame | None:
        states = [self._first(day, start)]
        for code in order:
            state = self._walked(day, states[-1], (code,))
            if state is None:
                return None
            states.append(state)
        priced = self._closed(day, states[-1], end)
        if priced is None:
            return None
        latest = [self.hours[day][1]]
        ahead = end
        for code in reversed(order):
            way_min = self.minutes[code // CODE][ahead] if ahead >= 0 and ahead != code // CODE else 0
            latest.append(self.latest(day, code, latest[-1] - way_min))
            ahead = code // CODE
        return Frame(
            day=day,
            start=start,
            end=end,
            order=order,
            priced=priced,
            states=tuple(states),
            latest=tuple(reversed(latest)),
        )

    def latest(self, day: int, code: int, until: int) -> int:
        """The latest time to reach a stop so that the stay is over by then; NEVER: there is none."""
        spot, meal = code // CODE, code % CODE
        stay_min, first, last = self.spots.stay_min[spot], 0, until
        if meal:
            wanted = self.meals[meal - 1]
            stay_min = max(stay_min, wanted.minutes)
            first, last = wanted.start_min, wanted.end_min - wanted.minutes
        hours = self.spots.open_min[spot][day]
        spans = ((0, until),) if hours is None else hours
        for opens, closes in reversed(spans):
            latest = min(min(closes, until) - stay_min, last)
            if latest >= max(opens, first):
                return latest
        return NEVER

    def detour(self, frame: Frame, position: int, code: int) -> int | None:
        """How much longer a day's way is with a stop at that position; None: no such day can be kept."""
        self.steps += 1
        clock, _, _, _, _, at = frame.states[position]
        spot, order = code // CODE, frame.order
        there_min = there_m = on_min = on_m = past_min = past_m = 0
        if at >= 0:
            there_min, there_m = self.minutes[at][spot], self.metres[at][spot]
        later = order[position] // CODE if position < len(order) else frame.end
        if later >= 0 and later != spot:
            on_min, on_m = self.minutes[spot][later], self.metres[spot][later]
        if clock + there_min + self.spots.stay_min[spot] + on_min > frame.latest[position]:
            return None  # whenever it is open
        timed = self.stay(frame.day, spot, code % CODE, clock + there_min)
        if timed is None or timed[1] + on_min > frame.latest[position]:
            return None
        if self.max_leg_min is not None and max(there_min, on_min) > self.max_leg_min:
            return None
        if at >= 0 and later >= 0 and at != later:
            past_min, past_m = self.minutes[at][later], self.metres[at][later]
        if not self.is_on_foot:
            return there_min + on_min - past_min
        added_m = there_m + on_m - past_m
        if self.max_walk_m is not None and frame.priced[1] + added_m > self.max_walk_m:
            return None
        return added_m

    def inserted(self, frame: Frame, position: int, code: int) -> Priced | None:
        """The cost of the day with a stop at that position; None: no such day can be kept."""
        state = self._walked(frame.day, frame.states[position], (code, *frame.order[position:]))
        return None if state is None else self._closed(frame.day, state, frame.end)

    def stay(self, day: int, spot: int, meal: int, ready: int) -> tuple[int, int, int | None] | None:
        """The earliest stay from `ready` on: arrival, end, and when the door closes (None: not known)."""
        stay_min = self.spots.stay_min[spot]
        end_min = latest = self.hours[day][1]
        if meal:
            wanted = self.meals[meal - 1]
            stay_min = max(stay_min, wanted.minutes)
            ready = max(ready, wanted.start_min)
            latest = wanted.end_min - wanted.minutes
            if ready > latest:
                return None
        hours = self.spots.open_min[spot][day]
        if hours is None:
            return (ready, ready + stay_min, None) if ready + stay_min <= end_min else None
        for opens, closes in hours:
            arrive = max(ready, opens)
            if arrive + stay_min <= closes:
                if arrive + stay_min > end_min or (meal and arrive > latest):
                    return None
                return arrive, arrive + stay_min, closes
        return None

    def times(self, day: int, order: Order, start: int) -> list[tuple[int, int, int]]:
        """Spot, arrival and end of every stay of a day that can be kept."""
        clock, at, rows = self.first_min(day), start, []
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
        """The cost of the days from `first` on; None: one of them cannot be kept."""
        total = 0.0
        for day, (start, end) in enumerate(self.places_of(solution)):
            if day >= first:
                priced = self.day(day, start, end, solution[day])
                if priced is None:
                    return None
                total += priced[0]
        return total

    def missing_cost(self, solution: Solution) -> float:
        """The cost of what is left undone: places asked for above all, then meals, then wishes."""
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
        """The cost of a whole plan; None: it cannot be kept."""
        days = self.days_cost(solution)
        return None if days is None else days + self.missing_cost(solution)

    def unfed(self, solution: Solution) -> list[tuple[int, int]]:
        """The meals that are missing: day and number of the meal, from 1."""
        return [
            (day, meal)
            for day, order in enumerate(solution)
            for meal, wanted in enumerate(self.meals, 1)
            if day in wanted.days and all(code % CODE != meal for code in order)
        ]
