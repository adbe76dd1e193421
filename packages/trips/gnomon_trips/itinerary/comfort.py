"""Gives stays the time that people usually take, where a day has room for it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gnomon_trips.itinerary.request import DWELL_MIN, Rules, TripRequest
from gnomon_trips.itinerary.tours import CODE, NEVER, Order, Tours
from gnomon_trips.itinerary.trip import Trip

COMFORT_MIN: Mapping[str, int] = {
    "museum": 120, "gallery": 60, "attraction": 60, "place_of_worship": 40, "library": 45, "theatre": 90,
    "castle": 90, "zoo": 180, "aquarium": 120, "theme_park": 240, "park": 45, "garden": 60, "viewpoint": 30,
    "monument": 20, "memorial": 20, "artwork": 15, "mall": 75, "marketplace": 45, "cafe": 45,
    "restaurant": 75, "fast_food": 30, "pub": 60, "bar": 60, "shop": 30, "station": 10, "peak": 60,
    "ruins": 45, "district": 90, "quarter": 60, "neighbourhood": 60, "street": 30, "city": 240, "town": 120,
    "municipality": 180, "village": 90, "suburb": 60,
}  # fmt: skip
"""How long people like to stay, by kind: a rule of the plan where there is room; others stay the least."""
AT_PACE: Mapping[str, float] = {"relaxed": 1.25, "normal": 1.0, "packed": 0.0}
"""By pace, the share of it that is asked for; at 0 stays are the least."""
ROUND_MIN = 5
SPARE_MIN = 15
"""A stay is not stretched into the last minutes before a door closes."""
EARLY_MEAL_MIN, LATE_MEAL_MIN = 30, 30
"""A meal is had no earlier before its usual hour, and stays before it are not stretched beyond it so far."""
MOST_STRETCH = 1.5
"""Rather than wait one stays on, up to so many times the comfortable time."""
DELAY_MIN = 60
"""Rather than wait so long at the next door one sets off later; a longer wait is free time."""


def is_comfortable(request: TripRequest) -> bool:
    """Whether stays are to be longer than the least where there is room."""
    return request.prefer is None and AT_PACE[request.preferences.pace] > 0


def comfortable_min(request: TripRequest, kind: str) -> int:
    """How long a stay at a place of that kind should be; the request's own stays hold.

    >>> import datetime as dt
    >>> request = TripRequest(area="helsinki", start_date=dt.date(2026, 6, 10), places=["Ateneum"])
    >>> comfortable_min(request, "museum"), comfortable_min(request, "hotel")
    (120, 30)
    """
    least = request.rules.stay_min(kind)
    if not is_comfortable(request) or kind in request.rules.dwell_min:
        return least
    share = AT_PACE[request.preferences.pace]
    return max(least, ROUND_MIN * round(share * COMFORT_MIN.get(kind, 0) / ROUND_MIN))


def at_comfort(trip: Trip) -> Trip:
    """The trip with comfortable stays as its least."""
    request = trip.request
    kinds = {*DWELL_MIN, *COMFORT_MIN, *request.rules.dwell_min}
    stays = {kind: comfortable_min(request, kind) for kind in kinds}
    rules: Rules = request.rules.model_copy(update={"dwell_min": stays})
    return replace(trip, request=request.model_copy(update={"rules": rules}))


def stays_of(request: TripRequest, kinds: Iterable[str]) -> list[tuple[int, int]]:
    """By kind, how long a stay should be, and how long it may be instead of waiting."""
    return [
        (wanted, wanted if kind in request.rules.dwell_min else int(MOST_STRETCH * wanted))
        for kind in kinds
        for wanted in (comfortable_min(request, kind),)
    ]


def settled(
    tours: Tours, day: int, order: Order, start: int, end: int, stays: Sequence[tuple[int, int]]
) -> list[tuple[int, int, int]]:
    """Spot, arrival and end of every stay of a day that can be kept, stretched toward `stays` by spot.

    Stretching never makes a stop of the day miss its hours, and pushes no meal far beyond its usual
    hour; where one would wait, one stays on, or comes later.
    """
    latest = _latest(tours, day, order, start, end)
    rows: list[tuple[int, int, int]] = []
    clock, at = tours.first_min(day), start
    for place, code in enumerate(order):
        spot, meal = code // CODE, code % CODE
        ready = clock + (tours.minutes[at][spot] if at >= 0 else 0)
        if meal:
            usual = tours.meals[meal - 1].ideal_min - EARLY_MEAL_MIN
            ready = max(ready, min(usual, latest[place]))
        stay = tours.stay(day, spot, meal, ready)
        if stay is None:
            raise ValueError("the day cannot be kept")
        arrive, leave, closes = stay
        later = order[place + 1] // CODE if place + 1 < len(order) else end
        way_min = _way_min(tours, spot, later)
        until = latest[place + 1] - way_min
        if closes is not None:
            until = min(until, closes - SPARE_MIN)
        wanted, most = stays[spot]
        if place + 1 < len(order):
            ahead = tours.stay(day, later, order[place + 1] % CODE, leave + way_min)
            if ahead is not None:
                next_start = ahead[0]
                if next_meal := order[place + 1] % CODE:
                    usual = tours.meals[next_meal - 1].ideal_min - EARLY_MEAL_MIN
                    next_start = max(next_start, min(usual, latest[place + 1]))
                idle_until = next_start - way_min
                if idle_until - arrive <= most:  # a longer wait is free time
                    wanted = max(wanted, idle_until - arrive)
        leave = max(leave, min(arrive + wanted, until))
        rows.append((spot, arrive, leave))
        clock, at = leave, spot
    return _unhurried(tours, day, order, rows)


def _unhurried(
    tours: Tours, day: int, order: Order, rows: list[tuple[int, int, int]]
) -> list[tuple[int, int, int]]:
    """The same stays, each but meals delayed by a short wait after it, as far as the hours allow.

    For a long one nothing is delayed: nobody idles all morning before a museum that is open.
    """
    for place in range(len(rows) - 2, -1, -1):
        spot, arrive, leave = rows[place]
        next_spot, next_arrive, _ = rows[place + 1]
        wait_min = next_arrive - _way_min(tours, spot, next_spot) - leave
        if order[place] % CODE or not 0 < wait_min <= DELAY_MIN:
            continue
        stay = tours.stay(day, spot, 0, arrive)
        if stay is not None and stay[2] is not None:
            wait_min = min(wait_min, stay[2] - SPARE_MIN - leave)
        if wait_min > 0:
            rows[place] = (spot, arrive + wait_min, leave + wait_min)
    return rows


def _way_min(tours: Tours, spot: int, following: int) -> int:
    """Minutes to the spot that follows; none where the day ends, or goes on, at the same one."""
    return tours.minutes[spot][following] if following >= 0 and following != spot else 0


def _latest(tours: Tours, day: int, order: Order, start: int, end: int) -> list[int]:
    """The latest time to reach each stop and the end; no meal later than necessary or usual."""
    base = tours.times(day, order, start)
    latest, ahead = [tours.hours[day][1]], end
    for code, (spot, arrive, _) in zip(reversed(order), reversed(base), strict=True):
        until = tours.latest(day, code, latest[-1] - _way_min(tours, spot, ahead))
        if meal := code % CODE:
            until = min(until, max(arrive, tours.meals[meal - 1].ideal_min + LATE_MEAL_MIN))
        latest.append(until if until != NEVER else arrive)
        ahead = spot
    return latest[::-1]
