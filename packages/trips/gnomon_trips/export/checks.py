"""The verifier's checks, each where it applies: to the trip, a day, a stop or a leg; and how each went."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gnomon_trips.export.plan_check_row import State
from gnomon_trips.export.result import TripResult
from gnomon_trips.export.words import listed
from gnomon_trips.itinerary.errors import BadArgument
from gnomon_trips.itinerary.hours import SPAN, clock_of, minutes_of
from gnomon_trips.itinerary.plan import Day, Stop, Visit
from gnomon_trips.itinerary.request import TripRequest, read_request
from gnomon_trips.itinerary.verify.check_kinds import Level, check_kinds, codes_of
from gnomon_trips.itinerary.verify.verify import applicable
from gnomon_trips.itinerary.verify.violation import counts_in_words

LEVELS: Mapping[Level, str] = {"trip": "The trip", "day": "Each day", "stop": "Each stop", "leg": "Each leg"}
MARKS: Mapping[State, str] = {
    "holds": "✓", "fails": "✕", "unchecked": "?", "remark": "!", "does_not_apply": "–",
}  # fmt: skip
WORDS: Mapping[State, str] = {
    "holds": "holds",
    "fails": "fails",
    "unchecked": "could not be checked",
    "remark": "a remark",
    "does_not_apply": "does not apply",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What fails where: `anchor` is the id of the stop, leg or day on the page, `where` its name."""

    code: str
    where: str
    anchor: str
    reason: str
    is_error: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How one check went; `note` says for how many, or what was asked for.

    `unchecked` is where it could not be made, and what is missing: then it does not count as held.
    """

    code: str
    level: Level
    label: str
    state: State
    note: str
    faults: tuple[Fault, ...] = ()
    unchecked: tuple[Fault, ...] = ()

    @property
    def mark(self) -> str:
        return MARKS[self.state]

    @property
    def state_words(self) -> str:
        return WORDS[self.state]


LEADING = ("OPEN_HOURS", "IMPOSSIBLE", "OVERLAP", "TRAVEL_TIME")
"""What keeps a traveller from going at all: named before other faults."""


def stop_label(result: TripResult, day: int, stop: int) -> str:
    """The number of a stop, counted from 1: `2.3`, or `3` on a trip of one day."""
    return f"{day}.{stop}" if len(result.plan.days) > 1 else str(stop)


def home_label(result: TripResult, stop_id: str, part: str) -> str:
    """The label of where a day starts or ends: `H` for a bed, `H1`, `H2` where there are several; or S, E."""
    nights = (day.night for day in result.plan.days)
    beds = [night.place.id for night in nights if night is not None and night.basis != "assumed"]
    if result.request.get("hotel") and result.plan.days:
        beds.insert(0, result.plan.days[0].start.id)
    distinct = list(dict.fromkeys(beds))
    if stop_id in distinct:
        return f"H{distinct.index(stop_id) + 1}" if len(distinct) > 1 else "H"
    return "S" if part == "start" else "E"


def faults_of(result: TripResult) -> tuple[Fault, ...]:
    """All faults in words and with their places on the page; those of `LEADING` first."""
    faults = [
        Fault(
            code=fault["code"],
            where=where,
            anchor=anchor,
            reason=sentence(fault, result),
            is_error=fault["severity"] == "error",
        )
        for fault in result.violations
        for where, anchor in [_place(fault["path"], result)]
    ]
    return tuple(
        sorted(faults, key=lambda fault: LEADING.index(fault.code) if fault.code in LEADING else len(LEADING))
    )


def _place(path: str, result: TripResult) -> tuple[str, str]:
    place, days = day_and_part(path), result.plan.days
    if place is None or place[0] >= len(days):
        return "the trip", "trip"
    number, part, index = place[0] + 1, place[1], place[2]
    day = days[place[0]]
    if part == "visits" and index is not None and index < len(day.visits):
        return f"stop {stop_label(result, number, index + 1)}", f"stop-{number}-{index + 1}"
    if part == "legs" and index is not None and index <= len(day.visits):
        to = "the end" if index == len(day.visits) else f"stop {stop_label(result, number, index + 1)}"
        return f"day {number}, way to {to}", f"leg-{number}-{index + 1}"
    if part in ("start", "end"):
        return f"day {number}, its {part}", f"{part}-{number}"
    return f"day {number}", f"day-{number}"


def checks_of(result: TripResult, faults: tuple[Fault, ...]) -> tuple[Check, ...]:
    """Each check of the verifier once, in the order of `check_kinds`."""
    try:
        request = read_request(dict(result.request))
    except BadArgument:
        request = None  # written by another version: what it asks for is not known
    return tuple(
        _check(code, result, request, [one for one in faults if one.code == code]) for code in check_kinds()
    )


def _check(code: str, result: TripResult, request: TripRequest | None, faults: list[Fault]) -> Check:
    kind = check_kinds()[code]
    level = kind.level
    missing = unchecked_of(code, result)
    is_failed = any(fault.is_error for fault in faults)
    if faults and (is_failed or not missing):
        state: State = "fails" if is_failed else "remark"
        note = _count(result, level, faults) if state == "fails" else ""
    else:
        state, note = _faultless(code, result, request)
        if missing and state in ("holds", "does_not_apply"):
            state, note = "unchecked", _missing_words(level, missing, result)
    if code == "SKIPPED" and state == "remark":  # told where the plan says what is left out
        faults, note = [], "it is told what is left out, and why"
    return Check(
        code=code,
        level=level,
        label=kind.holds,
        state=state,
        note=note,
        faults=tuple(faults),
        unchecked=missing if state in ("unchecked", "fails") else (),
    )


def unchecked_of(code: str, result: TripResult) -> tuple[Fault, ...]:
    """Where that check could not be made, and what is missing."""
    return tuple(
        Fault(code=code, where=where, anchor=anchor, reason=entry["why"], is_error=False)
        for entry in result.unchecked
        if entry["code"] == code
        for where, anchor in [_place(entry["path"], result)]
    )


def _missing_words(level: Level, missing: tuple[Fault, ...], result: TripResult) -> str:
    """Where a check could not be made, and why: the first few, each reason once."""
    reasons = list(dict.fromkeys(f"{fault.where}: {fault.reason}" for fault in missing))
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return "; ".join(filter(None, (_count(result, level, list(missing)), *reasons[:3]))) + more


def _faultless(code: str, result: TripResult, request: TripRequest | None) -> tuple[State, str]:
    """The state of a check without a fault, and its note."""
    is_refused = result.plan.status == "refused"
    if code == "REFUSED_BUT_FEASIBLE":
        if not is_refused:
            return "does_not_apply", "the plan is no refusal"
        if result.holds and result.by_estimates:
            return "holds", f"{result.by_estimates} no plan exists, nor with every way so much shorter"
        if result.is_proven:
            return "holds", "an exact search proves that the constraints named rule out every plan"
        return "unchecked", "whether another plan exists was not proven"
    if is_refused and code != "SCHEMA":
        return "does_not_apply", "there is no plan"
    if code == "PLANNED_BUT_INFEASIBLE" and result.errors:
        return "unchecked", "this plan fails; whether another holds was not searched"
    if code not in codes_of("remark") and request is not None and code not in applicable(request):
        return "does_not_apply", check_kinds()[code].unasked
    if code == "OPEN_HOURS" and not result.unchecked:
        return _opening(result)
    asked = _asked(code, request) if request is not None else ""
    return "holds", "; ".join(filter(None, (_count(result, check_kinds()[code].level, []), asked)))


def _asked(code: str, request: TripRequest) -> str:
    """The request's own wish that a check is about."""
    match code:
        case "MUST_VISIT":
            return ", ".join(request.places)
        case "ORDER":
            fixed = [f"{one.place} at {one.start}" for one in request.fixed]
            return ", ".join([*(f"{first} before {then}" for first, then in request.order), *fixed])
        case "FORBIDDEN":
            return "to be avoided: " + ", ".join(request.avoid)
        case "MEAL_WINDOW":
            return ", ".join(f"{meal.name} {meal.start}–{meal.end}" for meal in request.meals)
        case "MAX_WALK":
            return f"at most {request.max_walk_m:,} m a day"
        case "MAX_LEG":
            return f"at most {request.max_leg_min} min"
        case "BUDGET" if request.budget:
            return f"at most {request.budget.amount:.2f} {request.budget.currency}"
        case "HOME":
            return request.hotel or ""
        case "DAY_WINDOW":
            days = dict.fromkeys(request.hours(day) for day in range(request.days))
            return ", ".join(f"{clock_of(start)}–{clock_of(end)}" for start, end in days)
    return ""


