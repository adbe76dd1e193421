"""Searches the gazetteer: what a name may mean, also misspelt, and what is around or near a point."""

from collections.abc import Collection, Iterable, Iterator
from difflib import SequenceMatcher

import numpy as np
from geographiclib.geodesic import Geodesic

from gnomon_published.gazetteer.areas import areas, town_at, town_of_id, towns_named
from gnomon_published.gazetteer.place import KINDS, GazetteerPlace, Hit, Kind, Near, Whereabouts
from gnomon_published.gazetteer.spelling import Spelling, spelling
from gnomon_published.gazetteer.tables import tables, unit_sphere_m

FAR_M = 60_000.0  # no land of Japan lies farther from a listed town
FULL = 1.0
OTHER_END = 0.95  # another word than the official one says what it is: Shibuya City for Shibuya-ku
BARE = 0.9  # no word says what it is
BEGINS = 0.5  # a longer name begins with it

ATTRIBUTION = (
    "Towns: Geolonia japanese-addresses (CC BY 4.0), from MLIT location reference data; two offices and"
    " prefectural seats: ROIS-DS CODH, Geoshape (CC BY 4.0); stations: Info-Proto, from MLIT national land"
    " numerical information N02 (CC BY 4.0)"
)


class NoSuchPlace(LookupError):
    """No place has that id."""


def resolve(
    name: str, *, within: str | None = None, kinds: Collection[Kind] = KINDS, limit: int = 5
) -> list[Hit]:
    """What a name may mean, the likeliest first; empty if nothing is known by it.

    `within` is the id of an area: names that several places share need it. Japanese and Latin script, with
    or without the word that says what it is (`渋谷区`, `Shibuya-ku`, `Shibuya City`, `Shibuya`). Among equal
    names: prefectures, municipalities, stations, towns, and of those the one with more towns or lines. Names
    close in spelling are tried only where no name fits.

    >>> resolve("Shibuya City")[0].place.id
    'jp:13113'
    >>> [hit.place.within for hit in resolve("Fuchū", kinds=["municipality"])][:2]
    [('jp:13',), ('jp:34',)]
    """
    spelled = spelling(name)
    if not spelled.key:
        return []
    hits = {hit.place.id: hit for hit in sorted(_exact(spelled, within, kinds), key=lambda hit: hit.score)}
    if not hits:
        hits = {hit.place.id: hit for hit in close_names(spelled, kinds) if hit.place.is_in(within)}
    return sorted(hits.values(), key=_rank)[:limit]


def _exact(spelled: Spelling, within: str | None, kinds: Collection[Kind]) -> Iterable[Hit]:
    meanings = [(spelled.stem, spelled.kinds)]
    if spelled.end:  # or the last word belongs to the name, as in 四日市
        meanings.append((spelled.key, KINDS))
    for key, meant in meanings:
        for place in areas().named.get(key, ()):
            if place.kind in meant and place.kind in kinds and place.is_in(within):
                yield Hit(place=place, score=_worth(place, spelled, key))
    if "town" in kinds and "town" in spelled.kinds:
        for town, whole in towns_named(spelled.key, latin=spelled.latin, within=within):
            yield Hit(place=town, score=BARE if whole else BEGINS)


def _worth(place: GazetteerPlace, spelled: Spelling, key: str) -> float:
    if not spelled.end or key != spelled.stem:
        return BARE
    return FULL if place.kind == "station" or place.name_ja[-1] in spelled.end else OTHER_END


def _rank(hit: Hit) -> tuple[float, int, int, str]:
    return -hit.score, KINDS.index(hit.place.kind), -hit.place.weight, hit.place.id


def place(place_id: str) -> GazetteerPlace:
    """The place of that id.

    Raises:
        NoSuchPlace: no place has that id.
    """
    entry = areas().by_id.get(place_id) or town_of_id(place_id)
    if entry is None:
        raise NoSuchPlace(f"no place {place_id!r} in the gazetteer")
    return entry


def areas_of(inner: GazetteerPlace) -> tuple[GazetteerPlace, ...]:
    """The areas a place lies in, the prefecture first.

    >>> [area.name_en for area in areas_of(resolve("Omiya-ku")[0].place)]
    ['Saitama', 'Saitama-shi']
    """
    return tuple(areas().by_id[area] for area in inner.within)


def lies_in(inner: GazetteerPlace, outer: GazetteerPlace) -> bool:
    """Whether one place is or lies in the other, by their administrative codes."""
    return inner.is_in(outer.id)


def reverse(lat_deg: float, lon_deg: float) -> Whereabouts | None:
    """What lies around a point, by the nearest town; None if no town of Japan is within 60 km.

    >>> found = reverse(35.6595, 139.7005)
    >>> found.prefecture.name_en, found.municipality.name_en, found.approximate
    ('Tokyo', 'Shibuya-ku', False)
    """
    chord_m, row = tables().town_tree.query(unit_sphere_m(lat_deg, lon_deg))
    if chord_m > FAR_M:
        return None
    town = town_at(int(row))
    prefecture, *cities = areas_of(town)
    return Whereabouts(
        prefecture=prefecture,
        municipality=cities[0],
        ward=cities[1] if len(cities) > 1 else None,
        town=town,
        distance_m=distance_m(lat_deg, lon_deg, town.lat_deg, town.lon_deg),
    )


def stations_near(
    lat_deg: float, lon_deg: float, *, radius_m: float = 2_000.0, limit: int = 10
) -> list[Near]:
    """The railway stations within a radius, the nearest first."""
    rows = tables().station_tree.query_ball_point(unit_sphere_m(lat_deg, lon_deg), radius_m * 1.01)
    numbers = np.unique(np.asarray(tables().stations["station"])[rows]) if rows else ()
    stations = [areas().by_id[f"jp:station:{number}"] for number in numbers]
    near = [
        Near(place=station, distance_m=distance_m(lat_deg, lon_deg, station.lat_deg, station.lon_deg))
        for station in stations
    ]
    within = [station for station in near if station.distance_m <= radius_m]
    return sorted(within, key=lambda station: station.distance_m)[:limit]


def distance_m(lat1_deg: float, lon1_deg: float, lat2_deg: float, lon2_deg: float) -> float:
    """Metres of the geodesic on the WGS 84 ellipsoid (Karney 2013, by geographiclib)."""
    return float(Geodesic.WGS84.Inverse(lat1_deg, lon1_deg, lat2_deg, lon2_deg)["s12"])


ENOUGH = 0.8  # of difflib's ratio
WORTH = 0.7  # of a whole name's score


def close_names(spelled: Spelling, kinds: Collection[Kind]) -> Iterator[Hit]:
    """Areas and stations whose name begins alike and is nearly as long."""
    stem, named = spelled.stem, areas().named
    matcher, first, length = SequenceMatcher(a="", b=stem, autojunk=False), stem[:1], len(stem)
    for key in [key for key in named if key[:1] == first and -3 < len(key) - length < 3]:
        matcher.set_seq1(key)
        if matcher.quick_ratio() < ENOUGH or (ratio := matcher.ratio()) < ENOUGH:
            continue
        for place in named[key]:
            if place.kind in kinds and place.kind in spelled.kinds:
                yield Hit(place=place, score=round(ratio * WORTH, 3))
