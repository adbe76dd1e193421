"""Chooses the first day of a trip that may begin on several."""

import datetime as dt
from collections import defaultdict
from dataclasses import replace

from gnomon_trips.itinerary.later_visits import own_id
from gnomon_trips.itinerary.terrain import may_be_open
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
    """How many visits can be made by the hours; visits to one place without a set time take a day each."""
    open_days = defaultdict[str, list[set[int]]](list)
    for place in trip.places():
        has_set_time = trip.fixed_hours(place, 0) is not None
        stay_min = trip.request.rules.stay_min(place.kind)
        days = {
            day
            for day in range(trip.request.days)
            if may_be_open(place, trip, day, *trip.request.hours(day), stay_min)
        }
        open_days[place.id if has_set_time else own_id(place.id)].append(days)
    return sum(min(sum(map(bool, visits)), len(set().union(*visits))) for visits in open_days.values())
