"""Sentences for the verifier's faults, with the names and times of the plan that they are about."""

import re
from collections.abc import Mapping

from gnomon_trips.export.result import TripResult
from gnomon_trips.itinerary.hours import SPAN, clock_of, minutes_of
from gnomon_trips.itinerary.plan import Day, Stop, Visit
from gnomon_trips.itinerary.verify.check_kinds import check_kinds

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
