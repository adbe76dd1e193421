"""Finds what a name may mean in Japan: sights, areas and stations, each with how well known it is."""

import math
import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from gnomon_published.gazetteer import search as gazetteer
from gnomon_published.gazetteer.landmarks import (
    ID,
    Landmark,
    landmark_key,
    landmarks,
    landmarks_named,
    landmarks_spelt_like,
)
from gnomon_published.gazetteer.place import GazetteerPlace, Kind
from gnomon_trips.itinerary.haversine import metres_between
from gnomon_trips.itinerary.japan.rides import latin_name, station_names
from gnomon_trips.itinerary.objective import FAME
from gnomon_trips.itinerary.place import AdminPath, LatLon, Place, PlaceHit

TOWNS: tuple[Kind, ...] = ("town",)
STATIONS: tuple[Kind, ...] = ("station",)
MOST = 200  # meanings of one name that are weighed
MISSPELT, SIMILAR = 0.9, 0.8
CITIES, COMPANIES = ("京都", "大阪", "神戸", "奈良"), ("近鉄", "京阪", "阪急", "阪神", "南海")
"""What is left out before the name of a station: a city, as in 京都河原町; a company, if no other has it."""
_HOUSE_OF_WORSHIP = re.compile(
    r"(寺|神社|神宮|大社|八幡宮|天満宮|temple|shrine|[- ](ji|dera|jinja|jingu))$", re.IGNORECASE
)
LEAST_AREA_LIKENESS = 0.6
"""Of the gazetteer's score for a near miss, 0.7 times difflib's ratio: a ratio of 0.86."""
ONE_AREA_M = 2_000.0
"""A station and a district of one name are one area to a traveller where they lie that near."""
SPECIAL_WARDS = tuple(f"jp:131{number:02}" for number in range(1, 24))
PLACE_KINDS = {
    **dict.fromkeys(("temple", "shrine", "church"), "place_of_worship"),
    **dict.fromkeys(("tower", "palace", "building", "arena", "university", "cemetery"), "attraction"),
    "market": "marketplace",
}
"""Kinds of landmark as OpenStreetMap has them, where it has them."""
RELIGIONS = {"temple": "buddhist", "shrine": "shinto", "church": "christian"}


AIRPORTS = {
    **dict.fromkeys(("naritaairport", "naritainternationalairport", "nrt", "成田国際空港"), "成田空港駅"),
    **dict.fromkeys(
        ("hanedaairport", "tokyointernationalairport", "hnd", "羽田空港", "東京国際空港"),
        "羽田空港第１・第２ターミナル駅",
    ),
    **dict.fromkeys(("kansaiairport", "kansaiinternationalairport", "kix", "関西国際空港"), "関西空港駅"),
}
"""Airports, by the key of a name, and the station of each, where a traveller arrives."""


def meanings(name: str, *, within: str | None, kinds: Collection[Kind], with_sights: bool) -> list[PlaceHit]:
    """The places a name may mean, unordered; where none fits, those with nearly that name, marked so."""
    name = AIRPORTS.get(landmark_key(name), name)
    is_station = name.casefold().endswith((" station", "駅"))
    sights = [] if is_station or not with_sights else _sights(name, within)
    areas = _areas(name, within=within, kinds=kinds)
    hits = [*sights, *_as_travelled(areas, sights)]
    if with_sights and _HOUSE_OF_WORSHIP.search(name.strip()):
        hits = [
            replace(hit, score=min(hit.score, SIMILAR)) if _is_beside_temple(name, hit.place) else hit
            for hit in hits
        ]
    if any(hit.score >= MISSPELT for hit in hits):
        return hits
    near = (
        []
        if is_station or not with_sights
        else [
            PlaceHit(
                place=sight_place(entry), score=MISSPELT, fame=_sight_fame(entry) * likeness, is_misspelt=True
            )
            for entry, likeness in landmarks_spelt_like(name)
            if _is_within(entry, within)
        ]
    )
    likely = max(
        (hit for hit in hits if hit.score >= LEAST_AREA_LIKENESS and hit.score != SIMILAR),
        key=_rank,
        default=None,
    )
    if likely is None:
        return [*near, *hits]
    meant = _as_travelled(_areas(likely.place.name, within=within, kinds=kinds), [])
    return [*near, *(_as_misspelt(hit, likely.score) for hit in meant), *hits]


