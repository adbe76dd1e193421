"""Towns: the smallest areas, searched in their columns; blocks (丁目) of one name are one town."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.gazetteer.areas import areas
from tools.gazetteer.place import Place
from tools.gazetteer.spelling import FOLDED, latin_key
from tools.gazetteer.tables import tables

LATE = ("pyarrow.compute",)  # as in tables
MOST = 200  # rows looked at for one name


def town_at(row: int) -> Place:
    """The town of a row, at the point of that row's block."""
    table = tables()
    name_ja, home = table.towns["name_ja"][row].as_py(), areas().municipalities[table.town_home[row]]
    return Place(
        id=f"{home.id}:{name_ja}",
        kind="town",
        name_ja=name_ja,
        name_en=table.towns["name_en"][row].as_py(),
        lat_deg=float(table.town_lat_deg[row]),
        lon_deg=float(table.town_lon_deg[row]),
        within=(*home.within, home.id),
        weight=1,
    )


def town_of_id(place_id: str) -> Place | None:
    """The town of an id such as `jp:13113:道玄坂`; None if there is none."""
    home, _, name = place_id.rpartition(":")
    found = (town for town, _ in towns_named(name, latin=False, within=home or None) if town.id == place_id)
    return next(found, None) if home.count(":") == 1 else None


def towns_named(key: str, *, latin: bool, within: str | None) -> Iterator[tuple[Place, bool]]:
    """Towns whose name is `key` (true) or begins with it (false), each at the median of its blocks."""
    import pyarrow.compute as pc

    column = _latin_keys() if latin else tables().towns["name_ja"]
    rows = np.flatnonzero(np.asarray(pc.starts_with(column, key)))
    groups: dict[tuple[int, str], list[int]] = {}
    homes = tables().town_home[rows]
    allowed = [_inside(areas().municipalities[home], within) for home in homes.tolist()]
    for row, home in zip(rows[allowed][:MOST].tolist(), homes[allowed].tolist(), strict=False):
        groups.setdefault((home, tables().towns["name_ja"][row].as_py()), []).append(row)
    for group in groups.values():
        town = town_at(_middle(np.array(group)))
        name = latin_key(town.name_en) if latin else town.name_ja
        yield town, name in {key, f"{key}町", f"{key}cho", f"{key}machi"}


def _inside(home: Place, within: str | None) -> bool:
    return within is None or within == home.id or within in home.within


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
