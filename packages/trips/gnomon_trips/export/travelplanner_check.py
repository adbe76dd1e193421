"""Checks a plan in TravelPlanner's form against itself, its query and its reference information.

The form is that of Xie et al., "TravelPlanner: A Benchmark for Real-World Planning with Language Agents"
(ICML 2024): a list of days with texts for city, transportation, three meals, attractions and lodging.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeGuard

from gnomon.core.errors import SpecError
from gnomon_trips.export.plan_check_row import PlanCheck, Point
from gnomon_trips.sandbox.plan import FIELDS, MEALS, Days, read_days
from gnomon_trips.sandbox.rules import faults_of_days

COST = re.compile(r"cost:?\s*\$?\s*([\d,]+(?:\.\d+)?)", re.IGNORECASE)
BUDGET = re.compile(r"\$\s*([\d,]+)")
DAYS = re.compile(r"\b(\d+|one|two|three|four|five|six|seven)[- ]days?\b", re.IGNORECASE)
WORDS = {
    word: number for number, word in enumerate(("one", "two", "three", "four", "five", "six", "seven"), 1)
}
MAX_DAYS = 60


def is_travelplanner(value: object) -> TypeGuard[Any]:
    """Whether it is a list of days, or a record with one, of TravelPlanner's form."""
    days = value.get("plan") if isinstance(value, Mapping) else value
    if days is None and isinstance(value, Mapping):
        return "query" in value and "plan" in value  # a record without a plan: nothing was delivered
    if not isinstance(days, Sequence) or isinstance(days, str):
        return False
    return all(isinstance(day, Mapping) for day in days)


def travelplanner_checks(value: Any, request: object = None) -> Iterator[PlanCheck]:
    """Each check in turn; `request` may hold the `query` and the `reference_information`.

    Raises:
        SpecError: there are too many days.
    """
    about = {
        **(value if isinstance(value, Mapping) else {}),
        **(request if isinstance(request, Mapping) else {}),
    }
    days: Days = [*((value.get("plan") if isinstance(value, Mapping) else value) or ())]
    if len(days) > MAX_DAYS:
        raise SpecError(f"has {len(days)} days; allowed: {MAX_DAYS}", field="plan")
    yield _of("DELIVERED", "There is a plan", [] if days else [("the plan", "there are no days")])
    if not days:
        return
    for code, label, check in RULES:
        yield _of(code, label, list(check(days)))
    query, reference = str(about.get("query") or ""), about.get("reference_information")
    yield _length(days, query)
    yield _budget(days, query)
    yield from _grounded(days, reference)


Points = Iterator[tuple[str, str]]


def _of(code: str, label: str, points: Sequence[tuple[str, str]]) -> PlanCheck:
    return PlanCheck(
        code=code,
        label=label,
        state="fails" if points else "holds",
        points=tuple(Point(where=where, reason=reason) for where, reason in points),
        evidence=("the plan",),
    )


def _complete(days: Days) -> Points:
    for number, day in enumerate(days, 1):
        missing = [field for field in ("current_city", *FIELDS) if field not in day]
        if missing:
            yield f"day {number}", f"no field {', '.join(missing)}"
        told = day.get("days", day.get("day"))
        if told != number:
            yield f"day {number}", f"numbered {told}"


def _meals_told(days: Days) -> Points:
    """Check that days in one city name every meal and a sight."""
    for number, day in enumerate(read_days(days), 1):
        absent = [meal for meal in MEALS if meal not in day.meals] + ["attraction"] * (not day.attractions)
        if absent and not day.is_travel:
            yield f"day {number}", f"no {', '.join(absent)}"


def _cities(days: Days) -> Points:
    """Check that each day begins where the day before ended, and the trip ends where it began."""
    plan, here = read_days(days), ""
    for number, day in enumerate(plan, 1):
        if not day.cities:
            yield f"day {number}", "no city"
            continue
        if here and not _alike(here, day.cities[0]):
            yield f"day {number}", f"begins in {day.cities[0]}, the day before ended in {here}"
        here = day.cities[-1]
    if here and plan[0].is_travel and not _alike(here, plan[0].cities[0]):
        yield f"day {len(plan)}", f"ends in {here}, the trip began in {plan[0].cities[0]}"


def _moves(days: Days) -> Points:
    """Check that a change of city has a way, between the same cities."""
    for number, day in enumerate(read_days(days), 1):
        if not day.is_travel:
            continue
        start, end = day.cities
        if day.transport is None:
            yield f"day {number}", f"no transportation from {start} to {end}"
            continue
        origin, destination = day.transport.origin or start, day.transport.destination or end
        if not (_alike(origin, start) and _alike(destination, end)):
            yield f"day {number}", f"travels from {origin} to {destination}, not from {start} to {end}"


def _in_city(days: Days) -> Points:
    """Check that meals, sights and beds are in a city of their day."""
    for number, (day, read) in enumerate(zip(days, read_days(days), strict=True), 1):
        for field in (*MEALS, "attraction", "accommodation"):
            for entry in _entries(day, field):
                name, comma, city = COST.sub("", entry).strip(" ;,").rpartition(",")
                if comma and not any(_alike(city, known) for known in read.cities):
                    where = f"{city.strip()}, not in {' or '.join(read.cities)}"
                    yield f"day {number}, {field}", f"{name} is in {where}"


