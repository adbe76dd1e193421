"""A trip as one HTML page that needs nothing else: a map and a timeline a day, all stops, all checks."""

import functools
from collections.abc import Iterable

from jinja2 import Environment, PackageLoader, StrictUndefined

from gnomon.itinerary_export.drawing import HEIGHT, WIDTH, day_map, timeline
from gnomon.itinerary_export.geojson import Line, Way, straight
from gnomon.itinerary_export.result import TripResult
from gnomon.report.row_formats import escape_surrogates


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
