"""Prefectures, municipalities, towns and stations as places: by id, by name, and how far they reach."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon_published.gazetteer.place import APPROXIMATE_M, GazetteerPlace
from gnomon_published.gazetteer.spelling import FOLDED, latin_key
from gnomon_published.gazetteer.tables import MICRO, tables, unit_sphere_m


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Areas:
    """All places but the towns; `named` finds them by their key without the word that says what they are."""

    by_id: Mapping[str, GazetteerPlace]
    municipalities: Sequence[GazetteerPlace]  # in the order of the table, so that towns find theirs by number
    named: Mapping[str, Sequence[GazetteerPlace]]


@cache
def areas() -> Areas:
    """Build them, once in a process."""
    prefectures = [_prefecture(row) for row in tables().prefectures.to_pylist()]
    towns = np.bincount(tables().town_home, minlength=len(tables().municipalities))
    rows = tables().municipalities.to_pylist()
    municipalities = [_municipality(row, int(count)) for row, count in zip(rows, towns, strict=True)]
    places = [*prefectures, *municipalities, *_stations(municipalities)]
    named: dict[str, list[GazetteerPlace]] = defaultdict(list)
    for place in places:
        for key in _keys(place):
            named[key].append(place)
    return Areas(by_id={place.id: place for place in places}, municipalities=municipalities, named=named)


def _prefecture(row: Mapping[str, Any]) -> GazetteerPlace:
    return GazetteerPlace(id=f"jp:{row['code']}", kind="prefecture", weight=1_000_000, **_named(row))


def _municipality(row: Mapping[str, Any], towns: int) -> GazetteerPlace:
    within = [f"jp:{row['code'][:2]}"] + ([f"jp:{row['parent_code']}"] if row["parent_code"] else [])
    return GazetteerPlace(
        id=f"jp:{row['code']}",
        kind="municipality",
        within=tuple(within),
        weight=towns or 100_000,  # a city of wards has no town of its own, and outweighs those that have
        **_named(row),
    )


def _stations(municipalities: Sequence[GazetteerPlace]) -> list[GazetteerPlace]:
    rows: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in tables().stations.to_pylist():
        rows[row["station"]].append(row)
    stations = []
    for number, group in rows.items():
        home = municipalities[group[0]["municipality"]]
        place = GazetteerPlace(
            id=f"jp:station:{number}",
            kind="station",
            within=(*home.within, home.id),
            lines=tuple(dict.fromkeys(f"{row['operator']} {row['line']}" for row in group)),
            shinkansen=any(row["shinkansen"] for row in group),
            weight=len(group),
            **_named(group[0]),
        )
        stations.append(place)
    return stations


def _named(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name_ja": row["name_ja"],
        "name_en": row["name_en"],
        "lat_deg": row["lat_udeg"] * MICRO,
        "lon_deg": row["lon_udeg"] * MICRO,
    }


def _keys(place: GazetteerPlace) -> set[str]:
    """The name in both scripts, without the word that says what it is."""
    ja = place.name_ja.replace("ヶ", "ケ")
    if place.kind == "station" or ja == "北海道":
        return {ja, latin_key(place.name_en)} - {""}
    stem = place.name_en.rpartition("-")[0] if place.kind == "municipality" else place.name_en
    return {ja[:-1], latin_key(stem)}


MOST = 200  # rows looked at for one name


def town_at(row: int) -> GazetteerPlace:
    """The town of a row, at the point of that row's block."""
    table = tables()
    name_ja, home = table.towns["name_ja"][row].as_py(), areas().municipalities[table.town_home[row]]
    return GazetteerPlace(
        id=f"{home.id}:{name_ja}",
        kind="town",
        name_ja=name_ja,
        name_en=table.towns["name_en"][row].as_py(),
        lat_deg=float(table.town_lat_deg[row]),
        lon_deg=float(table.town_lon_deg[row]),
        within=(*home.within, home.id),
        weight=1,
    )


def town_of_id(place_id: str) -> GazetteerPlace | None:
    """The town of an id such as `jp:13113:道玄坂`; None if there is none."""
    home, _, name = place_id.rpartition(":")
    towns = (town for town, _ in towns_named(name, latin=False, within=home or None) if town.id == place_id)
    return next(towns, None) if home.count(":") == 1 else None


def towns_named(key: str, *, latin: bool, within: str | None) -> Iterator[tuple[GazetteerPlace, bool]]:
    """Towns whose name is `key` (true) or begins with it (false), each at the median of its blocks."""
    import pyarrow.compute as pc

    column = _latin_keys() if latin else tables().towns["name_ja"]
    rows = np.flatnonzero(np.asarray(pc.starts_with(column, key)))
    groups: dict[tuple[int, str], list[int]] = {}
    homes = tables().town_home[rows]
    allowed = [areas().municipalities[home].is_in(within) for home in homes.tolist()]
    for row, home in zip(rows[allowed][:MOST].tolist(), homes[allowed].tolist(), strict=False):
        groups.setdefault((home, tables().towns["name_ja"][row].as_py()), []).append(row)
    for group in groups.values():
        town = town_at(_middle(np.array(group)))
        name = latin_key(town.name_en) if latin else town.name_ja
        yield town, name in {key, f"{key}町", f"{key}cho", f"{key}machi"}


def _middle(rows: NDArray[np.intp]) -> int:
    """The row whose point lies nearest to the median of all."""
    lat, lon = tables().town_lat_deg[rows], tables().town_lon_deg[rows]
    away = (lat - np.median(lat)) ** 2 + (lon - np.median(lon)) ** 2
    return int(rows[np.argmin(away)])


@cache
def _latin_keys() -> Any:
    import pyarrow.compute as pc

    letters = pc.replace_substring_regex(pc.utf8_lower(tables().towns["name_en"]), "[^a-z0-9]", "")
    for pattern, replacement in FOLDED:
        letters = pc.replace_substring_regex(letters, pattern, replacement)
    return letters


STATION_M = 1_000.0  # rows of one name that near are one station


@lru_cache(maxsize=4096)
def extent_m(place: GazetteerPlace) -> float:
    """Metres from the place's point to its farthest town; of a town or station, what its data allow.

    >>> from gnomon_published.gazetteer.search import place
    >>> 15_000 < extent_m(place("jp:26100")) < 40_000
    True
    """
    if place.kind == "station":
        return STATION_M
    if place.kind == "town":
        return APPROXIMATE_M
    homes = [
        number
        for number, home in enumerate(areas().municipalities)
        if place.id == home.id or place.id in home.within
    ]
    rows = np.flatnonzero(np.isin(tables().town_home, homes))
    towns_m = unit_sphere_m(tables().town_lat_deg[rows], tables().town_lon_deg[rows])
    away = towns_m - unit_sphere_m(place.lat_deg, place.lon_deg)
    return float(np.linalg.norm(away, axis=1).max(initial=0.0)) + APPROXIMATE_M