def _opening(result: TripResult) -> tuple[State, str]:
    """Opening hours hold where those of all stops are known; stops without are named."""
    unknown = list(unknown_hours(result))
    total = sum(len(day.visits) for day in result.plan.days)
    if not unknown:
        return "holds", _count(result, "stop", [])
    named = f"hours of {len(unknown)} are not known ({', '.join(unknown)})"
    return "unchecked", f"{total - len(unknown)} of {total} stops; {named}" if len(unknown) < total else named


def unknown_hours(result: TripResult) -> Iterator[str]:
    """The names of the stops whose opening hours on their day are not known."""
    for day in result.plan.days:
        for visit in day.visits:
            if result.open_minutes(visit, day.date) is None:
                yield visit.place.name


def _count(result: TripResult, level: Level, faults: list[Fault]) -> str:
    """For how many items a check holds: `10 of 11 stops`; empty for the whole trip."""
    if level == "trip":
        return ""
    total = sum(_parts(level, day) for day in result.plan.days)
    failed = min(total, len({fault.anchor for fault in faults}))
    return f"{total - failed} of {total} {level}{'s' * (total != 1)}"


def _parts(level: Level, day: Day) -> int:
    return {"day": 1, "stop": len(day.visits), "leg": len(day.legs)}.get(level, 0)


