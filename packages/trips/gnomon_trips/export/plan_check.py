"""Checks anyone's plan, each check with its evidence; what no source can answer is told as unchecked."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic import ValidationError

from gnomon.core.errors import DataError, SpecError
from gnomon_trips.benchmarks.itinerary.brief import request_task
from gnomon_trips.export.checks import MARKS, checks_of, faults_of
from gnomon_trips.export.plan_check_row import PlanCheck, Point, State
from gnomon_trips.export.result import TripResult
from gnomon_trips.export.travelplanner_check import is_travelplanner, travelplanner_checks
from gnomon_trips.itinerary.draft import DraftPlan, plan_of
from gnomon_trips.itinerary.errors import PlaceError
from gnomon_trips.itinerary.facts import Facts, facts_of
from gnomon_trips.itinerary.hours import told_hours
from gnomon_trips.itinerary.plan import Plan
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.request import told_fault
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.check_kinds import check_kinds, codes_of
from gnomon_trips.itinerary.verify.verify import applicable, read_plan, verify
from gnomon_trips.itinerary.verify.violation import Unchecked, Verification, Violation, counts_in_words

MAX_DAYS, MAX_VISITS = 60, 500
NO_REQUEST = "no request was given"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPlan:
    """How each check of a plan went."""

    form: Literal["gnomon", "travelplanner"]
    checks: tuple[PlanCheck, ...]

    def count(self, state: State) -> int:
        return sum(check.state == state for check in self.checks if check.code not in codes_of("remark"))

    @property
    def words(self) -> str:
        return counts_in_words(self.count("holds"), self.count("fails"), self.count("unchecked"))

    def as_json(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "passes": not self.count("fails"),
            "summary": self.words,
            "counts": {state: self.count(state) for state in ("holds", "fails", "unchecked")},
            "checks": [asdict(check) for check in self.checks],
        }

    def as_text(self) -> str:
        """One line a check, those that fail first; what does not apply is left out."""
        order = ("fails", "unchecked", "remark", "holds")
        shown = sorted(
            (check for check in self.checks if check.state in order),
            key=lambda check: order.index(check.state),
        )
        lines = [f"{self.words}."]
        for check in shown:
            lines.append(
                f"{MARKS[check.state]} {check.code}: {check.label}"
                + (f" ({check.note})" if check.note else "")
            )
            lines += [f"    {point.where}: {point.reason}" + _by(point.evidence) for point in check.points]
            lines += [f"    by {source}" for source in check.evidence]
        return "\n".join(lines) + "\n"


def check_plan(value: object, request: object = None) -> CheckedPlan:
    """Check a plan in plain data: of our own form, as a model drafts it, or of TravelPlanner's.

    Raises:
        SpecError: the value is no plan of a known form, or the request is none.
        DataError: the provider of its area failed.
    """
    if is_travelplanner(value):
        return CheckedPlan(form="travelplanner", checks=tuple(travelplanner_checks(value, request)))
    if not isinstance(value, Mapping):
        message = "must be an itinerary (an object with `days`), or TravelPlanner's list of days"
        raise SpecError(message, field="plan")
    inner = value.get("plan", value)
    if not isinstance(inner, Mapping) or not {"days", "status"} & set(inner):
        raise SpecError("has neither `days` nor `status`: it is no itinerary", field="plan")
    _bounded(inner)
    written = request if request is not None else value.get("request") or None
    if written is not None and not isinstance(written, Mapping):
        raise SpecError("must be one JSON object: a planning request", field="request")
    asked = written if written is not None else _implied(inner)
    trip = request_task(asked).trip
    if trip.request.latest_start and (first := _first_day(inner, asked, trip.request.start_date)):
        trip = request_task({**asked, "start_date": first, "latest_start": None}).trip
    trip = trip.unjudged()
    try:
        return answered(
            _checked(dict(inner), trip, value, has_request=written is not None),
            is_local=trip.provider.is_local,
        )
    except PlaceError as error:
        raise DataError(f"{error.code}: {error}", field="plan") from None


def _bounded(plan: Mapping[str, Any]) -> None:
    days = plan.get("days")
    count = len(days) if isinstance(days, Sequence) else 0
    visits = [day.get("visits") for day in days or () if isinstance(day, Mapping)] if count else []
    if count > MAX_DAYS or sum(len(one) for one in visits if isinstance(one, Sequence)) > MAX_VISITS:
        raise SpecError(f"has over {MAX_DAYS} days or {MAX_VISITS} visits", field="plan.days")


async def _checked(
    plan: dict[str, Any], trip: Trip, told: Mapping[str, Any], *, has_request: bool
) -> CheckedPlan:
    value: object = plan
    if _is_draft(plan):
        try:
            draft = DraftPlan.model_validate(plan)
        except ValidationError as error:
            raise SpecError(told_fault(error), field="plan") from None
        value = await plan_of(draft, trip)
    read = value if isinstance(value, Plan) else read_plan(value)
    if not isinstance(read, Plan):
        verdict = Verification(violations=read, checked=applicable(trip.request))
        return CheckedPlan(form="gnomon", checks=tuple(_malformed(verdict)))
    facts = await facts_of(trip, read)
    verdict = verify(read, trip, facts)
    more = tuple(_besides(read, facts, told))
    result = TripResult(
        plan=read,
        violations=tuple(asdict(one) for one in (*verdict.violations, *more) if isinstance(one, Violation)),
        unchecked=tuple(asdict(one) for one in (*verdict.unchecked, *more) if isinstance(one, Unchecked)),
        request=trip.request.model_dump(mode="json", exclude_defaults=True),
        verified_by=f"{facts.provider} {facts.version}",
    )
    return CheckedPlan(form="gnomon", checks=tuple(_rows(result, facts, has_request=has_request)))


def _rows_of(value: object) -> Iterable[tuple[str, Any]]:
    return value.items() if isinstance(value, Mapping) else ()


def _besides(plan: Plan, facts: Facts, told: Mapping[str, Any]) -> Iterator[Violation | Unchecked]:
    """What a plan of unknown hands says of its own search; the hours and contacts that are told beside it."""
    if plan.search is not None:
        why = "what it says of its own search was not searched again"
        yield Unchecked(code="SCHEMA", path="search", why=why)
    beside = [name for name in ("verification", "steps", "alternatives", "quality") if told.get(name)]
    if beside:
        why = f"what stands beside the plan was not measured again: {', '.join(beside)}"
        yield Unchecked(code="SCHEMA", path=beside[0], why=why)
    dates = {day.date.isoformat(): day.date for day in plan.days}
    for place_id, own in _rows_of(told.get("contacts")):
        place = facts.places.get(place_id)
        if place is None or dict(place.contacts) != own:
            found, expected = str(own), str(dict(place.contacts)) if place else "no such stop"
            yield Violation(code="EVIDENCE", path=f"contacts.{place_id}", expected=expected, found=found)
    for place_id, hours in _rows_of(told.get("open")):
        for date, words in hours.items() if isinstance(hours, Mapping) else ():
            path = f"open.{place_id}.{date}"
            if place_id not in facts.places or date not in dates:
                yield Unchecked(code="OPEN_HOURS", path=path, why="the plan has no such stop or day")
            elif words != (known := told_hours(facts.hours(place_id, dates[date]))):
                yield Violation(code="OPEN_HOURS", path=path, expected=known, found=str(words))


def _first_day(plan: Mapping[str, Any], request: Mapping[str, Any], chosen: dt.date) -> str:
    """The day on which a plan begins, where it is not the one chosen here and its request allows it."""
    days = plan.get("days")
    first = days[0].get("date") if isinstance(days, list) and days and isinstance(days[0], Mapping) else None
    is_allowed = str(request["start_date"]) <= str(first) <= str(request["latest_start"])
    return str(first) if is_allowed and first != chosen.isoformat() else ""


def _is_draft(plan: Mapping[str, Any]) -> bool:
    """Whether places are names, as a model writes a plan, not stops with their positions."""
    days = plan.get("days")
    rows = [day.get("visits") for day in days if isinstance(day, Mapping)] if isinstance(days, list) else []
    visits = [visit for row in rows if isinstance(row, list) for visit in row]
    return bool(visits) and all(
        isinstance(one, Mapping) and isinstance(one.get("place"), str) for one in visits
    )


def _implied(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The least request that a plan answers, where none was given: its area, dates and places.

    Raises:
        SpecError: the plan does not say where it is.
    """
    read = read_plan(dict(plan))
    if not isinstance(read, Plan):
        first = read[0]
        raise SpecError(f"{first.path}: {first.expected}; to check it further give its request", field="plan")
    visits = [visit for day in read.days for visit in day.visits]
    if not visits:
        raise SpecError("is needed to check a plan without visits", field="request")
    starts = {day.start.id for day in read.days} | {day.end.id for day in read.days}
    visited = list(dict.fromkeys(visit.place.id for visit in visits))
    modes = [leg.mode for day in read.days for leg in day.legs]
    area = visited[0].partition("/")[0] if "/" in visited[0] else "world"
    implied: dict[str, Any] = {
        "id": read.request_id,
        "area": area,
        "start_date": read.days[0].date.isoformat(),
        "days": min(14, len(read.days)),
        "places": visited[:60],
        "window": {"start": "00:00", "end": "23:59"},
        "mode": next((mode for mode in modes if mode != "walk"), "walk"),
    }
    if len(starts) == 1 and not starts & set(visited):
        implied["hotel"] = next(iter(starts))
    return implied


