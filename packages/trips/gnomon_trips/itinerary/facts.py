"""Gathers all that the verifier needs to know, once, so that verifying is pure and replayable."""

import datetime as dt
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gnomon_tools.core.name_match import plain_name
from gnomon_trips.itinerary.barred import barred_as
from gnomon_trips.itinerary.choice import SURE
from gnomon_trips.itinerary.errors import BadArgument, NoSuchPlace, PlaceError, Unreachable, Unsupported
from gnomon_trips.itinerary.guide_claims import sentences
from gnomon_trips.itinerary.haversine import apart_m
from gnomon_trips.itinerary.hours import Interval, Opening, minutes_of, open_on, opening_of
from gnomon_trips.itinerary.kept_free import REACH_M, is_kept_free
from gnomon_trips.itinerary.kinds import kind_of, serves, singular
from gnomon_trips.itinerary.later_visits import details_of
from gnomon_trips.itinerary.place import AdminPath, Mode, Place, Way
from gnomon_trips.itinerary.plan import Plan, Stop
from gnomon_trips.itinerary.provider import MAX_HITS, NameQuery, NearbyQuery
from gnomon_trips.itinerary.reasons import names_in
from gnomon_trips.itinerary.request import MEALS
from gnomon_trips.itinerary.terrain import is_ever_open
from gnomon_trips.itinerary.track import Track, track_of
from gnomon_trips.itinerary.trip import Trip, find

Pair = tuple[str, str, Mode]
TWIN_M, NAMESAKE_M = 100.0, 50_000.0
"""How near another place of a stop's name must be to be meant by it; nearer than TWIN_M it is the same."""
SERVER_M = 1_000.0
"""How near a place must be that could have served a wish: nearer than any planner looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Places by id (absent: there is none), ways by (from, to, mode) (None: there is no way), areas by id.

    `tracks` say how those ways run. `place_sources` and `way_sources` say who knows each; `mentioned` holds
    places that the plan's reasons name, by those names; `left_out` those that it leaves out, by the names
    that it gives them; `namesakes` another place that is called what the plan calls a stop, by the stop's id
    and that name; `servers` a place near the trip for a wish that the plan does not serve; `eateries`
    somewhere to eat near time kept free; `attributions` are the notices of the data.
    """

    places: Mapping[str, Place]
    ways: Mapping[Pair, Way | None] = field(default_factory=dict)
    areas: Mapping[str, AdminPath] = field(default_factory=dict)
    place_sources: Mapping[str, frozenset[str]] = field(default_factory=dict)
    way_sources: Mapping[Pair, str] = field(default_factory=dict)
    tracks: Mapping[Pair, Track] = field(default_factory=dict)
    mentioned: Mapping[str, Place] = field(default_factory=dict)
    eateries: Mapping[str, Place] = field(default_factory=dict)
    left_out: Mapping[str, Place] = field(default_factory=dict)
    namesakes: Mapping[tuple[str, str], Place] = field(default_factory=dict)
    servers: Mapping[str, Place] = field(default_factory=dict)
    attributions: tuple[str, ...] = ()
    country: str = ""
    provider: str = ""
    version: str = ""

    def hours(self, place_id: str, date: dt.date) -> tuple[Interval, ...] | None:
        """When the place is or may be open on that date; None: not known."""
        place = self.places.get(place_id)
        return None if place is None else open_on(place, date, self.country)

    def opening(self, place_id: str, date: dt.date) -> Opening | None:
        """Its sure and its doubtful hours on that date; None: nothing is known."""
        place = self.places.get(place_id)
        return None if place is None else opening_of(place, date, self.country)


