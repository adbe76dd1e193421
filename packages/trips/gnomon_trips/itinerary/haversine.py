"""Distances on the sphere: good to 0.5 % of the ellipsoid, which is enough for lower bounds and ranking."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gnomon_trips.itinerary.place import LatLon, Place, PlaceHit

if TYPE_CHECKING:  # late: most workers ask nothing about trips
    import numpy as np
    from numpy.typing import NDArray

EARTH_RADIUS_M = 6_371_008.8  # mean radius of WGS 84
METRES_PER_DEGREE = math.pi * EARTH_RADIUS_M / 180


def metres_between(
    lat_deg: "NDArray[np.float64] | float",
    lon_deg: "NDArray[np.float64] | float",
    to_lat_deg: "NDArray[np.float64] | float",
    to_lon_deg: "NDArray[np.float64] | float",
) -> "NDArray[np.float64]":
    """Great-circle distances by the haversine formula, broadcast like any numpy function.

    >>> float(metres_between(60.0, 24.0, 60.0, 24.0))
    0.0
    >>> round(float(metres_between(35.6812, 139.7671, 34.7335, 135.5002)) / 1000)  # Tokyo, Shin-Osaka
    402
    """
    import numpy as np

    lat, to_lat = np.radians(lat_deg), np.radians(to_lat_deg)
    half_lat = np.sin((to_lat - lat) / 2) ** 2
    half_lon = np.sin((np.radians(to_lon_deg) - np.radians(lon_deg)) / 2) ** 2
    chord = np.clip(half_lat + np.cos(lat) * np.cos(to_lat) * half_lon, 0.0, 1.0)
    return np.asarray(2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(chord)), dtype=np.float64)


def apart_m(start: LatLon, end: LatLon) -> float:
    """Metres between two points in a straight line."""
    return float(metres_between(start.lat_deg, start.lon_deg, end.lat_deg, end.lon_deg))


def off_m(at: LatLon, start: LatLon | None) -> float | None:
    """How far a point is from where a search starts, to 0.1 m; None where the search has no start."""
    return None if start is None else round(apart_m(start, at), 1)


def nearest_first(places: Iterable[Place], at: LatLon) -> list[PlaceHit]:
    """Places as hits of a search around a point, with their distances."""
    hits = [PlaceHit(place=place, distance_m=off_m(place.at, at)) for place in places]
    return sorted(hits, key=lambda hit: (hit.distance_m or 0.0, hit.place.id))


def flat_m(
    lat_deg: "NDArray[np.float64]", lon_deg: "NDArray[np.float64]", middle_lat_deg: float
) -> "NDArray[np.float64]":
    """Degrees as metres on a flat map (x, y), for nearest-neighbour search within a city or a country.

    Equirectangular: exact at `middle_lat_deg`, stretched in x away from it; rank by it, never report it.
    """
    import numpy as np

    x = lon_deg * METRES_PER_DEGREE * math.cos(math.radians(middle_lat_deg))
    return np.column_stack([x, lat_deg * METRES_PER_DEGREE])