def _malformed(verdict: Verification) -> Iterator[PlanCheck]:
    """A check of a plan whose form is wrong, so that nothing else could be checked."""
    for code, kind in check_kinds().items():
        points = tuple(
            Point(where=one.path, reason=f"{one.expected}; found {one.found}")
            for one in verdict.violations
            if one.code == code
        )
        state: State = "fails" if points else "unchecked"
        if not points and code not in verdict.checked:
            continue
        note = "" if points else "the plan cannot be read"
        yield PlanCheck(code=code, label=kind.holds, state=state, note=note, points=points)


def _rows(result: TripResult, facts: Facts, *, has_request: bool) -> Iterator[PlanCheck]:
    by_reason = {(one["code"], one["path"]): one["evidence"] for one in result.violations}
    for check in checks_of(result, faults_of(result)):
        if check_kinds()[check.code].by_request and not has_request:
            yield PlanCheck(code=check.code, label=check.label, state="unchecked", note=NO_REQUEST)
            continue
        evidence = [source for (code, _), source in by_reason.items() if code == check.code and source]
        failing = [
            Point(where=fault.where, reason=fault.reason, evidence=next(iter(evidence), ""))
            for fault in check.faults
        ]
        missing = [Point(where=fault.where, reason=fault.reason) for fault in check.unchecked]
        yield PlanCheck(
            code=check.code,
            label=check.label,
            state=check.state,
            note="" if missing and not failing else check.note,
            points=(*failing, *missing),
            evidence=tuple(_evidence(check.code, result.plan, facts))
            if check.state in ("holds", "fails")
            else (),
        )


