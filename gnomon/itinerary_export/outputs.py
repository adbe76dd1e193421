"""Writes a planned trip in every form it is given out in, by file ending and by media type.

Calendars and streets are imported when they are wanted: the API, which offers them, need not load them.
"""

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING

from markupsafe import Markup

from gnomon.core.errors import SpecError
from gnomon.itinerary_export.geojson import Line, Way, straight, to_geojson
from gnomon.itinerary_export.page import to_html, trip_body
from gnomon.itinerary_export.quality_words import quality_rows, unmeasured
from gnomon.itinerary_export.result import TripResult
from gnomon.itinerary_export.trip_view import View
from gnomon.itinerary_export.words import length_text, time_text, way_text
from tools.itinerary.errors import PlaceError
from tools.itinerary.place import LatLon
from tools.itinerary.plan import Day, Stop

if TYPE_CHECKING:
    from tools.itinerary.osm.city import City


MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|"})


def to_markdown(result: TripResult) -> str:
    """The plan for reading; whatever comes from outside is escaped."""
    plan = result.plan
    lines = [f"# {_plain(result.title)}", ""]
    if plan.status == "refused":
        lines += [result.refusal, ""]
        lines += [f"- {_plain(entry)}" for entry in plan.conflict or ("not named",)]
    else:
        cost = plan.totals.cost
        money = f", {cost.amount:.2f} {cost.currency}" if cost else ""
        lines.append(
            f"{length_text(plan.totals.metres)} in {time_text(plan.totals.minutes)} on the way{money}."
        )
    for number, day in enumerate(plan.days, 1):
        lines += ["", f"## Day {number}: {day.date:%A %d %B %Y}", "", *_table(result, day)]
    lines += ["", "## Checks", ""]
    lines += [_fault(violation) for violation in result.violations]
    lines += [] if result.errors else [_passed(result)]
    lines += _quality(result)
    if plan.skipped:
        lines += [
            "",
            *(f"- Left out: {_plain(entry.place)} ({_plain(entry.reason)})" for entry in plan.skipped),
        ]
    lines += ["", *(f"- {_plain(line)}" for line in plan.assumptions)]
    lines += ["", "Data: " + "; ".join(map(_plain, plan.attributions))] if plan.attributions else []
    return "\n".join(lines).rstrip() + "\n"


def _table(result: TripResult, day: Day) -> list[str]:
    rows = ["| arrive | leave | place | way there | open that day | cost |", "|---|---|---|---|---|---|"]
    rows.append(f"|  |  | start: {_plain(day.start.name)} |  |  |  |")
    for visit, leg in zip(day.visits, day.legs, strict=False):
        cost = f"{visit.cost.amount:.2f} {visit.cost.currency}" if visit.cost else ""
        kind = visit.place.kind.replace("_", " ")
        place = f"**{_plain(visit.place.name)}** ({_plain(kind)})" if kind else _plain(visit.place.name)
        way = way_text(leg)
        opened = result.hours_words(visit, day.date).removeprefix("open ").removeprefix("hours ")
        rows.append(f"| {visit.arrive} | {visit.leave} | {place} | {way} | {opened} | {cost} |")
    if day.legs:
        last = day.legs[-1]
        rows.append(f"|  |  | end: {_plain(day.end.name)} | {way_text(last)} |  |  |")
    return rows


def _quality(result: TripResult) -> list[str]:
    if not result.quality:
        return []
    lines = ["", "## Quality", "", "| measure | share | of what |", "|---|---|---|"]
    lines += [
        f"| {row.title} | {row.share} | {_plain('; '.join(filter(None, (row.counts, row.unknown))))} |"
        for row in quality_rows(result)
    ]
    missing = unmeasured(result)
    return [*lines, "", f"Not measured: {_plain('; '.join(missing))}."] if missing else lines


def _fault(violation: object) -> str:
    fields = dict(violation) if isinstance(violation, dict) else {}
    text = f"expected {fields.get('expected')}, found {fields.get('found')}"
    return f"- {fields.get('severity')} {fields.get('code')} at `{fields.get('path')}`: {_plain(text)}"


def _passed(result: TripResult) -> str:
    if result.plan.status == "refused":
        return "- Refused, with the constraints named above."
    by = f"(places, walking times, opening hours; by {_plain(result.verified_by)})"
    if not result.unchecked:
        return f"- Every check holds {by}."
    count = len({entry["code"] for entry in result.unchecked})
    missing = [
        f"  - {entry['code']} at `{entry['path']}`: {_plain(entry['why'])}" for entry in result.unchecked
    ]
    return "\n".join([f"- No check fails {by}; {count} could not be checked:", *missing])


def _plain(text: str) -> str:
    r"""Text that means nothing but itself.

    >>> _plain("a|b <i>")
    'a\\|b \\<i\\>'
    """
    return " ".join(text.split()).translate(MARKS)


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
        from gnomon.itinerary_export.calendar import to_ics

        return to_ics(result)
    city = _city(result)
    streets, way = _streets(city)
    if ending == ".json":
        text = json.dumps(result.as_json(), indent=2, ensure_ascii=False) + "\n"
    elif ending == ".html":
        text = to_html(result, streets=streets, way=way)
    elif ending == ".md":
        text = to_markdown(result)
    elif ending == ".geojson":
        text = json.dumps(to_geojson(result, way), ensure_ascii=False) + "\n"
    else:
        raise SpecError(f"no form {ending!r}; allowed: {', '.join(MEDIA_TYPES)}", field="--out")
    return text.encode()


def page_body(result: TripResult, view: View) -> Markup:
    """What a page shows of the trip below its headline, with the streets of its city."""
    streets, way = _streets(_city(result))
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
    from tools.itinerary.osm.city import city_files, read_city

    name = str(result.request.get("area", "")).lower()
    file = city_files().get(name)
    if file is None:
        return None
    try:
        return read_city(file)
    except PlaceError:
        return None


def _streets(city: "City | None") -> tuple[tuple[Line, ...], Way]:
    if city is None:
        return (), straight

    def way(start: Stop, end: Stop) -> Line:
        ends = (LatLon(lat_deg=start.lat, lon_deg=start.lon), LatLon(lat_deg=end.lat, lon_deg=end.lon))
        return city.streets.line(*ends)

    return tuple(street.points for street in city.extract.streets), way
