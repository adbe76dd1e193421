"""A provider out of one OpenStreetMap extract: places, hours and ways on foot, without any network."""

import functools
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from tools.core.regular_file import CITIES_VARIABLE, read_regular
from tools.itinerary.embedded import Embedded, table_of
from tools.itinerary.errors import BadArgument, NoSuchPlace, Unavailable, Unreachable, Unsupported
from tools.itinerary.haversine import metres_between
from tools.itinerary.name_match import likeness
from tools.itinerary.osm.extract import Extract, read_extract
from tools.itinerary.osm.streets import Streets, build_streets
from tools.itinerary.place import (
    AdminPath,
    Answer,
    LatLon,
    Mode,
    Place,
    PlaceHit,
    Table,
    Way,
    walk_minutes,
)
from tools.itinerary.provider import check_radius

T = TypeVar("T")

OSM_NOTICE = "© OpenStreetMap contributors, Open Database License 1.0 (openstreetmap.org/copyright)"
OWN_CITIES = Path(__file__).parents[1] / "data"
LEAST_LIKENESS = 0.6
COVER_M = 1500.0


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What an extract does not say of itself; read from NAME.json beside NAME.osm.pbf, where it is."""

    title: str
    country: str = ""
    prefecture: str = ""
    municipality: str = ""
    timezone: str = ""


class City(Embedded):
    """One extract as a Provider. Streets are joined when the first way is asked for."""

    attribution = OSM_NOTICE

    def __init__(self, extract: Extract, about: About) -> None:
        self.name, self.about = extract.name, about
        self.version = f"osm {extract.taken_at[:10] or 'undated'}"
        self.extract, self.retrieved_at = extract, extract.taken_at
        self.places = extract.places
        self._all = tuple(extract.places.values())
        self._lat = np.array([place.at.lat_deg for place in self._all])
        self._lon = np.array([place.at.lon_deg for place in self._all])

    @functools.cached_property
    def streets(self) -> Streets:
        """The walking network."""
        return build_streets(self.extract.streets)

    async def resolve(
        self,
        name: str,
        *,
        within: str | None = None,
        bias: LatLon | None = None,
        kinds: Sequence[str] = (),
        limit: int = 5,
    ) -> Answer[tuple[PlaceHit, ...]]:
        if not name.strip():
            raise BadArgument("a place needs a name")
        own = (self.about.title, self.about.municipality)
        if within and max(likeness(within, one) for one in own) < 1:
            raise NoSuchPlace(f"{within!r} is not {self.about.title}")
        scored = (
            (max(likeness(name, known) for known in (place.name, *place.also)), place)
            for place in self._all
            if not kinds or place.kind in kinds
        )
        hits = [
            PlaceHit(place=place, score=round(score, 3), distance_m=_off_m(place, bias))
            for score, place in scored
            if score >= LEAST_LIKENESS
        ]
        if not hits:
            raise NoSuchPlace(f"no {name!r} in {self.about.title}")
        hits.sort(key=lambda hit: (-hit.score, hit.distance_m or 0.0, hit.place.id))
        return self.answer(tuple(hits[:limit]), "exact")

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        if not self.covers(at):
            raise Unsupported(f"{at.lat_deg:.4f}, {at.lon_deg:.4f} lies outside {self.about.title}")
        about = self.about
        path = AdminPath(
            country=about.country,
            prefecture=about.prefecture,
            municipality=about.municipality or about.title,
        )
        return self.answer(path, "estimate")

    async def nearby(
        self, at: LatLon, *, radius_m: float, kinds: Sequence[str] = (), limit: int = 30
    ) -> Answer[tuple[PlaceHit, ...]]:
        check_radius(radius_m)
        if not self.covers(at):
            raise Unsupported(f"{at.lat_deg:.4f}, {at.lon_deg:.4f} lies outside {self.about.title}")
        off_m = metres_between(at.lat_deg, at.lon_deg, self._lat, self._lon)
        near = sorted((float(off_m[i]), self._all[i].id, i) for i in np.flatnonzero(off_m <= radius_m))
        hits = (PlaceHit(place=self._all[i], distance_m=round(far, 1)) for far, _, i in near)
        return self.answer(
            tuple(hit for hit in hits if not kinds or hit.place.kind in kinds)[:limit], "exact"
        )

    async def details(self, place_id: str) -> Answer[Place]:
        if place_id not in self.places:
            raise NoSuchPlace(f"no place {place_id!r} in {self.about.title}")
        return self.answer(self.places[place_id], "exact")

    async def route(
        self,
        start: LatLon,
        end: LatLon,
        *,
        mode: Mode = "walk",
        depart: str | None = None,  # noqa: ARG002 (streets have no timetable)
    ) -> Answer[Way]:
        return self.answer(self._way(start, end, mode), "network")

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:
        return self.answer(table_of(points, mode, self._way), "network")

    def _way(self, start: LatLon, end: LatLon, mode: Mode) -> Way:
        if mode != "walk":
            raise Unsupported(f"{self.about.title} knows ways on foot only, not by {mode}")
        metres = self.streets.metres(start, end)
        if metres is None:
            raise Unreachable(f"no way on foot between the two in {self.about.title}")
        return Way(minutes=walk_minutes(metres), metres=round(metres), mode="walk", exactness="network")

    def covers(self, at: LatLon) -> bool:
        """Whether a point lies within COVER_M of a place of this city."""
        return bool((metres_between(at.lat_deg, at.lon_deg, self._lat, self._lon) <= COVER_M).any())


def _off_m(place: Place, bias: LatLon | None) -> float | None:
    if bias is None:
        return None
    return round(float(metres_between(bias.lat_deg, bias.lon_deg, place.at.lat_deg, place.at.lon_deg)), 1)


@functools.lru_cache(maxsize=8)
def read_city(file: Path) -> City:
    """The city in an extract, read once a process.

    Raises:
        Unavailable: the extract or its description cannot be read.
    """
    extract = read_extract(file)
    beside = file.with_name(f"{extract.name}.json")
    try:
        told = json.loads(read_regular(beside)) if beside.is_file() else {}
        about = About(**{"title": extract.name.replace("_", " ").title(), **told})
        if wrong := [name for name, value in told.items() if not isinstance(value, str)]:
            raise TypeError(f"{wrong[0]} is no text")
    except (ValueError, TypeError, OSError) as error:
        raise Unavailable(f"{beside.name} does not describe a city: {error}") from None
    return City(extract, about)


def city_files(folders: Iterable[Path] | None = None) -> dict[str, Path]:
    """Every extract there is, by name: our own and those of GNOMON_CITIES (folders parted by colons)."""
    more = [Path(one) for one in os.environ.get(CITIES_VARIABLE, "").split(":") if one]
    found: dict[str, Path] = {}
    for folder in (OWN_CITIES, *(more if folders is None else folders)):
        for file in sorted(folder.glob("*.osm.pbf")):
            found[file.name.removesuffix(".osm.pbf").lower()] = file
    return found
