"""Reads opening hours in OpenStreetMap's grammar, by date, as minutes of the day."""

import datetime as dt
import functools

from opening_hours import (  # type: ignore[attr-defined] # its stub leaves the errors out
    OpeningHours,
    ParserError,
    State,
    UnknownCountryError,
)

Interval = tuple[int, int]
"""Open from, open until: minutes from midnight of the day; a night that ends later counts past 1440."""

DAY_MIN = 1440
LATEST_MIN = DAY_MIN + 6 * 60


@functools.lru_cache(maxsize=4096)
def open_intervals(hours: str, date: dt.date, country: str | None = None) -> tuple[Interval, ...] | None:
    """When a place is open on a date; empty: closed all day; None: the text says nothing that can be read.

    `country` (two letters) decides what "PH" means. What is only perhaps open counts as closed.

    >>> open_intervals("Tu-Fr 10:00-18:00; We 12:00-13:00,14:00-20:00", dt.date(2026, 6, 10))
    ((720, 780), (840, 1200))
    >>> open_intervals("Mo off", dt.date(2026, 6, 8)), open_intervals("ask the owner", dt.date(2026, 6, 8))
    ((), None)
    """
    parsed = _parsed(hours, country)
    if parsed is None:
        return None
    midnight = dt.datetime.combine(date, dt.time())
    intervals: list[Interval] = []
    try:
        for start, end, state, _ in parsed.intervals(midnight, midnight + dt.timedelta(minutes=LATEST_MIN)):
            begin_min = _minutes(start, midnight)
            if state is State.OPEN and begin_min < DAY_MIN:
                end_min = LATEST_MIN if end is None else _minutes(end, midnight)
                if intervals and intervals[-1][1] == begin_min:
                    intervals[-1] = (intervals[-1][0], end_min)
                else:
                    intervals.append((begin_min, end_min))
    except OverflowError:
        return None
    return tuple(intervals)


@functools.lru_cache(maxsize=4096)
def _parsed(hours: str, country: str | None) -> OpeningHours | None:
    try:
        return OpeningHours(hours, country=country)
    except UnknownCountryError:
        return _parsed(hours, None)
    except ParserError:
        return None


def _minutes(at: dt.datetime, midnight: dt.datetime) -> int:
    return max(0, round((at.replace(tzinfo=None) - midnight).total_seconds() / 60))


def minutes_of(clock: str) -> int:
    """Minutes from midnight of an HH:MM.

    >>> minutes_of("09:30")
    570
    """
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def clock_of(minutes: int) -> str:
    """HH:MM of minutes from midnight; past midnight it counts on, as timetables do.

    >>> clock_of(570), clock_of(1500)
    ('09:30', '25:00')
    """
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def told_hours(intervals: tuple[Interval, ...] | None) -> str:
    """Intervals in words.

    >>> told_hours(((720, 780), (840, 1200))), told_hours(()), told_hours(None)
    ('12:00-13:00, 14:00-20:00', 'closed', 'not known')
    """
    if intervals is None:
        return "not known"
    return ", ".join(f"{clock_of(start)}-{clock_of(end)}" for start, end in intervals) or "closed"
