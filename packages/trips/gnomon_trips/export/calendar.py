"""Writes a trip as an iCalendar file (RFC 5545): one event per visit, in the local time of the place."""

import datetime as dt

from icalendar import Calendar, Event

from gnomon.core.ids import stable_hash
from gnomon_trips.export.result import TripResult
from gnomon_trips.export.words import route_text, why_text
from gnomon_trips.itinerary.hours import minutes_of
from gnomon_trips.itinerary.plan import ItineraryLeg, Visit

MADE_AT = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
"""Every event needs a time stamp; a fixed one, so that the same plan gives the same bytes."""


def to_ics(result: TripResult) -> bytes:
    """The calendar. Times float: they are those of the clock on the wall wherever the traveller is."""
    calendar = Calendar()
    calendar.add("prodid", "-//Gnomon//itinerary//EN")
    calendar.add("version", "2.0")
    calendar.add("x-wr-calname", _printable(result.title).replace("\n", " "))
    for number, day in enumerate(result.plan.days, 1):
        midnight = dt.datetime.combine(day.date, dt.time())
        for visit, leg in zip(day.visits, day.legs, strict=False):
            calendar.add_component(_event(result, number, midnight, visit, leg))
    return bytes(calendar.to_ical())


def _event(result: TripResult, number: int, midnight: dt.datetime, visit: Visit, leg: ItineraryLeg) -> Event:
    event = Event()
    event.add("uid", f"{stable_hash(result.plan.request_id, number, visit.place.id)}@gnomon")
    event.add("dtstamp", MADE_AT)
    event.add("dtstart", midnight + dt.timedelta(minutes=minutes_of(visit.arrive)))
    event.add("dtend", midnight + dt.timedelta(minutes=minutes_of(visit.leave)))
    event.add("summary", _printable(f"{visit.place.name} {visit.place.other_script}".strip()))
    event.add("geo", (visit.place.lat, visit.place.lon))
    lines = [f"The way there: {route}"] if (route := route_text(leg)) else []
    hours = result.hours_words(visit, midnight.date())
    lines.append(f"{hours[0].upper()}{hours[1:]}")
    if visit.cost:
        lines.append(f"Cost: {visit.cost.amount:,.2f} {visit.cost.currency}")
    lines += [why_text(visit.why)] if visit.why else []
    event.add("description", _printable("\n".join((*lines, *result.plan.attributions))))
    return event


def _printable(text: str) -> str:
    """Text without control characters, which a calendar may not hold; lines stay."""
    return "".join(char for char in text.replace("\r\n", "\n") if char == "\n" or char.isprintable())
