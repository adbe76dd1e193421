"""Checks whether a plan does what was asked for, and its own arithmetic holds."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator

from gnomon_tools.core.name_match import GOOD_NAME, likeness, plain_name
from gnomon_trips.itinerary.barred import barred_as
from gnomon_trips.itinerary.facts import Facts
from gnomon_trips.itinerary.hours import minutes_of, opening_of, told_hours
from gnomon_trips.itinerary.kinds import serves
from gnomon_trips.itinerary.later_visits import own_id
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.plan import Plan, sums_of
from gnomon_trips.itinerary.reasons import WEEKDAYS
from gnomon_trips.itinerary.request import SLEEPERS, Money
from gnomon_trips.itinerary.same_place import is_one_place
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.violation import Violation

CLOSED = re.compile(r"\b(?:closed?s?|shut|not open|never opens?)\b", re.IGNORECASE)
NONE_KNOWN = re.compile(
    r"\b(?:no|none|not any|nothing|not a single)\b.*\b(?:known|is|are|exists?)\b", re.IGNORECASE
)
"""Words by which a reason says that there is no place of a kind."""


def task(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    """Faults against the request."""
    yield from _visits(plan, trip, facts)
    yield from _wishes(plan, trip, facts)
    yield from _left_out(plan, trip, facts)
    yield from _order(plan, trip)
    yield from _fixed(plan, trip)
    yield from _legs(plan, trip, facts)
    yield from _money(plan, trip, facts)
    yield from _sums(plan)
    request = trip.request
    if request.lacks_rooms:
        yield Violation(
            code="PARTY",
            path="request.rooms",
            expected=f"beds for {request.party}",
            found=f"{request.rooms} rooms for {SLEEPERS} each",
        )


def _visits(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
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
    asked = {trip.named[name].id for name in trip.request.places if name in trip.named}
    yield from _origins(plan, trip)
    yield from _visits_apart(plan, trip)
    visited: dict[str, Place | None] = {}
    for place_id, path in paths:
        place = facts.places.get(place_id)
        to_avoid = barred_as(trip, place, place_id)
        if to_avoid is not None:
            yield Violation(code="FORBIDDEN", path=path, expected=f"no visit to {to_avoid}", found="one")
        # Who asks for two entries of the map gets both.
        earlier = [other for other in visited.values() if other is not None and place_id not in asked]
        if place_id in visited or (
            place is not None and any(is_one_place(place, other) for other in earlier)
        ):
            count = max(2, times[place_id])
            yield Violation(code="DUPLICATE", path=path, expected="each place once", found=f"{count} visits")
        visited[place_id] = place


def _visits_apart(plan: Plan, trip: Trip) -> Iterator[Violation]:
    set_times = {place.id for place in trip.named.values() if trip.fixed_hours(place, 0) is not None}
    for number, day in enumerate(plan.days):
        visits: dict[str, list[str]] = {}
        for index, visit in enumerate(day.visits):
            earlier = visits.setdefault(own_id(visit.place.id), [])
            if set(earlier) - {visit.place.id} and not {*earlier, visit.place.id} <= set_times:
                yield Violation(
                    code="DUPLICATE",
                    path=f"days.{number}.visits.{index}",
                    expected="each visit on a day of its own",
                    found=f"{len(earlier) + 1} visits",
                )
            earlier.append(visit.place.id)


def _origins(plan: Plan, trip: Trip) -> Iterator[Violation]:
    """Faults of visits that are said to come from elsewhere than they do."""
    if not trip.origins:
        return
    for number, day in enumerate(plan.days):
        for index, visit in enumerate(day.visits):
            known_origins = trip.origins.get(visit.place.id, ())
            if visit.origins and visit.origins != known_origins:
                expected, found = (
                    ", ".join(origin.words for origin in origins) or "added"
                    for origins in (known_origins, visit.origins)
                )
                path = f"days.{number}.visits.{index}.origins"
                yield Violation(code="EVIDENCE", path=path, expected=expected, found=found)


def _fixed(plan: Plan, trip: Trip) -> Iterator[Violation]:
    for fixed in trip.request.fixed:
        place = trip.named.get(fixed.place)
        for number, day in enumerate(plan.days):
            for index, visit in enumerate(day.visits):
                is_there = place is not None and visit.place.id == place.id
                is_then = minutes_of(visit.arrive) == trip.request.minute_of(fixed.start, number)
                if is_there and not (is_then and fixed.day in (None, number + 1)):
                    on_day = f" on day {fixed.day}" if fixed.day else ""
                    yield Violation(
                        code="ORDER",
                        path=f"days.{number}.visits.{index}",
                        expected=f"{fixed.place} at {fixed.start}{on_day}",
                        found=f"at {visit.arrive} on day {number + 1}",
                    )


def _wishes(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    """Faults of wishes: each is served by a place of its kind, or told as not served."""
    places = [facts.places.get(visit.place.id) for day in plan.days for visit in day.visits]
    for wish in trip.request.wishes:
        if any(place is not None and serves(place, wish) for place in places):
            continue
        left = next((one for one in plan.skipped if likeness(one.place, wish) >= GOOD_NAME), None)
        server = facts.servers.get(wish)
        is_false = left is not None and server is not None and NONE_KNOWN.search(left.reason) is not None
        yield Violation(
            code="WISH",
            path="days",
            expected=f"{server.name}, which is near"
            if server and is_false
            else f"a place of kind {wish}{'' if left else ', or why there is none'}",
            found=f"none, and says: {left.reason}" if left else "neither",
            severity="warn" if left and not is_false else "error",
        )


def _left_out(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    """Faults of what is left out: it is not visited, closed if the plan says so, unknown names told."""
    for name, reason in trip.lost.items():
        if name in trip.request.places:
            continue  # told as MUST_VISIT
        told = next((left for left in plan.skipped if left.place == name), None)
        yield Violation(
            code="SKIPPED",
            path="skipped",
            expected=f"a visit to {name}",
            found=f"left out: {told.reason}" if told else "not a word of it",
            severity="warn" if told else "error",
            evidence=reason,
        )
    visits = [visit.place for day in plan.days for visit in day.visits]
    for index, left in enumerate(plan.skipped):
        if not re.search(r"[^\W\d_]{2}", left.reason):
            yield Violation(
                code="SKIPPED",
                path=f"skipped.{index}",
                expected=f"why {left.place} is left out",
                found=left.reason or "nothing",
            )
        place = facts.left_out.get(left.place)
        if left.place not in {*trip.request.avoid, *trip.candidates} and any(
            left.place == stop.id
            or plain_name(left.place) == plain_name(stop.name)
            or (place is not None and place.id == stop.id)
            for stop in visits
        ):
            yield Violation(
                code="SKIPPED", path=f"skipped.{index}", expected="not in the plan", found="visited"
            )
        if place is None or not CLOSED.search(left.reason):
            continue
        for date in trip.request.dates():
            opening = opening_of(place, date, facts.country)
            if opening is not None and opening.sure and _is_meant(date, left.reason):
                yield Violation(
                    code="SKIPPED",
                    path=f"skipped.{index}",
                    expected=f"open {told_hours(opening.sure)} on {date:%a %d %b %Y}",
                    found=left.reason,
                    evidence=place.hours or "",
                )
                break


def _is_meant(date: dt.date, reason: str) -> bool:
    """Whether a reason speaks of that day; one without a day speaks of all."""
    days = [day for day in WEEKDAYS if day in reason.lower()]
    return not days or f"{date:%A}".lower() in days


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
    """The provider's distances, whatever the plan claims."""
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


