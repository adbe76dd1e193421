"""Fills in what a plan says beside its stops: distances and hours of recommended places, its guide."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnomon_trips.itinerary.haversine import metres_between
from gnomon_trips.itinerary.hours import open_on, told_hours
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.plan import Day, DayGuide, Stop, StopText
from gnomon_trips.itinerary.trip import Trip

if TYPE_CHECKING:
    from gnomon_trips.itinerary.draft import DraftGuide  # which asks this module to read it


def stop_before(day: Day, stop: Stop, purpose: str) -> Stop | None:
    """The stop of a day from which one comes to a place."""
    chain = [day.start, *(visit.place for visit in day.visits)]
    if purpose == "night":
        return chain[-1]
    at = next((at for at, visit in enumerate(day.visits) if visit.place.id == stop.id), None)
    return None if at is None else chain[at]


def apart_m(start: Stop, end: Stop) -> int:
    """Metres between two stops in a straight line."""
    return round(float(metres_between(start.lat, start.lon, end.lat, end.lon)))


def hours_on(place: Place, day: Day | None, trip: Trip) -> str:
    """When a place is open on a day of a plan, in words."""
    return told_hours(open_on(place, day.date, trip.country)) if day else ""


def guided(guide: "DraftGuide", days: Sequence[Day]) -> DayGuide:
    """The guide of a day with the ids of its stops, which may be written by their names."""
    visits = days[guide.day - 1].visits if guide.day <= len(days) else ()
    ids = {visit.place.name: visit.place.id for visit in visits}
    return DayGuide(
        day=min(guide.day, 14),
        language=guide.language,
        intro=guide.intro,
        stops=tuple(StopText(place=ids.get(stop.place, stop.place), text=stop.text) for stop in guide.stops),
        notes=tuple(guide.notes),
        cut=guide.cut,
    )