def similar(name: str) -> list[str]:
    """At most four sights and areas that share a word with an unknown name.

    >>> similar("TeamLab")
    ['teamLab Planets']
    """
    words = sorted(
        set(re.findall(r"[^\W\d_]{4,}", name.casefold())) - {*_GENERAL.split()},
        key=lambda word: (-len(word), word),
    )
    scored = [
        (-sum(len(word) for word in words if word in own), -entry.importance, entry.name_en)
        for entry in landmarks().by_id.values()
        for own in [" ".join((entry.name_en, entry.name_ja, *entry.also)).casefold()]
        if any(word in own for word in words)
    ]
    names = [name_en for _, _, name_en in sorted(scored)[:3]]
    for word in words:
        hits = gazetteer.resolve(word, limit=1)
        if hits and hits[0].score >= gazetteer.BARE:
            return list(dict.fromkeys([*names, hits[0].place.name_en or hits[0].place.name_ja]))
    return names


_GENERAL = """
temple shrine museum park garden gardens station hotel tower street city river castle palace market bridge
airport national international hall building centre center exit gate chome area district cafe restaurant
"""
"""Words that many names share."""


def _is_beside_temple(name: str, place: Place) -> bool:
    """Whether a place merely has the name of a temple, as the station of 護国寺 has.

    A station round which towns are called after it, as 吉祥寺本町 is, stands for an area.
    """
    if place.kind not in ("town", "station"):
        return False
    named = (hit.place for hit in gazetteer.resolve(name, kinds=TOWNS, limit=MOST))
    near = [town for town in named if _apart_m(town, place.at) <= ONE_AREA_M]
    return place.kind == "town" or len(near) < 2


def _sights(name: str, within: str | None) -> list[PlaceHit]:
    return [
        PlaceHit(place=sight_place(entry), score=fit, fame=_sight_fame(entry))
        for entry, fit in landmarks_named(name)
        if _is_within(entry, within)
    ]


def _areas(name: str, *, within: str | None, kinds: Collection[Kind]) -> list[tuple[GazetteerPlace, float]]:
    """Areas and stations of the gazetteer, those with a Latin name known only to the timetable too."""
    spelled = re.sub("jy", "j", name, flags=re.IGNORECASE)
    entries = {
        hit.place.id: (hit.place, hit.score)
        for hit in gazetteer.resolve(spelled, within=within, kinds=kinds, limit=MOST)
    }
    if "station" in kinds and spelled.endswith("駅"):
        has_own = any(score == gazetteer.FULL for _, score in entries.values())
        for before in CITIES if has_own else (*CITIES, *COMPANIES):
            for hit in gazetteer.resolve(f"{before}{spelled}", within=within, kinds=STATIONS, limit=MOST):
                entries.setdefault(hit.place.id, (hit.place, hit.score))
    if "station" in kinds:
        bare = re.sub(r"\s+station$", "", spelled, flags=re.IGNORECASE)
        score = gazetteer.BARE if bare == spelled else gazetteer.FULL
        for station in station_names(bare):
            name_ja = station.name_ja
            for hit in gazetteer.resolve(f"{name_ja}駅", within=within, kinds=STATIONS, limit=MOST):
                if station.is_at(_at(hit.place)):
                    entries[hit.place.id] = (hit.place, max(score, entries.get(hit.place.id, (None, 0.0))[1]))
    ranks = [score for _, score in entries.values()]
    least = (
        gazetteer.FULL
        if gazetteer.FULL in ranks
        else gazetteer.BARE
        if max(ranks, default=0.0) >= gazetteer.BARE
        else 0.0
    )
    return [entry for entry in entries.values() if entry[1] >= least]


def _as_travelled(areas: list[tuple[GazetteerPlace, float]], sights: list[PlaceHit]) -> Iterable[PlaceHit]:
    """One hit for each area: a station belongs to the district of its name, a city's parts to the city.

    京都 is the city, not its prefecture or station; 上野 is the district, which its station makes known.
    """
    for area, score in areas:
        parts = [other for other, _ in areas if other.id != area.id]
        if score < gazetteer.FULL and (
            any(_holds(other, area) for other in parts)
            or (
                area.kind == "prefecture"
                and any(other.kind == "municipality" and area.id in other.within for other in parts)
            )
            or any(
                hit.place.kind == "district" and _apart_m(area, hit.place.at) <= ONE_AREA_M for hit in sights
            )
        ):
            continue
        stations = [
            other
            for other in parts
            if other.kind == "station" and area.kind == "town" and _apart_m(area, _at(other)) <= ONE_AREA_M
        ]
        yield PlaceHit(place=area_place(area), score=score, fame=_area_fame(area, stations))


def _holds(outer: GazetteerPlace, inner: GazetteerPlace) -> bool:
    """Whether one area of a name stands for another: it lies in it, or is the station of the district."""
    if outer.kind == "prefecture":
        return outer.id in inner.within and inner.kind in ("station", "town")
    if outer.kind == "municipality":
        return outer.id in inner.within
    return outer.kind == "town" and inner.kind == "station" and _apart_m(inner, _at(outer)) <= ONE_AREA_M


