"""Picks the provider for an area, out of what is embedded, dropped into a folder, or configured."""

import functools
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from gnomon_tools.core.name_match import plain_name
from gnomon_trips.itinerary.city_level import World
from gnomon_trips.itinerary.errors import NoSuchPlace, PlaceError, RateLimited, Unavailable, Unsupported
from gnomon_trips.itinerary.http.google import GooglePlaces, GoogleRoutes
from gnomon_trips.itinerary.http.nominatim import Nominatim
from gnomon_trips.itinerary.http.overpass import Overpass
from gnomon_trips.itinerary.http.routers import Osrm, Valhalla
from gnomon_trips.itinerary.japan.mounted import JP, Mounted, is_in_japan
from gnomon_trips.itinerary.japan.provider import Japan
from gnomon_trips.itinerary.osm.city import about_city, city_files, read_city
from gnomon_trips.itinerary.place import AdminPath, Answer, LatLon, Mode, Place, PlaceHit, Table, Way
from gnomon_trips.itinerary.provider import WORLD, NameQuery, NearbyQuery, Provider
from gnomon_trips.itinerary.track import Track, track_of

T = TypeVar("T")

PASS_ON = (NoSuchPlace, Unsupported, Unavailable, RateLimited)
"""Failures after which the next provider is asked; the others are faults of the question, and final."""


class Composite:
    """The first provider that can answer does; every answer says which one it was."""

    def __init__(self, providers: Sequence[Provider]) -> None:
        """Raises:
        ValueError: there are no providers.
        """
        if not providers:
            raise ValueError("a composite needs a provider")
        flat: list[Provider] = []
        for provider in providers:
            flat += provider.providers if isinstance(provider, Composite) else [provider]
        self.providers: tuple[Provider, ...] = tuple(flat)
        self.name = "+".join(provider.name for provider in flat)
        self.version = "; ".join(f"{provider.name} {provider.version}" for provider in flat)
        self.attribution = "\n".join(dict.fromkeys(provider.attribution for provider in flat))
        self.is_local = all(provider.is_local for provider in flat)
        self._kept: dict[tuple[Any, ...], Answer[Any]] = {}

    async def resolve(self, query: NameQuery) -> Answer[tuple[PlaceHit, ...]]:
        return await self._first(("resolve", query), lambda provider: provider.resolve(query))

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        return await self._first(("reverse", at), lambda provider: provider.reverse(at))

    async def nearby(self, query: NearbyQuery) -> Answer[tuple[PlaceHit, ...]]:
        return await self._first(("nearby", query), lambda provider: provider.nearby(query))

    async def details(self, place_id: str) -> Answer[Place]:
        return await self._first(("details", place_id), lambda provider: provider.details(place_id))

    async def route(self, start: LatLon, end: LatLon, *, mode: Mode = "walk") -> Answer[Way]:
        key = ("route", start, end, mode)
        return await self._first(key, lambda provider: provider.route(start, end, mode=mode))

    async def track(self, start: LatLon, end: LatLon, *, mode: Mode = "walk") -> Track:
        """Of the provider that answers `route`."""
        answer = await self.route(start, end, mode=mode)
        router = next((provider for provider in self.providers if provider.name == answer.provider), None)
        return await track_of(router, start, end, mode=mode)

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:
        key = ("matrix", tuple(points), mode)
        return await self._first(key, lambda provider: provider.matrix(points, mode=mode))

    async def _first(
        self, key: tuple[Any, ...], question: Callable[[Provider], Awaitable[Answer[T]]]
    ) -> Answer[T]:
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        failures: list[PlaceError] = []
        for provider in self.providers:
            try:
                answer = await question(provider)
            except PASS_ON as failure:
                failures.append(failure)
            else:
                if len(self._kept) > 20_000:
                    self._kept.clear()
                self._kept[key] = answer
                return answer
        # A provider that was away may have had an answer: then it is not certain that there is none.
        raise next((failure for failure in failures if failure.retryable), failures[0])


PLACES_URL, ROUTES_URL = "https://places.googleapis.com", "https://routes.googleapis.com"
JAPAN = "japan"


def provider_for(area: str, environ: Mapping[str, str] | None = None) -> Provider:
    """The provider of an area: what is configured goes first, then what is embedded.

    Raises:
        NoSuchPlace: the area does not exist, and no service is configured that may cover it.
    """
    name = "" if area.lower() == WORLD else area
    services = configured(os.environ if environ is None else environ, name)
    if not services:
        return embedded(area)
    try:
        return Composite((*services, embedded(area)))
    except NoSuchPlace:
        return Composite((*services, World()))


def configured(environ: Mapping[str, str], area: str = "") -> list[Provider]:
    """The services that the environment names, as they are asked; names are looked for in `area`."""
    providers: list[Provider] = []
    for variable, service in (
        ("GNOMON_NOMINATIM_URL", Nominatim),
        ("GNOMON_OVERPASS_URL", Overpass),
        ("GNOMON_VALHALLA_URL", Valhalla),
        ("GNOMON_OSRM_URL", Osrm),
    ):
        if url := environ.get(variable):
            providers.append(service(url, area=area))
    if key := environ.get("GNOMON_GOOGLE_KEY"):
        providers.append(GooglePlaces(environ.get("GNOMON_GOOGLE_PLACES_URL") or PLACES_URL, key, area=area))
        providers.append(GoogleRoutes(environ.get("GNOMON_GOOGLE_ROUTES_URL") or ROUTES_URL, key))
    return providers


def areas() -> tuple[str, ...]:
    """The areas that can be planned for here: every extract, Japan, and the world at city level."""
    return (*city_files(), JAPAN, WORLD)


@functools.lru_cache(maxsize=8)
def embedded(area: str) -> Provider:
    """The provider of an area, from data on this machine alone; the world's cities come after each.

    Raises:
        NoSuchPlace: the area does not exist; the message lists those that do.
    """
    name, files = plain_name(area).replace(" ", "_"), city_files()
    if name in files:
        city = read_city(files[name])
        return Composite((Mounted([files[name]]) if is_in_japan(city) else city, World()))
    if name == JAPAN:
        mounted = [file for file in files.values() if about_city(file).country == JP]
        return Composite((Mounted(mounted) if mounted else Japan(), World()))
    if name == WORLD:
        return World()
    raise NoSuchPlace(f"no area {area!r}; there are: {', '.join(areas())}")
