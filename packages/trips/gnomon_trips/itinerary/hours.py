"""Reads opening hours in OpenStreetMap's grammar, by date, as minutes of the day."""

import datetime as dt
import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opening_hours import (  # type: ignore[attr-defined] # its stub leaves the errors out
    InvalidCoordinatesError,
    OpeningHours,
    ParserError,
    State,
    UnknownCountryError,
)

from gnomon_trips.itinerary.hours_text import (
    is_constant,
    mended,
    names_holidays,
    names_sun,
    on_holiday,
    surely_until,
    with_closing_last,
    with_days,
    with_end,
    with_fallbacks,
    with_holidays_on,
    within_a_day,
)
from gnomon_trips.itinerary.place import Place

Interval = tuple[int, int]
"""Open from, open until: minutes from midnight of the day; a night that ends later counts past 1440."""
Point = tuple[float, float]
"""Latitude and longitude in degrees."""

DAY_MIN = 1440
LATEST_MIN = DAY_MIN + 6 * 60

SPECIAL_DAYS = {
    "": ((1, 1), (12, 24), (12, 25), (12, 26), (12, 31)),
    "JP": ((1, 2), (1, 3), (12, 29), (12, 30)),
}
"""Month and day of what is no public holiday everywhere, but on which usual hours often do not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a source says of one place on one date.

    `sure` is when it is open; `perhaps` when it may be, beside that, for the reasons in `doubts`; `notes`
    are comments that the source has on these hours.
    """

    sure: tuple[Interval, ...]
    perhaps: tuple[Interval, ...] = ()
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def possible(self) -> tuple[Interval, ...]:
        """When it is or may be open."""
        return _union([*self.sure, *self.perhaps])

    @property
    def is_unknown(self) -> bool:
        """Whether the source rules nothing out on this date, and promises nothing."""
        return not self.sure and any(start == 0 and end >= DAY_MIN for start, end in self.perhaps)


def open_intervals(hours: str, date: dt.date) -> tuple[Interval, ...] | None:
    """When a place with these hours is or may be open on a date, wherever it lies: no holidays are known.
    Empty: closed all day; None: not known.

    >>> open_intervals("Tu-Fr 10:00-18:00; We 12:00-13:00,14:00-20:00", dt.date(2026, 6, 10))
    ((720, 780), (840, 1200))
    >>> open_intervals("Mo off", dt.date(2026, 6, 8)), open_intervals('"ask the owner"', dt.date(2026, 6, 8))
    ((), None)
    """
    return _known(opening_on(hours, date))


def open_on(place: Place, date: dt.date, country: str) -> tuple[Interval, ...] | None:
    """When a place is or may be open on a date, where it lies; None: not known."""
    return _known(opening_of(place, date, country))


def _known(opening: Opening | None) -> tuple[Interval, ...] | None:
    return None if opening is None or opening.is_unknown else opening.possible


def within(
    hours: tuple[Interval, ...] | None, limits: tuple[Interval, ...] | None
) -> tuple[Interval, ...] | None:
    """The limits that lie within known hours; the hours where there are no limits.

    >>> within(((600, 1080),), ((840, 930),)), within(((600, 900),), ((840, 930),)), within(None, None)
    (((840, 930),), (), None)
    """
    if limits is None or hours is None:
        return hours if limits is None else limits
    return tuple(
        limit for limit in limits if any(start <= limit[0] and limit[1] <= end for start, end in hours)
    )


def opening_of(place: Place, date: dt.date, country: str) -> Opening | None:
    """The hours of a date by the place's source; None: nothing that can be read."""
    if place.hours is None:
        return None
    at = (place.at.lat_deg, place.at.lon_deg) if names_sun(place.hours) else None
    return opening_on(place.hours, date, country or None, at)


