"""The maps of a trip: streets once, in metres; of each day its way and its stops, numbered.

A map is a view box over the same metres. Lines are drawn in it, and stay thin at any size; pins are placed
in per cent of it, so that their numbers stay readable on a phone.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from gnomon_trips.export.checks import Fault, home_label, stop_label
from gnomon_trips.export.day_lane import text_px
from gnomon_trips.export.geojson import Line, Way
from gnomon_trips.export.result import TripResult
from gnomon_trips.itinerary.haversine import METRES_PER_DEGREE
from gnomon_trips.itinerary.plan import Day

WIDTH, HEIGHT, MARGIN = 640, 420, 46
EDGE = 34.0  # of WIDTH: a pin with its ring, so far from the edge, is whole on the smallest phone
LEAST_SPAN_M = 400.0
PIN_GAP = 34.0  # of WIDTH: pins of 18 px don't touch on a phone
NAME_PX, RING_PX, NAME_CHARS = 15, 23, 26  # a name begins so far from a pin, and from one with a ring
LEAST_MAP_PX = 405.0  # as wide as the smallest map that shows names
MOST_TURNS = 96
MOST_NAMED = 15  # with more stops of several days on one map the names only cover it


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A numbered stop, drawn at (x, y) in per cent; `tip` is its place where that differs.

    `text_x` and `text_y` are where its name stands, in pixels beside it, `text_anchor` the end of the name
    that is there: `start`, `middle` or `end`; empty: there is no room for the name.
    """

    x: float
    y: float
    tip: tuple[float, float] | None
    shown_as: str
    name: str
    day: int
    anchor: str
    is_home: bool = False
    reason: str = ""
    place_id: str = ""
    text_x: int = 0
    text_y: int = 0
    text_anchor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The way of a day as an SVG path: `path` where it is known, `straight` where only its ends are.

    `failing` holds those legs of it that fail a check.
    """

    day: int
    path: str
    straight: str
    failing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TripMap:
    """A map: its view box in metres, routes, pins, the scale bar in per cent of the width, and a sentence."""

    ident: str
    view_box: str
    routes: tuple[Route, ...]
    pins: tuple[Pin, ...]
    bar: float
    bar_words: str
    title: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TripMaps:
    """The map of all days, one for each day where there are several, and the streets as one path."""

    streets: str
    overview: TripMap
    days: tuple[TripMap, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """Degrees to metres east and south of the trip's middle."""

    lat: float
    lon: float
    cos_lat: float

    def xy(self, lat: float, lon: float) -> tuple[float, float]:
        return (lon - self.lon) * METRES_PER_DEGREE * self.cos_lat, (self.lat - lat) * METRES_PER_DEGREE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """The part of the ground that a map shows: north up, one scale in both directions."""

    west: float
    top: float
    px_per_m: float

    @property
    def view_box(self) -> str:
        wide, tall = WIDTH / self.px_per_m, HEIGHT / self.px_per_m
        return f"{self.west:.0f} {self.top:.0f} {wide:.0f} {tall:.0f}"

    def px(self, point: tuple[float, float]) -> tuple[float, float]:
        return (point[0] - self.west) * self.px_per_m, (point[1] - self.top) * self.px_per_m

    def sees(self, point: tuple[float, float]) -> bool:
        x, y = self.px(point)
        return -40 <= x <= WIDTH + 40 and -40 <= y <= HEIGHT + 40


def trip_maps(result: TripResult, faults: Sequence[Fault], streets: Iterable[Line], way: Way) -> TripMaps:
    """All maps of a plan that has days."""
    days = result.plan.days
    lines = [_lines(day, way) for day in days]
    ground = _ground([point for legs in lines for line in legs for point in line])
    drawn = [[[ground.xy(*point) for point in line] for line in legs] for legs in lines]
    frames = [_frame([point for line in legs for point in line]) for legs in drawn]
    whole = _frame([point for legs in drawn for line in legs for point in line])
    failing = {fault.anchor: fault for fault in faults if fault.is_error}
    routes = tuple(_route(number, legs, failing) for number, legs in enumerate(drawn, 1))
    numbers = range(1, len(days) + 1)
    overview = _map(result, "trip-map", whole, routes, failing, ground, numbers)
    ways = [_map(result, f"map-{n}", frames[n - 1], routes[n - 1 : n], failing, ground, [n]) for n in numbers]
    seen = [whole, *frames]
    paths = ([ground.xy(*point) for point in line] for line in streets)
    return TripMaps(
        streets="".join(
            _path(line) for line in paths if any(frame.sees(point) for point in line for frame in seen)
        ),
        overview=overview,
        days=tuple(ways) if len(days) > 1 else (),
    )


