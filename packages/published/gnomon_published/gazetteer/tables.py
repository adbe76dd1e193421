"""Reads the gazetteer's files as columns in memory, once per process."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

EARTH_M = 6_371_008.8  # mean radius (IUGG), for finding neighbours; distances told are geodesic
MICRO = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tables:
    """The four files as Arrow tables, with a tree over the towns and one over the stations."""

    prefectures: Any
    municipalities: Any
    towns: Any
    stations: Any
    town_lat_deg: NDArray[np.float64]
    town_lon_deg: NDArray[np.float64]
    town_home: NDArray[np.uint16]  # number of its municipality
    town_tree: "cKDTree"
    station_tree: "cKDTree"


@cache
def tables() -> Tables:
    """Read the files and build the trees: about a second and 80 MB, once in a process."""
    from scipy.spatial import cKDTree

    read = {name: _read(name) for name in ("prefectures", "municipalities", "towns", "stations")}
    lat_deg, lon_deg = points_deg(read["towns"])
    return Tables(
        **read,
        town_lat_deg=lat_deg,
        town_lon_deg=lon_deg,
        town_home=np.asarray(read["towns"]["municipality"]),
        town_tree=cKDTree(unit_sphere_m(lat_deg, lon_deg)),
        station_tree=cKDTree(unit_sphere_m(*points_deg(read["stations"]))),
    )


def points_deg(table: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Latitudes and longitudes of a table's rows."""
    return np.asarray(table["lat_udeg"]) * MICRO, np.asarray(table["lon_udeg"]) * MICRO


def unit_sphere_m(
    lat_deg: NDArray[np.float64] | float, lon_deg: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Points as x, y, z on a sphere of the earth's mean radius, so that chords are nearly metres."""
    lat, lon = np.radians(lat_deg), np.radians(lon_deg)
    axes = (np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat))
    return EARTH_M * np.stack(axes, axis=-1)


def _read(name: str) -> Any:
    import pyarrow.parquet as pq

    with as_file(files("gnomon_published.gazetteer").joinpath("data", f"{name}.parquet")) as path:
        return pq.read_table(path).combine_chunks()
