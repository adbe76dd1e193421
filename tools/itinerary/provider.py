"""What a provider of places and ways answers: six questions, the same for an extract and a web service."""

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from tools.itinerary.errors import BadArgument
from tools.itinerary.place import AdminPath, Answer, LatLon, Mode, Place, PlaceHit, Table, Way

MAX_RADIUS_M = 20_000.0
MAX_HITS = 30
MAX_TABLE = 60

T = TypeVar("T")


class Provider(Protocol):
    """Who knows places and ways.

    Every answer names its provider, version, time and exactness. What cannot be answered raises a
    PlaceError: nothing is ever an empty answer because it failed. `is_local` promises that no method
    waits for anything outside this process.
    """

    name: str
    version: str
    attribution: str
    is_local: bool

    async def resolve(
        self,
        name: str,
        *,
        within: str | None = None,
        bias: LatLon | None = None,
        kinds: Sequence[str] = (),
        limit: int = 5,
    ) -> Answer[tuple[PlaceHit, ...]]:
        """Places of that name, best first; `within` names an area around them, `bias` where to look first.

        Raises:
            NoSuchPlace: nothing of that name is known here.
        """
        ...

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        """In which areas a point lies.

        Raises:
            Unsupported: it lies outside what this provider covers.
        """
        ...

    async def nearby(
        self, at: LatLon, *, radius_m: float, kinds: Sequence[str] = (), limit: int = 30
    ) -> Answer[tuple[PlaceHit, ...]]:
        """Places around a point, nearest first; an empty answer means that there are none."""
        ...

    async def details(self, place_id: str) -> Answer[Place]:
        """Everything known about one place.

        Raises:
            NoSuchPlace: there is none of that id.
        """
        ...

    async def route(
        self, start: LatLon, end: LatLon, *, mode: Mode = "walk", depart: str | None = None
    ) -> Answer[Way]:
        """How long and how far it is; `depart` is an ISO date-time for providers with timetables.

        Raises:
            Unreachable, Unsupported: there is no way, or no such mode here.
        """
        ...

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:
        """All ways among up to 60 points at once; None where there is no way."""
        ...


def check_radius(radius_m: float) -> None:
    """Refuse a radius that makes no sense.

    Raises:
        BadArgument: it is not positive, or above MAX_RADIUS_M.
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
