"""Verifies a plan against a request and the facts; pure, so the same three always give the same verdict."""

import itertools
from collections.abc import Iterator

from pydantic import ValidationError

from gnomon_trips.itinerary.facts import Facts, facts_of
from gnomon_trips.itinerary.kept_free import is_kept_free
from gnomon_trips.itinerary.place import PROVABLE
from gnomon_trips.itinerary.plan import Plan
from gnomon_trips.itinerary.request import TripRequest
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.check_kinds import check_kinds, codes_of
from gnomon_trips.itinerary.verify.grounding import grounding
from gnomon_trips.itinerary.verify.guide import guide_faults
from gnomon_trips.itinerary.verify.sources import attributed, sources
from gnomon_trips.itinerary.verify.space import space
from gnomon_trips.itinerary.verify.task import task
from gnomon_trips.itinerary.verify.time import time
from gnomon_trips.itinerary.verify.unchecked import unchecked
from gnomon_trips.itinerary.verify.violation import Unchecked, Verification, Violation
from gnomon_trips.itinerary.verify.why import reasons

MEASURED = frozenset(
    ("minutes", "metres", "date", "currency", "amount", "arrive", "leave", "lat", "lon", "mode", "cost")
)
"""Fields whose value has a unit or a standard form: faults in them are UNITS, all others SCHEMA."""


def read_plan(value: object) -> Plan | tuple[Violation, ...]:
    """The plan in plain data, or everything that keeps it from being one."""
    try:
        return Plan.model_validate(value)
    except ValidationError as error:
        return tuple(
            Violation(
                code="UNITS" if MEASURED & set(map(str, item["loc"][-2:])) else "SCHEMA",
                path=".".join(map(str, item["loc"])) or "plan",
                expected=item["msg"].removeprefix("Value error, "),
                found=repr(item.get("input"))[:80],
            )
            for item in error.errors()
        )


def form(plan: Plan, request: TripRequest) -> Iterator[Violation]:
    """Faults of days, dates and the chain of legs."""
    dates = request.dates()
    if plan.request_id != request.id:
        yield Violation(code="SCHEMA", path="request_id", expected=request.id, found=plan.request_id)
    if plan.conflict is not None:
        yield Violation(
            code="SCHEMA", path="conflict", expected="none: there is a plan", found=", ".join(plan.conflict)
        )
    if plan.search is not None and plan.search.is_proven and plan.search.gap:
        yield Violation(
            code="SCHEMA", path="search.gap", expected="none: it is proven", found=f"{plan.search.gap:g}"
        )
    rests_on = sorted({leg.exactness for day in plan.days for leg in day.legs} - {*PROVABLE})
    if plan.search is not None and plan.search.is_proven and rests_on:
        found = f"proven, on ways known as {' and '.join(rests_on).replace('_', ' ')}"
        yield Violation(code="SCHEMA", path="search.is_proven", expected="not proven", found=found)
    if len(plan.days) != len(dates):
        yield Violation(
            code="DAY_COUNT", path="days", expected=f"{len(dates)} days", found=f"{len(plan.days)}"
        )
    for number, (day, date) in enumerate(zip(plan.days, dates, strict=False)):
        if day.date != date:
            yield Violation(
                code="DATE", path=f"days.{number}.date", expected=date.isoformat(), found=day.date.isoformat()
            )
    for number, day in enumerate(plan.days):
        chain = [day.start.id, *(visit.place.id for visit in day.visits), day.end.id]
        wanted = list(itertools.pairwise(chain))
        joined = [(leg.from_id, leg.to_id) for leg in day.legs]
        if wanted != joined:
            yield Violation(
                code="SCHEMA",
                path=f"days.{number}.legs",
                expected=" → ".join(chain),
                found=", ".join(f"{start} → {end}" for start, end in joined) or "no legs",
            )


def verify(plan: Plan, trip: Trip, facts: Facts) -> Verification:
    """Everything that is wrong with a plan, and everything that could not be checked."""
    if plan.status == "refused":
        violations = tuple(_refusal(plan, trip, facts))
        open_points = tuple(_unproven(plan, trip))
        checked: tuple[str, ...] = ("SCHEMA", "ATTRIBUTION", "REFUSED_BUT_FEASIBLE")
    else:
        said = (*reasons(plan, trip, facts), *guide_faults(plan, trip, facts), *_kept_free(plan, facts))
        violations = (*_planned(plan, trip, facts), *(one for one in said if isinstance(one, Violation)))
        open_points = (*unchecked(plan, trip, facts), *(one for one in said if isinstance(one, Unchecked)))
        checked = applicable(trip.request)
    return Verification(
        violations=violations,
        checked=checked,
        unchecked=open_points,
        provider=facts.provider,
        version=facts.version,
    )


