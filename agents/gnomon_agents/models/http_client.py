"""Sends requests to providers: one shared aiohttp session, bounded bodies, no redirects, keys scrubbed."""

import asyncio
import json
import math
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import aiohttp

from gnomon.core.errors import ProviderFault
from gnomon.spec.environment import proxy_variable
from gnomon_agents.models.error_body import holds_error
from gnomon_agents.models.http_errors import fault_of_body, fault_of_transport
from gnomon_agents.models.json_pieces import Piece
from gnomon_agents.models.litellm_errors import Scrubber

MAX_BODY_BYTES = 50_000_000
CHUNK_BYTES = 1 << 16  # handed to the socket at a time: what waits there is a copy
KEEP_ALIVE_S = 4.0  # below the 5 s after which many servers hang up


class HttpReply(NamedTuple):
    """An answer over HTTP; `json` is None where the body is no JSON."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    json: Any


class HttpSession:
    """An aiohttp session without cookies, which belongs to the loop of the first call."""

    _session: aiohttp.ClientSession | None = None

    def open(self) -> aiohttp.ClientSession:
        """The session; a new one where it was closed."""
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_S),
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                # Not `trust_env`: with it aiohttp reads names and passwords of hosts from a file as well.
            )
        return self._session

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        if self._session is not None:
            await self._session.close()
            self._session = None


class HttpClient(HttpSession):
    """Posts JSON to one address."""

    def __init__(self, url: str) -> None:
        """For an address; calls nobody."""
        self._url, self._proxy = url, _proxy_of(url)

    async def post(
        self, pieces: list[Piece], headers: Mapping[str, str], *, timeout_s: float, scrub: Scrubber
    ) -> HttpReply:
        """Send a body, in pieces, and read the whole answer.

        Raises:
            ProviderFault: `timeout`, `connection`, `bad_request` (no address) or `bad_response` (no HTTP).
        """
        try:
            async with asyncio.timeout(timeout_s):
                status, received, body = await self._post(pieces, headers)
        except TimeoutError:
            raise ProviderFault(f"no reply within {timeout_s:g} s", cause="timeout") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise fault_of_transport(error, scrub) from None
        return HttpReply(status=status, headers=received, body=body, json=parsed(body))

    async def ask(
        self,
        pieces: list[Piece],
        headers: Mapping[str, str],
        *,
        timeout_s: float,
        scrub: Scrubber,
        statuses: Mapping[str, int] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Send a body, as `post`, and read the JSON object that answers it; an error in the body of a 200
        counts as the status that `statuses` gives its code.

        Raises:
            ProviderFault: as `post`, and whatever any other answer stands for.
            ModelFault: `refused` or `context_overflow`.
        """
        answer = await self.post(pieces, headers, timeout_s=timeout_s, scrub=scrub)
        content = answer.json
        if answer.status == 200 and isinstance(content, dict) and not holds_error(content):
            return content
        status = answer.status
        if status == 200 and isinstance(content, dict) and isinstance(content.get("error"), dict):
            status = statuses.get(str(content["error"].get("code")), status)
        raise fault_of_body(status, answer.headers, content, answer.body, scrub)

    async def _post(
        self, pieces: Sequence[Piece], headers: Mapping[str, str]
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of the answer."""
        session = self.open()
        headers = {**headers, "Content-Type": "application/json"}
        size = sum(map(len, pieces))
        data: bytes | AsyncIterator[memoryview]
        if size <= CHUNK_BYTES:
            data = b"".join(pieces)  # one send instead of one for each piece
        else:
            headers["Content-Length"] = str(size)
            data = in_chunks(pieces)
        # A redirect is not followed: the key and the prompt go to the address that was allowed, or nowhere.
        async with session.post(
            self._url, data=data, headers=headers, proxy=self._proxy, allow_redirects=False
        ) as response:
            return response.status, response.headers, await _body(response.content)


def _proxy_of(url: str) -> str | None:
    """The proxy that the environment names for an address."""
    variable = proxy_variable(url)
    proxy = os.environ[variable] if variable else None
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def parsed(body: bytes) -> Any:
    """The JSON of a body, None where it is none. A number that is not finite is null: no JSON can hold it.

    >>> parsed(b'[NaN, -Infinity, 1e999, 1.5]'), parsed(b'{"a":')
    ([None, None, None, 1.5], None)
    """
    try:
        return _decode(body.decode(json.detect_encoding(body), "surrogatepass"))
    except (ValueError, RecursionError):
        return None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


# Made once: `json.loads` makes one a call.
_decode = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite).decode


async def in_chunks(pieces: Sequence[Piece]) -> AsyncIterator[memoryview]:
    """The pieces in small parts, so that no call ever holds a copy of its large body."""
    for piece in pieces:
        view = memoryview(piece)
        for start in range(0, len(view), CHUNK_BYTES):
            yield view[start : start + CHUNK_BYTES]


async def _body(content: aiohttp.StreamReader) -> bytes:
    """The body, unpacked as it comes, so that a small one that unpacks to gigabytes ends at the limit too.

    Raises:
        ValueError: it is larger than is read.
    """
    body = bytearray()
    while part := await content.readany():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise ValueError(f"a reply of more than {MAX_BODY_BYTES:,} bytes")
    return bytes(body)
