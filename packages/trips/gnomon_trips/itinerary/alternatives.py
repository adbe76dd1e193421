"""Finds the nearest requests that can be served where one cannot; each is planned and verified first.

One thing is changed at a time: another date, a place less, a longer day, a higher limit. What was planned for
and found impossible, or not found, is told as tried.
"""

import datetime as dt
import math
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from gnomon_trips.itinerary.draft import plan_of
from gnomon_trips.itinerary.hours import DAY_MIN, clock_of, open_on, told_hours
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.plan import Plan, Skipped
from gnomon_trips.itinerary.planning import find_plan
from gnomon_trips.itinerary.request import SLEEPERS, Meal, Money, TripRequest, Window
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.verify import verify_plan

SECONDS = 10.0
"""For all attempts together; the first of them, the best plan for a part, has no more than PART_S."""
PART_S, ATTEMPT_S, LEAST_S = 3.0, 2.0, 0.2
MOST_SERVED = 3
SHIFTS = (1, -1, 2, -2, 3, -3, 4, 5, 6, 7)
LATEST, EARLIEST = 23 * 60, 6 * 60
MAX_DAYS = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A request with one change, in words and as the fields that differ, and whether a plan was found."""

    kind: str
    words: str
    change: Mapping[str, Any]
    is_served: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternatives:
    """What stands in the way, in words, what was tried instead, and the best plan for a part of the request.

    `part` keeps all that was asked for but `left_out`; None: there is none.
    """

    causes: tuple[str, ...]
    tried: tuple[Tried, ...]
    seconds: float
    part: Plan | None = None
    left_out: tuple[Skipped, ...] = ()

    @property
    def words(self) -> str:
        """The nearest requests that can be served, in one sentence after the causes."""
        served = [attempt.words for attempt in self.tried if attempt.is_served]
        parts = list(self.causes)
        if served:
            parts.append(f"the trip works {', or '.join(served)}")
        elif self.tried:
            count = len(self.tried)
            parts.append(
                f"{count} changed request{'s were' if count > 1 else ' was'} tried, and no plan was found"
            )
        words = "; ".join(parts)
        return f"{words[0].upper()}{words[1:]}." if words else ""

    def as_json(self, *, with_part: bool) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "words": self.words,
            "causes": list(self.causes),
            "tried": [asdict(attempt) for attempt in self.tried],
            "seconds": self.seconds,
        }
        if with_part and self.part is not None:
            fields["part"] = self.part.model_dump(mode="json")
            fields["left_out"] = [item.model_dump(mode="json") for item in self.left_out]
        return fields


async def nearest_requests(trip: Trip, conflict: Sequence[str], *, seconds: float = SECONDS) -> Alternatives:
    """The nearest requests that can be served, the likeliest first, within that time.

    Raises:
        PlaceError: the provider failed.
    """
    trip = trip.unjudged()
    started = time.monotonic()
    causes = _causes(trip, conflict)
    if not trip.places() and not trip.request.wishes:
        return Alternatives(causes=causes, tried=(), seconds=0.0)
    first = await find_plan(trip, seconds=min(PART_S, seconds / 2))
    if first.draft.status == "planned":
        whole = Tried(kind="as_asked", words="as it was asked for", change={}, is_served=True)
        return Alternatives(causes=causes, tried=(whole,), seconds=round(time.monotonic() - started, 1))
    part = await plan_of(first.partial, trip) if first.partial else None
    tried: list[Tried] = []
    missed = [item.place for item in first.left_out]
    for kind, words, change in _changes(trip, conflict, missed):
        served = {attempt.kind for attempt in tried if attempt.is_served}
        if kind in served:
            continue
        left_s = seconds - (time.monotonic() - started)
        if left_s < LEAST_S or len(served) >= MOST_SERVED:
            break
        attempt = await _attempt(trip, kind, words, change, min(ATTEMPT_S, left_s))
        if attempt is not None:
            tried.append(attempt)
    return Alternatives(
        causes=causes,
        tried=tuple(tried),
        seconds=round(time.monotonic() - started, 1),
        part=part,
        left_out=first.left_out if part else (),
    )


Change = tuple[str, str, dict[str, Any]]
"""The kind of a change, its words, and the fields of the request that differ."""


async def _attempt(
    trip: Trip, kind: str, words: str, change: Mapping[str, Any], seconds: float
) -> Tried | None:
    """The changed request, planned and verified; None where it would be no change at all.

    A limit is first left out; what the plan then needs is the limit that is named.
    """
    limit = LIMITS.get(kind)
    changed = _changed(trip, {**change, "prefer": "short_walk"} if limit == "max_walk_m" else change)
    search = await find_plan(changed, seconds=seconds)
    if search.draft.status != "planned":
        return Tried(kind=kind, words=words, change=_plain(change), is_served=False)
    plan = await plan_of(search.draft, changed)
    if limit is not None:
        needed = _needed(limit, plan, trip.request)
        if needed is None:
            return None
        words, change = _limit_words(limit, needed), {limit: needed}
        changed = _changed(trip, change)
    verified = (await verify_plan(plan.model_copy(update={"search": None}), changed))[1]
    return Tried(kind=kind, words=words, change=_plain(change), is_served=verified.final_pass)


LIMITS = {"walk": "max_walk_m", "leg": "max_leg_min", "budget": "budget"}


def _changed(trip: Trip, change: Mapping[str, Any]) -> Trip:
    return replace(trip, request=trip.request.model_copy(update=dict(change)))


def _plain(change: Mapping[str, Any]) -> dict[str, Any]:
    """The change as plain data, as a request has it."""
    fields = TripRequest.model_construct(**change).model_dump(mode="json", include=set(change))
    return {name: fields[name] for name in change}


def _needed(limit: str, plan: Plan, request: TripRequest) -> int | Money | None:
    """The limit that a plan needs, rounded up; None where it is no more than was allowed."""
    if limit == "max_walk_m":
        walked = max(sum(leg.metres for leg in day.legs if leg.mode == "walk") for day in plan.days)
        needed = math.ceil(walked / 100) * 100
        return needed if request.max_walk_m is not None and needed > request.max_walk_m else None
    if limit == "max_leg_min":
        longest = max(leg.minutes for day in plan.days for leg in day.legs)
        return longest if request.max_leg_min is not None and longest > request.max_leg_min else None
    if plan.totals.cost is None or request.budget is None:
        return None
    amount = float(math.ceil(plan.totals.cost.amount))
    return (
        Money(amount=amount, currency=plan.totals.cost.currency) if amount > request.budget.amount else None
    )


def _limit_words(limit: str, needed: int | Money) -> str:
    if isinstance(needed, Money):
        return f"with a budget of {needed.amount:,.2f} {needed.currency}"
    if limit == "max_walk_m":
        return f"with up to {needed / 1000:.1f} km on foot a day"
    return f"with up to {needed} min of one way"


def _changes(trip: Trip, conflict: Sequence[str], missed: Collection[str]) -> Iterator[Change]:
    """Changes that may help; those about the conflict come first."""
    request = trip.request
    kinds = {name.partition(":")[0] for name in conflict}
    shut = _shut(trip)
    closed = list(dict.fromkeys([*shut, *(name[6:] for name in conflict if name.startswith("hours:"))]))
    if closed:
        yield from _dates(trip, closed)
    for name in conflict:
        yield from _relaxed(request, name)
    places = [name for name in missed if name in request.places]
    if shut:
        yield from _without(request, shut)
    for name in dict.fromkeys([*closed, *places]):
        if [name] != shut:
            yield from _without(request, [name])
    if len(places) > 1:
        yield from _without(request, places)
    if kinds & {"window", "hours", "meal"} and not shut:
        yield from _windows(request)
    if kinds & {"window", "hours", "meal", "max_walk_m"}:
        yield from _more_days(request)
    if kinds & {"window", "meal"} and not closed:
        yield from _dates(trip, ())


def _shut(trip: Trip) -> list[str]:
    dates = trip.request.dates()
    return [
        name
        for name in trip.request.places
        if name in trip.named and all(open_on(trip.named[name], date, trip.country) == () for date in dates)
    ]


def _relaxed(request: TripRequest, name: str) -> Iterator[Change]:
    kind, _, about = name.partition(":")
    match kind:
        case "meal":
            yield from _meal(request, about)
        case "fixed":
            fixed = [entry for entry in request.fixed if entry.place != about]
            yield "fixed", f"if {about} may be visited at another time", {"fixed": fixed}
        case "order":
            pair = tuple(about.split(">", 1))
            order = [entry for entry in request.order if tuple(entry) != pair]
            yield "order", f"without “{' before '.join(pair)}”", {"order": order}
        case "avoid":
            avoid = [entry for entry in request.avoid if entry != about]
            yield "avoid", f"if {about} may be visited", {"avoid": avoid}
        case "rooms":
            rooms = -(-request.party // SLEEPERS)
            yield "rooms", f"with {rooms} rooms", {"rooms": rooms}
        case "max_walk_m":
            yield "walk", "without a limit on walking", {"max_walk_m": None}
        case "max_leg_min":
            yield "leg", "without a limit on one way", {"max_leg_min": None}
        case "budget":
            yield "budget", "without a budget", {"budget": None}


def _dates(trip: Trip, closed: Sequence[str]) -> Iterator[Change]:
    """Other first days: those on which the closed places are open."""
    request = trip.request
    for shift in SHIFTS:
        start = request.start_date + dt.timedelta(days=shift)
        dates = [start + dt.timedelta(days=day) for day in range(request.days)]
        places = [trip.named[name] for name in closed if name in trip.named]
        if all(any(open_on(place, date, trip.country) != () for date in dates) for place in places):
            yield "date", f"from {start:%A %-d %B}", {"start_date": start}


def _without(request: TripRequest, names: Sequence[str]) -> Iterator[Change]:
    places = [name for name in request.places if name not in names]
    if len(places) == len(request.places) or not (places or request.wishes):
        return
    order = [pair for pair in request.order if not set(pair) & set(names)]
    kind = "drop" if len(names) == 1 else "drop several"
    change: dict[str, Any] = {"places": places, "order": order}
    if request.fixed:
        change["fixed"] = [entry for entry in request.fixed if entry.place not in names]
    yield kind, f"without {_listed(names)}", change


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _windows(request: TripRequest) -> Iterator[Change]:
    for earlier, later in ((0, 60), (0, 120), (60, 0), (60, 120)):
        change: dict[str, Any] = {"window": _longer(request.window, earlier, later)}
        if request.windows:
            change["windows"] = [window and _longer(window, earlier, later) for window in request.windows]
        longer = request.model_copy(update=change)
        if longer.total_min() > request.total_min():
            yield "window", f"with days from {longer.hours_words()}", change


def _longer(window: Window, earlier: int, later: int) -> Window:
    """The window with so many minutes more at its ends, as far as a day goes."""
    start, end = window.start_min, window.end_min
    return Window(
        start=clock_of(min(start, max(EARLIEST, start - earlier))),
        end=clock_of(max(end, min(LATEST, end + later)) % DAY_MIN),
    )


def _meal(request: TripRequest, name: str) -> Iterator[Change]:
    meal = next((meal for meal in request.meals if meal.name == name), None)
    if meal is None:
        return
    start, end = max(0, meal.start_min - 60), min(LATEST, meal.end_min + 60)
    if start < meal.start_min and end > meal.end_min:
        longer = Meal(name=meal.name, start=clock_of(start), end=clock_of(end), minutes=meal.minutes)
        meals = [longer if entry is meal else entry for entry in request.meals]
        yield "meal time", f"with {name} between {longer.start} and {longer.end}", {"meals": meals}
    others = [entry for entry in request.meals if entry is not meal]
    yield "meal", f"without {name}", {"meals": others}


def _more_days(request: TripRequest) -> Iterator[Change]:
    if request.days < MAX_DAYS:
        days = request.days + 1
        by_day: Mapping[str, Sequence[Any]] = {"nights": request.nights, "windows": request.windows}
        longer = {name: [*values, None] for name, values in by_day.items() if values}
        yield "days", f"with {days} days", {"days": days, **longer}


def _causes(trip: Trip, conflict: Sequence[str]) -> tuple[str, ...]:
    """The causes of a refusal; places that are closed on the same days are named together."""
    shut = _shut(trip)
    is_enough = any(name[6:] in shut for name in conflict)
    names = [
        name for name in conflict if name[6:] not in shut and not (is_enough and name in ("window", "no_way"))
    ]
    together = [_shut_cause([trip.named[name] for name in shut], trip)] if shut else []
    return tuple(filter(None, (*together, *(_cause(name, trip) for name in names))))


def _cause(name: str, trip: Trip) -> str:
    """What a constraint of a conflict means here; empty where the constraint says it itself."""
    kind, _, about = name.partition(":")
    request = trip.request
    match kind:
        case "hours" if about in trip.named:
            return _hours_cause(trip.named[about], request, trip.country)
        case "max_walk_m" if request.max_walk_m is not None:
            return f"no more than {request.max_walk_m / 1000:.1f} km on foot a day are allowed"
        case "max_leg_min" if request.max_leg_min is not None:
            return f"no way may take more than {request.max_leg_min} min"
        case "budget" if request.budget is not None:
            return f"the budget is {request.budget.amount:,.2f} {request.budget.currency}"
        case "window":
            return f"each day is from {request.hours_words()}"
        case "fixed":
            times = [entry.start for entry in request.fixed if entry.place == about]
            return f"{about} is to be visited at {_listed(times)}"
        case "order":
            return f"{about.replace('>', ' must come before ', 1)}"
        case "meal":
            meal = next((meal for meal in request.meals if meal.name == about), None)
            return f"{about} is wanted between {meal.start} and {meal.end} on each day" if meal else ""
        case "avoid":
            return f"{about} is asked for and to be avoided"
        case "no_way":
            return f"no way {'on foot' if request.mode == 'walk' else f'by {request.mode}'} joins all places"
        case "rooms" if request.rooms is not None:
            return f"{request.party} people need more than {request.rooms} room{'s' * (request.rooms != 1)}"
    return ""


def _hours_cause(place: Place, request: TripRequest, country: str) -> str:
    hours = {date: open_on(place, date, country) for date in request.dates()}
    opened = {told_hours(spans).replace("-", "–") for spans in hours.values()}
    if len(opened) == 1:
        return f"{place.name} is open {opened.pop()}"
    days = [f"{told_hours(spans).replace('-', '–')} on {date:%A %-d %B}" for date, spans in hours.items()]
    return f"{place.name} is open {', '.join(days)}".replace("open closed on", "closed on")


def _shut_cause(places: Sequence[Place], trip: Trip) -> str:
    """When these places are closed: on weekdays, or on the dates of the trip."""
    dates = trip.request.dates()
    weeks = [date + dt.timedelta(days=7 * week) for date in dates for week in range(1, 4)]
    is_usual = all(open_on(place, date, trip.country) == () for place in places for date in weeks)
    days = list(dict.fromkeys(f"{date:%A}s" if is_usual else f"{date:%A %-d %B}" for date in dates))
    names = _listed([place.name for place in places])
    return f"{names} {'is' if len(places) == 1 else 'are'} closed on {_listed(days)}"
