"""Checks every request before its route: its body, how long that takes, and its origin."""

import asyncio
from contextlib import suppress
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gnomon.spec.endpoints import is_loopback
from gnomon_service.api.body_bounds import MOST_KEPT, BodyBounds, JsonScan, bounds_of
from gnomon_service.api.problems import RETRY_AFTER_S, problem
from gnomon_service.api.request_body import JSON

BODY_S = 30.0  # in which a body must arrive, where its route says nothing else
LINGER_S = 1.0  # without a piece of it, after which the rest of a body that was refused is not read
CLOSE = {"Connection": "close"}  # the rest of the body is not read


class Refused(Exception):
    """The rest of the body is not read: the answer says why."""

    def __init__(self, status: int, detail: str, *, wait_s: int = 0) -> None:
        super().__init__(detail)
        headers = CLOSE | ({"Retry-After": str(wait_s)} if wait_s else {})
        self.answer = problem(
            status, title=HTTPStatus(status).phrase, detail=detail, field="body", headers=headers
        )


class RequestGuard:
    """ASGI middleware: bodies have bounds (`body_bounds.py`) and a deadline; a keyless API answers only to
    loopback names and to its own pages.

    The names matter because a web page can point its own host name at 127.0.0.1 (DNS rebinding), the origin
    because other servers on this machine may serve pages too.
    """

    def __init__(self, app: ASGIApp, *, is_keyless: bool) -> None:
        self._app, self._is_keyless = app, is_keyless
        self._kept = 0  # bytes of the bodies that are in memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if self._is_keyless and (field := _foreign(headers, scope["scheme"])):
            detail = "without GNOMON_API_KEYS only loopback names and this server's own pages are answered"
            answer = problem(403, title="Forbidden", detail=detail, field=field)
            await answer(scope, receive, send)
            return
        bounds = bounds_of(scope["path"])
        length = headers.get(b"content-length", "0")
        reading = _Reading(receive, bounds, is_json=JSON in headers.get(b"content-type", "").lower())

        plain, has_body = _plain(send), length != "0" or b"transfer-encoding" in headers

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start" and has_body and reading.size == 0:
                await reading.skip()  # the route refused it unread
            await plain(message)

        kept = 0

        async def bounded() -> Message:
            nonlocal kept
            message = await reading.next()
            if bounds.is_kept:
                kept += len(message.get("body", b""))
                self._kept += len(message.get("body", b""))
                if self._kept > MOST_KEPT:
                    raise Refused(429, "too many bodies are being read; try again", wait_s=RETRY_AFTER_S)
            return message

        try:
            if headers.get(b"content-encoding", "identity").strip().lower() != "identity":
                raise Refused(415, "send the body as it is: Content-Encoding is not read")
            if not length.isdigit() or int(length) > bounds.size:
                raise Refused(413, f"a body may have up to {bounds.size:,} bytes")
            await self._app(scope, bounded, answered)
        except Refused as refused:
            await reading.skip()
            await refused.answer(scope, receive, send)
        finally:
            self._kept -= kept


class _Reading:
    """One body as it comes, within its bounds and its time."""

    def __init__(self, receive: Receive, bounds: BodyBounds, *, is_json: bool) -> None:
        self._receive, self._bounds = receive, bounds
        self._scan = JsonScan() if is_json else None
        self._wait_s = bounds.seconds or BODY_S
        self._is_complete = False
        self._until_s: float | None = None  # from when it is read on: a request may wait for a place before
        self.size = 0

    async def next(self) -> Message:
        """The next message of the client.

        Raises:
            Refused: the body is larger or slower than it may be, or holds more.
        """
        self._until_s = self._until_s or asyncio.get_running_loop().time() + self._wait_s
        try:
            async with asyncio.timeout_at(None if self._is_complete else self._until_s):
                message = await self._receive()
        except TimeoutError:
            raise Refused(408, f"the body must arrive within {self._wait_s:g} s") from None
        piece, most = message.get("body", b""), self._bounds
        self.size += len(piece)
        self._is_complete = not message.get("more_body", False)
        if self.size > most.size:
            raise Refused(413, f"a body may have up to {most.size:,} bytes")
        if self._scan is not None and piece:
            self._scan.feed(piece)
            if self._scan.values > most.values:
                raise Refused(413, f"a body may hold up to {most.values:,} values")
            if self._scan.depth > most.depth:
                raise Refused(422, f"a body may be nested {most.depth} deep")
        return message

    async def skip(self) -> None:
        """Read the rest within BODY_S, and forget it: who still sends would not see the answer."""
        with suppress(TimeoutError):
            async with asyncio.timeout(BODY_S):
                while not self._is_complete:
                    async with asyncio.timeout(LINGER_S):
                        self._is_complete = not (await self._receive()).get("more_body", False)


def _foreign(headers: dict[bytes, str], scheme: str) -> str:
    """The header that shows that a request comes from another site; empty if none does."""
    host, origin = headers.get(b"host", ""), headers.get(b"origin")
    if not is_loopback(_host(host)):
        return "Host"
    if origin is not None and origin.lower() != f"{scheme}://{host}".lower():
        return "Origin"
    site, mode = headers.get(b"sec-fetch-site", "none"), headers.get(b"sec-fetch-mode", "navigate")
    # Pages of other sites may link here, but not load from here.
    return "Sec-Fetch-Site" if site not in ("none", "same-origin") and mode != "navigate" else ""


def _plain(send: Send) -> Send:
    """Forbid browsers to guess a media type other than the one sent."""

    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (b"x-content-type-options", b"nosniff")]
        await send(message)

    return marked


def _host(netloc: str) -> str:
    """The host in `host[:port]`; empty if there is none."""
    try:
        return urlsplit(f"//{netloc}").hostname or ""
    except ValueError:
        return ""