async def facts_of(trip: Trip, plan: Plan) -> Facts:
    """Everything the provider knows about what a plan names.

    Raises:
        PlaceError: the provider failed; a plan is not verified on half of the facts.
    """
    provider = trip.provider
    places = {place.id: place for place in trip.named.values()}
    sources = {place.id: {trip.source_of(place)} for place in trip.named.values()}
    areas: dict[str, AdminPath] = {}
    for place_id in dict.fromkeys(stop.id for stop in _stops(plan)):
        try:
            if place_id not in places or provider.is_local:
                answer = await details_of(provider, place_id)
                places.setdefault(place_id, answer.value)
                sources.setdefault(place_id, set()).add(answer.told_by)
        except NoSuchPlace:
            if place_id not in places:
                continue
        areas[place_id] = await _area(trip, places[place_id])
    ways: dict[Pair, Way | None] = {}
    way_sources: dict[Pair, str] = {}
    tracks: dict[Pair, Track] = {}
    for pair in _pairs(plan):
        start, end = places.get(pair[0]), places.get(pair[1])
        if start is None or end is None or pair in ways:
            continue
        try:
            way = await provider.route(start.at, end.at, mode=pair[2])
            ways[pair], way_sources[pair] = way.value, way.told_by
            tracks[pair] = await track_of(provider, start.at, end.at, mode=pair[2])
        except (Unreachable, Unsupported):
            ways[pair] = None
    return Facts(
        places=places,
        ways=ways,
        areas=areas,
        place_sources={place_id: frozenset(told_by) for place_id, told_by in sources.items()},
        way_sources=way_sources,
        tracks=tracks,
        mentioned=await _mentioned(trip, plan, places.values()),
        eateries=await _eateries(trip, plan, places),
        left_out=await _left_out(trip, plan),
        namesakes=await _namesakes(trip, plan, places),
        servers=await _servers(trip, plan, places),
        attributions=tuple(line for line in provider.attribution.split("\n") if line),
        country=trip.country,
        provider=provider.name,
        version=provider.version,
    )


async def _mentioned(trip: Trip, plan: Plan, places: Iterable[Place]) -> dict[str, Place]:
    """The places that reasons name; services over a network are not asked."""
    named = list(places)
    found: dict[str, Place] = {}
    reasons = [visit.why for day in plan.days for visit in day.visits]
    texts = (*reasons, *_guide_texts(plan))
    for name in dict.fromkeys(name for text in texts for name in names_in(text)):
        # A name in a sentence may be cut short; where it can mean several places it is not known which.
        hits = [place for place in named if plain_name(place.name) == plain_name(name)]
        hits = hits or [
            place
            for place in named
            if any(
                f"{plain_name(other)} ".startswith(f"{plain_name(name)} ")
                for other in (place.name, *place.also)
            )
        ]
        if len(hits) > 1:
            continue
        place = hits[0] if hits else None
        if place is None and trip.provider.is_local:
            try:
                place = (await find(trip.provider, name)).value
            except PlaceError:
                continue
        if place is not None:
            found[name] = place
    return found


async def _eateries(trip: Trip, plan: Plan, places: Mapping[str, Place]) -> dict[str, Place]:
    """For each time kept free, by its id: a place to eat within reach, open then and not in the plan."""
    visits = [(day, visit) for day in plan.days for visit in day.visits]
    taken = {visit.place.id for _, visit in visits} | {place.id for place in trip.named.values()}
    near: dict[str, Place] = {}
    for day, visit in visits:
        if not is_kept_free(visit.place.id) or visit.place.id not in places:
            continue
        query = NearbyQuery(places[visit.place.id].at, REACH_M, kinds=tuple(sorted(MEALS)), limit=MAX_HITS)
        try:
            hits = (await trip.provider.nearby(query)).value
        except (Unsupported, BadArgument):
            continue
        for place in (hit.place for hit in hits if hit.place.id not in taken):
            hours = open_on(place, day.date, trip.country)
            arrive, leave = minutes_of(visit.arrive), minutes_of(visit.leave)
            if hours is None or any(start <= arrive and leave <= end for start, end in hours):
                near[visit.place.id] = place
                break
    return near


def _guide_texts(plan: Plan) -> Iterable[str]:
    for day in plan.guide:
        for text in (day.intro, *(stop.text for stop in day.stops), *day.notes):
            yield from sentences(text)


