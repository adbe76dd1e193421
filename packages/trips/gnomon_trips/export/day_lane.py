"""The time line of a day: a row for each stop, with its stay over its opening hours, the way there and waits.

Across it everything is in per cent of the clock, downwards in pixels: it fits a phone and a wide screen,
and its text has the same size on both.
"""

import itertools
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gnomon_trips.export.checks import Fault, home_label, stop_label
from gnomon_trips.export.result import TripResult
from gnomon_trips.export.words import means_text, time_text
from gnomon_trips.itinerary.hours import clock_of, minutes_of
from gnomon_trips.itinerary.kept_free import near
from gnomon_trips.itinerary.plan import Day
from gnomon_trips.itinerary.request import Meal

HEAD, ROW, TAIL = 44, 32, 6
EDGE = 3.0  # per cent left free on both sides, for the first and the last number of the clock
NARROW_PX, WIDE_PX, LARGE_PX = (
    2.8,
    6.7,
    11.2,
)  # pixels in a per cent of a phone, of a wide and of a large screen
BOLD = 1.12  # how much wider bold letters are
LEAST_TEXT_PX = 45.0
LEAST_PX = 24.0  # what a number needs
BESIDE_PX = 14.0  # between a bar and its words


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of the clock, in per cent."""

    x: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneRow:
    """The row of a stop: `leg` and `wait` before its `stay`, `hours` behind it. The leg starts at `left_at`.

    Its words begin at `text_x`, in per cent, to the left where `is_left`; `narrow` is what of them a phone
    has room for, `long_words` what a large screen has. Its number is within the stay where that `fits`:
    always, on wide screens, or never.
    """

    y: int
    shown_as: str
    anchor: str
    hours: tuple[Span, ...]
    stay: Span | None
    leg: Span | None
    wait: Span | None
    left_at: float | None
    at: float
    text_x: float
    is_left: bool
    narrow: str
    fits: str
    name: str
    words: str
    long_words: str
    is_failing: bool
    stay_fails: bool
    leg_fails: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MealBand:
    """The window of a meal."""

    span: Span
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A full hour on the clock; `is_minor` ones are not numbered on a phone."""

    x: float
    label: str
    is_minor: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DayLane:
    """The whole time line; `window` is the time in which the traveller is out."""

    ident: str
    day: int
    height: int
    ticks: tuple[Tick, ...]
    window: Span
    meals: tuple[MealBand, ...]
    rows: tuple[LaneRow, ...]
    title: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clock:
    """Minutes of the day to per cent."""

    start: int
    end: int

    def x(self, minute: float) -> float:
        share = (min(max(minute, self.start), self.end) - self.start) / (self.end - self.start)
        return round(EDGE + (100 - 2 * EDGE) * share, 2)

    def span(self, start: float, end: float) -> Span | None:
        left, right = self.x(start), self.x(end)
        return Span(x=left, width=round(right - left, 2)) if right > left else None


def day_lane(result: TripResult, number: int, faults: Sequence[Fault]) -> DayLane:
    """The time line of a day, counted from 1."""
    day = result.plan.days[number - 1]
    window = result.hours(number)
    clock = _clock(day, window)
    failing = {fault.anchor: fault for fault in reversed(faults) if fault.is_error}
    meals = tuple(
        MealBand(span=span, name=meal.name)
        for meal in map(Meal.model_validate, result.request.get("meals", []))
        if (span := clock.span(meal.start_min, meal.end_min))
    )
    rows = _rows(result, number, day, clock, failing)
    visits = "; ".join(
        f"{row.shown_as} {visit.place.name} {visit.arrive} to {visit.leave}"
        for row, visit in zip(rows, day.visits, strict=False)
    )
    wrong = "; ".join(
        fault.reason for anchor, fault in failing.items() if anchor.split("-")[1:2] == [str(number)]
    )
    return DayLane(
        ident=f"lane-{number}",
        day=number,
        height=HEAD + ROW * max(1, len(rows)) + TAIL,
        ticks=_ticks(clock),
        window=clock.span(*window) or Span(x=EDGE, width=100 - 2 * EDGE),
        meals=meals,
        rows=rows,
        title=f"Time line of day {number}, {clock_of(clock.start)} to {clock_of(clock.end)}",
        description=(visits or "No stops") + "." + (f" Failing: {wrong}." if wrong else ""),
    )


