"""Puts each day of a plan into its best order, exactly where it has few stops."""

from gnomon_trips.itinerary.route_shape import keeps, neighbours
from gnomon_trips.itinerary.terrain import FAR
from gnomon_trips.itinerary.tours import CODE, Order, Solution, Tours

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
