"""Tells what a plan takes for granted: stays, ways, nights, names, free hours, prices."""

from collections.abc import Sequence

from gnomon_trips.itinerary.barred import overruled
from gnomon_trips.itinerary.comfort import comfortable_min, is_comfortable
from gnomon_trips.itinerary.hours import DAY_MIN, clock_of, minutes_of
from gnomon_trips.itinerary.kept_free import is_kept_free, near, told
from gnomon_trips.itinerary.kinds import AREAS
from gnomon_trips.itinerary.place import WALK_KMH
from gnomon_trips.itinerary.plan import Day
from gnomon_trips.itinerary.provider import WORLD
from gnomon_trips.itinerary.request import USUAL_DWELL_MIN, TripRequest
from gnomon_trips.itinerary.track import ALL_ON_FOOT
from gnomon_trips.itinerary.trip import Trip

OUT_OF_TIME = "The time for the search was over before it was done: a longer one may find a better plan."
NO_HOTEL = "whose middle stands for the hotel: name the hotel itself."
"""How the words about a night in an area end: they change all ways, and so are told before the plan."""
FREE_MIN = 60
"""That many minutes without anything to do are told as free."""


def assumptions(trip: Trip, days: Sequence[Day] = ()) -> tuple[str, ...]:
    """The assumptions of the plan that no source confirms."""
    legs = [leg for day in days for leg in day.legs if leg.from_id != leg.to_id]
    beds = dict.fromkeys(filter(None, (trip.request.hotel, *trip.request.nights)))
    lines = [
        f"{name!r} is a {trip.named[name].kind}, {NO_HOTEL}"
        for name in beds
        if trip.request.area.lower() != WORLD and name in trip.named and trip.named[name].kind in AREAS
    ]
    lines += (
        f"{place.name} is visited though {name!r} is to be avoided: it is asked for by name."
        for place in trip.places()
        if (name := overruled(trip, place))
    )
    places = [visit.place for day in days for visit in day.visits]
    if areas := dict.fromkeys(place.name for place in places if place.kind in AREAS):
        lines.append(f"Ways lead to the middle of {', '.join(areas)}: a station may be nearer.")
    exactness = {leg.exactness for leg in legs if ALL_ON_FOOT not in leg.via}
    lines.append(
        f"Stays are at least as long as the rules of the plan say, such as {USUAL_DWELL_MIN} minutes."
    )
    if is_comfortable(trip.request):
        lines.append(f"Where there is room they are longer: {told_stays(trip.request, days)}.")
    if "network" in exactness and trip.request.mode == "walk":
        lines.append(f"Walking is at {WALK_KMH:g} km/h along mapped streets.")
    if "estimate" in exactness:
        lines.append(
            "Times on the way are estimates from where places lie, not from a timetable; water and hills"
            " between are not known."
        )
    if any(ALL_ON_FOOT in leg.via for leg in legs):
        lines.append("Short ways on foot are estimates: a third longer than the straight line.")
    if "lower_bound" in exactness:
        lines.append("Ways are the least they can be, as the crow flies: a real journey takes longer.")
    for number, day in enumerate(days, 1):
        if day.night and day.night.basis == "assumed":
            lines.append(
                f"Night {number} is spent near {near(day.night.place.name)}: no place to sleep is named."
            )
        if day.night and day.night.basis == "chosen":
            lines.append(f"Night {number} is spent at {day.night.place.name}: nobody knows if it has a room.")
    lines += [told(place.name) for place in places if is_kept_free(place.id)]
    if "timetable" in exactness:
        lines.append(
            "Rides round Tokyo take the mean minutes of the timetables; waits of 4 minutes and more, half the"
            " time between trains, and changes are assumed, and no train is caught by it."
        )
    lines += (line for number, day in enumerate(days, 1) if (line := free_time(number, day, trip.request)))
    lines += trip.assumed.values()
    meals_on = [trip.request.meals_on(day) for day in range(len(days))]
    lines += (
        f"Day {number} has no {meal.name}: its hours end before it or begin after it."
        for number, row in enumerate(meals_on, 1)
        for meal in trip.request.meals
        if meal not in row
    )
    if trip.request.rules.price:
        lines.append("Prices are those of the request's rules, not of the places.")
    return tuple(lines)


def free_time(number: int, day: Day, request: TripRequest) -> str:
    """The times when a day leaves an hour or more free, between stops or after them.

    Of a request for an early end nothing is said: that is what it asks for.
    """
    if request.prefer is not None:
        return ""
    window = request.hours(number - 1)
    clock, free = window[0], list[str]()
    for visit, leg in zip(day.visits, day.legs, strict=False):
        here = clock + (leg.minutes if leg.from_id != leg.to_id else 0)
        arrive = minutes_of(visit.arrive)
        if arrive - here >= FREE_MIN:
            free.append(f"from {_time_of(clock)} to {_time_of(clock + arrive - here)}")
        clock = minutes_of(visit.leave)
    if len(day.legs) > len(day.visits) and day.legs[-1].from_id != day.legs[-1].to_id:
        clock += day.legs[-1].minutes
    if window[1] - clock >= FREE_MIN:
        free.append(f"from {_time_of(clock)}" if day.visits else "all day")
    return f"Day {number} is free {' and '.join(free)}." if free else ""


def _time_of(minute: int) -> str:
    return clock_of(minute % DAY_MIN) + (" of the next day" if minute >= DAY_MIN else "")


def told_stays(request: TripRequest, days: Sequence[Day]) -> str:
    """How long people like to stay at the kinds of place in a plan."""
    kinds = dict.fromkeys(visit.place.kind for day in days for visit in day.visits)
    stays = {kind: comfortable_min(request, kind) for kind in kinds}
    longer = [f"{kind.replace('_', ' ')} {stay}" for kind, stay in stays.items() if kind
              and stay > request.rules.stay_min(kind)]  # fmt: skip
    return f"{', '.join(longer)} minutes" if longer else "none here is"
