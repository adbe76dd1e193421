"""A provider out of one OpenStreetMap extract: places, hours and ways on foot, without any network."""

import functools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gnomon_tools.core.name_match import likeness, plain_likeness, plain_name
from gnomon_tools.core.regular_file import CITIES_VARIABLE, read_regular
from gnomon_trips.itinerary.choice import STOPS
from gnomon_trips.itinerary.embedded import Embedded
from gnomon_trips.itinerary.errors import BadArgument, NoSuchPlace, Unavailable, Unreachable, Unsupported
from gnomon_trips.itinerary.haversine import metres_between, off_m
from gnomon_trips.itinerary.kinds import KIND_WORDS, singular
from gnomon_trips.itinerary.osm.extract import SETTLED, Extract, read_extract
from gnomon_trips.itinerary.osm.streets import Streets, build_streets
from gnomon_trips.itinerary.place import (
    AdminPath,
    Answer,
    Exactness,
    LatLon,
    Mode,
    Place,
    PlaceHit,
    Table,
    Way,
    walk_minutes,
)
from gnomon_trips.itinerary.provider import MAX_TABLE, NameQuery, NearbyQuery, check_radius
from gnomon_trips.itinerary.track import NO_TRACK, Track

OSM_NOTICE = "© OpenStreetMap contributors, Open Database License 1.0 (openstreetmap.org/copyright)"
OWN_CITIES = Path(__file__).parents[1] / "data"
LEAST_LIKENESS, LEAST_SIMILAR = 0.6, 0.55
PART_OF_NAME, NO_NAME = 0.9, 0.8
"""What a word of a longer name is worth, taken aloud, and what is only shown."""
COVER_M = 1500.0
TWIN_M = 500.0
"""Two sources place one sight that near to each other: the gate, the main hall, the middle of the grounds."""
SIGHTS = frozenset((
    "attraction", "museum", "place_of_worship", "square", "castle", "park", "garden", "viewpoint", "zoo",
    "aquarium", "theatre", "theme_park", "marketplace", "monument", "memorial", "palace",
))  # fmt: skip
COMMON_WORDS = KIND_WORDS | frozenset(
    ("art", "hall", "house", "street", "road", "center", "centre", "national", "city", "old", "new", "grand")
)
"""Words that many names share: none of them is a name."""
WORDS_OF_KIND: Mapping[str, frozenset[str]] = {
    kind: frozenset(words.split())
    for kind, words in {
        "castle": "castle schloss burg chateau linna slott",
        "hotel": "hotel hotelli hotell gasthof",
        "museum": "museum museo museet musee",
        "park": "park puisto parken parc garten",
        "place_of_worship": (
            "church chapel cathedral kirche pfarrkirche kapelle kathedrale dom kirkko kappeli tuomiokirkko"
            " kyrka kapell domkyrka eglise cathedrale"
        ),
        "square": "square tori torget aukio platz place",
    }.items()
}
"""Words for what a place is, in languages of maps at hand: beside a name they may differ or be missing."""
LONG_WORD = 10
"""A word of so many letters is as good anywhere in a name as its first or last one."""
SAINT = frozenset(("saint", "sainte", "sankt", "ste"))
RAIL_STOPS = frozenset(("station", "halt"))
RAIL_WORDS = frozenset(("central", "main", "railway", "train", "rail", "station"))
PLAIN_KINDS = STOPS | {
    "shop", "bank", "pharmacy", "bicycle_rental", "car_rental", "clinic", "dentist", "parking",
}  # fmt: skip
"""Kinds that nobody means by a part of their name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What an extract does not say of itself; read from NAME.json beside NAME.osm.pbf, where it is."""

    title: str
    country: str = ""
    prefecture: str = ""
    municipality: str = ""
    timezone: str = ""


class _Name:
    """A name, and its plain words but for a city's own: taken apart once, as every search looks at each."""

    def __init__(self, name: str, own_words: frozenset[str]) -> None:
        self.name, self.plain = name, plain_name(name)
        words = ["st" if word in SAINT else word for word in self.plain.split()]
        self.bare = [word for word in words if word not in own_words]
        self.has_number = any(word.isdigit() for word in words)


