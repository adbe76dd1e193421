"""Writes a trip as one HTML page that needs nothing else: a map and a timeline per day, stops, checks."""

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jinja2 import Environment, PackageLoader, StrictUndefined

from gnomon.itinerary_export.geojson import Line, Way, straight
from gnomon.itinerary_export.result import TripResult
from gnomon.report.row_formats import escape_surrogates
from tools.itinerary.haversine import METRES_PER_DEGREE
from tools.itinerary.hours import clock_of, minutes_of
from tools.itinerary.plan import Day

WIDTH, HEIGHT, MARGIN = 640, 420, 46
LEAST_SPAN_M = 400.0
PIN_PX = 24.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A numbered stop; `shown_as` is drawn at (x, y)."""

    x: float
    y: float
    shown_as: str
    name: str
    is_home: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DayMap:
    """One day's map: streets and route as SVG paths, pins, and the length of the scale bar."""

    streets: str
    route: str
    pins: tuple[Pin, ...]
    bar_px: float
    bar_m: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A stretch of the timeline, in per cent of the window."""

    left: float
    width: float
    kind: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """Degrees to pixels: north up, one scale for both directions."""

    west: float
    north: float
    px_per_m: float
    cos_lat: float

    def xy(self, lat: float, lon: float) -> tuple[float, float]:
        x = (lon - self.west) * METRES_PER_DEGREE * self.cos_lat * self.px_per_m
        return x, (self.north - lat) * METRES_PER_DEGREE * self.px_per_m


def day_map(day: Day, streets: Iterable[Line], way: Way) -> DayMap:
    """The map of a day, cut to its stops with a margin."""
    chain = [day.start, *(visit.place for visit in day.visits), day.end]
    route = [way(start, end) for start, end in pairwise(chain)]
    frame = _frame([point for line in route for point in line])
    pins = _pins(day, frame)
    bar_m = _round_length(WIDTH / 5 / frame.px_per_m)
    return DayMap(
        streets=" ".join(_path(line, frame) for line in streets if _is_seen(line, frame)),
        route=" ".join(_path(line, frame) for line in route),
        pins=pins,
        bar_px=round(bar_m * frame.px_per_m, 1),
        bar_m=bar_m,
    )


def _frame(points: Sequence[tuple[float, float]]) -> _Frame:
    lats, lons = [lat for lat, _ in points], [lon for _, lon in points]
    middle_lat, middle_lon = (min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2
    cos_lat = math.cos(math.radians(middle_lat))
    tall_m = max((max(lats) - min(lats)) * METRES_PER_DEGREE, LEAST_SPAN_M)
    wide_m = max((max(lons) - min(lons)) * METRES_PER_DEGREE * cos_lat, LEAST_SPAN_M)
    px_per_m = min((WIDTH - 2 * MARGIN) / wide_m, (HEIGHT - 2 * MARGIN) / tall_m)
    return _Frame(
        west=middle_lon - WIDTH / 2 / px_per_m / METRES_PER_DEGREE / cos_lat,
        north=middle_lat + HEIGHT / 2 / px_per_m / METRES_PER_DEGREE,
        px_per_m=px_per_m,
        cos_lat=cos_lat,
    )


def _pins(day: Day, frame: _Frame) -> tuple[Pin, ...]:
    """Home first, then the visits; a pin that would cover another is moved aside."""
    placed: list[Pin] = []
    stops = [(day.start, "H", True)]
    stops += [(visit.place, str(number), False) for number, visit in enumerate(day.visits, 1)]
    if day.end.id != day.start.id:
        stops.append((day.end, "E", True))
    for stop, shown_as, is_home in stops:
        x, y = frame.xy(stop.lat, stop.lon)
        turn = 0
        while any(math.hypot(x - pin.x, y - pin.y) < PIN_PX for pin in placed) and turn < 24:
            x0, y0 = frame.xy(stop.lat, stop.lon)
            reach = PIN_PX * (1 + turn // 8)
            x, y = x0 + reach * math.cos(turn * math.pi / 4), y0 + reach * math.sin(turn * math.pi / 4)
            turn += 1
        placed.append(Pin(x=round(x, 1), y=round(y, 1), shown_as=shown_as, name=stop.name, is_home=is_home))
    return tuple(placed)


def _path(line: Line, frame: _Frame) -> str:
    points = (frame.xy(lat, lon) for lat, lon in line)
    return "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in points)


def _is_seen(line: Line, frame: _Frame) -> bool:
    return any(
        -40 <= x <= WIDTH + 40 and -40 <= y <= HEIGHT + 40 for x, y in (frame.xy(*point) for point in line)
    )


def _round_length(metres: float) -> int:
    """The longest of 1, 2, 5 times a power of ten that is not longer.

    >>> _round_length(341.0), _round_length(640.0)
    (200, 500)
    """
    power = 10 ** math.floor(math.log10(metres))
    return int(next(step * power for step in (5, 2, 1) if step * power <= metres))


def timeline(result: TripResult, day: Day) -> tuple[list[Bar], list[Bar]]:
    """Bars of stays and ways over the day's window, and ticks of full hours."""
    window = result.request.get("window", {})
    start = minutes_of(window.get("start", "09:00"))
    end = max(minutes_of(window.get("end", "20:00")), *(minutes_of(v.leave) for v in day.visits), start + 60)
    span = end - start
    bars: list[Bar] = []
    for number, (visit, leg) in enumerate(zip(day.visits, day.legs, strict=False), 1):
        arrive, leave = minutes_of(visit.arrive), minutes_of(visit.leave)
        bars.append(_bar(arrive - leg.minutes, arrive, start, span, "way", f"{leg.minutes} min on the way"))
        bars.append(_bar(arrive, leave, start, span, "stay", f"{number}"))
    if day.visits and len(day.legs) > len(day.visits):
        left = minutes_of(day.visits[-1].leave)
        bars.append(_bar(left, left + day.legs[-1].minutes, start, span, "way", "back"))
    hours = range(-(-start // 60), end // 60 + 1)
    ticks = [_bar(60 * hour, 60 * hour, start, span, "tick", clock_of(60 * hour)) for hour in hours]
    return bars, ticks


def _bar(from_min: int, to_min: int, start: int, span: int, kind: str, label: str) -> Bar:
    left, right = (max(0.0, min(100.0, (at - start) / span * 100)) for at in (from_min, to_min))
    return Bar(left=round(left, 2), width=round(right - left, 2), kind=kind, label=label)


def to_html(result: TripResult, *, streets: Iterable[Line] = (), way: Way = straight) -> str:
    """The page: no script, no request; everything from outside is escaped."""
    lines = tuple(streets)
    days = []
    for day in result.plan.days:
        bars, ticks = timeline(result, day)
        stops = [
            {"visit": visit, "leg": leg, "open": result.open_on(visit, day.date.isoformat())}
            for visit, leg in zip(day.visits, day.legs, strict=False)
        ]
        walked_m = sum(leg.metres for leg in day.legs)
        days.append(
            {
                "day": day,
                "map": day_map(day, lines, way),
                "bars": bars,
                "ticks": ticks,
                "stops": stops,
                "last": day.legs[-1] if len(day.legs) > len(day.visits) else None,
                "walked_km": walked_m / 1000,
            }
        )
    page = (
        _environment()
        .get_template("page.html.j2")
        .render(result=result, plan=result.plan, days=days, width=WIDTH, height=HEIGHT)
    )
    return escape_surrogates(page)


@functools.cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("gnomon.itinerary_export", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
