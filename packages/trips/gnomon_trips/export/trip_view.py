"""All that a page shows of a trip, as plain data: headline, facts, days with stops and legs, checks."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from gnomon_trips.export import before_you_go
from gnomon_trips.export.checks import (
    LEVELS,
    MARKS,
    WORDS,
    Check,
    Fault,
    checks_of,
    faults_of,
    headline,
    home_label,
    stop_label,
)
from gnomon_trips.export.guide_view import guide_view, step_words
from gnomon_trips.export.links import links_of
from gnomon_trips.export.plan_check_row import State
from gnomon_trips.export.quality_words import quality_rows, unmeasured
from gnomon_trips.export.result import HOURS_OF, TripResult
from gnomon_trips.export.words import (
    DATED,
    clock_text,
    length_text,
    parts_of,
    source_text,
    time_text,
    way_text,
    why_text,
)
from gnomon_trips.itinerary.assumptions import NO_HOTEL
from gnomon_trips.itinerary.choice import CITY, country_names
from gnomon_trips.itinerary.hours import DAY_MIN, clock_of, minutes_of
from gnomon_trips.itinerary.kept_free import near
from gnomon_trips.itinerary.plan import Day, ItineraryLeg, Stop, Visit
from gnomon_trips.itinerary.track import ALL_ON_FOOT
from gnomon_trips.itinerary.verify.check_kinds import Level, check_kinds

View = dict[str, Any]


def trip_view(result: TripResult) -> View:
    """The parts of the page, in their order."""
    faults = faults_of(result)
    checks = checks_of(result, faults)
    plan = result.plan
    shown = result.part or result
    return {
        "title": result.title,
        "answer": headline(result, checks, faults),
        "status": plan.status,
        "facts": _facts(result),
        "conflict": _conflict(result) if plan.status == "refused" else [],
        "conflict_words": result.refusal if plan.status == "refused" else "",
        "nearest": result.alternatives.get("words", ""),
        "tried": _tried(result),
        "faults": [_fault(fault) for fault in faults if fault.is_error],
        "lost": before_you_go.lost(result),
        "is_part": shown is not result,
        "days": [_day(shown, number, checks, faults) for number in range(1, len(shown.plan.days) + 1)],
        "bookings": before_you_go.bookings(shown),
        "not_known": before_you_go.not_known(shown),
        "unchecked": before_you_go.open_points(result),
        "remarks": before_you_go.remarks(result),
        "left_out": before_you_go.left_out(result),
        "assumptions": before_you_go.assumed(result),
        "checks": [_group(level, checks) for level in LEVELS],
        "guide": guide_view(result),
        "steps": step_words(result),
        "proof": _proof(result),
        "quality": [asdict(row) for row in quality_rows(result)],
        "unmeasured": unmeasured(result),
        "verified_by": "; ".join(source_text(source) for source in result.verified_by.split("; ") if source),
        "sources": list(plan.attributions),
    }


def _facts(result: TripResult) -> list[str]:
    plan, facts = result.plan, []
    if plan.days:
        first, last = plan.days[0].date, plan.days[-1].date
        facts.append(f"{first:%-d %B %Y}" + (f" to {last:%-d %B %Y}" if last != first else ""))
        stops = sum(len(day.visits) for day in plan.days)
        facts.append(f"{stops} stop{'s' * (stops != 1)}")
        legs = [leg for day in plan.days for leg in day.legs if leg.from_id != leg.to_id]
        metres, minutes = sum(leg.metres for leg in legs), sum(leg.minutes for leg in legs)
        facts.append(f"{length_text(metres)}, {time_text(minutes)} on the way")
    if as_of := DATED.search(result.verified_by):
        facts.append(f"places and hours as of {dt.date.fromisoformat(as_of[2]):%-d %B %Y}")
    if plan.totals.cost:
        facts.append(f"{plan.totals.cost.amount:,.2f} {plan.totals.cost.currency}")
    return facts + [words for words in plan.assumptions if words.endswith(NO_HOTEL)]


CONSTRAINTS: Mapping[str, str] = {
    "hours": "the opening hours of {}",
    "fixed": "the set time of {}",
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


def _tried(result: TripResult) -> str:
    """The changes of a refused request that were tried and have no plan, and how long trying took."""
    failed = [
        attempt["words"] for attempt in result.alternatives.get("tried", ()) if not attempt["is_served"]
    ]
    if not failed:
        return ""
    return (
        f"Tried as well, and no plan was found: {', '.join(failed)} ({result.alternatives['seconds']:.1f} s)."
    )


def _proof(result: TripResult) -> str:
    """What a search says of the result, if one was made."""
    if result.plan.status == "refused" and result.by_estimates:
        if result.holds:
            return f"{result.by_estimates.capitalize()} there is no plan, nor with every way so much shorter."
        return (
            f"Not proven: {result.by_estimates} there is none, or none was found; shorter ways may allow one."
        )
    if result.plan.status == "refused" and result.is_proven is not None:
        return (
            "Proven: an exact search finds no plan under the constraints named above."
            if result.is_proven
            else "Not proven: the constraints named above do not by themselves rule out every plan."
        )
    if result.regret is None:
        return _searched(result)
    if result.regret < 0.0005:
        return "Proven: every plan that meets all constraints has at least as far to walk."
    return f"An exact search found a plan with less to walk; this one has {100 * result.regret:.1f} % more."


def _searched(result: TripResult) -> str:
    search = result.plan.search
    if search is None or result.plan.status == "refused":
        return ""
    if search.is_proven:
        return "Proven: by the planner's own measure, no plan that meets all constraints is better."
    if search.gap == 0:
        by = result.by_estimates or "by the least that ways can take"
        return f"{by.capitalize()} no plan that meets all constraints is better; that is no proof."
    words = f"Not proven to be the best plan: the planner looked for {max(1.0, search.seconds):.0f} s"
    if search.gap is None:
        return f"{words}; how much better another plan can be is not known."
    share = max(1, math.ceil(100 * search.gap / (1 + search.gap)))
    words += f", {result.by_estimates}" if result.by_estimates else ""
    return f"{words}, and cannot rule out one that is up to {share} % better by its own measure."


def _fault(fault: Fault) -> View:
    return {
        "mark": MARKS["fails" if fault.is_error else "remark"],
        "where": fault.where,
        "anchor": fault.anchor,
        "reason": fault.reason,
        "check": check_kinds()[fault.code].holds if fault.code in check_kinds() else fault.code,
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
            for check in sorted(own, key=lambda check: check.state == "does_not_apply")
        ],
    }


def _day(result: TripResult, number: int, checks: Sequence[Check], faults: Sequence[Fault]) -> View:
    day = result.plan.days[number - 1]
    legs = [leg for leg in day.legs if leg.from_id != leg.to_id]
    stops, by = len(day.visits), "on foot" if all(leg.mode == "walk" for leg in legs) else "on the way"
    metres, minutes = sum(leg.metres for leg in legs), sum(leg.minutes for leg in legs)
    way = f"{length_text(metres)} and {time_text(minutes)} {by}"
    own = [fault for fault in faults if fault.anchor.split("-")[1:2] == [str(number)]]
    return {
        "number": number,
        "anchor": f"day-{number}",
        "heading": f"Day {number}: {day.date:%A, %-d %B}",
        "summary": f"{stops} stop{'s' * (stops != 1)}" + (f", {way}" if legs else ""),
        "faults": [_fault(fault) for fault in own],
        "rows": _rows(result, number, day, checks, own),
    }


def _rows(
    result: TripResult, number: int, day: Day, checks: Sequence[Check], faults: Sequence[Fault]
) -> list[View]:
    """Start, legs and stops in their order, and the end; no leg from a stop to itself."""
    rows: list[View] = []
    left: int | None = None
    moves = bool(day.legs) and day.legs[0].from_id != day.legs[0].to_id
    start = result.hours(number)[0]
    if day.visits:
        start = minutes_of(day.visits[0].arrive) - (day.legs[0].minutes if moves else 0)
    if moves or not day.visits or _has_fault(faults, f"start-{number}"):
        rows.append(_home(result, "start", number, day.start, clock_text(clock_of(start)), faults))
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
        set_off = result.hours(number)[0] if left is None else left
        moves = leg.from_id != leg.to_id
        there = set_off + leg.minutes * moves
        if moves:
            rows.append(_leg(number, len(day.visits) + 1, leg, set_off, there, checks, faults))
        if moves or not day.visits or day.night or _has_fault(faults, f"end-{number}"):
            rows.append(_home(result, "end", number, day.end, clock_text(clock_of(there)), faults))
    return rows


def _has_fault(faults: Sequence[Fault], anchor: str) -> bool:
    return any(fault.anchor == anchor for fault in faults)


NIGHTS: Mapping[str, str] = {
    "given": "the night here",
    "chosen": "the night here, chosen from the map",
    "assumed": "the night near here: no place to sleep is named",
}


def _home(result: TripResult, part: str, number: int, stop: Stop, time: str, faults: Sequence[Fault]) -> View:
    anchor = f"{part}-{number}"
    wrong = [fault.reason for fault in faults if fault.anchor == anchor]
    night = result.plan.days[number - 1].night if part == "end" else None
    return {
        "kind": part,
        "anchor": anchor,
        "time": time,
        "label": home_label(result, stop.id, part),
        "name": near(stop.name),
        "other_script": stop.other_script,
        "links": links_of(stop, {}),
        "details": [part, *([NIGHTS[night.basis]] if night else [])],
        "why": "",
        "source": "",
        "state": "fails" if wrong else "",
        "checks": [f"{MARKS['fails']} {reason}" for reason in wrong],
        "notes": [f"{MARKS['fails']} {reason}" for reason in wrong],
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
    known_how = [] if ALL_ON_FOOT in leg.via else EXACTNESS.get(leg.exactness, [])
    state, words = _verdict("leg", f"leg-{number}-{index}", checks, faults)
    return {
        "kind": "leg",
        "anchor": f"leg-{number}-{index}",
        "time": _span(clock_of(set_off), clock_of(set_off + leg.minutes)),
        "label": "",
        "name": way_text(leg),
        "mode": leg.mode,
        "via": parts_of(leg),
        "details": known_how + [f"{time_text(wait)} wait"] * (wait > 0),
        "state": state,
        "checks": words,
        "notes": _notes(words, is_unknown=False),
    }


def _span(start: str, end: str) -> str:
    """A span of time in words; "the next day" is said once for a whole span after midnight."""
    if minutes_of(start) >= DAY_MIN:
        start = clock_of(minutes_of(start) - DAY_MIN)
    return f"{start}–{clock_text(end)}"


EXACTNESS: Mapping[str, list[str]] = {
    "estimate": ["an estimate, from no timetable"],
    "lower_bound": ["at least that, as the crow flies"],
    "timetable": ["mean minutes of the timetable, with waits assumed"],
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
    cost = [f"{visit.cost.amount:,.2f} {visit.cost.currency}"] if visit.cost else []
    anchor = f"stop-{number}-{index}"
    is_unknown = result.open_minutes(visit, day.date) is None
    state, words = _verdict("stop", anchor, checks, faults, unknown=int(is_unknown))
    if is_unknown and state == "holds":
        state, words = "unchecked", [*words, f"{MARKS['unchecked']} hours not known"]
    source = next((line for line in visit.evidence if not line.startswith(HOURS_OF)), "")
    return {
        "kind": "stop",
        "anchor": anchor,
        "time": _span(visit.arrive, visit.leave),
        "label": stop_label(result, number, index),
        "name": visit.place.name,
        "other_script": visit.place.other_script,
        "links": links_of(visit.place, result.contacts.get(visit.place.id, {})),
        "details": [
            *filter(None, [_kind_text(visit.place)]),
            time_text(stay),
            result.hours_words(visit, day.date),
            *cost,
        ],
        "why": why_text(visit.why),
        "source": source_text(source) if source else "",
        "state": state,
        "checks": words,
        "notes": _notes(words, is_unknown=is_unknown),
    }


def _kind_text(stop: Stop) -> str:
    """What a stop is; of a city, with its country."""
    kind = stop.kind.replace("_", " ")
    if stop.kind != CITY or stop.admin is None:
        return kind
    country = country_names().get(stop.admin.country, stop.admin.country)
    return f"{kind} in {', '.join(filter(None, (stop.admin.prefecture, country)))}"


def _notes(checks: Sequence[str], *, is_unknown: bool) -> list[str]:
    """What a row says of its checks: those that do not hold. Unknown hours stand among its details."""
    unknown_hours = f"{MARKS['unchecked']} {check_kinds()['OPEN_HOURS'].holds}"
    told = (MARKS["holds"], unknown_hours) if is_unknown else (MARKS["holds"],)
    hidden = f"{MARKS['unchecked']} hours not known"
    return [words for words in checks if not words.startswith(told) and words != hidden]


def _verdict(
    level: Level, anchor: str, checks: Sequence[Check], faults: Sequence[Fault], *, unknown: int = 0
) -> tuple[State, list[str]]:
    """How many checks of its level hold for one stop or leg, or what is wrong with it."""
    wrong = [fault for fault in faults if fault.anchor == anchor]
    if wrong:
        is_error = any(fault.is_error for fault in wrong)
        state: State = "fails" if is_error else "remark"
        return state, [f"{MARKS['fails' if fault.is_error else 'remark']} {fault.reason}" for fault in wrong]
    count = sum(check.level == level and check.state in ("holds", "fails", "unchecked") for check in checks)
    missing = {
        fault.code: fault.reason for check in checks for fault in check.unchecked if fault.anchor == anchor
    }
    count -= len(missing) if missing else unknown
    held = f"{MARKS['holds']} {count} {WORDS['holds'].removesuffix('s')}"
    if missing:
        return "unchecked", [
            held,
            *(f"{MARKS['unchecked']} {check_kinds()[code].holds}: {why}" for code, why in missing.items()),
        ]
    return "holds", [held]