def _lines(day: Day, way: Way) -> list[Line]:
    """The line of each leg: its own path, what the streets say, or straight from stop to stop."""
    chain = [day.start, *(visit.place for visit in day.visits), day.end]
    paths = [leg.path for leg in day.legs] + [()] * len(chain)
    return [path or way(start, end) for path, (start, end) in zip(paths, pairwise(chain), strict=False)]


def _ground(points: Sequence[tuple[float, float]]) -> _Ground:
    lats, lons = [lat for lat, _ in points], [lon for _, lon in points]
    lat = (min(lats) + max(lats)) / 2
    return _Ground(lat=lat, lon=(min(lons) + max(lons)) / 2, cos_lat=math.cos(math.radians(lat)))


def _frame(points: Sequence[tuple[float, float]]) -> _Frame:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    wide_m, tall_m = (max(max(ends) - min(ends), LEAST_SPAN_M) for ends in (xs, ys))
    px_per_m = min((WIDTH - 2 * MARGIN) / wide_m, (HEIGHT - 2 * MARGIN) / tall_m)
    return _Frame(
        west=(min(xs) + max(xs)) / 2 - WIDTH / 2 / px_per_m,
        top=(min(ys) + max(ys)) / 2 - HEIGHT / 2 / px_per_m,
        px_per_m=px_per_m,
    )


def _route(day: int, legs: list[list[tuple[float, float]]], failing: dict[str, Fault]) -> Route:
    wrong = [line for number, line in enumerate(legs, 1) if f"leg-{day}-{number}" in failing]
    return Route(
        day=day,
        path="".join(_path(line) for line in legs if len(line) > 2),
        straight="".join(_path(line) for line in legs if len(line) <= 2),
        failing="".join(map(_path, wrong)),
    )


def _path(line: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in line)


def _map(
    result: TripResult,
    ident: str,
    frame: _Frame,
    routes: tuple[Route, ...],
    failing: dict[str, Fault],
    ground: _Ground,
    numbers: Sequence[int],
) -> TripMap:
    pins: list[Pin] = []
    for number in numbers:
        for pin in _stops(result, number, failing):
            is_there = pin.is_home and any(old.place_id == pin.place_id for old in pins)
            if not is_there:
                pins.append(pin)
    pins = _placed(pins, [frame.px(ground.xy(pin.x, pin.y)) for pin in pins])
    bar_m = _round_length(WIDTH / 5 / frame.px_per_m)
    names = ", ".join(f"{pin.shown_as} {pin.name}" for pin in pins)
    wrong = [f"{pin.shown_as} {pin.reason}" for pin in pins if pin.reason]
    days = f"day {numbers[0]}" if len(numbers) == 1 else f"all {len(numbers)} days"
    return TripMap(
        ident=ident,
        view_box=frame.view_box,
        routes=routes,
        pins=tuple(_named(pins) if len(numbers) == 1 or len(pins) <= MOST_NAMED else pins),
        bar=round(100 * bar_m * frame.px_per_m / WIDTH, 2),
        bar_words=f"{bar_m} m" if bar_m < 1000 else f"{bar_m // 1000} km",
        title=f"Map of {days}",
        description=f"Stops: {names}." + (f" Failing: {'; '.join(wrong)}." if wrong else ""),
    )


def _stops(result: TripResult, number: int, failing: dict[str, Fault]) -> list[Pin]:
    """The stops of a day, in degrees: its start, its visits, and its end where that is elsewhere."""
    day = result.plan.days[number - 1]
    stops = [(day.start, home_label(result, day.start.id, "start"), True, f"start-{number}")]
    for index, visit in enumerate(day.visits, 1):
        stops.append((visit.place, stop_label(result, number, index), False, f"stop-{number}-{index}"))
    if day.end.id != day.start.id:
        stops.append((day.end, home_label(result, day.end.id, "end"), True, f"end-{number}"))
    # A day without a bed of its own starts at its first stop, or ends at its last.
    visited = {visit.place.id for visit in day.visits}
    stops = [stop for stop in stops if not (stop[2] and stop[0].id in visited)]
    return [
        Pin(
            x=stop.lat,
            y=stop.lon,
            tip=None,
            shown_as=label,
            name=stop.name,
            day=number,
            anchor=anchor,
            place_id=stop.id,
            is_home=is_home,
            reason=failing[anchor].reason if anchor in failing else "",
        )
        for stop, label, is_home, anchor in stops
    ]