class City(Embedded):
    """One extract as a Provider. Streets are joined when the first way is asked for."""

    attribution = OSM_NOTICE
    exactness: Exactness = "network"

    def __init__(self, extract: Extract, about: About) -> None:
        self.name, self.about = extract.name, about
        self.version = f"osm {extract.taken_at[:10] or 'undated'}"
        self.extract, self.retrieved_at = extract, extract.taken_at
        self.places = extract.places
        self._all = tuple(extract.places.values())
        self._own_words = frozenset(plain_name(f"{about.title} {about.municipality}").split())
        self._names = [
            [_Name(name, self._own_words) for name in (place.name, *place.also, *place.found_as)]
            for place in self._all
        ]
        self._lat = np.array([place.at.lat_deg for place in self._all])
        self._lon = np.array([place.at.lon_deg for place in self._all])

    @functools.cached_property
    def streets(self) -> Streets:
        return build_streets(self.extract.streets)

    async def resolve(self, query: NameQuery) -> Answer[tuple[PlaceHit, ...]]:
        name, within, kinds = query.name, query.within, query.kinds
        if not name.strip():
            raise BadArgument("a place needs a name")
        own_names = (self.about.title, self.about.municipality)
        if within and max(likeness(within, own_name) for own_name in own_names) < 1:
            raise NoSuchPlace(f"{within!r} is not {self.about.title}")
        sought = _Name(name, self._own_words)
        scored = [
            (max(_fit(sought, own, place) for own in names), place)
            for place, names in zip(self._all, self._names, strict=True)
            if not kinds or place.kind in kinds
        ]
        hits = [
            PlaceHit(
                place=place,
                score=round(score, 3),
                distance_m=off_m(place.at, query.bias),
                fame=_fame(place),
                is_misspelt=score < 1,
            )
            for score, place in scored
            if score >= LEAST_LIKENESS
        ]
        if not hits:
            near = sorted(scored, key=lambda row: (-row[0], -_fame(row[1]), row[1].id))[:3]
            similar = ", ".join(dict.fromkeys(place.name for score, place in near if score >= LEAST_SIMILAR))
            where = f"no {name!r} in {self.about.title}"
            raise NoSuchPlace(where + (f"; similar: {similar}" if similar else ""))
        hits.sort(key=lambda hit: (-hit.score, -hit.fame, hit.distance_m or 0.0, hit.place.id))
        return self.answer(tuple(hits[: query.limit]), "exact")

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        self._check_covered(at)
        about = self.about
        path = AdminPath(
            country=about.country,
            prefecture=about.prefecture,
            municipality=about.municipality or about.title,
        )
        return self.answer(path, "estimate")

    async def nearby(self, query: NearbyQuery) -> Answer[tuple[PlaceHit, ...]]:
        check_radius(query.radius_m)
        self._check_covered(query.at)
        metres, kinds = self._metres_from(query.at), query.kinds
        near = sorted(
            (float(metres[i]), self._all[i].id, i) for i in np.flatnonzero(metres <= query.radius_m)
        )
        hits = (PlaceHit(place=self._all[i], distance_m=round(far, 1)) for far, _, i in near)
        of_kind = tuple(hit for hit in hits if not kinds or hit.place.kind in kinds)
        return self.answer(of_kind[: query.limit], "exact")

    async def details(self, place_id: str) -> Answer[Place]:
        if place_id not in self.places:
            raise NoSuchPlace(f"no place {place_id!r} in {self.about.title}")
        return self.answer(self.places[place_id], "exact")

    def way(self, start: LatLon, end: LatLon, mode: Mode) -> Way:
        if mode != "walk":
            raise Unsupported(f"{self.about.title} knows ways on foot only, not by {mode}")
        metres = self.streets.metres(start, end)
        if metres is None:
            raise Unreachable(f"no way on foot between the two in {self.about.title}")
        return Way(minutes=walk_minutes(metres), metres=round(metres), mode="walk", exactness="network")

    async def track(self, start: LatLon, end: LatLon, *, mode: Mode = "walk") -> Track:
        return self.streets.track(start, end) if mode == "walk" else NO_TRACK

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:
        if mode != "walk" or len(points) > MAX_TABLE:
            return await super().matrix(points, mode=mode)
        metres = self.streets.table(points)
        table = Table(
            minutes=tuple(
                tuple(
                    None if way_m is None else 0 if start == end else walk_minutes(way_m)
                    for end, way_m in zip(points, row, strict=True)
                )
                for start, row in zip(points, metres, strict=True)
            ),
            metres=tuple(tuple(None if way_m is None else round(way_m) for way_m in row) for row in metres),
        )
        return self.answer(table, self.exactness)

    def covers(self, at: LatLon) -> bool:
        """Whether a point lies within COVER_M of a place of this city."""
        return bool((self._metres_from(at) <= COVER_M).any())

    def twin_of(self, place: Place) -> Place | None:
        """The place of this city that another source knows too: by Wikidata id, or by name and position."""
        names = (place.name, *place.also)
        wikidata = dict(place.tags).get("wikidata")
        metres = self._metres_from(place.at)
        near = [(float(metres[i]), self._all[i]) for i in np.flatnonzero(metres <= TWIN_M)]
        alike = [
            (
                dict(own.tags).get("wikidata") != wikidata or wikidata is None,
                own.kind in STOPS,
                far_m,
                own.id,
                own,
            )
            for far_m, own in near
            if (wikidata is not None and dict(own.tags).get("wikidata") == wikidata)
            or any(likeness(name, own_name) == 1 for name in names for own_name in (own.name, *own.also))
        ]
        return min(alike, key=lambda row: row[:4])[4] if alike else None

    def _check_covered(self, at: LatLon) -> None:
        if not self.covers(at):
            raise Unsupported(f"{at.lat_deg:.4f}, {at.lon_deg:.4f} lies outside {self.about.title}")

    def _metres_from(self, at: LatLon) -> NDArray[np.float64]:
        """The distance of each place of this city from a point."""
        return metres_between(at.lat_deg, at.lon_deg, self._lat, self._lon)


