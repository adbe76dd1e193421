"""Checks whether a plan does what was asked for, and its own arithmetic holds."""

from collections import Counter
from collections.abc import Iterator

from tools.itinerary.facts import Facts
from tools.itinerary.plan import Plan, sums_of
from tools.itinerary.trip import Trip
from tools.itinerary.verify.violation import Violation

SLEEPERS = 2
"""How many sleep in a room, where the request says nothing."""


def task(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    """Faults against the request."""
    yield from _visits(plan, trip)
    yield from _order(plan, trip)
    yield from _legs(plan, trip, facts)
    yield from _money(plan, trip, facts)
    yield from _sums(plan)
    request = trip.request
    if request.rooms is not None and request.rooms * SLEEPERS < request.party:
        yield Violation(
            code="PARTY",
            path="request.rooms",
            expected=f"beds for {request.party}",
            found=f"{request.rooms} rooms for {SLEEPERS} each",
        )


def _visits(plan: Plan, trip: Trip) -> Iterator[Violation]:
    paths = [
        (visit.place.id, f"days.{number}.visits.{index}")
        for number, day in enumerate(plan.days)
        for index, visit in enumerate(day.visits)
    ]
    times = Counter(place_id for place_id, _ in paths)
    for name in trip.request.places:
        place = trip.named.get(name)
        if place is None or place.id not in times:
            yield Violation(code="MUST_VISIT", path="days", expected=f"a visit to {name}", found="none")
    barred = {trip.named[name].id: name for name in trip.request.avoid if name in trip.named}
    visited: set[str] = set()
    for place_id, path in paths:
        if place_id in barred:
            yield Violation(
                code="FORBIDDEN", path=path, expected=f"no visit to {barred[place_id]}", found="one"
            )
        if place_id in visited:
            yield Violation(
                code="DUPLICATE", path=path, expected="each place once", found=f"{times[place_id]} visits"
            )
        visited.add(place_id)


def _order(plan: Plan, trip: Trip) -> Iterator[Violation]:
    ids = [visit.place.id for day in plan.days for visit in day.visits]
    for first, then in trip.request.order:
        earlier, later = trip.named.get(first), trip.named.get(then)
        if earlier is None or later is None or earlier.id not in ids or later.id not in ids:
            continue
        if ids.index(earlier.id) > ids.index(later.id):
            yield Violation(
                code="ORDER", path="days", expected=f"{first} before {then}", found="the other way round"
            )


def _legs(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    """Distances are the provider's, whatever the plan claims."""
    cap_m, cap_min = trip.request.max_walk_m, trip.request.max_leg_min
    for number, day in enumerate(plan.days):
        ways = [facts.ways.get((leg.from_id, leg.to_id, leg.mode)) for leg in day.legs]
        walked_m = sum(way.metres for way in ways if way and way.mode == "walk")
        if cap_m is not None and walked_m > cap_m:
            yield Violation(
                code="MAX_WALK", path=f"days.{number}", expected=f"at most {cap_m} m", found=f"{walked_m} m"
            )
        for index, way in enumerate(ways):
            if cap_min is not None and way is not None and way.minutes > cap_min:
                yield Violation(
                    code="MAX_LEG",
                    path=f"days.{number}.legs.{index}",
                    expected=f"at most {cap_min} min",
                    found=f"{way.minutes} min",
                )


def _money(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    request = trip.request
    spent = 0.0
    for number, day in enumerate(plan.days):
        for index, visit in enumerate(day.visits):
            place = facts.places.get(visit.place.id)
            price = request.price(place.kind if place else visit.place.kind)
            spent += price or 0.0
            claimed = visit.cost
            if claimed is None:
                continue
            wanted = "no cost, none is known" if price is None else f"{price:.2f} {request.rules.currency}"
            if (
                price is None
                or abs(claimed.amount - price) > 0.01
                or claimed.currency != request.rules.currency
            ):
                yield Violation(
                    code="COST_CLAIM",
                    path=f"days.{number}.visits.{index}.cost",
                    expected=wanted,
                    found=f"{claimed.amount:.2f} {claimed.currency}",
                )
    if request.budget is not None and spent > request.budget.amount + 0.005:
        yield Violation(
            code="BUDGET",
            path="days",
            expected=f"at most {request.budget.amount:.2f} {request.budget.currency}",
            found=f"{spent:.2f}",
        )


def _sums(plan: Plan) -> Iterator[Violation]:
    sums, claimed = sums_of(plan.days), plan.totals
    for name in ("minutes", "metres"):
        if getattr(sums, name) != getattr(claimed, name):
            yield Violation(
                code="SUM",
                path=f"totals.{name}",
                expected=str(getattr(sums, name)),
                found=str(getattr(claimed, name)),
            )
    if claimed.cost is not None:
        wanted = sums.cost.amount if sums.cost else 0.0
        if abs(claimed.cost.amount - wanted) > 0.01:
            yield Violation(
                code="SUM", path="totals.cost", expected=f"{wanted:.2f}", found=f"{claimed.cost.amount:.2f}"
            )
