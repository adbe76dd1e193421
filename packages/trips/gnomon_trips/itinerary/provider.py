"""The protocol of providers of places and ways: six questions, the same for an extract and a web service."""

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from gnomon_trips.itinerary.errors import BadArgument
from gnomon_trips.itinerary.place import AdminPath, Answer, LatLon, Mode, Place, PlaceHit, Table, Way

WORLD = "world"  # the area, and the provider, of the world's cities
MAX_RADIUS_M = 20_000.0
MAX_HITS = 30
MAX_TABLE = 60

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NameQuery:
    """A name to look up; `within` is an area around the places, `bias` where to look first."""

    name: str
    within: str | None = None
    bias: LatLon | None = None
    kinds: tuple[str, ...] = ()
    limit: int = 5


@dataclass(frozen=True, slots=True)
class NearbyQuery:
    """A point, and how far around it to look for places of some kinds; no kinds are all kinds."""

    at: LatLon
    radius_m: float
    kinds: tuple[str, ...] = ()
    limit: int = 30


class Provider(Protocol):
    """A source of places and ways.

    Every answer names its provider, version, time and exactness. What cannot be answered raises a
    PlaceError: nothing is ever an empty answer because it failed. `is_local` promises that no method
    waits for anything outside this process.
    """

    name: str
    version: str
    attribution: str
    is_local: bool

    async def resolve(self, query: NameQuery) -> Answer[tuple[PlaceHit, ...]]:
        """Places of that name, best first.

        Raises:
            NoSuchPlace: the provider knows no place of that name.
        """
        ...

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        """The areas that contain a point.

        Raises:
            Unsupported: the point is outside the area of this provider.
        """
        ...

    async def nearby(self, query: NearbyQuery) -> Answer[tuple[PlaceHit, ...]]:
        """Places around a point, nearest first; an empty answer means that there are none."""
        ...

    async def details(self, place_id: str) -> Answer[Place]:
        """Everything known about one place.

        Raises:
            NoSuchPlace: no place has that id.
        """
        ...

    async def route(self, start: LatLon, end: LatLon, *, mode: Mode = "walk") -> Answer[Way]:
        """How long and how far it is.

        Raises:
            Unreachable, Unsupported: no way exists, or the provider does not know the mode.
        """
        ...

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:
        """All ways among up to 60 points at once; None where there is no way."""
        ...


def check_radius(radius_m: float) -> None:
    """Refuse a radius that makes no sense.

    Raises:
        BadArgument: the radius is not positive, or above MAX_RADIUS_M.
    """
    if not 0 < radius_m <= MAX_RADIUS_M:
        raise BadArgument(f"radius_m is {radius_m:g}; allowed: above 0, up to {MAX_RADIUS_M:g}")


def answered(question: Coroutine[Any, Any, T], *, is_local: bool) -> T:
    """The answer to a question asked from synchronous code.

    A local provider never waits, so its coroutine ends at the first step, inside a running event loop too.
    Any other gets a thread and a loop of its own; call from `asyncio.to_thread` to keep your loop going.
    """
    if not is_local:
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, question).result()
    try:
        question.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    question.close()
    raise RuntimeError("a local provider waited for something")
