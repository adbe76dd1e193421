"""All that a page shows of a trip, as plain data: headline, facts, days with stops and legs, checks."""

from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.itinerary_export.checks import (
    CHECKS,
    LEVELS,
    MARKS,
    WORDS,
    Check,
    Fault,
    Level,
    State,
    checks_of,
    faults_of,
    headline,
    stop_label,
)
from gnomon.itinerary_export.quality_words import quality_rows, unmeasured
from gnomon.itinerary_export.result import TripResult
from gnomon.itinerary_export.words import length_text, time_text, way_text
from tools.itinerary.hours import clock_of, minutes_of
from tools.itinerary.plan import Day, ItineraryLeg, Visit

View = dict[str, Any]


def trip_view(result: TripResult) -> View:
    """What is shown, in the order in which it is shown."""
    faults = faults_of(result)
    checks = checks_of(result, faults)
    plan = result.plan
    return {
        "title": result.title,
        "answer": headline(result, checks, faults),
        "status": plan.status,
        "facts": _facts(result),
        "conflict": _conflict(result) if plan.status == "refused" else [],
        "conflict_words": result.refusal if plan.status == "refused" else "",
        "faults": [_fault(fault) for fault in faults if fault.is_error],
        "days": [_day(result, number, checks, faults) for number in range(1, len(plan.days) + 1)],
        "checks": [_group(level, checks) for level in LEVELS],
        "proof": _proof(result),
        "quality": quality_rows(result),
        "unmeasured": unmeasured(result),
        "left_out": [f"{entry.place} ({entry.reason})" for entry in plan.skipped],
        "assumptions": list(plan.assumptions),
        "verified_by": result.verified_by,
        "sources": list(plan.attributions),
    }


def _facts(result: TripResult) -> list[str]:
    plan, facts = result.plan, []
    if plan.days:
        first, last = plan.days[0].date, plan.days[-1].date
        facts.append(f"{first:%-d %B %Y}" + (f" to {last:%-d %B %Y}" if last != first else ""))
        stops = sum(len(day.visits) for day in plan.days)
        facts.append(f"{stops} stop{'s' * (stops != 1)}")
        facts.append(f"{length_text(plan.totals.metres)}, {time_text(plan.totals.minutes)} on the way")
    if plan.totals.cost:
        facts.append(f"{plan.totals.cost.amount:.2f} {plan.totals.cost.currency}")
    return facts


CONSTRAINTS: Mapping[str, str] = {
    "hours": "the opening hours of {}",
    "order": "{} before {}",
    "meal": "a stop for {}",
    "avoid": "staying away from {}",
    "place": "{}",
    "max_walk_m": "the limit on walking",
    "max_leg_min": "the limit on one leg",
    "budget": "the budget",
    "rooms": "the number of rooms",
    "window": "the hours of the day",
}
"""The constraints that a refusal names, in words; what follows the colon of an entry is put in."""


def _conflict(result: TripResult) -> list[str]:
    """The constraints that cannot be kept together, in words; what is no constraint stays as it was named."""
    entries = []
    for entry in result.plan.conflict or ("not named",):
        kind, _, rest = entry.partition(":")
        names = rest.split(">", 1) if kind == "order" else [rest]
        pattern = CONSTRAINTS.get(kind, "")
        is_complete = pattern.count("{}") == len([name for name in names if name])
        entries.append(pattern.format(*names) if pattern and is_complete else entry)
    return entries


def _proof(result: TripResult) -> str:
    """What an exact search says of the result, if one was made."""
    if result.plan.status == "refused" and result.is_proven is not None:
        return (
            "Proven: an exact search finds no plan under the constraints named above."
            if result.is_proven
            else "Not proven: the constraints named above do not by themselves rule out every plan."
        )
    if result.regret is None:
        return ""
    if result.regret < 0.0005:
        return "Proven: no plan that keeps all constraints walks less."
    return (
        f"By an exact search the shortest plan walks less; this one walks {100 * result.regret:.1f} % more."
    )


def _fault(fault: Fault) -> View:
    return {
        "mark": MARKS["fails" if fault.is_error else "remark"],
        "where": fault.where,
        "anchor": fault.anchor,
        "reason": fault.reason,
        "check": CHECKS[fault.code][1] if fault.code in CHECKS else fault.code,
        "code": fault.code,
    }


def _group(level: Level, checks: Sequence[Check]) -> View:
    """The checks of a level: those that apply first, the others after them."""
    own = [check for check in checks if check.level == level]
    return {
        "level": level,
        "heading": LEVELS[level],
        "rows": [
            {
                "code": check.code,
                "label": check.label,
                "state": check.state,
                "mark": check.mark,
                "state_words": check.state_words,
                "note": check.note,
                "faults": [_fault(fault) for fault in check.faults],
                "unchecked": [_fault(fault) for fault in check.unchecked],
            }
            for check in sorted(own, key=lambda check: check.state == "unasked")
        ],
    }


def _day(result: TripResult, number: int, checks: Sequence[Check], faults: Sequence[Fault]) -> View:
    day = result.plan.days[number - 1]
    walked_m = sum(leg.metres for leg in day.legs)
    stops = len(day.visits)
    own = [fault for fault in faults if fault.anchor.split("-")[1:2] == [str(number)]]
    return {
        "number": number,
        "anchor": f"day-{number}",
        "heading": f"Day {number}: {day.date:%A, %-d %B}",
        "summary": f"{stops} stop{'s' * (stops != 1)}, {walked_m / 1000:.1f} km on the way",
        "faults": [_fault(fault) for fault in own],
        "rows": _rows(result, number, day, checks, own),
    }


