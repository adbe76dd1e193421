"""Draws visiting-order graphs: from places and times to what is in what, and what comes after what."""

import json
import random
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise

from gnomon_published.gazetteer import search as gazetteer
from gnomon_trips.benchmarks.itinerary.rail_trip import Hubs, hubs
from gnomon_trips.benchmarks.itinerary.task import Task
from gnomon_trips.itinerary.hours import clock_of
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.request import TripRequest
from gnomon_trips.itinerary.trip import Trip

Edge = tuple[str, str]
LEAST_PLACES = 5


def draw_graph(chance: random.Random, request_id: str) -> Task:
    """A day or two around one hub: stations in several municipalities, shuffled, with their times.

    Raises:
        RuntimeError: no hub has enough stations with a name around it.
    """
    network = hubs()
    for _ in range(200):
        visits = _visits(chance, network)
        if visits is not None:
            return _task(chance, network, visits, request_id)
    raise RuntimeError("no hub has enough stations around it")


def _visits(chance: random.Random, network: Hubs) -> list[Place] | None:
    """Five to eight stations in the order of their municipalities, each municipality seen in one go."""
    hub = chance.choice(network.places)
    near = gazetteer.stations_near(hub.at.lat_deg, hub.at.lon_deg, radius_m=20_000, limit=60)
    areas = [hit.place for hit in near if hit.place.name_en]
    groups: dict[str, list[str]] = {}
    for entry in areas:
        groups.setdefault(entry.within[1] if len(entry.within) > 1 else "", []).append(entry.id)
    cities = [city for city in groups if city]
    if len(cities) < 3:
        return None
    chosen: list[str] = []
    for city in chance.sample(cities, 3):
        chosen += chance.sample(groups[city], min(len(groups[city]), chance.randint(1, 3)))
    places = [answered(network.provider.details(station_id), is_local=True).value for station_id in chosen]
    names = {place.name for place in places}
    return places if len(chosen) >= LEAST_PLACES and len(names) == len(places) else None


def _task(chance: random.Random, network: Hubs, visits: Sequence[Place], request_id: str) -> Task:
    names = [f"{place.name} Station" for place in visits]
    inclusions, transitions = edges_of(visits, names)
    clock = 8 * 60
    stops = []
    for name in names:
        clock += chance.randint(20, 70)
        stops.append({"name": name, "kind": "poi", "seen_at": clock_of(clock)})
    areas = sorted({outer for outer, _ in inclusions})
    kinds = {place.admin.prefecture: "prefecture" for place in visits if place.admin}
    nodes = [*stops, *({"name": area, "kind": kinds.get(area, "city")} for area in areas)]
    chance.shuffle(nodes)
    request = TripRequest(
        id=request_id, area="japan", start_date="2026-05-11", places=sorted(names), mode="rail"
    )
    trip = Trip(
        request=request,
        provider=network.provider,
        named=dict(zip(names, visits, strict=True)),
        country="JP",
        answerable=True,
    )
    truth = {"inclusions": sorted(inclusions), "transitions": sorted(transitions)}
    where = {
        name: {"lat": place.at.lat_deg, "lon": place.at.lon_deg, "in": str(place.admin)}
        for name, place in zip(names, visits, strict=True)
    }
    return Task(
        family="graph",
        form="graph",
        trip=trip,
        witness=json.dumps(truth, ensure_ascii=False),
        details={"nodes": nodes},
        facts={"places": where},
        truth=truth,
    )


def edges_of(visits: Sequence[Place], names: Sequence[str]) -> tuple[set[Edge], set[Edge]]:
    """Inclusions (outer, inner) and transitions (earlier, later) of siblings, from visits in time order."""
    inclusions: set[Edge] = set()
    transitions: set[Edge] = set()
    cities = [place.admin.municipality if place.admin else "" for place in visits]
    prefectures = [place.admin.prefecture if place.admin else "" for place in visits]
    for name, city, prefecture in zip(names, cities, prefectures, strict=True):
        inclusions |= {(city, name), (prefecture, city)}
    for (earlier, earlier_city), (later, later_city) in pairwise(zip(names, cities, strict=True)):
        if earlier_city == later_city:
            transitions.add((earlier, later))
    of_city: Mapping[str, str] = dict(zip(cities, prefectures, strict=True))
    for earlier, later in pairwise([city for city, _ in groupby(cities)]):
        if of_city[earlier] == of_city[later]:
            transitions.add((earlier, later))
    transitions |= set(pairwise([area for area, _ in groupby(prefectures)]))
    return inclusions, transitions