async def _left_out(trip: Trip, plan: Plan) -> dict[str, Place]:
    """The places that the plan leaves out; services over a network are not asked."""
    wishes = {singular(wish) for wish in trip.request.wishes}
    places: dict[str, Place] = {}
    for name in dict.fromkeys(left.place for left in plan.skipped):
        place = trip.named.get(name)
        if (
            place is None
            and trip.provider.is_local
            and name not in trip.lost
            and singular(name) not in wishes
        ):
            try:
                place = (
                    await find(trip.provider, name, bias=next((it.at for it in trip.named.values()), None))
                ).value
            except PlaceError:
                continue
        if place is not None:
            places[name] = place
    return places


async def _namesakes(trip: Trip, plan: Plan, places: Mapping[str, Place]) -> dict[tuple[str, str], Place]:
    """Other places near a stop that bear the name which the plan gives it and which is not its own."""
    namesakes: dict[tuple[str, str], Place] = {}
    for stop in _stops(plan):
        place = places.get(stop.id)
        if place is None or not trip.provider.is_local or (stop.id, stop.name) in namesakes:
            continue
        if _is_called(place, stop.name):
            continue
        try:
            hits = (await trip.provider.resolve(NameQuery(stop.name, bias=place.at, limit=MAX_HITS))).value
        except PlaceError:
            continue
        called = [
            (round(apart_m(hit.place.at, place.at), 1), hit.place.id, hit.place)
            for hit in hits
            if (hit.score >= SURE and not hit.is_misspelt) or _is_called(hit.place, stop.name)
        ]
        is_own = any(place_id == place.id for _, place_id, _ in called)
        if called and not is_own and TWIN_M < min(called)[0] <= NAMESAKE_M:
            namesakes[stop.id, stop.name] = min(called)[2]
    return namesakes


def _is_called(place: Place, name: str) -> bool:
    kind = plain_name(place.kind.replace("_", " "))
    names = {plain_name(own) for own in (place.name, *place.also)}
    plain = plain_name(name)
    return plain in names or plain.removesuffix(f" {kind}") in names


async def _servers(trip: Trip, plan: Plan, places: Mapping[str, Place]) -> dict[str, Place]:
    """For each wish that no stop serves, a place near the trip that would, open on its days, not barred."""
    visited = [
        places[visit.place.id] for day in plan.days for visit in day.visits if visit.place.id in places
    ]
    named = {place.id for place in trip.named.values()}
    servers: dict[str, Place] = {}
    for wish in trip.request.wishes:
        if not trip.provider.is_local or any(serves(place, wish) for place in visited):
            continue
        for place in (*trip.places(), *visited):
            query = NearbyQuery(place.at, SERVER_M, kinds=(kind_of(wish),), limit=MAX_HITS)
            try:
                hits = (await trip.provider.nearby(query)).value
            except (Unsupported, BadArgument):
                continue
            usable = (hit.place for hit in hits if hit.place.id not in named and serves(hit.place, wish))
            allowed = (other for other in usable if barred_as(trip, other) is None)
            server = next((other for other in allowed if is_ever_open(other, trip)), None)
            if server is not None:
                servers[wish] = server
                break
    return servers


async def _area(trip: Trip, place: Place) -> AdminPath:
    try:
        return place.admin or (await trip.provider.reverse(place.at)).value
    except (Unsupported, NoSuchPlace):
        return AdminPath()


def _stops(plan: Plan) -> Iterable[Stop]:
    return (
        stop
        for day in plan.days
        for stop in (
            day.start,
            day.end,
            *(visit.place for visit in day.visits),
            *((day.night.place,) if day.night else ()),
        )
    )


def _pairs(plan: Plan) -> Iterable[Pair]:
    for day in plan.days:
        chain = [day.start.id, *(visit.place.id for visit in day.visits), day.end.id]
        modes: list[Mode] = [leg.mode for leg in day.legs] or ["walk"]
        for number, (start, end) in enumerate(itertools.pairwise(chain)):
            yield start, end, modes[min(number, len(modes) - 1)]
