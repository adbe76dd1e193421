"""Checks whether days begin and end where they should, and legs are as far as the plan says."""

from collections.abc import Iterator
from itertools import groupby

from tools.itinerary.facts import Facts
from tools.itinerary.plan import Day, ItineraryLeg, Plan
from tools.itinerary.trip import Trip
from tools.itinerary.verify.violation import Violation

CLAIM_M, CLAIM_RATIO, CLAIM_MIN = 20, 0.05, 1
"""A stated leg may be off by that many metres or that share, and by that many minutes."""


def space(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    """Faults of homes, nights, cities and legs."""
    for number, day in enumerate(plan.days):
        yield from _home(number, day, trip)
        for index, leg in enumerate(day.legs):
            yield from _leg(f"days.{number}.legs.{index}", leg, facts)
    # Without a hotel nobody says where the nights are spent.
    nights = zip(plan.days, plan.days[1:], strict=False) if trip.request.hotel else ()
    for number, (today, tomorrow) in enumerate(nights):
        if today.end.id != tomorrow.start.id:
            yield Violation(
                code="NIGHT_CONTINUITY",
                path=f"days.{number + 1}.start",
                expected=f"{today.end.name}, where the day before ends",
                found=tomorrow.start.name,
            )
    yield from _cities(plan, facts)


def _home(number: int, day: Day, trip: Trip) -> Iterator[Violation]:
    for where, stop in (("start", day.start), ("end", day.end)):
        home = trip.home(number, at_end=where == "end")
        if home is not None and stop.id != home.id:
            yield Violation(code="HOME", path=f"days.{number}.{where}", expected=home.name, found=stop.name)


def _leg(path: str, leg: ItineraryLeg, facts: Facts) -> Iterator[Violation]:
    key = (leg.from_id, leg.to_id, leg.mode)
    if key not in facts.ways:
        return
    way = facts.ways[key]
    if way is None:
        yield Violation(code="MODE", path=path, expected="a mode that joins the two", found=leg.mode)
        return
    if way.exactness == "estimate":
        minutes, metres = max(10.0, 0.25 * way.minutes), max(1000.0, 0.25 * way.metres)
    else:
        minutes, metres = max(CLAIM_MIN, CLAIM_RATIO * way.minutes), max(CLAIM_M, CLAIM_RATIO * way.metres)
    if abs(leg.minutes - way.minutes) > minutes or abs(leg.metres - way.metres) > metres:
        yield Violation(
            code="LEG_CLAIM",
            path=path,
            expected=f"{way.minutes} min, {way.metres} m",
            found=f"{leg.minutes} min, {leg.metres} m",
            evidence=f"{facts.provider} {facts.version}, {way.exactness}",
        )


def _cities(plan: Plan, facts: Facts) -> Iterator[Violation]:
    """A city that is left and seen again: worth a word, as a base for day trips is left on purpose."""
    visited = [visit.place.id for day in plan.days for visit in day.visits]
    areas = [facts.areas[place_id].municipality for place_id in visited if place_id in facts.areas]
    runs = [city for city, _ in groupby(filter(None, areas))]
    for city in sorted({city for city in runs if runs.count(city) > 1}):
        yield Violation(
            code="CITY_RUNS",
            path="days",
            expected=f"{city} in one go",
            found=" → ".join(runs),
            severity="warn",
        )
