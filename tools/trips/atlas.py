"""Atlas: the provider for an area, out of what is embedded, dropped into a folder, or configured."""

import functools

from tools.trips.composite import Composite
from tools.trips.errors import NoSuchPlace
from tools.trips.japan.provider import Japan
from tools.trips.naming import plain_name
from tools.trips.osm.city import city_files, read_city
from tools.trips.provider import Provider
from tools.trips.world import World

WORLD, JAPAN = "world", "japan"


def provider_for(area: str) -> Provider:
    """The provider of an area: whatever is configured first, then what is embedded.

    Raises:
        NoSuchPlace: there is no such area.
    """
    return embedded(area)


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
