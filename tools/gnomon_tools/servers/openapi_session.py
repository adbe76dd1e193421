"""Calls the operations of an HTTP interface that an OpenAPI document describes."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from gnomon_tools.core.regular_file import read_regular
from gnomon_tools.servers.answer import Answer
from gnomon_tools.servers.bounded_http import bounded_client
from gnomon_tools.servers.listing import ListedTool, Listing
from gnomon_tools.servers.openapi_document import (
    MAX_DOCUMENT_BYTES,
    DocumentError,
    parse_document,
    read_listing,
)
from gnomon_tools.servers.server_spec import OpenApiServer, ToolServer
from gnomon_tools.servers.session import SessionEnded, StartFailed

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class OpenApiSession:
    """A client of one interface; there is nothing to start, so it ends with its client."""

    checks_each_call = False
    is_broken = has_news = False

    def __init__(self, name: str, definition: ToolServer, interface: OpenApiServer) -> None:
        self._name, self._definition, self._interface = name, definition, interface
        self._client: httpx2.AsyncClient | None = None

    async def open(self) -> Listing:
        self._client = bounded_client(
            token_env=self._interface.token_env, call_seconds=self._definition.limits.call_seconds
        )
        try:
            async with asyncio.timeout(self._definition.limits.start_seconds):
                return await self._listing()
        except TimeoutError:
            seconds = self._definition.limits.start_seconds
            raise StartFailed(f"its document was not read within {seconds:g} s") from None

    async def _listing(self) -> Listing:
        source = self._interface.document
        try:
            if "://" in source:
                response = await self._open_client().get(source)
                response.raise_for_status()
                data = response.content[: MAX_DOCUMENT_BYTES + 1]
            else:
                data = await asyncio.to_thread(read_regular, Path(source))
            document = parse_document(data)
            interface = self._interface
            return read_listing(
                self._name, document, url=interface.url, source=source, writes=interface.writes
            )
        except DocumentError as error:
            raise StartFailed(f"its document {error}") from None
        except (OSError, httpx2.HTTPError) as error:
            raise StartFailed(f"its document cannot be read: {error or type(error).__name__}") from None

    async def listing(self) -> Listing:
        return await self._listing()

    async def call(self, tool: ListedTool, arguments: dict[str, Any]) -> Answer:
        if tool.route is None:
            raise SessionEnded("the job was frozen without the operation's path")
        try:
            response = await self._open_client().request(
                **request_of(tool.route, arguments, self._interface.url)
            )
        except httpx2.TimeoutException as error:
            raise TimeoutError from error
        except (httpx2.InvalidURL, httpx2.LocalProtocolError, UnicodeError) as error:
            # Of what the model wrote, as the same address without it is sound.
            message = f"The arguments make no request: {error or type(error).__name__}"
            return Answer(texts=[message[:500]], is_error=True)
        except (httpx2.HTTPError, OSError) as error:
            raise SessionEnded(f"it does not answer: {error or type(error).__name__}") from error
        return _answer(response)

    def _open_client(self) -> httpx2.AsyncClient:
        if self._client is None:
            raise SessionEnded("it has not been opened")
        return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()


def request_of(route: Mapping[str, Any], arguments: Mapping[str, Any], url: str | None) -> dict[str, Any]:
    """The parts of the HTTP request for a call.

    >>> route = {"method": "get", "path": "/way/{to}", "url": "http://h", "places": {"to": "path"}}
    >>> request_of(route, {"to": "a/b"}, None)["url"]
    'http://h/way/a%2Fb'
    """
    path, query, headers, body = str(route["path"]), [], {}, None
    for name, value in arguments.items():
        place = route["places"].get(name)
        if place == "path":
            word = quote(_plain(value), safe="")
            path = path.replace(f"{{{name}}}", word if word.strip(".") else word.replace(".", "%2E"))
        elif place == "query":
            items = value if isinstance(value, list) else [value]
            query += [(name, _plain(item)) for item in items]
        elif place == "header":
            printable = _plain(value).encode("ascii", "replace").decode()
            headers[name] = "".join(letter if letter.isprintable() else " " for letter in printable).strip()
        elif place == "body":
            body = value
    base = (url or str(route["url"])).rstrip("/")
    request = {"method": str(route["method"]).upper(), "url": f"{base}{path}", "params": query}
    return {**request, "headers": headers, **({} if body is None else {"json": body})}


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _answer(response: httpx2.Response) -> Answer:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if response.status_code >= 300:
        return Answer(texts=[f"HTTP {response.status_code}: {response.text[:1_000]}"], is_error=True)
    if kind in PICTURES:
        return Answer(pictures=[response.content])
    if kind.startswith("text/") or "json" in kind or "xml" in kind or not kind:
        return Answer(texts=[response.text])
    return Answer(texts=[f"[{kind}, {len(response.content):,} bytes, not shown]"])
