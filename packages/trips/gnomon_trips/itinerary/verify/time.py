"""Checks whether the clock of a plan can be kept, by physics, by the provider and by opening hours."""

import itertools
from collections.abc import Iterable, Iterator

from gnomon_trips.itinerary.facts import Facts
from gnomon_trips.itinerary.haversine import apart_m
from gnomon_trips.itinerary.hours import Interval, clock_of, minutes_of, told_hours
from gnomon_trips.itinerary.place import Mode, Place, least_minutes, spread_min
from gnomon_trips.itinerary.plan import Day, ItineraryLeg, Plan, Visit
from gnomon_trips.itinerary.request import MEALS, Meal, TripRequest
from gnomon_trips.itinerary.verify.violation import Violation


def time(plan: Plan, request: TripRequest, facts: Facts) -> Iterator[Violation]:
    """Faults of stays and gaps, day by day."""
    for number, day in enumerate(plan.days):
        yield from _stays(number, day, request, facts)
        yield from _gaps(number, day, request, facts)
        yield from _meals(number, day, request, facts)


def _stays(number: int, day: Day, request: TripRequest, facts: Facts) -> Iterator[Violation]:
    for index, visit in enumerate(day.visits):
        path = f"days.{number}.visits.{index}"
        arrive, leave = minutes_of(visit.arrive), minutes_of(visit.leave)
        place = facts.places.get(visit.place.id)
        need = request.rules.stay_min(place.kind if place else visit.place.kind)
        if leave - arrive < need:
            yield Violation(
                code="DWELL", path=path, expected=f"at least {need} min", found=f"{leave - arrive} min"
            )
        hours = facts.hours(visit.place.id, day.date)
        if hours is not None and not covers(hours, arrive, leave):
            yield Violation(
                code="OPEN_HOURS",
                path=path,
                expected=f"open {told_hours(hours)} on {day.date:%a %d %b %Y}",
                found=f"{visit.arrive}-{visit.leave}",
                evidence=f"{place.hours} ({facts.provider} {facts.version})" if place else "",
            )
        first, last = request.hours(number)
        if arrive < first or leave > last:
            yield Violation(
                code="DAY_WINDOW",
                path=path,
                expected=f"{clock_of(first)}-{clock_of(last)}",
                found=f"{visit.arrive}-{visit.leave}",
            )


def covers(intervals: Iterable[Interval], arrive_min: int, leave_min: int) -> bool:
    """Whether one of the intervals holds the whole stay."""
    return any(start <= arrive_min and leave_min <= end for start, end in intervals)


def _gaps(number: int, day: Day, request: TripRequest, facts: Facts) -> Iterator[Violation]:
    """A gap runs from leaving one stop to arriving at the next; the window bounds the first and the last."""
    ids = [day.start.id, *(visit.place.id for visit in day.visits), day.end.id]
    leaves = [request.hours(number)[0], *(minutes_of(visit.leave) for visit in day.visits)]
    arrives = [*(minutes_of(visit.arrive) for visit in day.visits), request.hours(number)[1]]
    for index, (left, arrived) in enumerate(zip(leaves, arrives, strict=True)):
        is_edge = index in (0, len(leaves) - 1)
        path = f"days.{number}.legs.{index}"
        gap = arrived - left
        if gap < 0:
            if not is_edge:  # beyond the window is DAY_WINDOW, told by the stay
                yield Violation(
                    code="OVERLAP",
                    path=path,
                    expected=f"at or after {clock_of(left)}",
                    found=clock_of(arrived),
                )
            continue
        mode: Mode = day.legs[index].mode if index < len(day.legs) else request.mode
        start, end = facts.places.get(ids[index]), facts.places.get(ids[index + 1])
        if start is None or end is None:
            continue
        if index < len(day.legs):
            yield from _claimed(path, day.legs[index], (start, end), facts)
        if start.id == end.id:  # as where a day without a hotel starts at its first stop
            continue
        yield from _gap(path, gap, (start, end), mode, facts)


def _gap(path: str, gap: int, ends: tuple[Place, Place], mode: Mode, facts: Facts) -> Iterator[Violation]:
    start, end = ends
    straight_m = apart_m(start.at, end.at)
    least = least_minutes(straight_m, mode)
    way = facts.ways.get((start.id, end.id, mode))
    if gap < least:
        yield Violation(
            code="IMPOSSIBLE",
            path=path,
            expected=f"at least {least:.0f} min by {mode} over {straight_m:.0f} m of straight line",
            found=f"{gap} min",
        )
    elif way is not None and gap < way.minutes - spread_min(way.minutes, way.exactness):
        yield Violation(
            code="TRAVEL_TIME",
            path=path,
            expected=f"{way.minutes} min by {mode} ({way.exactness})",
            found=f"{gap} min",
            evidence=f"{facts.provider} {facts.version}",
        )


def _claimed(path: str, leg: ItineraryLeg, ends: tuple[Place, Place], facts: Facts) -> Iterator[Violation]:
    """What the plan says of a leg, against the straight line."""
    start, end = ends
    straight_m = apart_m(start.at, end.at)
    least = least_minutes(straight_m, leg.mode)
    if leg.minutes < least:
        yield Violation(
            code="IMPOSSIBLE",
            path=path,
            expected=f"at least {least:.0f} min by {leg.mode} over {straight_m:.0f} m of straight line",
            found=f"{leg.minutes} min",
        )
    way = facts.ways.get((start.id, end.id, leg.mode))
    if way is not None and way.exactness == "lower_bound" and leg.metres < 0.99 * straight_m - 1:
        yield Violation(
            code="IMPOSSIBLE",
            path=path,
            expected=f"at least {straight_m:.0f} m, the straight line",
            found=f"{leg.metres} m",
        )


def _meals(number: int, day: Day, request: TripRequest, facts: Facts) -> Iterator[Violation]:
    """Each meal needs a stay of its own: who sits from noon to eight has had one meal."""
    meals = request.meals_on(number)
    feeding = [
        [index for index, visit in enumerate(day.visits) if _feeds(visit, meal, facts)] for meal in meals
    ]
    fed = max(
        (
            [stay is not None for stay in stays]
            for stays in itertools.product(*([*row, None] for row in feeding))
            if len({*stays} - {None}) == sum(stay is not None for stay in stays)
        ),
        key=sum,
    )
    for meal, row, is_fed in zip(meals, feeding, fed, strict=True):
        if not is_fed:
            yield Violation(
                code="MEAL_WINDOW",
                path=f"days.{number}",
                expected=f"{meal.name}: {meal.minutes} min where one can eat, {meal.start}-{meal.end}",
                found="a stay that is another meal" if row else "none",
            )


def _feeds(visit: Visit, meal: Meal, facts: Facts) -> bool:
    place = facts.places.get(visit.place.id)
    can_eat = place is not None and place.kind in MEALS
    return can_eat and meal.is_had(minutes_of(visit.arrive), minutes_of(visit.leave))