def _false_cost(claimed: Money, price: float | None, currency: str, *, path: str) -> Iterator[Violation]:
    """The fault of a cost that is not the price in that currency; None: no price is known."""
    if price is None or abs(claimed.amount - price) > 0.01 or claimed.currency != currency:
        yield Violation(
            code="COST_CLAIM",
            path=path,
            expected="no cost, none is known" if price is None else f"{price:.2f} {currency}",
            found=f"{claimed.amount:.2f} {claimed.currency}",
        )


def _money(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    request = trip.request
    spent, has_costs = 0.0, any(visit.cost for day in plan.days for visit in day.visits)
    for number, day in enumerate(plan.days):
        for index, visit in enumerate(day.visits):
            place = facts.places.get(visit.place.id)
            price = request.price(place.kind if place else visit.place.kind)
            spent += price or 0.0
            claimed = visit.cost
            if claimed is None:
                if price and has_costs:
                    yield Violation(
                        code="COST_CLAIM",
                        path=f"days.{number}.visits.{index}.cost",
                        expected=f"{price:.2f} {request.rules.currency}",
                        found="no cost, though others are told",
                    )
                continue
            path = f"days.{number}.visits.{index}.cost"
            yield from _false_cost(claimed, price, request.rules.currency, path=path)
    night_price = request.price("hotel")
    for number, day in enumerate(plan.days):
        claimed = day.night.cost if day.night else None
        if claimed is not None:
            path = f"days.{number}.night.cost"
            yield from _false_cost(claimed, night_price, request.rules.currency, path=path)
    spent += request.nights_cost()
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
    wanted_cost, told = _in_words(sums.cost), _in_words(claimed.cost)
    if wanted_cost != told and not (sums.cost is None and claimed.cost and claimed.cost.amount < 0.01):
        yield Violation(code="SUM", path="totals.cost", expected=wanted_cost, found=told)


def _in_words(money: Money | None) -> str:
    return "no cost" if money is None else f"{money.amount:.2f} {money.currency}"