def _rows(
    result: TripResult, number: int, day: Day, checks: Sequence[Check], faults: Sequence[Fault]
) -> list[View]:
    """Start, legs and stops in their order, and the end; no leg from a stop to itself."""
    rows = [_home("start", "H" if result.request.get("hotel") else "S", number, day.start.name, "", faults)]
    left: int | None = None
    for index, visit in enumerate(day.visits, 1):
        arrive = minutes_of(visit.arrive)
        if index <= len(day.legs):
            leg = day.legs[index - 1]
            set_off = arrive - leg.minutes if left is None else left
            if leg.from_id != leg.to_id:
                rows.append(_leg(number, index, leg, set_off, arrive, checks, faults))
        rows.append(_stop(result, number, index, day, visit, checks, faults))
        left = minutes_of(visit.leave)
    if len(day.legs) > len(day.visits):
        leg = day.legs[-1]
        set_off = minutes_of(result.request.get("window", {}).get("start", "09:00")) if left is None else left
        moves = leg.from_id != leg.to_id
        there = set_off + leg.minutes * moves
        if moves:
            rows.append(_leg(number, len(day.visits) + 1, leg, set_off, there, checks, faults))
        label = "H" if result.request.get("hotel") and day.end.id == day.start.id else "E"
        rows.append(_home("end", label, number, day.end.name, clock_of(there), faults))
    return rows


def _home(part: str, label: str, number: int, name: str, time: str, faults: Sequence[Fault]) -> View:
    anchor = f"{part}-{number}"
    wrong = [fault.reason for fault in faults if fault.anchor == anchor]
    return {
        "kind": part,
        "anchor": anchor,
        "time": time,
        "label": label,
        "name": name,
        "details": [part],
        "state": "fails" if wrong else "",
        "checks": [f"{MARKS['fails']} {reason}" for reason in wrong],
    }


def _leg(
    number: int,
    index: int,
    leg: ItineraryLeg,
    set_off: int,
    arrive: int,
    checks: Sequence[Check],
    faults: Sequence[Fault],
) -> View:
    wait = arrive - set_off - leg.minutes
    state, words = _verdict("leg", f"leg-{number}-{index}", checks, faults)
    return {
        "kind": "leg",
        "anchor": f"leg-{number}-{index}",
        "time": f"{clock_of(set_off)}–{clock_of(set_off + leg.minutes)}",
        "label": "",
        "name": way_text(leg),
        "details": [f"{wait} min wait"] * (wait > 0) + EXACTNESS.get(leg.exactness, []),
        "state": state,
        "checks": words,
    }


EXACTNESS: Mapping[str, list[str]] = {
    "estimate": ["an estimate"],
    "lower_bound": ["at least that"],
    "timetable": ["by timetable"],
}
"""How well a leg is known, where that is less, or more, than along mapped streets."""


def _stop(
    result: TripResult,
    number: int,
    index: int,
    day: Day,
    visit: Visit,
    checks: Sequence[Check],
    faults: Sequence[Fault],
) -> View:
    stay = minutes_of(visit.leave) - minutes_of(visit.arrive)
    cost = [f"{visit.cost.amount:.2f} {visit.cost.currency}"] if visit.cost else []
    anchor = f"stop-{number}-{index}"
    is_unknown = result.open_minutes(visit, day.date) is None
    state, words = _verdict("stop", anchor, checks, faults, unknown=int(is_unknown))
    if is_unknown and state == "holds":
        state, words = "unknown", [*words, f"{MARKS['unknown']} hours not known"]
    return {
        "kind": "stop",
        "anchor": anchor,
        "time": f"{visit.arrive}–{visit.leave}",
        "label": stop_label(result, number, index),
        "name": visit.place.name,
        "details": [
            *filter(None, [visit.place.kind.replace("_", " ")]),
            f"{stay} min",
            result.hours_words(visit, day.date),
            *cost,
            *filter(None, [visit.why]),
        ],
        "state": state,
        "checks": words,
    }


def _verdict(
    level: Level, anchor: str, checks: Sequence[Check], faults: Sequence[Fault], *, unknown: int = 0
) -> tuple[State, list[str]]:
    """How many checks of its level hold for one stop or leg, or what is wrong with it."""
    wrong = [fault for fault in faults if fault.anchor == anchor]
    if wrong:
        is_error = any(fault.is_error for fault in wrong)
        state: State = "fails" if is_error else "remark"
        return state, [f"{MARKS['fails' if fault.is_error else 'remark']} {fault.reason}" for fault in wrong]
    count = sum(check.level == level and check.state in ("holds", "fails", "unknown") for check in checks)
    missing = {
        fault.code: fault.reason for check in checks for fault in check.unchecked if fault.anchor == anchor
    }
    count -= len(missing) if missing else unknown
    held = f"{MARKS['holds']} {count} {WORDS['holds'].removesuffix('s')}"
    if missing:
        return "unknown", [
            held,
            *(f"{MARKS['unknown']} {CHECKS[code][1]}: {why}" for code, why in missing.items()),
        ]
    return "holds", [held]
