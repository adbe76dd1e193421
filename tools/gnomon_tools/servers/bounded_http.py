"""HTTP for tool servers: uncompressed answers of bounded length, no redirects, no proxies."""

import os
from collections.abc import AsyncIterator

import httpx2

from gnomon_tools.servers.session import StartFailed

MAX_ANSWER_BYTES = 64_000_000
CONNECT_S = 30.0
AFTER_CALL_S = 5.0  # what is told of a call's own limit comes first


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream, self._left = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise httpx2.ReadError("the answer is longer than is read")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Ends an answer that is longer than `most` bytes as a broken one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer, with its body counted as it is read.

        A packed answer is refused: a few megabytes of it can unfold into more than there is memory.
        """
        request.headers["accept-encoding"] = "identity"
        response = await self._inner.handle_async_request(request)
        packed = response.headers.get("content-encoding", "identity").strip().lower()
        if packed not in ("", "identity"):
            await response.aclose()
            raise httpx2.RemoteProtocolError(f"the answer is packed ({packed[:30]}), which was not asked for")
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _BoundedStream(response.stream, self._most)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def bounded_client(*, token_env: str | None, call_seconds: float) -> httpx2.AsyncClient:
    """A client of one server, with the bearer token that the variable holds.

    Raises:
        StartFailed: the variable is not set.
    """
    token = os.environ.get(token_env or "", "")
    if token_env and not token:
        raise StartFailed(f"the variable {token_env} is not set where this runs")
    return httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {token}"} if token else {},
        timeout=httpx2.Timeout(CONNECT_S, read=call_seconds + AFTER_CALL_S),
        transport=BoundedTransport(MAX_ANSWER_BYTES),
        trust_env=False,
    )
