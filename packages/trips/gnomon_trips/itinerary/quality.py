"""Measures how good a plan is to travel by, in documented shares that are never summed.

A measure lies between 0 and 1, 1 the best, and says what it counts. What no source says is left out of it and
counted apart; where nothing is left the measure has no value, and a reason.
"""

import itertools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gnomon_trips.itinerary.errors import Unreachable, Unsupported
from gnomon_trips.itinerary.facts import Facts
from gnomon_trips.itinerary.hours import minutes_of
from gnomon_trips.itinerary.kinds import kind_of, serves
from gnomon_trips.itinerary.objective import EASY, fame_of, usual_min
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.plan import Day, Plan, Visit
from gnomon_trips.itinerary.preferences import ASPECTS, FAMOUS, Aspect, crowded_minutes, fit_of, is_asked
from gnomon_trips.itinerary.provider import MAX_TABLE
from gnomon_trips.itinerary.request import MEALS
from gnomon_trips.itinerary.route_shape import crossings, length, shortest
from gnomon_trips.itinerary.trip import Trip

COMFORTABLE_M: Mapping[str, int] = {"relaxed": 5_000, "normal": 8_000, "packed": 12_000}
"""Metres on foot a day that are no effort, by pace; 8 km are about the 10,000 steps of an active day."""
FILLED: Mapping[str, tuple[float, float]] = {
    "relaxed": (0.30, 0.60),
    "normal": (0.50, 0.85),
    "packed": (0.75, 1.00),
}
"""The share of the day's window that stays and ways fill, by pace: a rule of this project."""
OFF_PACE = 0.3
"""That far outside of it a day is worth nothing."""
MEAL_OFF_MIN = 120
"""That many minutes from the usual hour a meal is worth nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measure: `value` is numerator over denominator; None: there is none, for that reason.

    `counts` says what is counted; `unknown` is how many of these no source says anything of.
    """

    name: str
    value: float | None
    counts: str
    numerator: float = 0.0
    denominator: float = 0.0
    unknown: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What a measure counts, and after whom."""

    counts: str
    source: str


OURS = "a rule of this project"
DEFINITIONS: Mapping[str, Definition] = {
    name: Definition(counts=counts, source=source)
    for name, (counts, source) in {
        "asked_served": (
            "requested places that the plan visits, each weighted by how well known it is",
            "ITINERA, recall rate",
        ),
        "must_see": ("must-see places that the plan visits", "ITINERA, recall rate"),
        "wishes_served": ("kinds of place wished for of which the plan visits one", OURS),
        "even_days": (
            "minutes of visits that could stay on their day if all days were made equally full",
            "one minus Hoover's index (1936), over its most",
        ),
        "walking": (
            "days, each counting the comfortable distance divided by the distance walked, at most 1",
            "10,000 steps of an active day (Tudor-Locke and Bassett 2004), for a normal pace",
        ),
        "pace": ("days, each counting how close its filled share is to the requested pace", OURS),
        "meal_times": (
            f"meals, each counting less the further from the usual hour, nothing at {MEAL_OFF_MIN} min",
            OURS,
        ),
        "opening_slack": (
            f"visits with known hours, each counting the minutes to closing, up to {EASY.closing_min}",
            OURS,
        ),
        "no_waiting": ("minutes between the first arrival and the last departure without waiting", OURS),
        "direct_route": (
            "metres (minutes, if not on foot) of each day's shortest order of stops, of those in the plan",
            "ITINERA, average margin",
        ),
        "no_crossings": ("pairs of a day's legs that could cross and do not", "ITINERA, overlaps"),
        "variety": (
            "different kinds of place among each day's stops, without meals",
            "TripTailor, diversity",
        ),
        "different_meals": (
            "different places to eat among the stops to eat",
            "TravelPlanner, diverse restaurants",
        ),
        "diet": (
            "stops to eat, each counting what the map says about the diet",
            "tags `diet:*`, `cuisine`",
        ),
        "wheelchair": ("stops, each counting what the map says about wheelchair access", "tag `wheelchair`"),
        "children": (
            "stops for children, of those for children or for adults",
            "kinds; tags `kids_area`, `highchair`, `playground`, `min_age`, `museum`",
        ),
        "crowds": (
            "minutes at famous places that are before 11:00 or after 15:00",
            "a rule of thumb: no source counts visitors",
        ),
        "budget_kept": (
            "the budget divided by what the stops cost, at most 1",
            "TravelPlanner and ChinaTravel, budget",
        ),
    }.items()
}
"""Every measure, in the order in which they are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A plan with all that its measures need: the trip, the facts, and by day the ways among its stops.

    `ways` has a day's start first, then its visits, then its end; None: a way among them is not known.
    """

    plan: Plan
    trip: Trip
    facts: Facts
    ways: Sequence[Sequence[Sequence[float]] | None] = field(default=())

    def place(self, visit: Visit) -> Place | None:
        return self.facts.places.get(visit.place.id)

    @property
    def visits(self) -> list[tuple[Day, Visit, Place | None]]:
        """All stays, with their days and what is known of their places."""
        return [(day, visit, self.place(visit)) for day in self.plan.days for visit in day.visits]


async def ground_of(plan: Plan, trip: Trip, facts: Facts) -> Ground:
    """What the measures of a plan need, with the ways among the stops of each day.

    Raises:
        PlaceError: the provider failed.
    """
    ways = [await _ways(day, trip, facts) for day in plan.days]
    return Ground(plan=plan, trip=trip, facts=facts, ways=ways)


async def _ways(day: Day, trip: Trip, facts: Facts) -> list[list[float]] | None:
    """Metres on foot, minutes else, among the stops of a day."""
    stops = [day.start, *(visit.place for visit in day.visits), day.end]
    places = [facts.places.get(stop.id) for stop in stops]
    points = {stop.id: place.at for stop, place in zip(stops, places, strict=True) if place is not None}
    if any(place is None for place in places) or len(points) > MAX_TABLE:
        return None
    row = {stop_id: number for number, stop_id in enumerate(points)}
    try:
        table = (await trip.provider.matrix(list(points.values()), mode=trip.request.mode)).value
    except (Unreachable, Unsupported):
        return None
    grid = table.metres if trip.request.mode == "walk" else table.minutes
    picked = [[grid[row[here.id]][row[there.id]] for there in stops] for here in stops]
    for number, stop in enumerate(stops):
        for other, there in enumerate(stops):
            if stop.id == there.id:
                picked[number][other] = 0
    if any(way is None for line in picked for way in line):
        return None
    return [[float(way or 0) for way in line] for line in picked]


def measures(ground: Ground) -> tuple[Measure, ...]:
    """Every measure, in the order of DEFINITIONS; pure, so the same ground always gives the same."""
    return tuple(_MEASURED[name](name, ground) for name in DEFINITIONS)


def _share(name: str, numerator: float, denominator: float, *, unknown: int = 0, none: str) -> Measure:
    counts = DEFINITIONS[name].counts
    if denominator <= 0:
        return Measure(name=name, value=None, counts=counts, unknown=unknown, reason=none)
    return Measure(
        name=name,
        value=round(min(1.0, max(0.0, numerator / denominator)), 6),
        counts=counts,
        numerator=round(numerator, 4),
        denominator=round(denominator, 4),
        unknown=unknown,
    )


def _without(name: str, reason: str, *, unknown: int = 0) -> Measure:
    return Measure(name=name, value=None, counts=DEFINITIONS[name].counts, unknown=unknown, reason=reason)


# What was asked for


def _asked(name: str, ground: Ground) -> Measure:
    visited = {visit.place.id for _, visit, _ in ground.visits}
    fames = {place.id: fame_of(place) for place in ground.trip.places()}
    served = sum(fame for place_id, fame in fames.items() if place_id in visited)
    unknown = len(ground.trip.left_out)
    return _share(name, served, sum(fames.values()), unknown=unknown, none="no place was asked for")


def _must_see(name: str, ground: Ground) -> Measure:
    visited = {visit.place.id for _, visit, _ in ground.visits}
    must = ground.trip.must_see
    return _share(name, len(must & visited), len(must), none="no place must be seen")


def _wishes(name: str, ground: Ground) -> Measure:
    wished = set(ground.trip.request.wishes)
    kinds = {visit.place.kind for _, visit, place in ground.visits if place is None}
    places = [place for _, _, place in ground.visits if place is not None]
    served = [wish for wish in wished if kind_of(wish) in kinds or any(serves(it, wish) for it in places)]
    return _share(name, len(served), len(wished), none="no kind of place was wished for")


# How the days are


def _stay(visit: Visit) -> int:
    return max(0, minutes_of(visit.leave) - minutes_of(visit.arrive))


def _even(name: str, ground: Ground) -> Measure:
    stays = [sum(_stay(visit) for visit in day.visits) for day in ground.plan.days]
    if len(stays) < 2:
        return _without(name, "there is one day")
    mean, total = statistics.fmean(stays), sum(stays)
    most = total * (1 - 1 / len(stays))  # all on one day
    moved = sum(max(0.0, stay - mean) for stay in stays)
    return _share(name, most - moved, most, none="there is no stay")


def _walking(name: str, ground: Ground) -> Measure:
    comfortable = COMFORTABLE_M[ground.trip.request.preferences.pace]
    on_foot = [[leg for leg in day.legs if leg.mode == "walk"] for day in ground.plan.days]
    unknown = sum(leg.exactness == "lower_bound" for legs in on_foot for leg in legs)
    if not any(on_foot):
        return _without(name, "no leg is on foot")
    if unknown:
        return _without(name, "only the straight line of a way on foot is known", unknown=unknown)
    metres = [sum(leg.metres for leg in legs) for legs in on_foot]
    worth = sum(1.0 if walked <= comfortable else comfortable / walked for walked in metres)
    return _share(name, worth, len(metres), none="")


def _pace(name: str, ground: Ground) -> Measure:
    request = ground.trip.request
    low, high = FILLED[request.preferences.pace]
    worth = 0.0
    for number, day in enumerate(ground.plan.days):
        start, end = request.hours(number)
        busy = sum(map(_stay, day.visits)) + sum(leg.minutes for leg in day.legs if leg.from_id != leg.to_id)
        filled = busy / (end - start)
        worth += max(0.0, 1 - max(low - filled, filled - high, 0.0) / OFF_PACE)
    return _share(name, worth, len(ground.plan.days), none="")


def _meal_times(name: str, ground: Ground) -> Measure:
    meals = [
        (day, meal)
        for number, day in enumerate(ground.plan.days)
        for meal in ground.trip.request.meals_on(number)
    ]
    worth = 0.0
    for day, meal in meals:
        offs = [
            abs(max(minutes_of(visit.arrive), meal.start_min) - usual_min(meal))
            for visit in day.visits
            if (place := ground.place(visit)) is not None
            and place.kind in MEALS
            and meal.is_had(minutes_of(visit.arrive), minutes_of(visit.leave))
        ]
        worth += max(0.0, 1 - min(offs) / MEAL_OFF_MIN) if offs else 0.0
    return _share(name, worth, len(meals), none="no meal was asked for")


def _slack(name: str, ground: Ground) -> Measure:
    need, worth, known, unknown = EASY.closing_min, 0.0, 0, 0
    for day, visit, _ in ground.visits:
        hours = ground.facts.hours(visit.place.id, day.date)
        if hours is None:
            unknown += 1
            continue
        known += 1
        arrive, leave = minutes_of(visit.arrive), minutes_of(visit.leave)
        left = max((end - leave for start, end in hours if start <= arrive and leave <= end), default=0)
        worth += min(1.0, left / need)
    return _share(name, worth, known, unknown=unknown, none="no source has the hours of any stop")


def _waiting(name: str, ground: Ground) -> Measure:
    out = waited = 0
    for day in ground.plan.days:
        for (here, there), leg in zip(itertools.pairwise(day.visits), day.legs[1:], strict=False):
            gap = minutes_of(there.arrive) - minutes_of(here.leave)
            waited += max(0, gap - leg.minutes)
        if day.visits:
            out += max(0, minutes_of(day.visits[-1].leave) - minutes_of(day.visits[0].arrive))
    return _share(name, out - waited, out, none="there is no stay")


# The way


def _direct(name: str, ground: Ground) -> Measure:
    least, taken, unknown = least_and_taken(ground)
    none = "no day has two stops" if not unknown else "a way among the stops of each day is not known"
    return _share(name, least, taken, unknown=unknown, none=none)


def least_and_taken(ground: Ground) -> tuple[float, float, int]:
    """The least length of all days with two stops, that of the plan, and of how many days it is not known."""
    least = taken = 0.0
    unknown = 0
    for day, ways in zip(ground.plan.days, ground.ways, strict=False):
        if len(day.visits) < 2:
            continue
        if ways is None:
            unknown += 1
            continue
        stops = list(range(1, len(day.visits) + 1))
        own = length(ways, stops, 0, len(stops) + 1)
        least += min(own, shortest(ways, stops, 0, len(stops) + 1, _before(day, ground.trip)))
        taken += own
    return least, taken, unknown


def _before(day: Day, trip: Trip) -> dict[int, frozenset[int]]:
    """By stop of a day, counted from 1, those that the request puts before it."""
    ids = [visit.place.id for visit in day.visits]
    firsts: dict[int, frozenset[int]] = {}
    for pair in trip.request.order:
        first, then = (trip.named.get(name) for name in pair)
        if first and then and first.id in ids and then.id in ids and first.id != then.id:
            at = ids.index(then.id) + 1
            firsts[at] = firsts.get(at, frozenset()) | {ids.index(first.id) + 1}
    return firsts


def _uncrossed(name: str, ground: Ground) -> Measure:
    crossed = pairs = 0
    for day in ground.plan.days:
        stops = [day.start, *(visit.place for visit in day.visits), day.end]
        counts = crossings([(stop.lat, stop.lon) for stop in stops])
        crossed, pairs = crossed + counts[0], pairs + counts[1]
    return _share(name, pairs - crossed, pairs, none="no two legs of a day could cross")


# The stops


def _variety(name: str, ground: Ground) -> Measure:
    kinds = stops = 0
    for day in ground.plan.days:
        kinds_seen = [
            place.kind if (place := ground.place(visit)) is not None else visit.place.kind
            for visit in day.visits
        ]
        sights = [kind for kind in kinds_seen if kind not in MEALS]
        if len(sights) > 1:
            kinds, stops = kinds + len(set(sights)), stops + len(sights)
    return _share(name, kinds, stops, none="no day has two stops beside meals")


def _different(name: str, ground: Ground) -> Measure:
    eaten = [visit.place.id for _, visit, place in ground.visits if place is not None and place.kind in MEALS]
    none = "fewer than two stops are places to eat at"
    return _share(name, len(set(eaten)), len(eaten) if len(eaten) > 1 else 0, none=none)


def _fit(name: Aspect) -> Callable[[str, Ground], Measure]:
    def fit(_: str, ground: Ground) -> Measure:
        preferences = ground.trip.request.preferences
        if not (preferences.diet if name == "diet" else getattr(preferences, name)):
            return _without(name, "not asked for")
        places = [place for place in _stops(ground) if is_asked(place.kind, name, preferences)]
        fits = [fit_of(place, name, preferences) for place in places]
        known = [value for value in fits if value is not None]
        unknown = len(fits) - len(known)
        none = f"the map says nothing of {unknown} stops" if unknown else "no stop is of that sort"
        return _share(name, sum(known), len(known), unknown=unknown, none=none)

    return fit


def _stops(ground: Ground) -> Iterator[Place]:
    """Every place of the plan once: stays, and beds that are named."""
    nights = [day.night.place.id for day in ground.plan.days if day.night and day.night.basis != "assumed"]
    for place_id in dict.fromkeys([*(visit.place.id for _, visit, _ in ground.visits), *nights]):
        place = ground.facts.places.get(place_id)
        if place is not None:
            yield place


def _crowds(name: str, ground: Ground) -> Measure:
    if ground.trip.request.preferences.crowds != "avoid":
        return _without(name, "not asked for")
    famous = [visit for _, visit, place in ground.visits if place is not None and fame_of(place) >= FAMOUS]
    minutes = sum(map(_stay, famous))
    full = sum(crowded_minutes(minutes_of(visit.arrive), minutes_of(visit.leave)) for visit in famous)
    return _share(name, minutes - full, minutes, none="no stop is famous")


def _budget(name: str, ground: Ground) -> Measure:
    request, plan = ground.trip.request, ground.plan
    if request.budget is None:
        return _without(name, "no budget was given")
    currency = request.budget.currency
    costs = [visit.cost for _, visit, _ in ground.visits]
    costs += [day.night.cost if day.night else None for day in plan.days[:-1]]
    known = [cost.amount for cost in costs if cost is not None and cost.currency == currency]
    unknown = len(costs) - len(known)
    unknown += sum(leg.mode not in ("walk", "car") for day in plan.days for leg in day.legs)
    if sum(known) > request.budget.amount:  # whatever the rest costs
        return _share(name, request.budget.amount, sum(known), unknown=unknown, none="")
    if unknown:
        return _without(name, f"{unknown} stops, beds or fares have no price", unknown=unknown)
    return _share(name, 1, 1, none="")


_MEASURED: Mapping[str, Callable[[str, Ground], Measure]] = {
    "asked_served": _asked,
    "must_see": _must_see,
    "wishes_served": _wishes,
    "even_days": _even,
    "walking": _walking,
    "pace": _pace,
    "meal_times": _meal_times,
    "opening_slack": _slack,
    "no_waiting": _waiting,
    "direct_route": _direct,
    "no_crossings": _uncrossed,
    "variety": _variety,
    "different_meals": _different,
    **{aspect: _fit(aspect) for aspect in ASPECTS},
    "crowds": _crowds,
    "budget_kept": _budget,
}
