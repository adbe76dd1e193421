"""Waiting: work in a thread for one caller, which ends when the caller goes or the server stops."""

import asyncio
import threading
from collections.abc import Callable

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Request
from fastapi.responses import Response

from gnomon.stopping import Unwanted, stoppable

MAX_AT_WORK = 8  # threads; the other routes have their own
CLIENT_CLOSED_REQUEST = 499  # nobody reads it


async def while_waited_for(
    request: Request, work: Callable[[], Response], *, threads: CapacityLimiter
) -> Response:
    """What `work` returns. It runs in one of `threads`, and must call `check_wanted` now and then."""
    gone = threading.Event()
    watch = asyncio.create_task(_watch(request, gone))
    try:
        with stoppable(lambda: not gone.is_set()):
            return await run_sync(work, abandon_on_cancel=True, limiter=threads)
    except Unwanted:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    finally:
        gone.set()
        watch.cancel()


async def _watch(request: Request, gone: threading.Event) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    gone.set()