def headline(result: TripResult, checks: tuple[Check, ...], faults: tuple[Fault, ...]) -> str:
    """Whether the plan works, in one sentence."""
    area, count = result.area, len(result.plan.days)
    if result.plan.status == "refused":
        proof = ", and it is proven that there is none" if result.is_proven else ""
        proof = f", {result.by_estimates}" if result.by_estimates else proof
        return f"No plan for {area}: the trip is refused{proof}."
    states = [check.state for check in checks if check.code not in codes_of("remark")]
    held, failed, undecided = (states.count(state) for state in ("holds", "fails", "unchecked"))
    days = f"{count} day{'s' * (count != 1)} in {area}"
    words = counts_in_words(held, failed, undecided)
    errors = [fault.reason for fault in faults if fault.is_error]
    if failed and errors:
        more = f"; and {len(errors) - 1} more" if len(errors) > 1 else ""
        fails = f"{failed} {'fails' if failed == 1 else 'fail'}"
        words = words.replace(fails, f"{fails}: {errors[0]}{more}")
    return f"{days}{_without(result)}: {words}."


def _without(result: TripResult) -> str:
    """The places that a plan leaves out, wishes aside."""
    others = (*result.request.get("wishes", ()), *result.request.get("avoid", ()))
    names = [skipped.place for skipped in result.plan.skipped if skipped.place not in others]
    return f" without {listed(names) if len(names) <= 3 else f'{len(names)} places'}" if names else ""


OTHERS = "expected {expected}, found {found}"
PLACE = re.compile(r"days\.(\d+)(?:\.(visits|legs)\.(\d+)|\.(start|end)(?![a-z]))?")


def day_and_part(path: str) -> tuple[int, str, int | None] | None:
    """The day, the part of it and the index of that part that a fault's path means; None: the whole plan.

    >>> day_and_part("days.0.visits.2.place"), day_and_part("days.1"), day_and_part("totals.metres")
    ((0, 'visits', 2), (1, '', None), None)
    """
    match = PLACE.match(path)
    if match is None:
        return None
    return int(match[1]), match[2] or match[4] or "", int(match[3]) if match[3] else None


def sentence(fault: Mapping[str, str], result: TripResult) -> str:
    """What is wrong, as a sentence without its full stop: `Ateneum closes 18:00, you arrive 18:20`."""
    place = day_and_part(fault["path"])
    day = result.plan.days[place[0]] if place and place[0] < len(result.plan.days) else None
    part, index = (place[1], place[2]) if place else ("", None)
    visit: Visit | None = None
    if day and part == "visits" and index is not None and index < len(day.visits):
        visit = day.visits[index]
    if fault["code"] == "OPEN_HOURS" and visit and day:
        return _closed(visit, result.open_minutes(visit, day.date), f"{day.date:%A %-d %B}")
    expected = fault["expected"].replace(" (network)", "").replace("by walk", "on foot")
    words = {"expected": expected, "found": fault["found"], **_ends(day, part, index)}
    words |= {name: SPAN.sub(r"\1–\2", words[name]) for name in ("expected", "found")}
    words["name"] = visit.place.name if visit else _home(day, part).name if day else fault["found"]
    words["left"] = fault["expected"].removeprefix("at or after ")
    if fault["code"] == "MUST_VISIT":
        return f"{fault['expected'].removeprefix('a visit to ')} is not visited"
    if fault["code"] == "HOME":
        return f"{part}s at {fault['found']}, not at {fault['expected']}"
    kind = check_kinds().get(fault["code"])  # None: written by another version
    pattern = kind.fails if kind and kind.fails else OTHERS
    return (OTHERS if "{start}" in pattern and not words["start"] else pattern).format(**words)


def _home(day: Day, part: str) -> Stop:
    return day.end if part == "end" else day.start


def _ends(day: Day | None, part: str, index: int | None) -> dict[str, str]:
    if day is None or part != "legs" or index is None:
        return {"start": "", "to": ""}
    chain = [day.start, *(visit.place for visit in day.visits), day.end]
    names = [stop.name for stop in chain[index : index + 2]]
    return {"start": names[0], "to": names[1]} if len(names) == 2 else {"start": "", "to": ""}


def _closed(visit: Visit, hours: tuple[tuple[int, int], ...] | None, date: str) -> str:
    name, arrive, leave = visit.place.name, minutes_of(visit.arrive), minutes_of(visit.leave)
    if hours is None:
        return f"{name} is not open from {visit.arrive} to {visit.leave}"
    if not hours:
        return f"{name} is closed on {date}"
    opens, closes = hours[0][0], hours[-1][1]
    if arrive < opens:
        return f"{name} opens {clock_of(opens)}, you arrive {visit.arrive}"
    if arrive >= closes:
        return f"{name} closes {clock_of(closes)}, you arrive {visit.arrive}"
    if leave > closes and len(hours) == 1:
        return f"{name} closes {clock_of(closes)}, you leave {visit.leave}"
    spans = " and ".join(f"{clock_of(start)}–{clock_of(end)}" for start, end in hours)
    return f"{name} is open {spans}, you are there {visit.arrive}–{visit.leave}"
