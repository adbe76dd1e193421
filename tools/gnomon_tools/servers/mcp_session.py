"""Speaks MCP with one server through the official SDK, in whichever revision the server knows."""

import asyncio
import base64
import binascii
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gnomon_tools.core.sandboxed import sandbox_in_words
from gnomon_tools.servers.answer import Answer, BadResult
from gnomon_tools.servers.listing import MAX_LISTING_BYTES, MAX_TOOLS, ListedTool, Listing, shown_names
from gnomon_tools.servers.server_spec import McpServer, ToolServer
from gnomon_tools.servers.session import SessionEnded, StartFailed
from gnomon_tools.servers.stdio import MAX_MESSAGE_BYTES, UNREADABLE, ServerProcess, stdio_streams

if TYPE_CHECKING:
    from mcp import Client

MAX_PAGES = 50  # of a listing
MAX_PICTURE_BYTES = 20_000_000
CLOSE_S = 5.0
# How the SDK words a fault of the connection as if the server's tool had answered with an error: a status of
# 400 or more, a session that the server no longer knows, a body that is no message.
OF_THE_CONNECTION = (
    *("Session terminated", "Server returned an error response", "Failed to parse", "Redirect to "),
    *("Unexpected content type", "server answered a request with 202"),
)
DYING_S = 1.0  # after its streams have closed, until its process has ended


class McpSession:
    """A client of the SDK in a task of its own, as it must be left in the task that entered it."""

    def __init__(self, name: str, definition: ToolServer, server: McpServer, *, folder: Path) -> None:
        self._name, self._definition = name, definition
        self._server = server
        self._process = ServerProcess(self._server, definition.limits, folder=folder)
        self._client: Client | None = None
        self._ready: asyncio.Future[Listing] = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.has_news = self.is_broken = False
        self.checks_each_call = definition.is_command

    async def open(self) -> Listing:
        self._task = asyncio.create_task(self._live())
        waited: list[asyncio.Future[Any]] = [self._task, self._ready]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if self._ready.done():
            return self._ready.result()
        error = self._task.exception()
        if not isinstance(_innermost(error), TimeoutError):
            await self._process.ended(DYING_S)
        raise StartFailed(self._in_words(error)) from error

    async def _live(self) -> None:
        from mcp import Client

        limits = self._definition.limits
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(limits.start_seconds):
                if self._definition.is_command:
                    transport: Any = stdio_streams(self._process)
                else:
                    transport = await self._over_http(stack)
                client = Client(transport, cache=None, message_handler=self._hear)
                self._client = await stack.enter_async_context(client)
                # Results are checked in the caller's thread, without the server's regular expressions.
                self._client.session.validate_tool_result = _unchecked  # type: ignore[method-assign,assignment]
                listing = await self._list()
            self._ready.set_result(listing)
            await self._closing.wait()

    async def _over_http(self, stack: AsyncExitStack) -> Any:
        from mcp.client.streamable_http import streamable_http_client

        from gnomon_tools.servers.bounded_http import bounded_client  # late: a command needs no HTTP

        seconds = self._definition.limits.call_seconds
        client = bounded_client(token_env=self._server.token_env, call_seconds=seconds)
        await stack.enter_async_context(client)
        return streamable_http_client(str(self._server.url), http_client=client)

    async def _hear(self, message: object) -> None:
        from mcp_types import ToolListChangedNotification

        self.has_news = self.has_news or isinstance(message, ToolListChangedNotification)

    async def listing(self) -> Listing:
        if self._client is None or self._task is None or self._task.done():
            raise SessionEnded(self._in_words(None))
        self.has_news = False
        try:
            return await self._list()
        except (StartFailed, TimeoutError):
            raise
        except Exception as error:
            raise SessionEnded(self._in_words(error)) from error

    async def _list(self) -> Listing:
        if self._client is None:
            raise StartFailed("it has not been started")
        listed: dict[str, Any] = {}
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            listed |= {tool.name: tool for tool in page.tools}
            cursor = page.next_cursor
            if cursor is None or len(listed) > MAX_TOOLS:
                break
        if len(listed) > MAX_TOOLS:
            raise StartFailed(f"lists more than {MAX_TOOLS:,} tools")
        names = shown_names(self._name, listed)
        tools = [
            ListedTool(
                shown=names[name],
                name=name,
                description=tool.description or "",
                parameters=dict(tool.input_schema),
                result=dict(tool.output_schema) if tool.output_schema else None,
            )
            for name, tool in sorted(listed.items(), key=lambda item: names[item[0]])
        ]
        _check_size(tools)
        info = self._client.server_info
        return Listing(
            tools=tools,
            protocol=str(self._client.protocol_version or "")[:100],
            server=f"{info.name} {info.version or ''}".strip()[:300] if info else "",
            sandbox=sandbox_in_words() if self._definition.is_command else "",
        )

    async def call(self, tool: ListedTool, arguments: dict[str, Any]) -> Answer:
        from mcp import MCPError
        from mcp.client import InputRequiredRoundsExceededError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        if self._client is None or self._task is None or self._task.done():
            raise SessionEnded(self._in_words(None))
        try:
            result = await self._client.call_tool(tool.name, arguments)
        except MCPError as error:
            if self._process.is_over_length:
                self.is_broken = True
                message = f"The server's answer was longer than {MAX_MESSAGE_BYTES // 1_000_000} MB."
                raise BadResult(message) from error
            if error.message == UNREADABLE:
                raise BadResult("The server's answer is no message that can be read.") from error
            if error.code == CONNECTION_CLOSED or self._process.exit_code is not None:
                await self._process.ended(DYING_S)
                raise SessionEnded(self._in_words(error)) from error
            if not self._definition.is_command and error.message.startswith(OF_THE_CONNECTION):
                raise SessionEnded(self._in_words(error)) from error
            if error.code == REQUEST_TIMEOUT:
                raise TimeoutError from error
            return Answer(texts=[error.message], is_error=True)
        except InputRequiredRoundsExceededError:
            return Answer(
                texts=["The server asked for more input, which cannot be given here."], is_error=True
            )
        except (ValidationError, UnicodeError) as error:
            raise BadResult("The server's result does not fit the protocol.") from error
        except (TimeoutError, BadResult):
            raise
        except Exception as error:
            raise SessionEnded(self._in_words(error)) from error
        return _answer(result)

    async def close(self) -> None:
        self._closing.set()
        if self._task is None:
            return
        done, _ = await asyncio.wait([self._task], timeout=CLOSE_S)
        if not done:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CLOSE_S)
        if self._task.done() and not self._task.cancelled():
            self._task.exception()  # heard, so that nothing warns of it

    def _in_words(self, error: BaseException | None) -> str:
        """Why it does not run, in one line."""
        error = _innermost(error)
        if isinstance(error, StartFailed):
            return str(error)
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            return f"what it sent does not fit the protocol: {where}: {first['msg']}"[:600]
        said = self._process.said() if self._definition.is_command else ""
        if isinstance(error, TimeoutError):
            within = f"it listed no tools within {self._definition.limits.start_seconds:g} s"
            noise = "; what it wrote on stdout is no MCP message: do its logs go there?"
            wrote = noise if self._process.noise else ""
            return f"{within}{wrote}{f'; it said: {said}' if said else ''}"
        if self._process.exit_code is not None:
            return f"its process ended with code {self._process.exit_code}{f': {said}' if said else ''}"
        return f"{type(error).__name__}: {error}"[:600] if error else "it is gone"


