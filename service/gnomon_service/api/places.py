"""Lets a few heavy requests run at a time and a few more wait; the rest get 429.

What works stops once its client is gone: it calls `check_wanted` now and then, or is a process that is ended.
"""

import asyncio
import functools
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Request
from starlette.exceptions import HTTPException

from gnomon.stopping import Unwanted, stoppable
from gnomon_service.api.problems import RETRY_AFTER_S

WAIT_S = 20.0  # for a place
T = TypeVar("T")


@dataclass(slots=True)
class Places:
    """So many requests of a kind at a time, and so many that wait for up to WAIT_S seconds."""

    kind: str  # in a message
    count: int
    queue: int
    waiting: int = 0
    _free: asyncio.Semaphore = field(init=False)
    _threads: CapacityLimiter = field(init=False)

    def __post_init__(self) -> None:
        self._free, self._threads = asyncio.Semaphore(self.count), CapacityLimiter(self.count)

    @asynccontextmanager
    async def taken(self, gone: asyncio.Event) -> AsyncIterator[None]:
        """Hold a place.

        Raises:
            HTTPException: 429, too many wait, or it took too long.
            Unwanted: the client has `gone` meanwhile.
        """
        if self.waiting >= self.queue and self._free.locked():
            raise self._full()
        self.waiting += 1
        try:
            await until_gone(self._free.acquire(), gone, within_s=WAIT_S)
        except TimeoutError:
            raise self._full() from None
        finally:
            self.waiting -= 1
        try:
            yield
        finally:
            self._free.release()

    async def run(self, request: Request, work: Callable[[], T]) -> T:
        """What `work` returns, which a thread does in one of the places once the body has been read.

        Raises:
            HTTPException: 429, as `taken` says.
            Unwanted: the client has gone.
        """
        async with watched(request) as gone, self.taken(gone):
            stopped = threading.Event()
            with stoppable(lambda: not (stopped.is_set() or gone.is_set())):
                try:
                    return await run_sync(work, abandon_on_cancel=True, limiter=self._threads)
                finally:
                    stopped.set()

    def _full(self) -> HTTPException:
        detail = f"{self.count} {self.kind} are being worked on and {self.queue} may wait; try again"
        return HTTPException(429, detail, headers={"Retry-After": str(RETRY_AFTER_S)})


@dataclass(slots=True)
class Downloads:
    """So many pieces of downloads are made at a time; all others wait, as what has begun gets no 429."""

    count: int
    _threads: CapacityLimiter = field(init=False)

    def __post_init__(self) -> None:
        self._threads = CapacityLimiter(self.count)

    async def stream(self, pieces: Iterator[T]) -> AsyncIterator[T]:
        """The pieces, each made in its turn: who reads slowly holds up nobody meanwhile."""
        end = object()
        while (piece := await run_sync(next, pieces, end, limiter=self._threads)) is not end:
            yield piece  # type: ignore[misc]  # it is no `end`


def in_place(kind: str) -> Callable[[Callable[..., T]], Callable[..., Coroutine[None, None, T]]]:
    """Have a route's handler work in a place of that kind, which is a field of AllPlaces."""

    def placed(handler: Callable[..., T]) -> Callable[..., Coroutine[None, None, T]]:
        signature = inspect.signature(handler)
        takes_request = "request" in signature.parameters

        @functools.wraps(handler)
        async def endpoint(request: Request, **values: Any) -> T:
            places: Places = getattr(request.app.state.gnomon.places, kind)
            asked = {"request": request} if takes_request else {}
            return await places.run(request, functools.partial(handler, **asked, **values))

        endpoint.__signature__ = with_request(signature)  # type: ignore[attr-defined]
        return endpoint

    return placed


def with_request(signature: inspect.Signature) -> inspect.Signature:
    """A handler's signature that takes the request first, and all else by name."""
    first = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    others = [item for item in signature.parameters.values() if item.name != "request"]
    return signature.replace(
        parameters=[first, *(item.replace(kind=inspect.Parameter.KEYWORD_ONLY) for item in others)]
    )


@asynccontextmanager
async def watched(request: Request) -> AsyncIterator[asyncio.Event]:
    """An event that is set once the client of a request, whose body has been read, is gone."""
    gone = asyncio.Event()

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        gone.set()

    task = asyncio.create_task(watch())
    try:
        yield gone
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until_gone(wanted: Coroutine[None, None, T], gone: asyncio.Event, *, within_s: float) -> T:
    """What `wanted` returns.

    Raises:
        Unwanted: the client has gone before; `wanted` is cancelled.
        TimeoutError: so has the time.
    """
    task, leaving = asyncio.create_task(wanted), asyncio.create_task(gone.wait())
    try:
        await asyncio.wait((task, leaving), timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait((task,))
    if not task.cancelled():
        return task.result()
    raise Unwanted if gone.is_set() else TimeoutError


@dataclass(frozen=True, slots=True)
class AllPlaces:
    """The places of one API process, by what a request asks for. Other routes have threads of their own.

    Few at a time: threads that compute share one lock, and a cheap request waits for each of them in turn.
    """

    jobs: Places = field(default_factory=lambda: Places("posts", 2, 12))
    calls: Places = field(default_factory=lambda: Places("calls of tools", 2, 32))
    reports: Places = field(default_factory=lambda: Places("reports", 2, 32))
    batches: Places = field(default_factory=lambda: Places("batches", 1, 8))
    pages: Places = field(default_factory=lambda: Places("pages", 2, 64))
    downloads: Downloads = field(default_factory=lambda: Downloads(2))
    pictures: Places = field(default_factory=lambda: Places("pictures", 2, 128))
    batch_bodies: Places = field(default_factory=lambda: Places("bodies of batches", 2, 8))
    uploads: Places = field(default_factory=lambda: Places("uploads", 4, 12))
