"""Builds plans of any size by cheapest insertion; makes them better by rebuilding one part after another."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tools.itinerary.hours import Interval
from tools.itinerary.objective import (
    FULL_WISH,
    MEAL_M,
    MUST_M,
    PLAIN_WISH,
    STOPS_A_DAY,
    WISHES_A_DAY,
    Weights,
)
from tools.itinerary.terrain import FAR

CODE = 4
"""A stop is its spot times CODE, plus the number of the meal that is had there, from 1; 0: none."""
POSITIONS = 6
"""Positions within a day that are tried for a stop: those with the shortest detour."""
PER_POSITION = 4
"""How many of several stops are tried at each position: those with the shortest detour."""
KEPT_DAYS = 400_000
EXACT_STOPS = 7
"""A day of up to that many stops is put into its best order by trying all orders."""

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
    for none. Those with neither are there for meals alone.
    """

    stay_min: list[int]
    price: list[float]
    open_min: list[list[tuple[Interval, ...] | None]]
    feeds: list[bool]
    worth: list[float]
    wish: list[int]
    fame: list[float]
    is_unsure: list[bool]


@dataclass(slots=True, kw_only=True)
class Search:
    """One trip, and everything the search needs of it.

    `starts` and `ends` hold the number of the place where each day starts and ends; −1: where the night
    before was spent, and wherever the last stop is. `before` has, by spot, those that must come earlier.
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
    wished: list[int]
    eateries: list[int]
    chance: random.Random
    _kept: dict[tuple[int, int, int, Order], Priced | None] = field(default_factory=dict)
    _like: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Days on which everything is open at the same times share what was computed for them."""
        profiles: dict[tuple[object, ...], int] = {}
        for day in range(len(self.starts)):
            profile = tuple(row[day] for row in self.spots.open_min)
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
        clock, metres, way_cost, soft, busy = self.start_min, 0, 0, 0.0, 0
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
        clock, at, rows = self.start_min, start, []
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

    # Putting stops in

    def insert(self, solution: Solution, codes: Sequence[int], days: Iterable[int]) -> float | None:
        """Put in the one of these stops, at the day and place, that costs least; None: none fits.

        The change is made in `solution`.
        """
        best: tuple[float, int, Order] | None = None
        ends = self.places_of(solution)
        for day in days:
            order, (start, end) = solution[day], ends[day]
            old = self.day(day, start, end, order)
            if old is None:
                continue
            spots = [code // CODE for code in order]
            by_position: dict[int, list[tuple[int, int, int]]] = {}
            for code in codes:
                first, last = self._range(solution, day, code // CODE)
                for position in range(first, last + 1):
                    detour = self._detour(spots, start, end, position, code // CODE)
                    by_position.setdefault(position, []).append((detour, position, code))
            most = PER_POSITION if len(codes) > 1 else 1
            places = sorted(place for row in by_position.values() for place in sorted(row)[:most])
            for _, position, code in places[: POSITIONS if len(codes) == 1 else len(places)]:
                new_order = (*order[:position], code, *order[position:])
                priced = self.day(day, start, end, new_order)
                if priced is None:
                    continue
                added = priced[0] - old[0]
                if best is not None and added >= best[0]:
                    continue
                if end < 0 and position == len(order):  # the next day then starts elsewhere
                    later = self._later(solution, day, new_order)
                    if later is None:
                        continue
                    added += later
                if best is None or added < best[0]:
                    best = (added, day, new_order)
        if best is None:
            return None
        solution[best[1]] = best[2]
        return best[0]

    def _later(self, solution: Solution, day: int, new_order: Order) -> float | None:
        """How much more the later days cost when a day ends elsewhere; None: they cannot be kept then."""
        old = self.days_cost(solution, day + 1)
        new = self.days_cost([*solution[:day], new_order, *solution[day + 1 :]], day + 1)
        return None if old is None or new is None else new - old

    def _detour(self, spots: list[int], start: int, end: int, position: int, spot: int) -> int:
        earlier = spots[position - 1] if position else start
        later = spots[position] if position < len(spots) else end
        metres = self.metres if self.is_on_foot else self.minutes
        there = metres[earlier][spot] if earlier >= 0 else 0
        on = metres[spot][later] if later >= 0 else 0
        return there + on - (metres[earlier][later] if earlier >= 0 and later >= 0 else 0)

    def _range(self, solution: Solution, day: int, spot: int) -> tuple[int, int]:
        """Between which positions of a day a spot may stand without breaking the order; empty: nowhere."""
        firsts, thens = self.before.get(spot), self.after.get(spot)
        order = solution[day]
        if not firsts and not thens:
            return 0, len(order)
        low, high = 0, len(order)
        for other, stops in enumerate(solution):
            for position, code in enumerate(stops):
                if firsts and code // CODE in firsts:
                    if other > day:
                        return 0, -1
                    low = max(low, position + 1) if other == day else low
                if thens and code // CODE in thens:
                    if other < day:
                        return 0, -1
                    high = min(high, position) if other == day else high
        return low, high

    # The search

    def fill(self, solution: Solution, days: Sequence[int], *, has_noise: bool) -> None:
        """Put in what is missing: places asked for, meals, wishes."""
        every = range(len(solution))
        visited = {code // CODE for order in solution for code in order}
        for spot in self._ranked([spot for spot in self.musts if spot not in visited], has_noise=has_noise):
            if self._affords(solution, spot):
                codes = [spot * CODE]
                if self.spots.feeds[spot]:
                    codes += [spot * CODE + meal for meal in range(1, len(self.meals) + 1)]
                self._insert_must(solution, codes, every)
        for day, meal in self.unfed(solution):
            visited = {code // CODE for order in solution for code in order}
            taken = self._feeder(solution, day, meal)
            if taken is not None:
                solution[day] = taken
                continue
            codes = [
                spot * CODE + meal
                for spot in self.eateries
                if spot not in visited and self._affords(solution, spot)
            ]
            self.insert(solution, codes, (day,))
        self._wish(solution, days if has_noise else every)

    def _insert_must(self, solution: Solution, codes: list[int], days: Iterable[int]) -> None:
        """Have a place to eat that was asked for as a meal that is still missing, where that can be."""
        missing = self.unfed(solution)
        for code in codes[1:]:
            meal_days = [day for day, meal in missing if meal == code % CODE]
            if meal_days and self.insert(solution, [code], meal_days) is not None:
                return
        self.insert(solution, codes[:1], days)

    def _feeder(self, solution: Solution, day: int, meal: int) -> Order | None:
        """The day with one of its stops made the meal, where that can be kept."""
        start, end = self.places_of(solution)[day]
        order = solution[day]
        for position, code in enumerate(order):
            if code % CODE == 0 and self.spots.feeds[code // CODE]:
                new_order = (*order[:position], code + meal, *order[position + 1 :])
                if self.day(day, start, end, new_order) is not None:
                    return new_order
        return None

    def _wish(self, solution: Solution, days: Iterable[int]) -> None:
        if not self.wished:
            return
        served = [0] * len(self.wish_values)
        visited = {code // CODE for order in solution for code in order}
        for spot in visited:
            if self.spots.wish[spot] >= 0:
                served[self.spots.wish[spot]] += 1
        while True:
            values = sorted(
                ((self.wish_values[kind][count], kind) for kind, count in enumerate(served)
                 if count < len(self.wish_values[kind])), reverse=True
            )  # fmt: skip
            for value, kind in values:
                roomy = [day for day in days if self._has_room(solution[day], kind)]
                codes = [
                    spot * CODE
                    for spot in self.wished
                    if self.spots.wish[spot] == kind and spot not in visited and self._affords(solution, spot)
                ]
                before = list(solution)
                added = self.insert(solution, codes, roomy) if codes and roomy else None
                if added is None:
                    continue
                spot = next(iter({c // CODE for o in solution for c in o} - visited))
                if added > value * (PLAIN_WISH + self.spots.fame[spot]):
                    solution[:] = before
                    continue
                visited.add(spot)
                served[kind] += 1
                break
            else:
                return

    def _has_room(self, order: Order, kind: int) -> bool:
        """Whether a day bears another stop, of that kind."""
        spots = [code // CODE for code in order if code % CODE == 0]
        of_kind = [spot for spot in spots if self.spots.wish[spot] == kind]
        most = 1 if any(self.spots.feeds[spot] for spot in of_kind) else WISHES_A_DAY
        return len(spots) < STOPS_A_DAY and len(of_kind) < most

    def _affords(self, solution: Solution, spot: int) -> bool:
        if self.budget is None or not self.spots.price[spot]:
            return True
        visited = {code // CODE for order in solution for code in order}
        owed = sum(self.spots.price[must] for must in self.musts if must not in visited and must != spot)
        return self.spent(solution) + self.spots.price[spot] + owed <= self.budget + 0.005

    def _ranked(self, spots: list[int], *, has_noise: bool) -> list[int]:
        """The order in which places are put in: the most important first, then those hardest to place."""
        open_for = {
            spot: sum(
                sum(end - start for start, end in hours) if hours is not None else 1440
                for hours in self.spots.open_min[spot]
            )
            for spot in spots
        }
        if has_noise and self.chance.random() < 0.6:
            self.chance.shuffle(spots)
            spots.sort(key=lambda spot: -round(self.spots.worth[spot] / MUST_M, 1))
            return spots
        return sorted(
            spots, key=lambda spot: (-round(self.spots.worth[spot] / MUST_M, 1), open_for[spot], spot)
        )

    def improve(
        self,
        solution: Solution,
        *,
        is_over: Callable[[], bool],
        rounds: int,
        patience: int,
        floor: float = 0.0,
    ) -> Solution:
        """Take a part out and put it back, over and over; the best plan there was.

        Ends after so many rounds, after `patience` of them without a better plan, when the plan costs no
        more than `floor`, or when `is_over`.
        """
        best = current = list(solution)
        best_cost = current_cost = self.cost(solution)
        if best_cost is None or current_cost is None:
            raise ValueError("the plan to start from cannot be kept")
        idle = 0
        for number in range(rounds):
            if idle >= patience or best_cost <= floor + 1e-6 or is_over():
                break
            candidate = self._without_a_part(current)
            self.fill(candidate, range(len(candidate)), has_noise=True)
            cost = self.cost(candidate)
            idle += 1
            if cost is None:
                continue
            heat = 1.0 + 0.02 * (1 - number / rounds)
            if cost < current_cost or (cost <= best_cost * heat and self.chance.random() < 0.3):
                current, current_cost = candidate, cost
            if cost < best_cost - 1e-6:
                best, best_cost, idle = list(candidate), cost, 0
                polished = self.polished(best)
                polished_cost = self.cost(polished)
                if polished_cost is not None and polished_cost < best_cost:
                    best, best_cost = polished, polished_cost
                    current, current_cost = list(polished), polished_cost
        polished = self.polished(best)
        cost = self.cost(polished)
        return polished if cost is not None and cost < best_cost else best

    def _without_a_part(self, solution: Solution) -> Solution:
        """A plan without some stops: those around one of them, those of one or two days, or any."""
        stops = [(day, code) for day, order in enumerate(solution) for code in order]
        if not stops:
            return list(solution)
        chance, way = self.chance, self.metres
        count = min(len(stops), 1 + chance.randrange(max(2, min(12, len(stops)))))
        kind = chance.random()
        if kind < 0.45:
            centre = chance.choice(stops)[1] // CODE
            near = sorted(stops, key=lambda stop: way[centre][stop[1] // CODE])
            gone = {code for _, code in near[:count]}
        elif kind < 0.75:
            days = set(chance.sample(range(len(solution)), min(len(solution), chance.randint(1, 2))))
            gone = {code for day, code in stops if day in days}
        else:
            gone = {code for _, code in chance.sample(stops, count)}
        if chance.random() < 0.5:  # meals and wishes stand in the way of what was asked for
            days = {day for day, code in stops if code in gone}
            gone |= {code for day, code in stops if day in days and self.spots.worth[code // CODE] == 0}
        kept = [tuple(code for code in order if code not in gone) for order in solution]
        # Without its neighbours a stop may be out of reach; such a day is emptied.
        for day, (start, end) in enumerate(self.places_of(kept)):
            if self.day(day, start, end, kept[day]) is None:
                kept[day] = ()
        return kept if self.days_cost(kept) is not None else [() for _ in solution]

    def polished(self, solution: Solution) -> Solution:
        """Every day in its best order, as far as that leaves the other days as they are."""
        better = list(solution)
        for day in range(len(better)):
            start, end = self.places_of(better)[day]
            order = self._best_order(day, start, end, better)
            changed = [*better[:day], order, *better[day + 1 :]]
            old, new = self.days_cost(better), self.days_cost(changed)
            if old is not None and new is not None and new < old:
                better = changed
        return better

    def _best_order(self, day: int, start: int, end: int, solution: Solution) -> Order:
        """The best order of a day's stops: exact up to EXACT_STOPS, else by reversing and moving parts."""
        order = solution[day]
        priced = self.day(day, start, end, order)
        if priced is None or len(order) < 2:
            return order
        if len(order) <= EXACT_STOPS:
            return self._exact_order(day, start, end, order, priced[0])
        best, best_cost, is_better = order, priced[0], True
        while is_better:
            is_better = False
            for new_order in _neighbours(best):
                new = self.day(day, start, end, new_order)
                if new is not None and new[0] < best_cost - 1e-9 and self._keeps_order(new_order):
                    best, best_cost, is_better = new_order, new[0], True
                    break
        return best

    def _keeps_order(self, order: Order) -> bool:
        if not self.before:
            return True
        seen: set[int] = set()
        here = {code // CODE for code in order}
        for code in order:
            if (self.before.get(code // CODE, frozenset()) & here) - seen:
                return False
            seen.add(code // CODE)
        return True

    def _exact_order(self, day: int, start: int, end: int, order: Order, at_most: float) -> Order:
        """Depth first over all orders, cut off where the way so far alone costs more than the best plan."""
        best = (at_most, order)
        metres, minutes, minute_m = self.metres, self.minutes, self.weights.minute_m

        def walk(done: Order, left: Order, at: int, clock: int, way_cost: int) -> None:
            nonlocal best
            if not left:
                priced = self.day(day, start, end, done)
                if priced is not None and priced[0] < best[0] - 1e-9:
                    best = (priced[0], done)
                return
            for code in left:
                spot = code // CODE
                waiting = self.before.get(spot)
                if waiting and any(other // CODE in waiting for other in left if other != code):
                    continue
                step_min, step_m = (minutes[at][spot], metres[at][spot]) if at >= 0 else (0, 0)
                if step_min >= FAR:
                    continue
                timed = self.stay(day, spot, code % CODE, clock + step_min)
                if timed is None:
                    continue
                cost = way_cost + (step_m if self.is_on_foot else self.minute_as_m * step_min)
                if cost + minute_m * (timed[1] - self.start_min) >= best[0]:
                    continue
                rest = tuple(other for other in left if other != code)
                walk((*done, code), rest, spot, timed[1], cost)

        walk((), order, start, self.start_min, 0)
        return best[1]


def _neighbours(order: Order) -> Iterable[Order]:
    """The orders with one part reversed, or up to three stops moved elsewhere."""
    count = len(order)
    for first in range(count):
        for last in range(first + 2, count + 1):
            yield (*order[:first], *reversed(order[first:last]), *order[last:])
    for length in (1, 2, 3):
        for first in range(count - length + 1):
            part, rest = order[first : first + length], (*order[:first], *order[first + length :])
            for position in range(len(rest) + 1):
                if position != first:
                    yield (*rest[:position], *part, *rest[position:])
