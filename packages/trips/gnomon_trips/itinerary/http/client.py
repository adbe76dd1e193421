"""Asks one JSON question over HTTP, and turns every way it can fail into a PlaceError."""

import datetime as dt
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx

from gnomon_tools.core.name_match import likeness
from gnomon_trips.itinerary.errors import BadArgument, NoSuchPlace, RateLimited, Unavailable, Unsupported
from gnomon_trips.itinerary.place import (
    AdminPath,
    Answer,
    Exactness,
    LatLon,
    Mode,
    Place,
    PlaceHit,
    Table,
    Way,
)
from gnomon_trips.itinerary.provider import NameQuery, NearbyQuery

T = TypeVar("T")

TIMEOUT_S = 15.0
MAX_BYTES = 10_000_000
AGENT = "gnomon-eval itinerary"
trusted = functools.cache(httpx.create_ssl_context)
"""The certificates that are trusted, read once: to read them takes longer than most questions do."""


class HttpProvider:
    """Base: a provider that has none of the six answers; each service overrides those that it has."""

    name = "http"
    version = "1"
    attribution = ""
    is_local = False

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = TIMEOUT_S,
        headers: Mapping[str, str] | None = None,
        area: str = "",
    ) -> None:
        """`area` is where names are looked for when a query names no area itself."""
        self.url, self.timeout_s, self.area = url.rstrip("/"), timeout_s, area
        self.headers = {"User-Agent": AGENT, **(headers or {})}

    async def resolve(self, query: NameQuery) -> Answer[tuple[PlaceHit, ...]]:
        raise Unsupported(f"{self.name} finds no places by name, such as {query.name!r}")

    async def reverse(self, at: LatLon) -> Answer[AdminPath]:
        raise Unsupported(f"{self.name} does not say in which area {at} lies")

    async def nearby(self, query: NearbyQuery) -> Answer[tuple[PlaceHit, ...]]:  # noqa: ARG002 (the protocol's)
        raise Unsupported(f"{self.name} does not search around a point")

    async def details(self, place_id: str) -> Answer[Place]:
        raise Unsupported(f"{self.name} knows nothing about {place_id!r}")

    async def route(self, start: LatLon, end: LatLon, *, mode: Mode = "walk") -> Answer[Way]:
        raise Unsupported(f"{self.name} knows no ways by {mode}, such as from {start} to {end}")

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:  # noqa: ARG002 (same)
        raise Unsupported(f"{self.name} knows no ways by {mode}")

    async def ask(self, method: str, path: str, **more: Any) -> Any:
        """Ask, and return the JSON of the answer.

        Raises:
            BadArgument, NoSuchPlace: the status is 400 or 404; the question is at fault.
            RateLimited: the status is 429; holds the seconds to wait where the service says.
            Unavailable: the service timed out, broke off, or answered with another status or no JSON.
        """
        try:
            async with (
                httpx.AsyncClient(timeout=self.timeout_s, headers=self.headers, verify=trusted()) as client,
                client.stream(method, f"{self.url}{path}", **more) as reply,
            ):
                body = await self._body(reply)
        except httpx.HTTPError as error:
            raise Unavailable(f"{self.name}: {type(error).__name__}") from None
        self._check(reply.status_code, reply.headers)
        try:
            return httpx.Response(200, content=body).json()
        except (ValueError, RecursionError):
            raise Unavailable(f"{self.name} answered with what is no JSON") from None

    async def _body(self, reply: httpx.Response) -> bytes:
        body = bytearray()
        async for part in reply.aiter_bytes():
            body += part
            if len(body) > MAX_BYTES:
                raise Unavailable(f"{self.name} answered with more than {MAX_BYTES:,} bytes")
        return bytes(body)

    def _check(self, status: int, headers: Mapping[str, str]) -> None:
        if status == 429:
            wait = headers.get("retry-after", "")
            raise RateLimited(f"{self.name}: too many requests", float(wait) if wait.isdigit() else None)
        if status == 404:
            raise NoSuchPlace(f"{self.name} knows no such thing")
        if status == 400:
            raise BadArgument(f"{self.name} refuses the question")
        if status != 200:
            raise Unavailable(f"{self.name} answered with status {status}")

    def answer(self, value: T, exactness: Exactness) -> Answer[T]:
        return Answer(
            value=value,
            provider=self.name,
            version=self.version,
            attribution=self.attribution,
            retrieved_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            exactness=exactness,
        )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """A context for reading a reply: a wrong shape is the service's fault, and may be right next time.

        Raises:
            Unavailable: the reply has another shape than its reader expects.
        """
        try:
            yield
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            cause = type(error).__name__
            raise Unavailable(f"{self.name} answered in a shape that is not its own ({cause})") from None

    def best_first(self, places: Iterable[Place], query: NameQuery) -> list[PlaceHit]:
        """Places of a query's kinds as its hits, ordered by how well their names fit."""
        hits = [
            PlaceHit(place=place, score=round(likeness(query.name, place.name), 3))
            for place in places
            if not query.kinds or place.kind in query.kinds
        ]
        return sorted(hits, key=lambda hit: -hit.score)
