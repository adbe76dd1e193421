"""A client of a Gnomon service for plain code: `AsyncClient`, awaited on a loop in a thread of its own."""

import asyncio
import functools
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from gnomon_service import answers
from gnomon_service.client.asynchronous import AsyncClient
from gnomon_service.client.exchange import TIMEOUT_S

P = ParamSpec("P")
T = TypeVar("T")


def _awaited(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate["Client", P], T]:
    """The same method for plain code."""

    @functools.wraps(method)
    def plain(self: "Client", /, *args: P.args, **keywords: P.kwargs) -> T:
        return self.result(method(self.awaited, *args, **keywords))

    return plain


def _drawn(
    method: Callable[Concatenate[AsyncClient, P], AsyncGenerator[T, None]],
) -> Callable[Concatenate["Client", P], Iterator[T]]:
    """The same method for plain code; one whose items are not all drawn is closed when it is forgotten."""

    @functools.wraps(method)
    def plain(self: "Client", /, *args: P.args, **keywords: P.kwargs) -> Iterator[T]:
        items = method(self.awaited, *args, **keywords)
        while (item := self.result(_next(items))) is not None:
            yield item

    return plain


async def _next(items: AsyncGenerator[T, None]) -> T | None:
    """The next item; None after the last."""
    return await anext(items, None)


class Client:
    """`AsyncClient` for plain code: the same arguments, and the same methods without `await`.

    Use it as a context manager, or `close` it. It may be used where an event loop runs, as in a notebook.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        key: str | None = None,
        api_key_env: str | None = None,
        timeout_s: float = TIMEOUT_S,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.awaited = AsyncClient(
            url, key=key, api_key_env=api_key_env, timeout_s=timeout_s, transport=transport
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gnomon-client", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        if self._loop.is_closed():
            return
        self.result(self.awaited.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def url(self) -> str:
        """The address of the service."""
        return self.awaited.url

    def result(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine of `awaited` returns; Ctrl-C ends it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    job = _awaited(AsyncClient.job)
    cancel = _awaited(AsyncClient.cancel)
    resume = _awaited(AsyncClient.resume)
    delete = _awaited(AsyncClient.delete)
    upload = _awaited(AsyncClient.upload)
    trial = _awaited(AsyncClient.trial)
    trial_file = _awaited(AsyncClient.trial_file)
    changed_trial_file = _awaited(AsyncClient.changed_trial_file)
    report = _awaited(AsyncClient.report)
    report_page = _awaited(AsyncClient.report_page)
    seal = _awaited(AsyncClient.seal)
    cassette = _awaited(AsyncClient.cassette)
    export = _awaited(AsyncClient.export)
    review_queue = _awaited(AsyncClient.review_queue)
    trip = _awaited(AsyncClient.trip)
    trip_as = _awaited(AsyncClient.trip_as)
    check_plan = _awaited(AsyncClient.check_plan)
    plan_trip = _awaited(AsyncClient.plan_trip)
    workers = _awaited(AsyncClient.workers)
    keys = _awaited(AsyncClient.keys)
    metrics = _awaited(AsyncClient.metrics)
    health = _awaited(AsyncClient.health)
    readiness = _awaited(AsyncClient.readiness)
    submit = _awaited(AsyncClient.submit)
    benchmarks = _awaited(AsyncClient.benchmarks)
    tools = _awaited(AsyncClient.tools)
    agents = _awaited(AsyncClient.agents)
    presets = _awaited(AsyncClient.presets)
    call_tool = _awaited(AsyncClient.call_tool)
    call_batch = _awaited(AsyncClient.call_batch)
    send = _awaited(AsyncClient.send)
    jobs = _drawn(AsyncClient.jobs)
    states = _drawn(AsyncClient.states)
    events = _drawn(AsyncClient.events)
    rows = _drawn(AsyncClient.rows)

    def wait(
        self,
        job_id: str,
        *,
        progress: Callable[[answers.JobView], None] | None = None,
        timeout_s: float | None = None,
    ) -> answers.JobView:
        """As `AsyncClient.wait`; `progress` is called in the caller's thread.

        Raises:
            TimeoutError: it has not ended within `timeout_s`; it goes on.
        """
        for job in self.states(job_id, timeout_s=timeout_s):
            if progress is not None:
                progress(job)
        return job
