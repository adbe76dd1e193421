"""Areas: prefectures, municipalities, wards and stations as places, by id and by name."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tools.gazetteer.place import Place
from tools.gazetteer.spelling import latin_key
from tools.gazetteer.tables import MICRO, tables


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Areas:
    """All places but the towns; `named` finds them by their key without the word that says what they are."""

    by_id: Mapping[str, Place]
    municipalities: Sequence[Place]  # in the order of the table, so that towns find theirs by number
    named: Mapping[str, Sequence[Place]]


@cache
def areas() -> Areas:
    """Build them, once in a process."""
    prefectures = [_prefecture(row) for row in tables().prefectures.to_pylist()]
    towns = np.bincount(tables().town_home, minlength=len(tables().municipalities))
    rows = tables().municipalities.to_pylist()
    municipalities = [_municipality(row, int(count)) for row, count in zip(rows, towns, strict=True)]
    places = [*prefectures, *municipalities, *_stations(municipalities)]
    named: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        for key in _keys(place):
            named[key].append(place)
    return Areas(by_id={place.id: place for place in places}, municipalities=municipalities, named=named)


def _prefecture(row: Mapping[str, Any]) -> Place:
    return Place(id=f"jp:{row['code']}", kind="prefecture", weight=1_000_000, **_named(row))


def _municipality(row: Mapping[str, Any], towns: int) -> Place:
    within = [f"jp:{row['code'][:2]}"] + ([f"jp:{row['parent_code']}"] if row["parent_code"] else [])
    return Place(
        id=f"jp:{row['code']}",
        kind="municipality",
        within=tuple(within),
        weight=towns or 100_000,  # a city of wards has no town of its own, and outweighs those that have
        **_named(row),
    )


def _stations(municipalities: Sequence[Place]) -> list[Place]:
    rows: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in tables().stations.to_pylist():
        rows[row["station"]].append(row)
    found = []
    for number, group in rows.items():
        home = municipalities[group[0]["municipality"]]
        place = Place(
            id=f"jp:station:{number}",
            kind="station",
            within=(*home.within, home.id),
            lines=tuple(dict.fromkeys(f"{row['operator']} {row['line']}" for row in group)),
            shinkansen=any(row["shinkansen"] for row in group),
            weight=len(group),
            **_named(group[0]),
        )
        found.append(place)
    return found


def _named(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name_ja": row["name_ja"],
        "name_en": row["name_en"],
        "lat_deg": row["lat_udeg"] * MICRO,
        "lon_deg": row["lon_udeg"] * MICRO,
    }


def _keys(place: Place) -> set[str]:
    """The name in both scripts, without the word that says what it is."""
    ja = place.name_ja.replace("ヶ", "ケ")
    if place.kind == "station" or ja == "北海道":
        return {ja, latin_key(place.name_en)} - {""}
    stem = place.name_en.rpartition("-")[0] if place.kind == "municipality" else place.name_en
    return {ja[:-1], latin_key(stem)}
