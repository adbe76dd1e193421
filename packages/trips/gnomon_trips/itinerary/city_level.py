"""A provider of the whole world at city level: cities of 15,000 people and more, ways as the crow flies."""

import functools
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.spatial import cKDTree

from gnomon_tools.core.name_match import plain_name
from gnomon_trips.itinerary.choice import country_names, one_edit
from gnomon_trips.itinerary.data_rows import data_rows
from gnomon_trips.itinerary.embedded import Embedded
from gnomon_trips.itinerary.errors import BadArgument, NoSuchPlace, Unsupported
from gnomon_trips.itinerary.haversine import EARTH_RADIUS_M, apart_m, nearest_first, off_m
from gnomon_trips.itinerary.place import (
    AdminPath,
    Answer,
    Exactness,
    LatLon,
    Mode,
    Place,
    PlaceHit,
    Way,
    least_minutes,
)
from gnomon_trips.itinerary.provider import WORLD, NameQuery, NearbyQuery, check_radius

GEONAMES_NOTICE = "Cities of the world: GeoNames (geonames.org), CC BY 4.0"
NEAR_CITY_M = 60_000.0
OTHER_NAME, MOST_FAME = 0.9, 0.5
"""What a name is worth that is not the city's own, and how well known the largest city of a name is."""
LEAST_LETTERS, LARGE = 2, 300_000
"""So many letters may be the initials of a city of so many people, as LA and NYC are."""


class World(Embedded):
    """34,006 cities. A way is the straight line at the mode's top speed: a lower bound, marked as such."""

    name = WORLD
    version = "geonames cities15000"
    attribution = GEONAMES_NOTICE
    retrieved_at = "2026-11-21"
    exactness: Exactness = "lower_bound"

    async def resolve(self, query: NameQuery) -> Answer[tuple[PlaceHit, ...]]:
        name, within = query.name, query.within
        if not plain_name(name):
            raise BadArgument("a place needs a name")
        _check_kinds(query.kinds)
        head, *areas = name.split(",")
        cities = _own_or_larger(name, _named(name, within))
        if not cities and plain_name(head) and not within:
            cities = _own_or_larger(head, _named(head, *areas))
        cities = cities or _by_initials(head, *areas)
        near = (
            []
            if cities
            else [city for other in one_edit(plain_name(head)) for city in _named(other, within, *areas)]
        )
        if not cities and not near:
            raise NoSuchPlace(f"no city {name!r} among those of 15,000 people and more")
        found = {city.id: city for city in (*cities, *near)}
        people = _cities().people
        largest = max(people[city_id] for city_id in found)
        hits = [
            PlaceHit(
                place=city,
                score=1.0 if plain_name(city.name) == plain_name(head) else OTHER_NAME,
                distance_m=off_m(city.at, query.bias),
                fame=round(MOST_FAME * people[city.id] / largest, 3),
                is_misspelt=bool(near),
            )
            for city in found.values()
        ]
        hits.sort(key=lambda hit: (-hit.fame, hit.place.id))
        return self.answer(tuple(hits[: query.limit]), "exact")

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        table = _cities()
        far, index = table.tree.query(_xyz(np.array([at.lat_deg]), np.array([at.lon_deg]))[0])
        if far > NEAR_CITY_M:
            raise Unsupported(f"no city within 60 km of {at.lat_deg:.4f}, {at.lon_deg:.4f}")
        city = table.places[int(index)]
        return self.answer(
            AdminPath(
                country=city.admin.country if city.admin else "",
                municipality=city.name,
                evidence_m=round(float(far), 1),
            ),
            "estimate",
        )

    async def nearby(self, query: NearbyQuery) -> Answer[tuple[PlaceHit, ...]]:
        check_radius(query.radius_m)
        _check_kinds(query.kinds)
        at, table = query.at, _cities()
        xyz = _xyz(np.array([at.lat_deg]), np.array([at.lon_deg]))[0]
        near = table.tree.query_ball_point(xyz, query.radius_m)
        hits = nearest_first((table.places[int(i)] for i in near), at)
        return self.answer(tuple(hits[: query.limit]), "exact")

    async def details(self, place_id: str) -> Answer[Place]:
        table = _cities()
        if place_id not in table.index:
            raise NoSuchPlace(f"no city {place_id!r}")
        return self.answer(table.places[table.index[place_id]], "exact")

    def way(self, start: LatLon, end: LatLon, mode: Mode) -> Way:
        """The straight line at the mode's top speed, minutes rounded up: nothing is faster."""
        metres = apart_m(start, end)
        return Way.of(60 * least_minutes(metres, mode), metres, mode, "lower_bound")


