"""Compares how opening hours are read here and by a second reader, and puts every difference into a class.

The second reader is opening_hours.js 3.15.0; its answers for 14 days from 2026-06-01 stand in the file;
those of the first week are compared.
"""

import datetime as dt
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gnomon_trips.itinerary.hours import DAY_MIN, LATEST_MIN, Interval, opening_on
from gnomon_trips.itinerary.hours_text import names_sun

DATES = tuple(dt.date(2026, 6, 1) + dt.timedelta(days=day) for day in range(7))
Week = list[tuple[Interval, ...]]

CLASSES: Mapping[str, str] = {
    "same": "both read the same, on all seven days",
    "neither": "neither reads it",
    "night": "a night is cut by the next day's rule there; here it lasts until its own end",
    "comment": "a comment beside hours makes them uncertain there; here they hold, and the comment is shown",
    "semicolon": "a semicolon is missing between rules: there the last hours hold for all days",
    "bare days": "days behind the hours: there they are open day and night; here it is not read",
    "last rule": "a later rule without days: here only what it gives both added and in place is sure",
    "sun": "sunset without a position: there it is at 18:00; here it is uncertain",
    "only there": "read there alone",
    "only here": "read here alone",
    "unexplained": "no class fits",
}


def class_of(row: Mapping[str, Any]) -> str:
    """The class of a text by what the two readers make of it."""
    hours, theirs = row["hours"], _theirs(row)
    openings = [opening_on(hours, date, row["country"]) for date in DATES]
    ours = [opening.sure for opening in openings if opening is not None]
    if not ours or theirs is None:
        if not ours and theirs is not None:
            return "bare days" if re.search(r"\d,(Mo|Tu|We|Th|Fr|Sa|Su)", hours) else "only there"
        return "neither" if not ours else "only here"
    if ours == theirs:
        return "same"
    if names_sun(hours):
        return "sun"
    if _nights_apart(ours, theirs):
        return "night"
    if any(opening and opening.notes for opening in openings) and not any(map(_minutes, theirs)):
        return "comment"
    if any(opening and opening.notes for opening in openings) and _is_less(theirs, ours):
        return "comment"
    if re.search(r"\d\s+(Mo|Tu|We|Th|Fr|Sa|Su)\b", hours) and ";" not in hours:
        return "semicolon"
    if re.search(r";\s*\d\d?:\d\d", hours) and _is_less(ours, theirs):
        return "last rule"
    return "unexplained"


def _theirs(row: Mapping[str, Any]) -> Week | None:
    js = row["js"]
    return None if js is None else [tuple((start, end) for start, end in day) for day in js[: len(DATES)]]


def _nights_apart(ours: Week, theirs: Week) -> bool:
    """Whether the two differ in hours after midnight alone, of which ours are never less."""
    return all(
        mine == yours or (_evening(mine) == _evening(yours) and _minutes(mine) > _minutes(yours))
        for mine, yours in zip(ours, theirs, strict=True)
    )


def _evening(day: tuple[Interval, ...]) -> set[tuple[int, int]]:
    """The hours of a day without what runs into its morning, each cut at its midnight."""
    return {(start, min(end, DAY_MIN)) for start, end in day if start > 0}


def _is_less(some: Week, more: Week) -> bool:
    covered = [set(_each(day)) for day in more]
    return all(set(_each(day)) <= minutes for day, minutes in zip(some, covered, strict=True))


def _each(day: tuple[Interval, ...]) -> Iterator[int]:
    for start, end in day:
        yield from range(start, end)


def _minutes(day: tuple[Interval, ...]) -> int:
    return sum(min(end, LATEST_MIN) - start for start, end in day)


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The texts with the second reader's answers."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