def _evidence(code: str, plan: Plan, facts: Facts) -> Iterator[str]:
    """What the check rests on: the hours it read, the ways it was told, or who knows the places."""
    knowing = dict.fromkeys(source for told_by in facts.place_sources.values() for source in sorted(told_by))
    if code == "OPEN_HOURS":
        for day in plan.days:
            for visit in day.visits:
                place = facts.places.get(visit.place.id)
                if place is not None and place.hours:
                    told_by = ", ".join(sorted(facts.place_sources.get(place.id, ())))
                    yield f"{place.name}: {place.hours} ({told_by})"
    elif code in ("TRAVEL_TIME", "LEG_CLAIM", "MAX_LEG", "MAX_WALK"):
        sources = [
            (way.exactness, facts.way_sources[pair]) for pair, way in facts.ways.items() if way is not None
        ]
        for exactness, source in dict.fromkeys(sources):
            count = sources.count((exactness, source))
            yield f"{count} way{'s' * (count != 1)}, {exactness.replace('_', ' ')} ({source})"
    elif code == "IMPOSSIBLE":
        yield "straight lines at the top speed of each mode"
    elif check_kinds()[code].error_kind == "names":
        yield from knowing
    elif check_kinds()[code].by_request:
        yield "the request"


def _by(evidence: str) -> str:
    return f" [{evidence}]" if evidence else ""