def _placed(pins: Sequence[Pin], points: Sequence[tuple[float, float]]) -> list[Pin]:
    """Each pin at its point, or moved aside where it would cover another."""
    taken: list[tuple[float, float]] = []
    placed: list[Pin] = []
    for pin, (x0, y0) in zip(pins, points, strict=True):
        x, y, turn = x0, y0, 0
        while any(math.hypot(x - x1, y - y1) < PIN_GAP - 1 for x1, y1 in taken) and turn < MOST_TURNS:
            reach = PIN_GAP * (1 + turn // 8)
            x, y = x0 + reach * math.cos(turn * math.pi / 4), y0 + reach * math.sin(turn * math.pi / 4)
            x, y = min(max(x, EDGE), WIDTH - EDGE), min(max(y, EDGE), HEIGHT - EDGE)
            turn += 1
        taken.append((x, y))
        x_pct, y_pct = _per_cent((x, y))
        placed.append(replace(pin, x=x_pct, y=y_pct, tip=_per_cent((x0, y0)) if turn else None))
    return placed


def _per_cent(point: tuple[float, float]) -> tuple[float, float]:
    return round(100 * point[0] / WIDTH, 2), round(100 * point[1] / HEIGHT, 2)


def _named(pins: Sequence[Pin]) -> list[Pin]:
    """The pins with their names beside them where a name covers neither a pin nor another name.

    Reckoned for the smallest map that shows names: on a larger one there is only more room.
    """
    wide_px, tall_px = LEAST_MAP_PX, LEAST_MAP_PX * HEIGHT / WIDTH
    spots = [(pin.x * wide_px / 100, pin.y * tall_px / 100) for pin in pins]
    boxes = [_Box(left=x - 12, right=x + 12, top=y - 12, low=y + 12) for x, y in spots]
    boxes.append(_Box(left=0, right=0.25 * wide_px, top=tall_px - 26, low=tall_px))  # the scale
    named: list[Pin] = []
    for index, (pin, (x, y)) in enumerate(zip(pins, spots, strict=True)):
        name = pin.name if len(pin.name) <= NAME_CHARS else pin.name[: NAME_CHARS - 1] + "…"
        long = text_px(f"✕ {name}" if pin.reason else name, is_bold=bool(pin.reason))
        others = [box for number, box in enumerate(boxes) if number != index]
        for text_x, text_y, anchor in _beside(RING_PX if pin.reason else NAME_PX):
            left = x + text_x - {"start": 0.0, "middle": long / 2, "end": long}[anchor]
            box = _Box(left=left, right=left + long, top=y + text_y - 12, low=y + text_y + 4)
            is_within = left >= 4 and box.right <= wide_px - 4 and box.top >= 2 and box.low <= tall_px - 2
            if is_within and not any(box.meets(other) for other in others):
                boxes.append(box)
                named.append(replace(pin, text_x=text_x, text_y=text_y, text_anchor=anchor))
                break
        else:
            named.append(pin)
    return named


def _beside(off: int) -> tuple[tuple[int, int, str], ...]:
    """Where a name may stand beside its pin, the best first."""
    level, over, under = 4, -off - 1, off + 10
    return (
        *((off, level, "start"), (-off, level, "end"), (0, over, "middle"), (0, under, "middle")),
        *(
            (off - 4, over, "start"),
            (off - 4, under, "start"),
            (4 - off, over, "end"),
            (4 - off, under, "end"),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Box:
    """What a pin or a name covers, in pixels of the smallest map that shows names."""

    left: float
    right: float
    top: float
    low: float

    def meets(self, other: "_Box") -> bool:
        return not (
            self.right < other.left or self.left > other.right or self.low < other.top or self.top > other.low
        )


def _round_length(metres: float) -> int:
    """The longest of 1, 2, 5 times a power of ten that is not longer than a length.

    >>> _round_length(341.0), _round_length(640.0)
    (200, 500)
    """
    power = 10 ** math.floor(math.log10(metres))
    return int(next(step * power for step in (5, 2, 1) if step * power <= metres))