def _clock(day: Day, window: tuple[int, int]) -> _Clock:
    """From the full hour at or before the first minute of the day to the one at or after its last."""
    times = [*window, *(minutes_of(at) for visit in day.visits for at in (visit.arrive, visit.leave))]
    if day.visits and day.legs:
        first = day.legs[0]
        times.append(minutes_of(day.visits[0].arrive) - first.minutes * (first.from_id != first.to_id))
        if len(day.legs) > len(day.visits):
            times.append(minutes_of(day.visits[-1].leave) + day.legs[-1].minutes)
    return _Clock(start=max(0, min(times) // 60 * 60), end=-(-max(times) // 60) * 60)


def _ticks(clock: _Clock) -> tuple[Tick, ...]:
    hours = range(clock.start // 60, clock.end // 60 + 1)
    step = 1 if len(hours) <= 16 else 2 if len(hours) <= 31 else 4
    return tuple(
        Tick(x=clock.x(60 * hour), label=f"{hour if hour <= 24 else hour - 24:02d}", is_minor=index % 2 == 1)
        for index, hour in enumerate(hours[::step])
    )


def _rows(
    result: TripResult, number: int, day: Day, clock: _Clock, failing: Mapping[str, Fault]
) -> tuple[LaneRow, ...]:
    rows: list[LaneRow] = []
    left: int | None = None
    for index, visit in enumerate(day.visits, 1):
        leg = day.legs[index - 1] if index <= len(day.legs) else None
        leg = leg if leg is not None and leg.from_id != leg.to_id else None
        arrive = minutes_of(visit.arrive)
        set_off = left if left is not None else arrive - (leg.minutes if leg else 0)
        there = set_off + (leg.minutes if leg else 0)
        words = [f"{time_text(leg.minutes)} {means_text(leg)}"] if leg and set_off != there else []
        words += [f"{arrive - there} min wait"] if arrive > there else []
        words += [result.hours_words(visit, day.date)]
        label = stop_label(result, number, index)
        leg_fault = failing.get(f"leg-{number}-{index}")
        stop_fault = failing.get(f"stop-{number}-{index}")
        rows.append(
            _row(
                clock=clock,
                y=HEAD + ROW * (index - 1),
                shown_as=label,
                anchor=f"stop-{number}-{index}",
                hours=result.open_minutes(visit, day.date) or (),
                stay=(arrive, minutes_of(visit.leave)),
                way=(set_off, there),
                left_at=left,
                name=visit.place.name,
                words=", ".join(words),
                fault=stop_fault or leg_fault,
                stay_fails=stop_fault is not None,
                leg_fails=leg_fault is not None,
            )
        )
        left = minutes_of(visit.leave)
    if left is not None and len(day.legs) > len(day.visits) and day.end.id != day.visits[-1].place.id:
        leg, index = day.legs[-1], len(day.visits) + 1
        fault = failing.get(f"leg-{number}-{index}")
        rows.append(
            _row(
                clock=clock,
                y=HEAD + ROW * (index - 1),
                shown_as=home_label(result, day.end.id, "end"),
                anchor=f"end-{number}",
                hours=(),
                stay=None,
                way=(left, left + leg.minutes),
                left_at=left,
                name=near(day.end.name),
                words=f"{time_text(leg.minutes)} {means_text(leg)}, there {clock_of(left + leg.minutes)}",
                fault=fault or failing.get(f"end-{number}"),
                leg_fails=fault is not None,
            )
        )
    return tuple(rows)


def _row(
    *,
    clock: _Clock,
    y: int,
    shown_as: str,
    anchor: str,
    hours: Sequence[tuple[int, int]],
    stay: tuple[int, int] | None,
    way: tuple[int, int],
    left_at: int | None,
    name: str,
    words: str,
    fault: Fault | None,
    leg_fails: bool,
    stay_fails: bool = False,
) -> LaneRow:
    set_off, there = way
    at = stay[0] if stay else there
    first, last = clock.x(min(set_off, at)), clock.x(max(stay[1] if stay else there, there))
    room_left, room_right = first - 1, 99 - last
    is_left = room_left > room_right
    room = max(room_left, room_right)
    mark = "✕ " if fault else ""
    drawn = clock.span(*stay) if stay else None
    width = drawn.width if drawn else LEAST_PX
    fits = "always" if width * NARROW_PX >= LEAST_PX else "wide" if width * WIDE_PX >= LEAST_PX else "never"
    number = {"always": "", "wide": f"{shown_as} ", "never": f"{shown_as} "}[fits]
    wide_mark, narrow_mark = mark + (number if fits == "never" else ""), mark + number
    room_px = room * WIDE_PX - text_px(wide_mark, is_bold=True) - BESIDE_PX
    rest = fault.reason if fault else words
    shown = "" if rest.startswith(name) else _cut(name, room_px, is_bold=True) + ":" * (fault is not None)
    room_px -= text_px(f"{shown} ", is_bold=True)
    is_bold = fault is not None  # what fails is set in bold
    narrow_px = room * NARROW_PX - text_px(narrow_mark, is_bold=is_bold) - BESIDE_PX
    return LaneRow(
        y=y,
        shown_as=shown_as,
        anchor=anchor,
        hours=tuple(span for start, end in hours if (span := clock.span(start, end))),
        stay=drawn,
        leg=clock.span(set_off, there),
        wait=clock.span(there, at),
        left_at=None if left_at is None else clock.x(left_at),
        at=clock.x(at),
        text_x=first if is_left else last,
        is_left=is_left,
        narrow=narrow_mark + _cut(name, narrow_px, is_bold=is_bold),
        fits=fits,
        name=wide_mark + shown,
        words=_cut(rest, room_px, is_bold=is_bold),
        long_words=_cut(rest, room_px + room * (LARGE_PX - WIDE_PX), is_bold=is_bold),
        is_failing=fault is not None,
        stay_fails=stay_fails,
        leg_fails=leg_fails,
    )


def text_px(text: str, *, is_bold: bool = False) -> float:
    """About how many pixels a text takes in a wide font.

    >>> round(text_px("Ateneum")), round(text_px("東京")), round(text_px("ill"))
    (60, 27, 16)
    """
    return sum(map(_sign_px, text)) * (BOLD if is_bold else 1.0)


def _sign_px(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 13.6
    if sign in "iIljtfr .,:;|!'()[]":
        return 5.5
    return 12.8 if sign in "mwMW@%—…" else 9.6 if sign.isupper() else 8.1


def _cut(text: str, most_px: float, *, is_bold: bool = False) -> str:
    """The text, or as much of it as fits with an ellipsis; empty where only a few letters would fit.

    >>> _cut("Ateneum", 80), _cut("Helsingin tuomiokirkko", 90), _cut("Ateneum", 30)
    ('Ateneum', 'Helsingin…', '')
    """
    if text_px(text, is_bold=is_bold) <= most_px:
        return text
    if most_px < LEAST_TEXT_PX:
        return ""
    room_px = most_px / (BOLD if is_bold else 1.0) - _sign_px("…")
    ends_px = itertools.accumulate(map(_sign_px, text))
    return f"{text[: sum(end_px <= room_px for end_px in ends_px)].rstrip()}…"
