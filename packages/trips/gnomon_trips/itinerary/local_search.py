"""Builds plans of any size by cheapest insertion; makes them better by rebuilding one part after another."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gnomon_trips.itinerary.effort import IsOver
from gnomon_trips.itinerary.objective import MUST_M, PLAIN_WISH
from gnomon_trips.itinerary.route_shape import keeps, neighbours
from gnomon_trips.itinerary.terrain import FAR
from gnomon_trips.itinerary.tours import CODE, Frame, Order, Solution, Tours

EXACT_STOPS = 7
"""A day of up to that many stops is put into its best order by trying all orders."""


def best_days(tours: Tours, solution: Solution) -> Solution:
    """Put every day into its best order, as long as other days stay as they are."""
    better = list(solution)
    for day in range(len(better)):
        start, end = tours.places_of(better)[day]
        order = _best_order(tours, day, start, end, better)
        changed = [*better[:day], order, *better[day + 1 :]]
        old, new = tours.days_cost(better), tours.days_cost(changed)
        if old is not None and new is not None and new < old:
            better = changed
    return better


def _best_order(tours: Tours, day: int, start: int, end: int, solution: Solution) -> Order:
    """The best order of a day's stops: exact up to EXACT_STOPS, else by reversing and moving parts."""
    order = solution[day]
    priced = tours.day(day, start, end, order)
    if priced is None or len(order) < 2:
        return order
    if len(order) <= EXACT_STOPS:
        return _exact_order(tours, day, start, end, order, priced[0])
    best, best_cost, is_better = order, priced[0], True
    while is_better:
        is_better = False
        for new_order in neighbours(best):
            new = tours.day(day, start, end, new_order)
            is_kept = keeps([code // CODE for code in new_order], tours.before)
            if new is not None and new[0] < best_cost - 1e-9 and is_kept:
                best, best_cost, is_better = new_order, new[0], True
                break
    return best


def _exact_order(tours: Tours, day: int, start: int, end: int, order: Order, at_most: float) -> Order:
    """Search all orders depth first; stop where the way so far costs more than the best plan."""
    best = (at_most, order)
    metres, minutes, minute_m = tours.metres, tours.minutes, tours.weights.minute_m
    day_start_min = tours.hours[day][0]

    def walk(done: Order, left: Order, at: int, clock: int, way_cost: int) -> None:
        nonlocal best
        if not left:
            priced = tours.day(day, start, end, done)
            if priced is not None and priced[0] < best[0] - 1e-9:
                best = (priced[0], done)
            return
        for code in left:
            spot = code // CODE
            waiting = tours.before.get(spot)
            if waiting and any(other // CODE in waiting for other in left if other != code):
                continue
            step_min, step_m = (minutes[at][spot], metres[at][spot]) if at >= 0 else (0, 0)
            if step_min >= FAR:
                continue
            timed = tours.stay(day, spot, code % CODE, clock + step_min)
            if timed is None:
                continue
            cost = way_cost + (step_m if tours.is_on_foot else tours.minute_as_m * step_min)
            if cost + minute_m * (timed[1] - day_start_min) >= best[0]:
                continue
            rest = tuple(other for other in left if other != code)
            walk((*done, code), rest, spot, timed[1], cost)

    walk((), order, start, tours.first_min(day), 0)
    return best[1]


POSITIONS = 6
"""Positions within a day that are tried for a stop: those with the shortest detour."""
PER_POSITION = 4
"""How many of several stops are tried at each position: those with the shortest detour."""


@dataclass(slots=True, kw_only=True)
class Search(Tours):
    """The search over all tours of a trip: from what to choose, and the chance that drives it."""

    wished: list[int]
    eateries: list[int]
    chance: random.Random

    # Putting stops in

    def insert(self, solution: Solution, codes: Sequence[int], days: Iterable[int]) -> float | None:
        """Put in the one of these stops, at the day and place, that costs least; None: none fits.

        The change is made in `solution`.
        """
        best: tuple[float, int, Order] | None = None
        ends = self.places_of(solution)
        for day in days:
            order, (start, end) = solution[day], ends[day]
            frame = self.frame(day, start, end, order)
            if frame is None:
                continue
            for position, code in self._likely(solution, frame, day, codes):
                priced = self.inserted(frame, position, code)
                if priced is None:
                    continue
                added = priced[0] - frame.priced[0]
                if best is not None and added >= best[0]:
                    continue
                new_order = (*order[:position], code, *order[position:])
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

    def _likely(
        self, solution: Solution, frame: Frame, day: int, codes: Sequence[int]
    ) -> Iterator[tuple[int, int]]:
        """Positions of a day, each with the stops that may be put in there at the shortest detours."""
        by_position: dict[int, list[tuple[int, int, int]]] = {}
        for code in codes:
            first, last = self._range(solution, day, code // CODE)
            for position in range(first, last + 1):
                detour = self.detour(frame, position, code)
                if detour is not None:
                    by_position.setdefault(position, []).append((detour, position, code))
        most = PER_POSITION if len(codes) > 1 else 1
        places = sorted(place for row in by_position.values() for place in sorted(row)[:most])
        for _, position, code in places[: POSITIONS if len(codes) == 1 else len(places)]:
            yield position, code

    def _later(self, solution: Solution, day: int, new_order: Order) -> float | None:
        """How much more the later days cost when a day ends elsewhere; None: they cannot be kept then."""
        old = self.days_cost(solution, day + 1)
        new = self.days_cost([*solution[:day], new_order, *solution[day + 1 :]], day + 1)
        return None if old is None or new is None else new - old

    def _range(self, solution: Solution, day: int, spot: int) -> tuple[int, int]:
        """Between which positions of a day a spot may stand without breaking the order; empty: nowhere."""
        firsts, thens = self.before.get(spot), self.after.get(spot)
        order = solution[day]
        if (apart := self.apart.get(spot)) and any(code // CODE in apart for code in order):
            return 0, -1
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
            usable = [
                spot for spot in self.eateries if spot not in visited and self._affords(solution, spot)
            ]  # fmt: skip
            groups = {self.spots.group[spot] for spot in visited}
            fresh = [spot * CODE + meal for spot in usable if self.spots.group[spot] not in groups]
            served = {self.spots.wish[spot] for spot in visited}
            wished = [code for code in fresh if self.spots.wish[code // CODE] not in {-1, *served}]
            is_tried = wished and not (has_noise and self.chance.random() < 0.5)
            if is_tried and self.insert(solution, wished, (day,)) is not None:
                continue
            if self.insert(solution, fresh, (day,)) is None and len(fresh) < len(usable):
                self.insert(solution, [spot * CODE + meal for spot in usable], (day,))
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
        groups = {self.spots.group[spot] for spot in visited}
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
                    if self.spots.wish[spot] == kind
                    and self.spots.group[spot] not in groups
                    and self._affords(solution, spot)
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
                groups.add(self.spots.group[spot])
                served[kind] += 1
                break
            else:
                return

    def _has_room(self, order: Order, kind: int) -> bool:
        """Whether a day bears another stop, of that kind."""
        spots = [code // CODE for code in order if code % CODE == 0]
        # A meal at a place of the kind is one of them.
        of_kind = [code // CODE for code in order if self.spots.wish[code // CODE] == kind]
        most = 1 if any(self.spots.feeds[spot] for spot in of_kind) else self.weights.wishes_a_day
        return len(spots) < self.weights.stops_a_day and len(of_kind) < most

    def _affords(self, solution: Solution, spot: int) -> bool:
        if self.budget is None or not self.spots.price[spot]:
            return True
        planned = [*(code // CODE for order in solution for code in order), spot]
        unplanned = set(self.musts).difference(planned)
        price = sum(self.spots.price[each] for each in (*planned, *unplanned))
        return price <= self.budget + 0.005

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

    def is_whole(self, solution: Solution) -> bool:
        """Whether all that must be seen is, and every meal is had."""
        visited = {code // CODE for order in solution for code in order}
        return visited >= set(self.musts) and not self.unfed(solution)

    def improve(
        self,
        solution: Solution,
        *,
        is_over: IsOver,
        rounds: int,
        patience: int,
        steps: int,
        whole_within: int | None = None,
        floor: float = 0.0,
    ) -> Solution:
        """Take a part out and put it back, over and over; the best plan there was.

        Ends after so many rounds or steps, after `patience` rounds without a better plan, after
        `whole_within` rounds without one that has everything, when the plan costs no more than `floor`, or
        when `is_over`.
        """
        last_step = self.steps + steps
        best = current = list(solution)
        best_cost = current_cost = self.cost(solution)
        if best_cost is None or current_cost is None:
            raise ValueError("the plan to start from cannot be kept")
        idle = 0
        for number in range(rounds):
            if idle >= patience or self.steps >= last_step or best_cost <= floor + 1e-6 or is_over():
                break
            if number == whole_within and not self.is_whole(best):
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
                polished = best_days(self, best)
                polished_cost = self.cost(polished)
                if polished_cost is not None and polished_cost < best_cost:
                    best, best_cost = polished, polished_cost
                    current, current_cost = list(polished), polished_cost
        polished = best_days(self, best)
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