def _beds(days: Days) -> Points:
    for number, day in enumerate(read_days(days)[:-1], 1):
        if day.lodging is None:
            yield f"night {number}", "no accommodation"


def _by_rule(rule: str, days: Days) -> Points:
    """The faults of a rule of the benchmark that needs neither a query nor information."""
    for words in faults_of_days(days)[rule]:
        where, colon, what = words.partition(": ")
        yield (where, what) if colon and where.startswith("day ") else ("the trip", words)


RULES: Sequence[tuple[str, str, Callable[[Days], Points]]] = (
    ("COMPLETE", "Days are numbered and have all fields", _complete),
    ("CITIES", "Each day begins where the last one ended, and the trip ends where it began", _cities),
    ("MOVES", "Every change of city has its transportation", _moves),
    ("TRANSPORT", "Means of transport are known and agree", partial(_by_rule, "transport_conflict")),
    ("IN_CITY", "Meals, sights and beds are in the day's city", _in_city),
    ("MEALS", "Days in a city have meals and a sight", _meals_told),
    ("BEDS", "Every night has a bed", _beds),
    ("RESTAURANTS", "No restaurant twice", partial(_by_rule, "diverse_restaurants")),
    ("ATTRACTIONS", "No sight twice", partial(_by_rule, "diverse_attractions")),
)
REFERENCED = (
    ("HOURS", "Sights and restaurants are open"),
    ("MINIMUM_NIGHTS", "Beds are taken for as many nights as they must be"),
    ("ROOM_RULES", "House rules and room types fit"),
    ("TRAVEL_TIMES", "Flights and drives take as long as the plan says"),
)


def _length(days: Days, query: str) -> PlanCheck:
    label, asked = "As many days as asked for", DAYS.search(query)
    if asked is None:
        why = "the query names no number of days" if query else "no query was given"
        return PlanCheck(code="DAY_COUNT", label=label, state="unchecked", note=why)
    wanted = WORDS.get(asked[1].lower()) or int(asked[1])
    wrong = [] if wanted == len(days) else [("the trip", f"{len(days)} days, asked for were {wanted}")]
    return _of("DAY_COUNT", label, wrong)


def _budget(days: Days, query: str) -> PlanCheck:
    label, asked = "Within the budget", BUDGET.search(query)
    entries = [
        entry
        for day in days
        for field in ("transportation", *MEALS, "accommodation")
        for entry in _entries(day, field)
    ]
    spent = sum(float(cost.replace(",", "")) for entry in entries for cost in COST.findall(entry))
    unpriced = sum(not COST.search(entry) for entry in entries)
    if asked is None:
        why = "the query names no budget" if query else "no query was given"
        return PlanCheck(code="BUDGET", label=label, state="unchecked", note=why)
    limit = float(asked[1].replace(",", ""))
    if spent > limit:
        return _of(
            "BUDGET", label, [("the trip", f"the costs it tells are {spent:.0f}, allowed are {limit:.0f}")]
        )
    note = f"{unpriced} of {len(entries)} entries have no cost; the others cost {spent:.0f} of {limit:.0f}"
    return PlanCheck(code="BUDGET", label=label, state="unchecked", note=f"{note}, for how many is not told")


def _grounded(days: Days, reference: object) -> Iterator[PlanCheck]:
    """Check that names are known to the reference information; nothing else about places is checked here."""
    label = "Its places are in the reference information"
    if not reference:
        note = "no reference information was given"
        yield PlanCheck(code="KNOWN_PLACES", label=label, state="unchecked", note=note)
    else:
        text = reference if isinstance(reference, str) else json.dumps(reference, ensure_ascii=False)
        points = [
            (f"day {number}, {field}", f"{name} is not known")
            for number, day in enumerate(days, 1)
            for field in (*MEALS, "attraction", "accommodation")
            for entry in _entries(day, field)
            for name in [COST.sub("", entry).strip(" ;,").rpartition(",")[0].strip() or entry]
            if name.lower() not in text.lower().replace('\\"', '"')
        ]
        yield _of("KNOWN_PLACES", label, points)
    for code, told in REFERENCED:
        note = "no source has them" if code == "HOURS" else "not judged here: `benchmark: travelplanner` does"
        yield PlanCheck(code=code, label=told, state="unchecked", note=note)


def _entries(day: Mapping[str, Any], field: str) -> list[str]:
    text = str(day.get(field) or "").strip()
    if text in ("", "-"):
        return []
    parts = text.split(";") if field == "attraction" else [text]
    return [part.strip() for part in parts if part.strip(" -")]


def _alike(city: str, other: str) -> bool:
    plain, rest = (re.sub(r"\(.*?\)|[.,].*$", "", text).strip().lower() for text in (city, other))
    return plain == rest or plain in rest or rest in plain
