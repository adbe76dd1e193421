"""Serves an offer of tools by MCP: over standard input and output, or over streamable HTTP.

For the tools of one trial, in the trial's own event loop:

    tools = [ServedTool(schema=schema, call=call) for schema, call in pairs]
    async with served_over_http(Offer(tools=tools)) as endpoint:
        ...  # give the agent endpoint.url and endpoint.headers (or endpoint.token)

`call` is `async (arguments: dict) -> ServedAnswer`; it runs in the caller's event loop, so it may use
whatever the trial uses, and it counts and limits as it likes. The endpoint listens on a free port of
127.0.0.1 until the block ends; a request without the token is refused with 401, one of another origin or host
with 403 or 421.
"""

import asyncio
import hmac
import io
import os
import secrets
import socket
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from gnomon_workbench.mcp_server.offer import Offer, ServedAnswer, ServedPicture, ServedTool, server_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = [
    "Endpoint",
    "Offer",
    "ServedAnswer",
    "ServedPicture",
    "ServedTool",
    "serve_stdio",
    "served_over_http",
]

LOOPBACK = "127.0.0.1"
PATH = "/mcp"
MAX_REQUEST_BYTES = 4 * 1024 * 1024
GRACE_S = 1.0  # for calls in flight when the server stops


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a server listens, and the bearer token that it asks for; None where it asks for none."""

    url: str
    token: str | None

    @property
    def headers(self) -> dict[str, str]:
        """What each request has to carry."""
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}


async def serve_stdio(offer: Offer) -> None:
    """Serve on standard input and output until the client closes them; other output goes to stderr."""
    server = server_of(offer)
    async with stdio_server(anyio.wrap_file(_bounded_input())) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


class _BoundedLines(io.TextIOWrapper):
    """Lines of up to MAX_REQUEST_BYTES characters; a longer one is passed over, and read as one that is no
    JSON.
    """

    def readline(self, _: int = -1, /) -> str:  # type: ignore[override]  # as the base
        line = super().readline(MAX_REQUEST_BYTES + 1)
        if len(line) <= MAX_REQUEST_BYTES:
            return line
        while line and not line.endswith("\n"):
            line = super().readline(MAX_REQUEST_BYTES)
        return "longer than a request may be\n"


def _bounded_input() -> _BoundedLines:
    """Standard input, which nothing else of this process and none of its children reads from here on."""
    wire = os.fdopen(os.dup(0), "rb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return _BoundedLines(wire, encoding="utf-8", errors="replace")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    return host in (LOOPBACK, "::1", "localhost")


@asynccontextmanager
async def served_over_http(
    offer: Offer, *, host: str = LOOPBACK, port: int = 0, token: str | None = None, is_open: bool = False
) -> AsyncIterator[Endpoint]:
    """Serve over streamable HTTP within the block, in the running event loop; port 0 is any free one.

    The token is a new one unless it is given; with `is_open` none is asked for. Every request stands by
    itself: there are no sessions to run out of. On loopback a Host or Origin header of another machine is
    refused; elsewhere the token alone decides.

    Raises:
        OSError: the address cannot be listened on.
    """
    token = None if is_open else token or secrets.token_urlsafe(32)
    listener = _listener(host, port)
    port = listener.getsockname()[1]
    names = {host, "localhost"} if is_loopback(host) else {host}
    shown = {f"[{name}]" if ":" in name else name for name in names}
    app: ASGIApp = server_of(offer).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_REQUEST_BYTES,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=is_loopback(host),
            allowed_hosts=[f"{name}:{port}" for name in shown],
            allowed_origins=[f"http://{name}:{port}" for name in shown],
        ),
    )
    if token is not None:
        app = _WithToken(app, token)
    server = _Uvicorn(app)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await _until_ready(server, serving)
        name = f"[{host}]" if ":" in host else host
        yield Endpoint(url=f"http://{name}:{port}{PATH}", token=token)
    finally:
        server.should_exit = True
        await asyncio.wait([serving])
        listener.close()


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET  # a name is looked up as IPv4
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


async def _until_ready(server: "_Uvicorn", serving: "asyncio.Task[None]") -> None:
    ready = asyncio.create_task(server.ready.wait())
    waits: list[asyncio.Task[Any]] = [ready, serving]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    ready.cancel()
    if serving.done():
        serving.result()
        raise OSError("the server of tools did not start")


class _Uvicorn(uvicorn.Server):
    """Uvicorn inside a program that has signals, logs and a loop of its own."""

    def __init__(self, app: "ASGIApp") -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                ws="none",
                lifespan="on",
                timeout_graceful_shutdown=int(GRACE_S),
            )
        )
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield  # the program's own handlers stay


class _WithToken:
    """Lets only requests pass that carry the token."""

    def __init__(self, app: "ASGIApp", token: str) -> None:
        self._app, self._expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "http":
            sent = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(sent, self._expected):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b""})
                return
        await self._app(scope, receive, send)