def _named(name: str, *areas: str | None) -> list[Place]:
    """The cities of that name in any language, in these countries or states: their codes or English names."""
    table = _cities()
    cities = [table.places[i] for i in table.named.get(plain_name(name), ())]
    for area in filter(None, areas):
        cities = [city for city in cities if city.admin and plain_name(area) in _area_names(city.admin)]
    return cities


def _by_initials(name: str, *areas: str) -> list[Place]:
    """The large cities whose own name has these initials.

    >>> _by_initials("NYC")[0].name, _by_initials("Oslo")
    ('New York City', [])
    """
    key = plain_name(name)
    return [
        city
        for city in (_cities().by_initials.get(key, ()) if len(key) >= LEAST_LETTERS else ())
        if all(city.admin and plain_name(area) in _area_names(city.admin) for area in areas)
    ]


def _own_or_larger(name: str, cities: Sequence[Place]) -> list[Place]:
    """The cities whose own name it is or begins with it, and larger ones that have it beside another."""
    people, key = _cities().people, plain_name(name)
    own = [city for city in cities if f"{plain_name(city.name)} ".startswith(f"{key} ")]
    largest = max((people[city.id] for city in own), default=0)
    return [city for city in cities if city in own or people[city.id] > largest]


def _area_names(area: AdminPath) -> set[str]:
    """What the country and the state of a city are called, as plain names."""
    country = area.country
    names = {country, country_names().get(country, country), *SHORT.get(country, ()), area.prefecture}
    names |= {
        row["short"] for row in _states() if (row["country"], row["name"]) == (country, area.prefecture)
    }
    return {plain_name(name) for name in names if name}


@functools.cache
def _states() -> Sequence[Mapping[str, str]]:
    """States of countries that English names cities by: country, GeoNames' code, short form, name."""
    return data_rows("states.csv")


def _check_kinds(kinds: Sequence[str]) -> None:
    if kinds and "city" not in kinds:
        raise Unsupported(f"only cities are known world-wide, not {', '.join(kinds)}")


SHORT: Mapping[str, tuple[str, ...]] = {
    "US": ("USA", "U.S.", "America"), "GB": ("UK", "Great Britain"), "AE": ("UAE",),
}  # fmt: skip
"""What people write for a country."""


class _Table:
    """The cities, by id, by name and by position."""

    def __init__(self, rows: Sequence[dict[str, str]], others: Mapping[str, str]) -> None:
        states = {(row["country"], row["code"]): row["name"] for row in _states()}
        self.places = tuple(
            Place(
                id=f"world/{row['id']}",
                name=row["name"],
                at=LatLon(lat_deg=int(row["lat_udeg"]) / 1e6, lon_deg=int(row["lon_udeg"]) / 1e6),
                kind="city",
                admin=AdminPath(
                    country=row["country"],
                    prefecture=states.get((row["country"], row["state"]), ""),
                    municipality=row["name"],
                ),
            )
            for row in rows
        )
        self.people = {f"world/{row['id']}": max(1, int(row["population"])) for row in rows}
        self.index = {place.id: number for number, place in enumerate(self.places)}
        self.named: dict[str, list[int]] = {}
        self.by_initials: dict[str, list[Place]] = {}
        for number, place in enumerate(self.places):
            own_name = plain_name(place.name)
            if self.people[place.id] >= LARGE:
                self.by_initials.setdefault("".join(word[0] for word in own_name.split()), []).append(place)
            for name in dict.fromkeys(filter(None, f"{own_name}|{others.get(place.id, '')}".split("|"))):
                self.named.setdefault(name, []).append(number)
        lat = np.array([place.at.lat_deg for place in self.places])
        lon = np.array([place.at.lon_deg for place in self.places])
        self.tree = cKDTree(_xyz(lat, lon))


@functools.cache
def _cities() -> _Table:
    names = {f"world/{row['id']}": row["names"] for row in data_rows("world-names.csv.gz")}
    return _Table(data_rows("world.csv.gz"), names)


def _xyz(lat_deg: np.ndarray, lon_deg: np.ndarray) -> np.ndarray:
    """Points on the sphere, in metres: chords are distances but for 0.001 % within 60 km."""
    lat, lon = np.radians(lat_deg), np.radians(lon_deg)
    return EARTH_RADIUS_M * np.column_stack(
        [np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)]
    )
