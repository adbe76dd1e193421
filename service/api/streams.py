"""Streams: how many event streams a caller holds at once, in this process."""

from collections import Counter
from collections.abc import AsyncIterable

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from service.api.problems import problem

MAX_STREAMS = 16  # a caller's; each asks the store twice a second
RETRY_AFTER_S = 5


class Streams:
    """The open streams of each caller."""

    def __init__(self, most: int = MAX_STREAMS) -> None:
        self.most = most
        self.open: Counter[bytes] = Counter()


class EventStream(StreamingResponse):
    """Server-sent events; 429 where the caller holds as many streams as it may."""

    def __init__(self, events: AsyncIterable[str], *, streams: Streams, caller: bytes) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._streams, self._caller = streams, caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send, and be counted for as long as that takes."""
        streams, caller = self._streams, self._caller
        if streams.open[caller] >= streams.most:
            detail = f"{streams.most} event streams are open for this caller; close one"
            refusal = problem(
                429,
                title="Too Many Requests",
                detail=detail,
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )
            await refusal(scope, receive, send)
            return
        streams.open[caller] += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            streams.open -= Counter((caller,))
