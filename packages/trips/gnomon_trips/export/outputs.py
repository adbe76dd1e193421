"""Writes a planned trip in every form of output, by file ending and by media type.

Calendars and streets are imported when they are wanted: the API, which offers them, need not load them.
"""

import json
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING

from markupsafe import Markup

from gnomon.core.errors import SpecError
from gnomon_trips.export.geojson import Line, Way, straight, to_geojson
from gnomon_trips.export.page import to_html, to_markdown, trip_body
from gnomon_trips.export.result import TripResult
from gnomon_trips.export.trip_view import View
from gnomon_trips.itinerary.errors import PlaceError
from gnomon_trips.itinerary.place import LatLon
from gnomon_trips.itinerary.plan import Stop
from gnomon_trips.itinerary.registry import JAPAN

if TYPE_CHECKING:
    from gnomon_trips.itinerary.osm.city import City


PAIR = re.compile(r"\[\n\s+(-?\d+\.\d+),\n\s+(-?\d+\.\d+)\n\s+\]")
"""A point of a path over four lines, as JSON is indented; within its texts no line ends."""

MEDIA_TYPES: Mapping[str, str] = {
    ".json": "application/json",
    ".html": "text/html",
    ".md": "text/markdown",
    ".ics": "text/calendar",
    ".geojson": "application/geo+json",
}


def rendered(result: TripResult, ending: str) -> bytes:
    """The trip in the form of a file ending; the same result always gives the same bytes.

    Raises:
        SpecError: the form does not exist.
    """
    if ending == ".ics":
        from gnomon_trips.export.calendar import to_ics

        return to_ics(result)
    if ending == ".json":
        text = PAIR.sub(r"[\1, \2]", json.dumps(result.as_json(), indent=2, ensure_ascii=False)) + "\n"
    elif ending == ".html":
        streets, way = _streets(result)
        text = to_html(result, streets=streets, way=way)
    elif ending == ".md":
        text = to_markdown(result)
    elif ending == ".geojson":
        text = json.dumps(to_geojson(result, _streets(result)[1]), ensure_ascii=False) + "\n"
    else:
        raise SpecError(f"no format {ending!r}; allowed: {', '.join(MEDIA_TYPES)}", field="--out")
    return text.encode()


def page_body(result: TripResult, view: View) -> Markup:
    """What a page shows of the trip below its headline, with the streets of its city."""
    streets, way = _streets(result)
    return trip_body(result, view, streets=streets, way=way)


def ending_of(file: str) -> str:
    """The ending of a file's name, if trips are given out in that form.

    >>> ending_of("trip.ics")
    '.ics'

    Raises:
        SpecError: they are not.
    """
    ending = PurePath(file).suffix.lower()
    if ending not in MEDIA_TYPES:
        allowed = ", ".join(MEDIA_TYPES)
        raise SpecError(f"{file!r} ends with {ending or 'nothing'!r}; allowed: {allowed}", field="--out")
    return ending


def _city(result: TripResult) -> "City | None":
    """The embedded city whose streets go on the map, if the trip is in one."""
    from gnomon_trips.itinerary.osm.city import city_files, read_city

    name = str(result.request.get("area", "")).lower()
    file = city_files().get(name)
    if file is None:
        return None
    try:
        return read_city(file)
    except PlaceError:
        return None


def _streets(result: TripResult) -> tuple[tuple[Line, ...], Way]:
    """What lies under the ways on the map, and how ways run: an extract's streets, or railways of Japan."""
    city = _city(result)
    if city is None and str(result.request.get("area", "")).lower() == JAPAN:
        from gnomon_trips.itinerary.japan.rail import rail  # late: it loads SciPy

        return rail().lines, straight
    if city is None:
        return (), straight

    def way(start: Stop, end: Stop) -> Line:
        ends = (LatLon(lat_deg=start.lat, lon_deg=start.lon), LatLon(lat_deg=end.lat, lon_deg=end.lon))
        return city.streets.line(*ends)

    return tuple(street.points for street in city.extract.streets), way
