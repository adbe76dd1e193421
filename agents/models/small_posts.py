"""Posts small bodies over the connections of an aiohttp session, without what a session makes for each call.

For each call a session looks at the address, merges headers, makes a request and an answer and starts a task
that writes the body: two thirds of what a short call costs. Here the request is made once. Connections, TLS,
what is written and how an answer is read are aiohttp's, and so are all errors.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http import HttpProcessingError, StreamWriter
from yarl import URL

from agents.models.json_pieces import Piece

KNOWN = ("3.14.",)  # versions of aiohttp whose parts fit together as here; with others the session posts
HttpAnswer = tuple[int, Mapping[str, str], bytes]  # status, headers and body


def takes_small_posts(session: aiohttp.ClientSession, url: URL) -> bool:
    """Whether an address can be called so: no proxy may stand between, and no password in the address."""
    return (
        aiohttp.__version__.startswith(KNOWN)
        and url.scheme in ("http", "https")
        and bool(url.host)
        and not (url.user or url.password or session.trust_env)
    )


class SmallPosts:
    """Posts to one address with the same headers."""

    def __init__(self, session: aiohttp.ClientSession, url: URL, headers: Mapping[str, str]) -> None:
        """For a session and an address that `takes_small_posts`; calls nobody."""
        self.headers = headers
        self._connector: Any = session.connector  # there is one until it is closed
        self._timeout = session.timeout
        self._request = aiohttp.ClientRequest("POST", url, headers=headers, session=session)
        self._first_line = f"POST {url.raw_path_qs} HTTP/1.1"

    async def post(
        self, pieces: list[Piece], read: Callable[[aiohttp.StreamReader], Awaitable[bytes]]
    ) -> HttpAnswer:
        """Send a body, small enough to be sent at once, and `read` what answers it, be it a redirect.

        The list of its pieces is emptied: hundreds of calls wait at once, and none needs its body any more.

        Raises:
            aiohttp.ClientError, OSError, ValueError: as a session raises them, or `read`.
        """
        # Calls that come in one turn of the loop are sent in the next, one after another: a server that waits
        # is woken once for all of them. A session's task did so; without it a send costs twice as much.
        await asyncio.sleep(0)
        connection = await self._connector.connect(self._request, [], self._timeout)
        try:
            protocol = connection.protocol
            protocol.set_response_params(read_until_eof=True)
            await self._send(protocol, pieces)
            status = 100
            while 100 <= status < 200 and status != 101:  # it only says that it goes on
                try:
                    message, content = await protocol.read()
                except HttpProcessingError as error:
                    raise aiohttp.ClientResponseError(
                        self._request.request_info,
                        (),
                        status=error.code,
                        message=error.message,
                        headers=error.headers,
                    ) from error
                status = message.code
            content.on_eof(connection.release)
            return status, message.headers, await read(content)
        except BaseException:
            connection.close()
            raise

    async def _send(self, protocol: BaseProtocol, pieces: list[Piece]) -> None:
        """Hand head and body to the socket in one send, which waits for nothing."""
        body = b"".join(pieces)
        pieces.clear()
        headers = self._request.headers.copy()
        headers["Content-Length"] = str(len(body))
        writer = StreamWriter(protocol, self._request.loop)
        await writer.write_headers(self._first_line, headers)
        await writer.write(body, drain=False)
