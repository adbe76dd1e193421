"""Atlas: the provider for an area, out of what is embedded, dropped into a folder, or configured."""

import functools
import os
from collections.abc import Mapping

from tools.itinerary.city_level import World
from tools.itinerary.composite import Composite
from tools.itinerary.errors import NoSuchPlace
from tools.itinerary.http.google import GooglePlaces, GoogleRoutes
from tools.itinerary.http.nominatim import Nominatim
from tools.itinerary.http.overpass import Overpass
from tools.itinerary.http.routers import Osrm, Valhalla
from tools.itinerary.japan.provider import Japan
from tools.itinerary.name_match import plain_name
from tools.itinerary.osm.city import city_files, read_city
from tools.itinerary.provider import Provider

PLACES_URL, ROUTES_URL = "https://places.googleapis.com", "https://routes.googleapis.com"
WORLD, JAPAN = "world", "japan"


def provider_for(area: str, environ: Mapping[str, str] | None = None) -> Provider:
    """The provider of an area: what is configured goes first, then what is embedded.

    Raises:
        NoSuchPlace: there is no such area, and nothing is configured that might know it.
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
    found: list[Provider] = []
    for variable, service in (
        ("GNOMON_NOMINATIM_URL", Nominatim),
        ("GNOMON_OVERPASS_URL", Overpass),
        ("GNOMON_VALHALLA_URL", Valhalla),
        ("GNOMON_OSRM_URL", Osrm),
    ):
        if url := environ.get(variable):
            found.append(service(url, area=area))
    if key := environ.get("GNOMON_GOOGLE_KEY"):
        found.append(GooglePlaces(environ.get("GNOMON_GOOGLE_PLACES_URL") or PLACES_URL, key, area=area))
        found.append(GoogleRoutes(environ.get("GNOMON_GOOGLE_ROUTES_URL") or ROUTES_URL, key))
    return found


def areas() -> tuple[str, ...]:
    """The areas that can be planned for here: every extract, Japan, and the world at city level."""
    return (*city_files(), JAPAN, WORLD)


@functools.lru_cache(maxsize=8)
def embedded(area: str) -> Provider:
    """The provider of an area, from data on this machine alone; the world's cities stand behind each.

    Raises:
        NoSuchPlace: there is no such area; the message lists those there are.
    """
    name, files = plain_name(area).replace(" ", "_"), city_files()
    if name in files:
        return Composite((read_city(files[name]), World()))
    if name == JAPAN:
        return Composite((Japan(), World()))
    if name == WORLD:
        return World()
    raise NoSuchPlace(f"no area {area!r}; there are: {', '.join(areas())}")
