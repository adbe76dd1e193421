"""Reads the places of a city that a task may name, and its hotels."""

import datetime as dt
import functools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gnomon.core.errors import DataError
from gnomon_tools.core.name_match import plain_name
from gnomon_trips.itinerary.errors import Unavailable
from gnomon_trips.itinerary.haversine import metres_between
from gnomon_trips.itinerary.hours import open_intervals
from gnomon_trips.itinerary.osm.city import City, city_files, read_city
from gnomon_trips.itinerary.osm.extract import SETTLED
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.provider import Provider

SIGHTS = frozenset(
    (
        *("museum", "gallery", "attraction", "place_of_worship", "library", "castle", "viewpoint", "theatre"),
        *("arts_centre", "marketplace", "mall", "monument", "ruins", "zoo", "park"),
    )
)
STOPS = frozenset(("cafe", "restaurant", "shop", "bar", "pub", "fast_food"))
BEDS = frozenset(("hotel", "hostel", "guest_house", "motel"))
NEAR_M = 2500.0
LEAST_SIGHTS = 4
_SOME_DAY = dt.date(2026, 6, 3)  # any: whether hours can be read does not depend on it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """Places with unique names that are reached on foot: sights, other stops, hotels with enough around."""

    city: City
    provider: Provider
    sights: tuple[Place, ...]
    stops: tuple[Place, ...]
    hotels: tuple[Place, ...]

    def around(self, hotel: Place, places: Sequence[Place]) -> list[Place]:
        lat, lon = np.array([(place.at.lat_deg, place.at.lon_deg) for place in places] or [(0.0, 0.0)]).T
        far = metres_between(hotel.at.lat_deg, hotel.at.lon_deg, lat, lon)
        near = zip(places, far <= NEAR_M, strict=False)
        return [place for place, is_near in near if is_near and place.id != hotel.id]

    def draw(self, chance: random.Random, hotel: Place, count: int) -> list[Place]:
        """Half sights, half other stops, as far as there are any."""
        sights, stops = self.around(hotel, self.sights), self.around(hotel, self.stops)
        sight_count = min(len(sights), max((count + 1) // 2, count - len(stops)))
        drawn = chance.sample(sights, sight_count)
        drawn += chance.sample(stops, min(len(stops), count - sight_count))
        chance.shuffle(drawn)
        return drawn


@functools.lru_cache(maxsize=8)
def pool_of(area: str, folder: str | None = None) -> Pool:
    """The pool of a city: an embedded one, or an extract in a folder.

    Raises:
        DataError: the city does not exist, cannot be read, or has too little to visit.
    """
    files = city_files([Path(folder)] if folder else None)
    if area not in files:
        raise DataError(f"no extract {area!r}.osm.pbf; there are: {', '.join(files)}", field="data")
    try:
        city = read_city(files[area])
    except Unavailable as error:
        raise DataError(str(error), field="data") from None
    # The tasks drawn stay the same: they know no squares, no areas and nothing that is drawn as a relation.
    known = [p for p in city.places.values() if p.kind not in SETTLED and "/r" not in p.id]
    names = Counter(plain_name(place.name) for place in known)
    single = [
        place
        for place in known
        if names[plain_name(place.name)] == 1
        and plain_name(place.name)
        and city.streets.snap(place.at) is not None
        and (place.hours is None or open_intervals(place.hours, _SOME_DAY) is not None)
    ]
    # Sights may be without hours: then nothing is claimed of them. Of shops only those with hours are asked.
    sights = tuple(place for place in single if place.kind in SIGHTS)
    stops = tuple(place for place in single if place.kind in STOPS and place.hours)
    hotels = [place for place in single if place.kind in BEDS]
    pool = Pool(city=city, provider=city, sights=sights, stops=stops, hotels=tuple(hotels))
    kept = tuple(hotel for hotel in hotels if len(pool.around(hotel, sights)) >= LEAST_SIGHTS)
    if not kept:
        raise DataError(f"{area} has no hotel with {LEAST_SIGHTS} sights within {NEAR_M:.0f} m", field="data")
    return Pool(city=city, provider=pool.provider, sights=sights, stops=stops, hotels=kept)