def _area_fame(area: GazetteerPlace, stations: Collection[GazetteerPlace]) -> float:
    """How well known an area is, 0 to 1: by its rank, its towns or lines, and the city around it."""
    in_city = 0.15 if any(code in SPECIAL_WARDS for code in area.within) else 0.1 * (len(area.within) > 2)
    if area.kind == "prefecture":
        return 0.8
    if area.kind == "municipality":
        if area.weight >= 100_000:
            return 0.9
        if area.id in SPECIAL_WARDS:
            return 0.6
        if len(area.within) > 1:
            return 0.45
        return 0.3 + 0.12 * math.log10(max(1, area.weight)) - (0.15 if area.name_ja[-1] in "町村" else 0.0)
    if area.kind == "town":
        lines = max((len(station.lines) for station in stations), default=0)
        return 0.15 + in_city + 0.08 * min(4, lines)
    return 0.25 + 0.06 * min(5, len(area.lines)) + in_city + 0.1 * area.shinkansen


def _sight_fame(entry: Landmark) -> float:
    return 0.3 + 0.14 * entry.importance


def _rank(hit: PlaceHit) -> tuple[float, float, str]:
    return hit.score, hit.fame, hit.place.id


def _as_misspelt(hit: PlaceHit, likeness: float) -> PlaceHit:
    """An area whose name is nearly the typed one: it may be taken, and the plan says so."""
    return replace(hit, score=MISSPELT, fame=hit.fame * likeness / gazetteer.WORTH, is_misspelt=True)


def sight_place(entry: Landmark) -> Place:
    """A landmark as a place of a trip."""
    name = entry.name_en
    tags = [("wikidata", entry.id.removeprefix(ID))] if entry.id.removeprefix(f"{ID}Q").isdigit() else []
    if entry.kind in RELIGIONS:
        tags.append(("religion", RELIGIONS[entry.kind]))
    tags.append((FAME, f"{_sight_fame(entry):.2f}"))
    return Place(
        id=entry.id,
        name=name,
        at=LatLon(lat_deg=entry.lat_deg, lon_deg=entry.lon_deg),
        kind=sight_kind(entry),
        also=(entry.name_ja, *entry.also),
        admin=admin_at(entry.lat_deg, entry.lon_deg),
        tags=tuple(tags),
    )


def sight_kind(entry: Landmark) -> str:
    """The kind of place a landmark is, as OpenStreetMap has it where it has one."""
    return PLACE_KINDS.get(entry.kind, entry.kind)


def admin_at(lat_deg: float, lon_deg: float) -> AdminPath | None:
    """The prefecture and city around a point; None outside Japan."""
    whereabouts = gazetteer.reverse(lat_deg, lon_deg)
    if whereabouts is None:
        return None
    return AdminPath(
        country="JP", prefecture=whereabouts.prefecture.name_en, municipality=whereabouts.municipality.name_en
    )


def area_place(entry: GazetteerPlace) -> Place:
    """An area or station of the gazetteer as a place of a trip."""
    areas = {area.kind: area for area in reversed(gazetteer.areas_of(entry))}  # the city, not its ward
    prefecture, city = areas.get("prefecture"), areas.get("municipality")
    at = _at(entry)
    latin = entry.name_en or (latin_name(entry.name_ja, at) if entry.kind == "station" else "")
    own = {entry.kind: latin or entry.name_ja}
    return Place(
        id=entry.id,
        name=latin or entry.name_ja,
        at=at,
        kind=entry.kind,
        also=(entry.name_ja,) if latin else (),
        admin=AdminPath(
            country="JP",
            prefecture=own.get("prefecture") or (prefecture.name_en if prefecture else ""),
            municipality=own.get("municipality") or (city.name_en if city else ""),
            town=own.get("town", ""),
        ),
        tags=tuple(("line", line) for line in entry.lines),
    )


def _is_within(entry: Landmark, within: str | None) -> bool:
    if within is None:
        return True
    whereabouts = gazetteer.reverse(entry.lat_deg, entry.lon_deg)
    return whereabouts is not None and gazetteer.lies_in(whereabouts.town, gazetteer.place(within))


def _at(entry: GazetteerPlace) -> LatLon:
    return LatLon(lat_deg=round(entry.lat_deg, 6), lon_deg=round(entry.lon_deg, 6))


def _apart_m(entry: GazetteerPlace, at: LatLon) -> float:
    return float(metres_between(entry.lat_deg, entry.lon_deg, at.lat_deg, at.lon_deg))
