"""The track of a way, in words and on the map: streets on foot, lines and stops of a ride."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from gnomon_tools.geometry.polyline import simplified as kept_points
from gnomon_trips.itinerary.haversine import METRES_PER_DEGREE
from gnomon_trips.itinerary.place import LatLon, Mode

CRUMB_M = 30.0
"""A stretch of a street shorter than this is not worth its name: a crossing, a corner."""
TOLERANCE_M = 5.0
MAX_POINTS = 1_500

ALL_ON_FOOT = "on foot all the way"
"""The only part of a ride that takes no train."""

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """`via`: names of streets, or a phrase for each part of a ride; `path`: degrees (lat, lon), simplified.

    Both are empty where no source says.
    """

    via: tuple[str, ...] = ()
    path: Points = ()


NO_TRACK = Track()


@runtime_checkable
class KnowsTracks(Protocol):
    """A provider that can say how its ways run."""

    async def track(self, start: LatLon, end: LatLon, *, mode: Mode = "walk") -> Track:
        """The track of the way that `route` answers with; empty where it is not known."""
        ...


async def track_of(provider: object, start: LatLon, end: LatLon, *, mode: Mode) -> Track:
    """The track of a provider's way; empty where the provider cannot say."""
    return await provider.track(start, end, mode=mode) if isinstance(provider, KnowsTracks) else NO_TRACK


def street_names(stretches: Sequence[tuple[str, float]]) -> tuple[str, ...]:
    """The streets in the order walked, out of (name, metres) of each stretch; no name: an unnamed way.

    A street that is left for a corner and taken again is named once.

    >>> street_names([("A", 200.0), ("", 40.0), ("B", 12.0), ("A", 50.0), ("C", 31.0)])
    ('A', 'C')
    """
    runs: list[tuple[str, float]] = []
    for name, metres in stretches:
        if not name:
            continue
        if runs and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1] + metres)
        else:
            runs.append((name, metres))
    names: list[str] = []
    for name, metres in runs:
        if metres >= CRUMB_M and names[-1:] != [name]:
            names.append(name)
    return tuple(names)


def simplified(points: Sequence[tuple[float, float]], tolerance_m: float = TOLERANCE_M) -> Points:
    """The line with as few of its points as keep it within that tolerance (Douglas and Peucker, 1973).

    >>> simplified([(60.0, 24.0), (60.00001, 24.001), (60.0, 24.002)])
    ((60.0, 24.0), (60.0, 24.002))
    """
    if len(points) < 3:
        return _rounded(points)
    across = METRES_PER_DEGREE * math.cos(math.radians(points[0][0]))
    flat = np.array(points) * (METRES_PER_DEGREE, across)
    return _rounded([points[at] for at in kept_points(flat, tolerance_m)])


def _rounded(points: Sequence[tuple[float, float]]) -> Points:
    """Points to five decimals, about a metre; what falls on the point before it is left out."""
    rounded = [(round(lat, 5), round(lon, 5)) for lat, lon in points]
    kept = [point for at, point in enumerate(rounded) if not at or point != rounded[at - 1]]
    return tuple(kept) if len(kept) > 1 else ()


def counted_stops(stops: int) -> str:
    """The number of stops of a ride.

    >>> counted_stops(1), counted_stops(13)
    ('1 stop', '13 stops')
    """
    return f"{stops} stop{'s' * (stops != 1)}"