def _fit(sought: _Name, own: _Name, place: Place) -> float:
    """How well a name fits one of a place's names; below 1 it is not quite its own.

    The city's name is worth nothing in the city. The first or last word of the name on the spot, and a
    name with the kind behind it, are as good as one letter off; of a translation they are not, as such
    words often are a district's. Of an address with its number no letter may differ.
    """
    fit = plain_likeness(sought.plain, own.plain, least=LEAST_SIMILAR)
    if fit == 1:
        return fit
    bare, own_bare = sought.bare, own.bare
    if bare and bare == own_bare and len(bare) > 1:
        return 1.0
    if sought.has_number and not own.has_number:
        return min(fit, NO_NAME)
    kind = {place.kind.replace("_", " ").split()[-1], "art", *WORDS_OF_KIND.get(place.kind, ())}
    rest, own_rest = ([word for word in row if word not in kind] for row in (bare, own_bare))
    if rest and rest == own_rest and len(rest) < len(bare):
        return PART_OF_NAME
    if len(bare) == len(own_bare) == 1 and own_bare[0] in {
        f"{bare[0]}{link}{word}" for link in ("", "n", "s") for word in kind
    }:
        return PART_OF_NAME  # Esplanadi is Esplanadinpuisto
    faith = dict(place.tags).get("denomination", "").split("_")
    if own_bare and own_bare == [word for word in bare if word not in faith] != bare:
        return PART_OF_NAME  # the Lutheran Cathedral is called the cathedral
    if place.kind in RAIL_STOPS and not own_bare and bare and RAIL_WORDS.issuperset(bare):
        return PART_OF_NAME  # a city's central station bears the city's name alone
    is_own_word = len(bare) == 1 and len(bare[0]) > 3 and singular(bare[0]) not in COMMON_WORDS
    ends = own_bare if len(sought.name) >= LONG_WORD else (*own_bare[:1], *own_bare[-1:])
    is_on_spot = own.name == place.name and place.kind not in PLAIN_KINDS
    if is_own_word and is_on_spot and bare[0] in ends:
        return PART_OF_NAME
    return fit


def _fame(place: Place) -> float:
    """How likely a place is meant rather than another of its name, 0 to 1, by what the map says of it."""
    if place.kind in STOPS:
        return 0.0
    if place.kind in SETTLED and place.kind != "square":
        return 0.8 if place.kind in ("city", "town", "village") else 0.6
    is_sight = place.kind in SIGHTS
    return 0.2 + 0.3 * is_sight + 0.2 * any(key == "wikidata" for key, _ in place.tags)


@functools.lru_cache(maxsize=8)
def read_city(file: Path) -> City:
    """The city in an extract, read once per process.

    Raises:
        Unavailable: the extract or its description cannot be read.
    """
    return City(about=about_city(file), extract=read_extract(file))  # the shorter is read first


def about_city(file: Path) -> About:
    """What NAME.json beside an extract says of it; the extract itself is not read.

    Raises:
        Unavailable: the description cannot be read.
    """
    name = file.name.removesuffix(".pbf").removesuffix(".osm").lower()
    beside = file.with_name(f"{name}.json")
    try:
        fields = json.loads(read_regular(beside)) if beside.is_file() else {}
        about = About(**{"title": name.replace("_", " ").title(), **fields})
        if wrong := [field for field, value in fields.items() if not isinstance(value, str)]:
            raise TypeError(f"{wrong[0]} is no text")
    except (ValueError, TypeError, OSError) as error:
        raise Unavailable(f"{beside.name} does not describe a city: {error}") from None
    return about


def city_files(folders: Iterable[Path] | None = None) -> dict[str, Path]:
    """Every extract there is, by name: our own and those of GNOMON_CITIES (folders parted by colons)."""
    more = [Path(folder) for folder in os.environ.get(CITIES_VARIABLE, "").split(":") if folder]
    extracts: dict[str, Path] = {}
    for folder in (OWN_CITIES, *(more if folders is None else folders)):
        for file in sorted(folder.glob("*.osm.pbf")):
            extracts[file.name.removesuffix(".osm.pbf").lower()] = file
    return extracts
