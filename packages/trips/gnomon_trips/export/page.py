"""Writes a trip as one HTML page that needs nothing else, or as the part of it that the live page shows."""

import functools
from collections.abc import Iterable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from gnomon.report.markdown import as_markdown
from gnomon.report.page_blocks import PageReader
from gnomon.report.row_formats import escape_surrogates
from gnomon_trips.export.checks import faults_of
from gnomon_trips.export.day_lane import day_lane
from gnomon_trips.export.geojson import Line, Way, straight
from gnomon_trips.export.result import TripResult
from gnomon_trips.export.trip_map import trip_maps
from gnomon_trips.export.trip_view import View, trip_view
from gnomon_trips.itinerary.registry import JAPAN


def to_html(result: TripResult, *, streets: Iterable[Line] = (), way: Way = straight) -> str:
    """The page: no script, no request; everything from outside is escaped."""
    parts = _parts(result, trip_view(result), streets, way)
    return escape_surrogates(_environment().get_template("page.html.j2").render(parts))


def to_markdown(result: TripResult) -> str:
    """What the page says, without pictures and checks, for reading on a terminal too."""
    reader = PageReader()
    reader.feed(to_html(result))
    return as_markdown(reader.blocks)


def trip_body(result: TripResult, view: View, *, streets: Iterable[Line] = (), way: Way = straight) -> Markup:
    """What a page shows below its headline: maps, time lines, stops and checks, without style or script."""
    parts = _parts(result, view, streets, way)
    # Made by templates that escape every value.
    return Markup(escape_surrogates(_environment().get_template("body.html.j2").render(parts)))  # noqa: S704


def _parts(result: TripResult, view: View, streets: Iterable[Line], way: Way) -> dict[str, Any]:
    shown = result.part or result
    faults, days = faults_of(shown), shown.plan.days
    return {
        "view": view,
        "maps": trip_maps(shown, faults, streets, way) if days else None,
        "has_straight": any(
            leg.from_id != leg.to_id and not leg.path and len(way(day.start, day.end)) <= 2
            for day in days
            for leg in day.legs
        ),
        "has_rails": str(result.request.get("area", "")).lower() == JAPAN and bool(streets),
        "lanes": [day_lane(shown, number, faults) for number in range(1, len(days) + 1)],
    }


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("gnomon_trips.export", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["capitalize_first"] = lambda words: f"{words[:1].upper()}{words[1:]}"
    return environment