@functools.lru_cache(maxsize=8192)
def opening_on(
    hours: str, date: dt.date, country: str | None = None, at: Point | None = None
) -> Opening | None:
    """What the text says about a date; None: it cannot be read.

    >>> opening_on("17:00+", dt.date(2026, 6, 10)).perhaps
    ((1020, 1440),)
    >>> opening_on("Mo-Su 10:00-18:00", dt.date(2026, 12, 25), "FI").doubts
    ('25 December is a holiday, and its hours are not known',)
    """
    text = _readable(hours)
    if text is None:
        return None
    if len(parts := with_fallbacks(text)) > 1:
        return _first_that_opens([opening_on(part, date, country, at) for part in parts])
    place = at if names_sun(text) else None
    country = country if _is_country(country) else None
    texts, possible_texts, doubts = _meanings(text, date, country)
    readings = [_Reading(one, country, place) for one in dict.fromkeys(texts)]
    looser = [_Reading(one, country, place) for one in dict.fromkeys(possible_texts)]
    readings = [reading for reading in readings if reading.is_read]
    looser = [reading for reading in looser if reading.is_read]
    sure = _common([reading.intervals(date, is_sure=True) for reading in readings])
    possible = _union(
        interval for reading in (*looser, *readings) for interval in reading.intervals(date, is_sure=False)
    )
    notes = tuple(dict.fromkeys(note for reading in looser for note in reading.notes(date)))
    if names_sun(text) and at is None and sure:
        doubts.append("when the sun sets there is not known")
        sure = ()
    if sure and not is_constant(text) and (name := _holiday(date, country, text)):
        doubts.append(f"{name}, and its hours are not known")
        sure = ()
    perhaps = _without(possible, sure)
    if perhaps and not doubts:
        doubts.append("the source names a condition" if notes else "the source says it is uncertain")
    return Opening(sure=sure, perhaps=perhaps, doubts=tuple(doubts) if perhaps else (), notes=notes)


def _meanings(text: str, date: dt.date, country: str | None) -> tuple[list[str], list[str], list[str]]:
    """The texts that may be meant, surely open and possibly, and why it is doubtful which."""
    texts, doubts = [surely_until(text)], list[str]()
    possible_texts = [with_end(text)]
    if texts != possible_texts:
        doubts.append("when it closes is not known")
    for meant, doubt in (
        (with_days(text), "a rule without days may replace those before it or add to them"),
        (with_closing_last(text), "a rule that opens follows one that closes"),
    ):
        if meant != text:
            doubts.append(doubt)
            texts.append(surely_until(meant))
            possible_texts.append(with_end(meant))
    for names, has_calendar in (("PH", country is not None), ("SH", False)):
        if names not in names_holidays(text):
            continue
        is_holiday = has_calendar and is_public_holiday(date, country)
        for ones in (texts, possible_texts):
            on_holidays = [] if has_calendar else [on_holiday(one, names) for one in ones]
            ones[:] = [with_holidays_on(one, names, is_holiday=is_holiday) for one in ones] + on_holidays
        if not has_calendar:
            which = "public" if names == "PH" else "school"
            doubts.append(f"which days are {which} holidays there is not known")
    return texts, possible_texts, doubts


def _first_that_opens(openings: Sequence[Opening | None]) -> Opening | None:
    """The hours of the first text, and, where that says closed, those of the ones that follow."""
    read = [opening for opening in openings if opening is not None]
    if not read:
        return None
    sure = _union(interval for opening in read for interval in opening.sure)
    return Opening(
        sure=sure,
        perhaps=_without(_union(interval for opening in read for interval in opening.perhaps), sure),
        doubts=tuple(doubt for opening in read for doubt in opening.doubts),
        notes=tuple(dict.fromkeys(note for opening in read for note in opening.notes)),
    )


class _Reading:
    """One text in the grammar, read day by day, each day by the rules of its own morning.

    A night that ends after midnight belongs to the day on which it begins, whatever the next day's rule says.
    """

    def __init__(self, text: str, country: str | None, at: Point | None) -> None:
        day_text, night_text = within_a_day(text)
        self._day = _parsed(day_text, country, at)
        self._night = _parsed(night_text, country, at) if night_text else None
        self.is_read = self._day is not None and (night_text is None or self._night is not None)

    def intervals(self, date: dt.date, *, is_sure: bool) -> tuple[Interval, ...]:
        """When it is open from midnight of the date on; `is_sure`: only what no condition binds."""
        today = self._on(date, is_sure)
        if any(end == DAY_MIN for _, end in today) or self._night is not None:
            after = self._on(date + dt.timedelta(days=1), is_sure)
            today = [*today, *((start + DAY_MIN, end + DAY_MIN) for start, end in after)]
        return tuple((start, min(end, LATEST_MIN)) for start, end in _union(today) if start < DAY_MIN)

    def notes(self, date: dt.date) -> tuple[str, ...]:
        return tuple(dict.fromkeys(note for *_, note in _spans(self._day, date) if note))

    def _on(self, date: dt.date, is_sure: bool) -> list[Interval]:
        spans = [*_spans(self._day, date), *_spans(self._night, date - dt.timedelta(days=1))]
        return [(start, end) for start, end, state, _ in spans if state == "open" or not is_sure]


Span = tuple[int, int, str, str]
"""From, until, `open` or `perhaps`, and the comment of the rule."""