async def _unchecked(*_: object) -> None:
    return None


def _innermost(error: BaseException | None) -> BaseException | None:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def _check_size(tools: list[ListedTool]) -> None:
    with suppress(RecursionError):
        if sum(len(tool.model_dump_json()) for tool in tools) <= MAX_TOOLS * MAX_LISTING_BYTES // 10:
            return
    raise StartFailed("lists schemas that are too long or too deep")


def _answer(result: Any) -> Answer:
    """A result of the SDK as plain data: texts and pictures in order, other content in words."""
    texts: list[str] = []
    pictures: list[bytes] = []
    for block in result.content:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "image":
            picture = _decoded(block.data)
            if picture is None:
                texts.append("[a picture that cannot be read]")
            else:
                pictures.append(picture)
        elif block.type == "resource_link":
            texts.append(f"[a link, not followed: {block.uri}]")
        elif block.type == "resource":
            text = getattr(block.resource, "text", None)
            texts.append(text if isinstance(text, str) else f"[data, not shown: {block.resource.uri}]")
        else:
            texts.append(f"[{block.type}, not shown]")
    return Answer(
        texts=texts, pictures=pictures, structured=_plain(result.structured_content), is_error=result.is_error
    )


def _decoded(text: str) -> bytes | None:
    if len(text) > MAX_PICTURE_BYTES * 4 // 3:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _plain(value: object) -> Any:
    if isinstance(value, Mapping | list):
        try:
            return json.loads(json.dumps(value, allow_nan=False))
        except (ValueError, RecursionError):
            message = "The server's structured result holds NaN or Infinity, or nests too deeply."
            raise BadResult(message) from None
    return value
