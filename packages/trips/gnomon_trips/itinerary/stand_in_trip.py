"""A trip that stands in for a question's own: its names and days, with another trip's places and limits.

Every place that the request names has the position, kind and hours of one of the other trip's, so that what
one call says agrees with what another says; ways are the real ones between those positions. A place that it
does not name keeps its position and has hours of another. Limits, hours of the day, people, meals and orders
are the other trip's, so that what can be planned, and how, is that trip's answer under the question's names.

What judges a plan is given another plan than the one that was passed: the planner's own for the trip that
stands in, or the places of the request by chance. So its verdict is about neither.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any

from gnomon_tools.core.inputs import OtherCall
from gnomon_trips.itinerary.hours import DAY_MIN, clock_of
from gnomon_trips.itinerary.place import AdminPath, Answer, LatLon, Mode, Place, PlaceHit, Table, Way
from gnomon_trips.itinerary.provider import NameQuery, NearbyQuery, Provider
from gnomon_trips.itinerary.request import TripRequest
from gnomon_trips.itinerary.trip import Trip

STAY_MIN, GAP_MIN = (20, 90), (0, 30)  # of a plan by chance, in minutes
LAST_MIN = DAY_MIN - 1
VISIT = ("place", "arrive", "leave")


def stand_in_trip(asked: Trip, other: Trip | None, seed: int) -> Trip:
    """The trip that answers all calls of a trial; without another one the places are exchanged by chance.

    Whether the question's own can be planned is not known to it.
    """
    chance = random.Random(f"stand-in trip {seed}")
    donor = other or asked
    facts = _dealt(asked, donor, chance)
    provider = ElsewhereProvider(asked.provider, facts, [place.hours for place in donor.named.values()], seed)
    named = {name: provider.moved(place) for name, place in asked.named.items()}
    request = asked.request if other is None else _request(asked, other, facts)
    return replace(asked.unjudged(), request=request, provider=provider, named=named)


def is_like(asked: Trip, other: Trip) -> bool:
    """Whether the other trip is of as many days from the same day of the week on, and has as many places.

    Each of the question's places then has one of its own, open when the other trip needs it.
    """
    first, second = asked.request, other.request
    return (
        len(_visited(other)) >= len(_visited(asked))
        and (first.days, first.start_date.weekday()) == (second.days, second.start_date.weekday())
        and (other.hotel is None) == (asked.hotel is None)
    )


def plan_by_chance(trip: Trip, key: str) -> dict[str, Any]:
    """A plan of the request's places in an order and at times that `key` decides, as a model writes one."""
    chance = random.Random(f"plan {key}")
    names = [name for name in trip.request.places if name in trip.named]
    chance.shuffle(names)
    share = max(1, -(-len(names) // trip.request.days))
    days = []
    for day in range(trip.request.days):
        clock, _ = trip.request.hours(day)
        visits = []
        for name in names[day * share : (day + 1) * share]:
            arrive = clock + chance.randint(*GAP_MIN)
            clock = arrive + chance.randint(*STAY_MIN)
            visits.append(
                {
                    "place": name,
                    "arrive": clock_of(min(arrive, LAST_MIN)),
                    "leave": clock_of(min(clock, LAST_MIN)),
                }
            )
        days.append({"visits": visits})
    return {"status": "planned", "days": days}


def other_plan(trip: Trip, key: str, call: OtherCall) -> dict[str, Any]:
    """A plan of the trip that stands in: by chance in half of the cases, else as `order_visits` orders it."""
    plan = plan_by_chance(trip, key)
    names = [visit["place"] for day in plan["days"] for visit in day["visits"]]
    if names and random.Random(f"judged {key}").random() < 0.5:
        ordered = call("order_visits", {"places": names})
        if ordered is not None:
            plan["days"] = [
                {"visits": [{key: visit[key] for key in VISIT} for visit in day["visits"]]}
                for day in ordered["days"]
            ]
    return plan


def _visited(trip: Trip) -> list[Place]:
    """The places of a trip but for its hotel, each once."""
    hotel = trip.hotel.id if trip.hotel else ""
    return list({place.id: place for place in trip.named.values() if place.id != hotel}.values())


def _dealt(asked: Trip, donor: Trip, chance: random.Random) -> dict[str, Place]:
    """By id of a place of the question, the place whose facts it has: a hotel has those of a hotel."""
    own, others = _visited(asked), _visited(donor)
    if donor is asked:
        turn = chance.randrange(1, len(own)) if len(own) > 1 else 0
        others = others[turn:] + others[:turn]  # none keeps its own
    else:
        chance.shuffle(others)
    facts = {place.id: other for place, other in zip(own, cycle(others or own), strict=False)}
    if asked.hotel is not None:
        facts[asked.hotel.id] = donor.hotel or asked.hotel
    return facts


def _request(asked: Trip, other: Trip, facts: Mapping[str, Place]) -> TripRequest:
    """The question's request with the limits of the other, and its orders under the question's names."""
    names = {facts[asked.named[name].id].id: name for name in asked.request.places if name in asked.named}

    def name_of(other_name: str) -> str | None:
        place = other.named.get(other_name)
        return names.get(place.id) if place else None

    pairs = [(name_of(first), name_of(then)) for first, then in other.request.order]
    return asked.request.model_copy(
        update={
            "order": [(first, then) for first, then in pairs if first and then],
            "max_walk_m": other.request.max_walk_m,
            "max_leg_min": other.request.max_leg_min,
            "budget": other.request.budget,
            "party": other.request.party,
            "window": other.request.window,
            "windows": other.request.windows,
            "fixed": [
                entry.model_copy(update={"place": name})
                for entry in other.request.fixed
                if (name := name_of(entry.place))
            ],
            "meals": other.request.meals,
            "rules": other.request.rules,
        }
    )


class ElsewhereProvider:
    """A provider that knows the places of a question by the facts of others."""

    def __init__(
        self, provider: Provider, facts: Mapping[str, Place], hours: Sequence[str | None], seed: int
    ) -> None:
        self._provider, self._facts, self._seed = provider, facts, seed
        self._hours = [text for text in hours if text is not None]
        self._names = {other.id: place_id for place_id, other in facts.items()}
        self.name, self.version = provider.name, provider.version
        self.attribution, self.is_local = provider.attribution, provider.is_local

    def moved(self, place: Place) -> Place:
        other = self._facts.get(place.id)
        if other is not None:
            return replace(other, id=place.id, name=place.name, also=place.also)
        if place.hours is None:
            return place
        dealt = random.Random(f"hours {self._seed} {place.id}")
        return replace(place, hours=dealt.choice(self._hours) if self._hours else None)

    async def resolve(self, query: NameQuery) -> Answer[tuple[PlaceHit, ...]]:
        answer = await self._provider.resolve(query)
        return answer.of(tuple(replace(hit, place=self.moved(hit.place)) for hit in answer.value))

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        return await self._provider.reverse(at)

    async def nearby(self, query: NearbyQuery) -> Answer[tuple[PlaceHit, ...]]:
        """As `Provider.nearby`: where another's place is, the question's own is found."""
        answer = await self._provider.nearby(query)
        hits = []
        for hit in answer.value:
            place_id = self._names.get(hit.place.id)
            if place_id is not None:
                own = (await self._provider.details(place_id)).value
                hits.append(replace(hit, place=self.moved(own)))
            elif hit.place.id not in self._facts:
                hits.append(replace(hit, place=self.moved(hit.place)))
        return answer.of(tuple(hits))

    async def details(self, place_id: str) -> Answer[Place]:
        answer = await self._provider.details(place_id)
        return answer.of(self.moved(answer.value))

    async def route(self, start: LatLon, end: LatLon, *, mode: Mode = "walk") -> Answer[Way]:
        return await self._provider.route(start, end, mode=mode)

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:
        return await self._provider.matrix(points, mode=mode)
