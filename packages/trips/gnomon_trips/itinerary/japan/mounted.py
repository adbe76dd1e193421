"""Japan with a traveller's own OpenStreetMap extracts under it.

The extracts give streets, places and opening hours; sights by their many names, areas, stations and rail stay
those of the embedded data. A place that both know is one: the extract's, found by the names of both.
"""

from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from gnomon_published.gazetteer import search as gazetteer
from gnomon_published.gazetteer.place import KINDS
from gnomon_trips.itinerary.choice import STOPS, SURE
from gnomon_trips.itinerary.errors import NoSuchPlace, Unreachable, Unsupported
from gnomon_trips.itinerary.haversine import off_m
from gnomon_trips.itinerary.japan.provider import Japan
from gnomon_trips.itinerary.osm.city import OSM_NOTICE, City, read_city
from gnomon_trips.itinerary.osm.extract import SETTLED
from gnomon_trips.itinerary.place import AdminPath, Answer, LatLon, Mode, Place, PlaceHit, Table, Way
from gnomon_trips.itinerary.provider import NameQuery, NearbyQuery
from gnomon_trips.itinerary.track import Track

JP = "JP"
T = TypeVar("T")


class Mounted:
    """The extracts first, Japan behind them. The extracts are read when the first question is asked."""

    is_local = True

    def __init__(self, extracts: Sequence[Path]) -> None:
        self.japan, self._extracts = Japan(), tuple(extracts)
        self.name = "+".join([*(file.name.partition(".")[0].lower() for file in extracts), self.japan.name])
        self.version = f"extracts over {self.japan.version}"
        self.attribution = f"{OSM_NOTICE}\n{self.japan.attribution}"

    @cached_property
    def cities(self) -> tuple[City, ...]:
        return tuple(read_city(file) for file in self._extracts)

    async def resolve(self, query: NameQuery) -> Answer[tuple[PlaceHit, ...]]:
        """Places of that name of all sources; where none knows it, similar ones."""
        own = [hit for city in self.cities for hit in await _hits(city.resolve(query))]
        hits = [self._as_mapped(hit, query) for hit in await _hits(self.japan.resolve(query))]
        if any(hit.score >= SURE and not hit.is_misspelt for hit in hits):
            own = [hit for hit in own if hit.place.kind not in STOPS | SETTLED]
        if not own and not hits:
            raise NoSuchPlace(f"no {query.name!r} in Japan")
        best: dict[str, PlaceHit] = {}
        for hit in sorted((*hits, *own), key=_rank):
            best.setdefault(hit.place.id, hit)
        return self._answer(tuple(best.values())[: query.limit])

    def _as_mapped(self, hit: PlaceHit, query: NameQuery) -> PlaceHit:
        """A sight of the embedded data as the extract has it, with its hours, where it has it."""
        twin = self._twin(hit.place)
        return hit if twin is None else replace(hit, place=twin, distance_m=off_m(twin.at, query.bias))

    def _twin(self, place: Place) -> Place | None:
        if place.kind in KINDS:
            return None
        return next((twin for city in self.cities if (twin := city.twin_of(place))), None)

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        return await self.japan.reverse(at)

    async def nearby(self, query: NearbyQuery) -> Answer[tuple[PlaceHit, ...]]:
        """Places of the extracts around a point, and those that only the embedded data know."""
        covering = [city for city in self.cities if city.covers(query.at)]
        if not covering:
            return await self.japan.nearby(query)
        hits = [hit for city in covering for hit in await _hits(city.nearby(query))]
        hits += [hit for hit in await _hits(self.japan.nearby(query)) if self._twin(hit.place) is None]
        hits.sort(key=lambda hit: (hit.distance_m or 0.0, hit.place.id))
        return self._answer(tuple(hits[: query.limit]))

    async def details(self, place_id: str) -> Answer[Place]:
        for city in self.cities:
            if place_id in city.places:
                return await city.details(place_id)
        return await self.japan.details(place_id)

    async def route(self, start: LatLon, end: LatLon, *, mode: Mode = "walk") -> Answer[Way]:
        """On foot along the streets of an extract that has both ends, else as the embedded data say."""
        for city in self._cities_with((start, end), mode):
            try:
                return await city.route(start, end, mode=mode)
            except Unreachable:
                continue
        return await self.japan.route(start, end, mode=mode)

    async def track(self, start: LatLon, end: LatLon, *, mode: Mode = "walk") -> Track:
        """The track of the way that `route` answers with."""
        for city in self._cities_with((start, end), mode):
            track = await city.track(start, end, mode=mode)
            if track.path:
                return track
        return await self.japan.track(start, end, mode=mode)

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:
        """As `route`, all points in one extract or none."""
        for city in self._cities_with(points, mode):
            return await city.matrix(points, mode=mode)
        return await self.japan.matrix(points, mode=mode)

    def _cities_with(self, points: Sequence[LatLon], mode: Mode) -> Iterator[City]:
        if mode == "walk":
            yield from (city for city in self.cities if all(city.covers(point) for point in points))

    def _answer(self, value: T) -> Answer[T]:
        """An answer of all sources together."""
        return replace(
            self.japan.answer(value, "exact"),
            provider=self.name,
            version=self.version,
            attribution=self.attribution,
        )


async def _hits(question: Awaitable[Answer[tuple[PlaceHit, ...]]]) -> tuple[PlaceHit, ...]:
    """The hits of a source; none where it does not know the name, the kind or the area."""
    try:
        return (await question).value
    except (NoSuchPlace, Unsupported):
        return ()


def _rank(hit: PlaceHit) -> tuple[bool, float, str]:
    return hit.is_misspelt, -hit.score - hit.fame, hit.place.id


def is_in_japan(city: City) -> bool:
    """Whether an extract is of Japan: by its description, or, without one, by where its places are."""
    if city.about.country or not city.places:
        return city.about.country == JP
    middle = [
        float(np.median([getattr(place.at, axis) for place in city.places.values()]))
        for axis in ("lat_deg", "lon_deg")
    ]
    whereabouts = gazetteer.reverse(*middle)
    return whereabouts is not None and not whereabouts.approximate
