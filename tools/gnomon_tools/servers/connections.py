"""Keeps one connection for each server in a process, on one event loop in a thread of its own.

A connection is opened by the first call, kept for all trials, and closed at the end of the process or by
`close_all`. After a fork the child has none, and opens its own.
"""

import asyncio
import atexit
import os
import shutil
import threading
import time
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from gnomon_tools.core.outage import ServerFault
from gnomon_tools.servers.answer import Answer, CallTimeout
from gnomon_tools.servers.listing import ListedTool, Listing
from gnomon_tools.servers.server_spec import ToolServer
from gnomon_tools.servers.session import Session, SessionEnded, StartFailed
from gnomon_tools.servers.stdio import own_folder

T = TypeVar("T")
FAILED_START_S = 15.0  # as long a server that did not start is not tried again
CHECKED_S = 10.0  # as long a listing over HTTP is taken to hold
CLOSE_S = 15.0
START, DIED, CHANGED = "server:start", "server:died", "server:changed"


class Connection:
    """All calls of this process to one server; starts it, watches it, and starts it again."""

    def __init__(self, name: str, definition: ToolServer) -> None:
        self.name, self._definition = name, definition
        self.folder = own_folder()
        self._slots = asyncio.Semaphore(definition.limits.in_flight)
        self._starting = asyncio.Lock()
        self._session: Session | None = None
        self._busy: dict[Session, int] = {}
        self._failed: tuple[float, ServerFault] | None = None
        self._checked = 0.0

    @property
    def is_live(self) -> bool:
        """Whether a call need not start the server."""
        return self._session is not None

    async def start(self) -> None:
        """Start the server, if need be; a call says why it does not start."""
        with suppress(ServerFault):
            await self._live()

    async def call(self, tool: ListedTool, arguments: dict[str, Any]) -> Answer:
        """Call a tool of the server.

        Raises:
            ServerFault: the server does not start, has died, or offers the tool otherwise than it did.
            CallTimeout, BadResult: the call came to nothing, as the model is told.
        """
        async with self._slots:
            for is_last in (False, True):
                session = await self._live()
                self._busy[session] = self._busy.get(session, 0) + 1
                try:
                    async with asyncio.timeout(self._definition.limits.call_seconds):
                        try:
                            await self._check(session)
                        except SessionEnded as error:
                            self._retire(session)
                            if is_last:
                                raise self._fault(DIED, str(error)) from error
                            continue  # it ended before the tool was called
                        return await session.call(tool, arguments)
                except TimeoutError as error:
                    self._retire(session)
                    seconds = self._definition.limits.call_seconds
                    raise CallTimeout(f"The tool did not answer within {seconds:g} s.") from error
                except SessionEnded as error:
                    self._retire(session)
                    raise self._fault(DIED, str(error)) from error
                finally:
                    if session.is_broken:
                        self._retire(session)
                    self._busy[session] -= 1
                    await self._close_if_unused(session)
            raise AssertionError("a second session has been tried")

    async def _live(self) -> Session:
        async with self._starting:
            if self._session is not None:
                return self._session
            if self._failed is not None and time.monotonic() - self._failed[0] < FAILED_START_S:
                raise self._failed[1]
            session = open_session(self.name, self._definition, self.folder)
            try:
                listing = await session.open()
            except StartFailed as error:
                await session.close()
                fault = self._fault(START, str(error))
                self._failed = time.monotonic(), fault
                raise fault from error
            except BaseException:
                await session.close()
                raise
            try:
                self._compare(listing)
            except ServerFault:
                await session.close()
                raise
            self._session, self._failed = session, None
            return session

    async def _check(self, session: Session) -> None:
        is_old = time.monotonic() - self._checked > CHECKED_S or session.has_news
        if session.checks_each_call or is_old:
            try:
                self._compare(await session.listing())
            except StartFailed as error:
                raise self._fault(CHANGED, str(error)) from error

    def _compare(self, listing: Listing) -> None:
        self._checked = time.monotonic()
        frozen = self._definition.listing
        changed = frozen.changes(listing) if frozen else []
        if changed:
            names = ", ".join(changed[:5])
            raise self._fault(CHANGED, f"what it offers is not what was frozen with the job: {names}")

    def _fault(self, stop_reason: str, why: str) -> ServerFault:
        return ServerFault(f"the server {self.name}: {why}", stop_reason=stop_reason)

    def _retire(self, session: Session) -> None:
        """Send it no further call; it is stopped once its other calls have ended."""
        if self._session is session:
            self._session = None

    async def _close_if_unused(self, session: Session) -> None:
        if session is not self._session and not self._busy.get(session):
            self._busy.pop(session, None)
            await session.close()

    async def close(self) -> None:
        """Stop the server, whatever still runs, and remove its folder."""
        sessions = {*self._busy, *([self._session] if self._session else [])}
        self._session = None
        await asyncio.gather(*(session.close() for session in sessions), return_exceptions=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def open_session(name: str, definition: ToolServer, folder: Path) -> Session:
    """A conversation with the server, not yet begun."""
    if definition.mcp is not None:
        from gnomon_tools.servers.mcp_session import McpSession  # late: loads the SDK's client

        return McpSession(name, definition, definition.mcp, folder=folder)
    if definition.openapi is None:
        raise AssertionError("a definition has mcp or openapi")
    from gnomon_tools.servers.openapi_session import OpenApiSession  # late, as above

    return OpenApiSession(name, definition, definition.openapi)


def _key(name: str, definition: ToolServer) -> str:
    return f"{name}\n{definition.model_dump_json()}"


class Connections:
    """The connections of one process, and the loop that they run on."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tool-servers", daemon=True)
        self._thread.start()
        self._open: dict[str, Connection] = {}
        atexit.register(self.close)

    def call(self, name: str, definition: ToolServer, tool: ListedTool, arguments: dict[str, Any]) -> Answer:
        """Call a tool, from any thread but the loop's own.

        Raises:
            ServerFault, ToolError: as `Connection.call` raises them.
        """
        return self._run(self._call(name, definition, tool, arguments))

    async def _call(
        self, name: str, definition: ToolServer, tool: ListedTool, arguments: dict[str, Any]
    ) -> Answer:
        return await self._connection(name, definition).call(tool, arguments)

    def is_live(self, name: str, definition: ToolServer) -> bool:
        """Whether a call of the server need not start it."""
        connection = self._open.get(_key(name, definition))
        return connection is not None and connection.is_live

    def start(self, name: str, definition: ToolServer) -> None:
        """Start a server, if need be, from any thread but the loop's own."""

        async def start() -> None:
            await self._connection(name, definition).start()

        self._run(start())

    def folder(self, name: str, definition: ToolServer) -> Path:
        """The folder in which the server finds the files that it is passed."""

        async def find() -> Path:
            return self._connection(name, definition).folder / "inputs"

        return self._run(find())

    def _connection(self, name: str, definition: ToolServer) -> Connection:
        key = _key(name, definition)
        if key not in self._open:
            self._open[key] = Connection(name, definition)
        return self._open[key]

    def list_tools(self, name: str, definition: ToolServer) -> Listing:
        """What a server offers, from a session of its own that ends with this call.

        Raises:
            ServerFault: it could not be started, or did not list its tools in time.
        """

        async def look() -> Listing:
            folder = own_folder()
            session = open_session(name, definition, folder)
            try:
                return await session.open()
            except StartFailed as error:
                raise ServerFault(f"the server {name}: {error}", stop_reason=START) from error
            finally:
                await session.close()
                shutil.rmtree(folder, ignore_errors=True)

        return self._run(look())

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """Stop all servers and the loop."""
        atexit.unregister(self.close)
        if not self._thread.is_alive():
            return

        async def stop() -> None:
            await asyncio.gather(*(connection.close() for connection in self._open.values()))

        with suppress(Exception):  # what a server does on its way out changes nothing
            asyncio.run_coroutine_threadsafe(stop(), self._loop).result(CLOSE_S)
        self._open.clear()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_S)
        if not self._thread.is_alive():
            self._loop.close()


_here: tuple[int, Connections] | None = None
_lock = threading.Lock()


def connections() -> Connections:
    """Those of this process."""
    global _here
    with _lock:
        if _here is None or _here[0] != os.getpid():
            _here = os.getpid(), Connections()
        return _here[1]


def close_all() -> None:
    """Stop all servers of this process, if it has any; the next call starts them again."""
    global _here
    with _lock:
        before, _here = _here, None
    if before is not None and before[0] == os.getpid():
        before[1].close()
