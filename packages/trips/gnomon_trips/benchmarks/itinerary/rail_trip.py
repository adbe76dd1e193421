"""Draws rail trips: real Japanese cities to be seen in the one order in which no hop is too long."""

import datetime as dt
import functools
import itertools
import json
import random
from dataclasses import dataclass

import numpy as np

from gnomon_published.gazetteer.areas import areas
from gnomon_trips.benchmarks.itinerary.task import Task
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.provider import MAX_TABLE, Provider, answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.request import TripRequest
from gnomon_trips.itinerary.trip import Trip

STABLE = 0.10
"""The order stays the only one when every time is a tenth longer or shorter than the model says."""
HUBS = 60
TRIES = 400


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hubs:
    """The busiest station of each of 60 municipalities, with the minutes by rail among them."""

    provider: Provider
    places: tuple[Place, ...]
    minutes: np.ndarray[tuple[int, int], np.dtype[np.float64]]


@functools.cache
def hubs() -> Hubs:
    """Japan's stations with most lines, one per municipality, in Latin script; read once per process."""
    stations = [area for area in areas().by_id.values() if area.kind == "station" and area.name_en]
    stations.sort(key=lambda station: (not station.shinkansen, -station.weight, station.id))
    provider = embedded("japan")
    chosen: list[Place] = []
    cities: set[str] = set()
    names: set[str] = set()
    for station in stations:
        city = station.within[1] if len(station.within) > 1 else station.id
        if city in cities or station.name_en in names or len(chosen) == HUBS:
            continue
        cities.add(city)
        names.add(station.name_en)
        chosen.append(answered(provider.details(station.id), is_local=True).value)
    table = answered(provider.matrix([place.at for place in chosen[:MAX_TABLE]], mode="rail"), is_local=True)
    minutes = np.array(
        [[np.inf if travel_min is None else travel_min for travel_min in row] for row in table.value.minutes],
        dtype=np.float64,
    )
    return Hubs(provider=provider, places=tuple(chosen), minutes=minutes)


def draw_rail(chance: random.Random, request_id: str) -> Task:
    """A task whose order is unique, also with every time ten per cent off.

    Raises:
        RuntimeError: TRIES draws give no such order.
    """
    network = hubs()
    for _ in range(TRIES):
        chosen = chance.sample(range(len(network.places)), chance.randint(4, 6))
        order = _only_order(network.minutes[np.ix_(chosen, chosen)])
        if order is None:
            continue
        sequence = [chosen[index] for index in order[0]]
        middle = sequence[1:-1]
        chance.shuffle(middle)
        return _task(network, sequence, middle, order[1], request_id)
    raise RuntimeError("no rail trip with a single order was found")


def _only_order(minutes: np.ndarray) -> tuple[tuple[int, ...], int] | None:
    """The order from the first to the last place with the least longest hop, and a limit that admits only it.

    The limit is between the longest hop of the best order and that of the next best, STABLE away from
    both, in any direction of error.
    """
    count = len(minutes)
    ranked = []
    for middle in itertools.permutations(range(1, count - 1)):
        order = (0, *middle, count - 1)
        hops = [minutes[a][b] for a, b in itertools.pairwise(order)]
        ranked.append((float(max(hops)), order))
    ranked.sort()
    best, second = ranked[0][0], ranked[1][0]
    limit = round((best * second) ** 0.5) if np.isfinite(second) else round(best * 1.25)
    if not np.isfinite(best) or best * (1 + STABLE) > limit or limit * (1 + STABLE) > second:
        return None
    return ranked[0][1], limit


def _task(network: Hubs, sequence: list[int], middle: list[int], limit: int, request_id: str) -> Task:
    places = [network.places[index] for index in (sequence[0], *middle, sequence[-1])]
    names = [f"{place.name} Station" for place in places]
    request = TripRequest.model_validate(
        {
            "id": request_id,
            "area": "japan",
            "start_date": dt.date(2026, 5, 11).isoformat(),
            "hotel": names[0],
            "ends_at": names[-1],
            "places": names[1:-1],
            "mode": "rail",
            "max_leg_min": limit,
        }
    )
    trip = Trip(
        request=request,
        provider=network.provider,
        named=dict(zip(names, places, strict=True)),
        country="JP",
        answerable=True,
    )
    by_index = dict(zip((sequence[0], *middle, sequence[-1]), names, strict=True))
    truth = [by_index[index] for index in sequence]
    rows = (sequence[0], *middle, sequence[-1])
    grid = [[int(network.minutes[a][b]) for b in rows] for a in rows]
    return Task(
        family="rail-trip",
        form="order",
        trip=trip,
        witness=json.dumps({"order": truth}, ensure_ascii=False),
        facts={"table_of": names, "rail_minutes": grid},
        truth={"order": tuple(truth)},
    )
