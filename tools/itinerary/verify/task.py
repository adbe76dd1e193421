"""Checks whether a plan does what was asked for, and its own arithmetic holds."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator

from tools.itinerary.facts import Facts
from tools.itinerary.haversine import metres_between
from tools.itinerary.hours import opening_of, told_hours
from tools.itinerary.name_match import GOOD_NAME, likeness, plain_name
from tools.itinerary.place import Place
from tools.itinerary.plan import Plan, Skipped, sums_of
from tools.itinerary.reasons import WEEKDAYS
from tools.itinerary.request import Money
from tools.itinerary.trip import Trip
from tools.itinerary.verify.violation import Violation

SLEEPERS = 2
"""How many sleep in a room, where the request says nothing."""


ONE_SPOT_M, ONE_PLACE_M = 50.0, 200.0
OF_CHAINS = frozenset(
    ("restaurant", "cafe", "fast_food", "pub", "bar", "shop", "supermarket", "bank", "kiosk")
)
"""Kinds of which two branches of one name may stand side by side."""


def task(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    """Faults against the request."""
    yield from _visits(plan, trip, facts)
    yield from _wishes(plan, trip, facts)
    yield from _left_out(plan, trip, facts)
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
    barred = _barred(trip)
    asked = {trip.named[name].id for name in trip.request.places if name in trip.named}
    visited: dict[str, Place | None] = {}
    for place_id, path in paths:
        place = facts.places.get(place_id)
        to_avoid = next(
            (barred_name for barred_name, other in barred if _is_same(place_id, place, other)), None
        )
        if to_avoid is not None:
            yield Violation(code="FORBIDDEN", path=path, expected=f"no visit to {to_avoid}", found="one")
        # Who asks for two entries of the map gets both.
        earlier = [other for other in visited.values() if other is not None and place_id not in asked]
        if place_id in visited or any(_is_same(place_id, place, other) for other in earlier):
            count = max(2, times[place_id])
            yield Violation(code="DUPLICATE", path=path, expected="each place once", found=f"{count} visits")
        visited[place_id] = place


def _barred(trip: Trip) -> list[tuple[str, Place]]:
    """What is to be avoided, by name; of a name that means several places, all of them."""
    barred = [(name, trip.named[name]) for name in trip.request.avoid if name in trip.named]
    names = dict.fromkeys((*trip.request.avoid, *trip.unsure_avoid))
    return [*barred, *((name, hit.place) for name in names for hit in trip.candidates.get(name, ()))]


def _is_same(place_id: str, place: Place | None, other: Place) -> bool:
    return place_id == other.id or (place is not None and is_one_place(place, other))


def _skipped(name: str, plan: Plan) -> Skipped | None:
    """What the plan says of something that it leaves out."""
    return next((left for left in plan.skipped if likeness(left.place, name) >= GOOD_NAME), None)


def _wishes(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    """A wish is served by a place of its kind; one that is not is told, or ignored."""
    places = [facts.places.get(visit.place.id) for day in plan.days for visit in day.visits]
    for wish in trip.request.wishes:
        if any(place is not None and serves(place, wish) for place in places):
            continue
        left = _skipped(wish, plan)
        yield Violation(
            code="WISH",
            path="days",
            expected=f"a place of kind {wish}, or why there is none",
            found=left.reason if left else "neither",
            severity="warn" if left else "error",
        )


def serves(place: Place, wish: str) -> bool:
    """Whether a place is of a kind that was wished for: by its kind, its tags or its name.

    >>> from tools.itinerary.place import LatLon
    >>> serves(Place(id="1", name="Esplanadi", at=LatLon(lat_deg=60.0, lon_deg=24.9), kind="park"), "Parks")
    True
    """
    wanted = plain_name(wish.replace("_", " ")).removesuffix("s")
    words = {place.kind, *(value for _, values in place.tags for value in values.split(";"))}
    spoken = {plain_name(word.replace("_", " ")).removesuffix("s") for word in words}
    return wanted in spoken or wanted in plain_name(place.name)


def _left_out(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    """What nobody knows is told; what is left out is not visited, and is closed if the plan says so."""
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
        same = [
            stop
            for stop in visits
            if left.place == stop.id or plain_name(left.place) == plain_name(stop.name)
        ]
        if same:
            yield Violation(
                code="SKIPPED", path=f"skipped.{index}", expected="not in the plan", found="visited"
            )
        place = trip.named.get(left.place)
        if place is None or "closed" not in left.reason.lower():
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
    """Whether a reason speaks of that day; one that names no day speaks of all."""
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
    wanted_cost, told = _in_words(sums.cost), _in_words(claimed.cost)
    if wanted_cost != told and not (sums.cost is None and claimed.cost and claimed.cost.amount < 0.01):
        yield Violation(code="SUM", path="totals.cost", expected=wanted_cost, found=told)


def _in_words(money: Money | None) -> str:
    return "no cost" if money is None else f"{money.amount:.2f} {money.currency}"


def is_one_place(place: Place, other: Place) -> bool:
    """Whether two entries of a map are one place: one name, one kind, one Wikidata item or one spot."""
    if place.id == other.id:
        return True
    if (plain_name(place.name), place.kind) != (plain_name(other.name), other.kind):
        return False
    at, to = place.at, other.at
    off_m = float(metres_between(at.lat_deg, at.lon_deg, to.lat_deg, to.lon_deg))
    items = {dict(one.tags).get("wikidata") for one in (place, other)}
    is_one_item = len(items) == 1 and None not in items
    if place.kind in OF_CHAINS:
        return False
    return off_m < (ONE_PLACE_M if is_one_item else ONE_SPOT_M)
