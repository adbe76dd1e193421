"""Chooses the first day of a trip that may begin on several."""

import datetime as dt
from dataclasses import replace

from gnomon_trips.itinerary.terrain import opening
from gnomon_trips.itinerary.trip import Trip


def with_first_day(trip: Trip) -> Trip:
    """The trip from the first day on which the most of its places can be visited; told in `assumed`.

    By opening hours alone: whether all of it fits is for the search.
    """
    request, latest = trip.request, trip.request.latest_start
    if latest is None:
        return trip
    dates = [
        request.start_date + dt.timedelta(days=day) for day in range((latest - request.start_date).days + 1)
    ]
    starts = [replace(trip, request=request.model_copy(update={"start_date": date})) for date in dates]
    counts = [_visitable(start) for start in starts]
    best = counts.index(max(counts))
    words = (
        f"The first day is {dates[best]:%A %-d %B}: {counts[best]} of {len(trip.places())} places can be"
        f" visited, and with no later one until {latest:%-d %B} more."
    )
    return replace(starts[best], assumed={**trip.assumed, "start_date": words})


def _visitable(trip: Trip) -> int:
    """How many of the places are or may be open for the least stay within a day's hours."""
    days = range(trip.request.days)
    return sum(
        any(
            (hours := opening(place, trip, day)) is None
            or any(
                min(end, trip.request.hours(day)[1]) - max(start, trip.request.hours(day)[0])
                >= trip.request.rules.stay_min(place.kind)
                for start, end in hours
            )
            for day in days
        )
        for place in trip.places()
    )
