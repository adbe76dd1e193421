"""Extent: how far from its point an area may reach."""

from functools import lru_cache

import numpy as np

from tools.gazetteer.areas import areas
from tools.gazetteer.place import APPROXIMATE_M, Place
from tools.gazetteer.tables import tables, unit_sphere_m

STATION_M = 1_000.0  # rows of one name that near are one station


@lru_cache(maxsize=4096)
def extent_m(place: Place) -> float:
    """Metres from the place's point to its farthest town; of a town or station, what its data allow.

    >>> from tools.gazetteer.gazetteer import place
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