async def verify_plan(value: object, trip: Trip) -> tuple[Plan | None, Verification]:
    """Read a plan out of plain data, ask the provider for the facts, and verify it.

    Raises:
        PlaceError: the provider failed.
    """
    plan = value if isinstance(value, Plan) else read_plan(value)
    if not isinstance(plan, Plan):
        return None, Verification(violations=plan, checked=applicable(trip.request))
    return plan, verify(plan, trip, await facts_of(trip, plan))


def applicable(request: TripRequest) -> tuple[str, ...]:
    """The checks that can fail for this request; a share of passed checks counts no others."""
    needs = {
        "MEAL_WINDOW": bool(request.meals),
        "HOME": bool(request.hotel or request.ends_at),
        "NIGHT_CONTINUITY": request.days > 1,
        "NIGHT": request.days > 1,
        "MUST_VISIT": bool(request.places),
        "WISH": bool(request.wishes),
        "FORBIDDEN": bool(request.avoid),
        "ORDER": bool(request.order or request.fixed),
        "MAX_WALK": request.max_walk_m is not None,
        "MAX_LEG": request.max_leg_min is not None,
        "BUDGET": request.budget is not None,
        "PARTY": request.rooms is not None,
        "REFUSED_BUT_FEASIBLE": False,
    }
    return tuple(code for code in check_kinds() if code not in codes_of("remark") and needs.get(code, True))


def _planned(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    yield from form(plan, trip.request)
    yield from grounding(plan, facts)
    yield from time(plan, trip.request, facts)
    yield from space(plan, trip, facts)
    yield from task(plan, trip, facts)
    yield from sources(plan, trip, facts)
    if trip.answerable is False:
        yield Violation(
            code="PLANNED_BUT_INFEASIBLE",
            path="status",
            expected="refused: no plan keeps all constraints",
            found="planned",
        )


def _refusal(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    if trip.answerable is True:
        yield Violation(
            code="REFUSED_BUT_FEASIBLE", path="status", expected="a plan; there is one", found="refused"
        )
    if not plan.conflict:
        yield Violation(
            code="SCHEMA", path="conflict", expected="the constraints that cannot be kept", found="none"
        )
    if plan.days:
        yield Violation(
            code="SCHEMA", path="days", expected="none: it is refused", found=f"{len(plan.days)} days"
        )
    for name in plan.conflict or ():
        if _is_asked(name, trip) is False:
            yield Violation(code="SCHEMA", path="conflict", expected="constraints of the request", found=name)
    yield from attributed(plan, facts)


def _is_asked(constraint: str, trip: Trip) -> bool | None:
    """Whether the request has that constraint; None: an id of another form, which nothing here knows."""
    request = trip.request
    kind, _, about = constraint.partition(":")
    names = {*request.places, *request.avoid, *trip.lost, *trip.named, *(p.id for p in trip.named.values())}
    match kind:
        case "budget":
            return request.budget is not None
        case "max_walk_m":
            return request.max_walk_m is not None
        case "max_leg_min":
            return request.max_leg_min is not None
        case "meal":
            return about in {meal.name for meal in request.meals}
        case "order":
            return about in {f"{first}>{then}" for first, then in request.order}
        case "hours" | "place":
            return about in names
        case "fixed":
            return about in {fixed.place for fixed in request.fixed}
        case "rooms":
            return request.rooms is not None
        case "avoid":
            return about in request.avoid
        case "window" | "places" | "no_way":
            return True
    return None


def _unproven(plan: Plan, trip: Trip) -> Iterator[Unchecked]:
    if trip.answerable is None:
        yield Unchecked(
            code="REFUSED_BUT_FEASIBLE", path="status", why="whether there is a plan was not searched here"
        )
    for name in plan.conflict or ():
        if _is_asked(name, trip) is None:
            yield Unchecked(code="SCHEMA", path="conflict", why=f"nothing here knows a constraint “{name}”")


def _kept_free(plan: Plan, facts: Facts) -> Iterator[Violation | Unchecked]:
    """Faults of time kept free although there is somewhere to eat; else a meal that nobody can check."""
    for number, day in enumerate(plan.days):
        for index, visit in enumerate(day.visits):
            if not is_kept_free(visit.place.id):
                continue
            path = f"days.{number}.visits.{index}"
            eatery = facts.eateries.get(visit.place.id)
            if eatery is not None:
                expected = f"a meal at a place that is known, such as {eatery.name}"
                yield Violation(code="MEAL_WINDOW", path=path, expected=expected, found="time kept free")
            yield Unchecked(
                code="MEAL_WINDOW", path=f"days.{number}", why="no source knows a place to eat there"
            )