def _spans(parsed: OpeningHours | None, date: dt.date) -> list[Span]:
    """The times from midnight to midnight that are not closed."""
    if parsed is None:
        return []
    midnight = dt.datetime.combine(date, dt.time())
    spans: list[Span] = []
    try:
        for start, end, state, note in parsed.intervals(midnight, midnight + dt.timedelta(days=1)):
            begin_min, end_min = _minutes(start, midnight), DAY_MIN
            if end is not None:
                end_min = min(DAY_MIN, _minutes(end, midnight))
            if state is not State.CLOSED and begin_min < end_min:
                spans.append((begin_min, end_min, "open" if state is State.OPEN else "perhaps", note))
    except OverflowError:
        return []
    return spans


@functools.lru_cache(maxsize=4096)
def _readable(hours: str) -> str | None:
    """The text in the grammar's own form; None: it means nothing."""
    return next((text for text in mended(hours) if _parsed(text, None, None) is not None), None)


@functools.lru_cache(maxsize=4096)
def _parsed(text: str, country: str | None, at: Point | None) -> OpeningHours | None:
    try:
        return OpeningHours(text, country=country, coords=at, auto_country=False)
    except (ParserError, UnknownCountryError, InvalidCoordinatesError):
        return None


@functools.lru_cache(maxsize=512)
def _is_country(country: str | None) -> bool:
    """Whether its public holidays are known here."""
    return bool(country) and _parsed("PH 00:00-24:00", country, None) is not None


@functools.lru_cache(maxsize=4096)
def _holiday(date: dt.date, country: str | None, text: str) -> str:
    """The reason why usual hours may not hold on a date that the text does not name; empty: they do."""
    day = f"{date.day} {date:%B}"
    if f"{date:%b} {date.day:02d}" in text or f"{date:%b} {date.day}" in text:
        return ""
    if (date.month, date.day) in (*SPECIAL_DAYS[""], *SPECIAL_DAYS.get(country or "", ())):
        is_ruled = "PH" in names_holidays(text) and is_public_holiday(date, country)
        return "" if is_ruled else f"{day} is a holiday"
    if "PH" not in names_holidays(text) and is_public_holiday(date, country):
        return f"{day} is a public holiday"
    return ""


def is_public_holiday(date: dt.date, country: str | None) -> bool:
    """Whether the calendar of the country has a public holiday on the date; False where there is none.

    >>> is_public_holiday(dt.date(2026, 6, 19), "FI"), is_public_holiday(dt.date(2026, 6, 19), None)
    (True, False)
    """
    return country is not None and bool(_spans(_parsed("PH 00:00-24:00", country, None), date))


def _minutes(at: dt.datetime, midnight: dt.datetime) -> int:
    return max(0, round((at.replace(tzinfo=None) - midnight).total_seconds() / 60))


def _union(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """The same time as intervals that neither overlap nor touch, in order."""
    joined: list[Interval] = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _without(intervals: Sequence[Interval], taken: Sequence[Interval]) -> tuple[Interval, ...]:
    left = list(intervals)
    for from_min, to_min in taken:
        pieces = [((start, min(end, from_min)), (max(start, to_min), end)) for start, end in left]
        left = [(start, end) for pair in pieces for start, end in pair if start < end]
    return tuple(left)


def _common(readings: Sequence[tuple[Interval, ...]]) -> tuple[Interval, ...]:
    if not readings:
        return ()
    shared = readings[0]
    for other in readings[1:]:
        shared = _without(shared, _without(((0, LATEST_MIN),), other))
    return shared


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


SPAN = re.compile(r"(\d\d:\d\d)-(\d\d:\d\d)")
"""Opening hours as `told_hours` writes them."""


def spans_in(words: str) -> tuple[Interval, ...]:
    """The intervals in words of `told_hours`, in minutes from midnight.

    >>> spans_in("12:00-13:00, 14:00-20:00"), spans_in("not known")
    (((720, 780), (840, 1200)), ())
    """
    return tuple((minutes_of(start), minutes_of(end)) for start, end in SPAN.findall(words))


def told_hours(intervals: tuple[Interval, ...] | None) -> str:
    """Intervals in words.

    >>> told_hours(((720, 780), (840, 1200))), told_hours(()), told_hours(None)
    ('12:00-13:00, 14:00-20:00', 'closed', 'not known')
    """
    if intervals is None:
        return "not known"
    return ", ".join(f"{clock_of(start)}-{clock_of(end)}" for start, end in intervals) or "closed"
