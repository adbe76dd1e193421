"""Cuts the places of a trip to as many as the request has room for: the most important are kept."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from gnomon_trips.itinerary.draft import DraftPlan, plan_of
from gnomon_trips.itinerary.objective import fame_of
from gnomon_trips.itinerary.trip import Trip

Pair = tuple[str, str]


def room_of(trip: Trip) -> int | None:
    """How many places the request has room for; None where it sets no limit or all of them fit."""
    request = trip.request
    limits = [request.max_places, request.places_a_day and request.places_a_day * request.days]
    stated = [limit for limit in limits if limit]
    room = min(stated, default=None)
    return room if room is not None and room < len({place.id for place in trip.places()}) else None


def by_importance(trip: Trip) -> list[str]:
    """The names of the places, the most important first: must-see, then asked for, then the best known."""
    names = _once_each(trip, trip.request.places)
    rank = {name: number for number, name in enumerate(names)}

    def weight(name: str) -> tuple[bool, bool, float, int]:
        place = trip.named[name]
        return (place.id not in trip.must_see, not trip.is_asked_for(place), -fame_of(place), rank[name])

    return sorted(names, key=weight)


def narrowed(trip: Trip, preferred: Collection[str] = ()) -> Trip:
    """The trip with as many places as there is room for, the rest cut with the reason.

    Must-see places come first, then the `preferred` ones (names, or ids of places) in the order of their
    importance, then the others. The order of visits that leads over a place that is cut stays.
    """
    room = room_of(trip)
    if room is None:
        return trip
    names = by_importance(trip)
    wished = {*preferred, *(trip.named[name].id for name in preferred if name in trip.named)}
    ranked = sorted(
        names,
        key=lambda name: (
            trip.named[name].id not in trip.must_see,
            name not in wished and trip.named[name].id not in wished,
        ),
    )
    kept, cut = ranked[:room], ranked[room:]
    request = trip.request
    limit = "places_a_day" if request.max_places is None else "max_places"
    is_chosen = bool(wished & {*kept, *(trip.named[name].id for name in kept)})
    how = "others were chosen" if is_chosen else "the others are better known or asked for"
    reasons = {name: f"cut: {limit} leaves room for {room} of {len(names)} places; {how}" for name in cut}
    kept_ids = {trip.named[name].id for name in kept}
    places = [name for name in request.places if name not in trip.named or trip.named[name].id in kept_ids]
    changed = {
        "places": places,
        "order": without(request.order, [name for name in request.places if name not in places]),
        "max_places": None,
        "places_a_day": None,
    }
    return replace(trip, request=request.model_copy(update=changed), cut={**trip.cut, **reasons})


async def as_planned(draft: DraftPlan, trip: Trip) -> Trip:
    """The trip with the places that a draft visits, as far as there is room; the most important of the others
    fill what room it leaves.

    Raises:
        PlaceError: the provider failed.
    """
    if room_of(trip) is None:
        return trip
    plan = await plan_of(draft, trip)
    return narrowed(trip, [visit.place.id for day in plan.days for visit in day.visits])


def without(order: Iterable[Pair], names: Iterable[str]) -> list[Pair]:
    """The pairs of before and after without these names; what came before one still comes before
    what followed.

    >>> without([("a", "b"), ("b", "c"), ("c", "d")], ["b"])
    [('c', 'd'), ('a', 'c')]
    """
    pairs = list(order)
    for name in names:
        before = [first for first, then in pairs if then == name]
        after = [then for first, then in pairs if first == name]
        pairs = [pair for pair in pairs if name not in pair]
        bridges = ((first, then) for first in before for then in after if first != then)
        pairs += [pair for pair in bridges if pair not in pairs]
    return pairs


def _once_each(trip: Trip, names: Sequence[str]) -> list[str]:
    """The names that mean a place, one for each place."""
    by_id: dict[str, str] = {}
    for name in names:
        if name in trip.named:
            by_id.setdefault(trip.named[name].id, name)
    return list(by_id.values())


def kept_share(trip: Trip, visited: Collection[str]) -> tuple[float | None, float | None]:
    """Of a trip before it is cut: the fame of the visited places (ids) as a share of the most that there is
    room for, and the share of must-see places that are visited. None: nothing is cut, or nothing is a must.
    """
    room = room_of(trip)
    places = {place.id: place for place in trip.places()}
    must = trip.must_see & set(places)
    must_share = len(must & set(visited)) / len(must) if must else None
    if room is None:
        return None, must_share
    most = sum(sorted(map(fame_of, places.values()), reverse=True)[:room])
    return sum(fame_of(places[place_id]) for place_id in set(visited) & set(places)) / most, must_share
