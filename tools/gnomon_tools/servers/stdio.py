"""Runs a server's command and carries its messages: one JSON line each over its standard streams."""

import asyncio
import os
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from gnomon_tools.core import watched_process
from gnomon_tools.servers import granted_paths
from gnomon_tools.servers.server_spec import McpServer, ServerLimits

MAX_MESSAGE_BYTES = 64_000_000  # of one line; a server that sends more is stopped
MAX_STDERR_BYTES = 10_000
CHUNK = 1 << 18
REPLY_ID = re.compile(rb'"id"\s*:\s*(\d{1,9})\b')
ENDS = 300  # bytes at either end of a broken reply in which its request's number is looked for
UNREADABLE = "the reply is no message of the protocol that can be read"
MOST_OPEN_FILES, MAX_FILE_BYTES = 4_096, 4 * 2**30
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", *granted_paths.CERTIFICATES)
TERM_S = 0.5  # after its input is closed, until it is killed
STDERR_IN_MESSAGES = 400  # characters of its end


class ServerProcess:
    """The process of one command: its folder, what it wrote to stderr, and why it ended."""

    def __init__(self, server: McpServer, limits: ServerLimits, *, folder: Path) -> None:
        self._server, self._limits, self._folder = server, limits, folder
        self._process: asyncio.subprocess.Process | None = None
        self._stderr = b""
        self.noise = b""  # on stdout, as of logs that belong on stderr
        self.is_over_length = False

    async def start(self) -> asyncio.subprocess.Process:
        """Start the command in a session and a sandbox of its own.

        Raises:
            OSError: no process can be started.
        """
        command = list(self._server.command or ())
        work = self._folder / "work"
        work.mkdir(exist_ok=True)
        plan = {
            "limits": {
                "CORE": 0,
                "DATA": self._limits.memory_mb * 1_000_000,
                "FSIZE": MAX_FILE_BYTES,
                "NOFILE": MOST_OPEN_FILES,
            },
            "read": [*granted_paths.readable(self._server), str(self._folder)],
            "write": [*granted_paths.writable(self._server), str(work)],
        }
        self._process = await watched_process.start(
            plan, command, env=self._variables(work), cwd=self._server.cwd or work, limit=CHUNK
        )
        return self._process

    def _variables(self, work: Path) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        kept |= {name: os.environ[name] for name in self._server.env_from if name in os.environ}
        caches = granted_paths.caches_of((self._server.command or [""])[0])
        own = {
            "HOME": str(work),
            "TMPDIR": str(work),
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return {**kept, **caches, **own, **self._server.env}

    def said(self) -> str:
        """The end of what it printed, then wrote to stderr, on one line."""
        line = " ".join((self.noise + self._stderr).decode(errors="replace").split())
        return line if len(line) <= STDERR_IN_MESSAGES else f"…{line[-STDERR_IN_MESSAGES:]}"

    async def keep_stderr(self) -> None:
        """Read what it says, and keep the end of it."""
        if self._process is None or self._process.stderr is None:
            return
        while chunk := await self._process.stderr.read(CHUNK):
            self._stderr = (self._stderr + chunk)[-MAX_STDERR_BYTES:]

    async def stop(self) -> None:
        """Close its input, wait a moment, then have all ended that it has begun."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), TERM_S)
        await watched_process.end(process)

    async def ended(self, within_s: float) -> bool:
        """Whether the process has ended, or does so within that time."""
        if self._process is None:
            return False
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), within_s)
        return self._process.returncode is not None

    @property
    def exit_code(self) -> int | None:
        """That of the process, once it has ended."""
        return self._process.returncode if self._process else None


def own_folder() -> Path:
    """An empty folder for one server's command and for the files that it is passed."""
    folder = Path(tempfile.mkdtemp(prefix="gnomon-server-"))
    (folder / "inputs").mkdir()
    return folder


async def _lines(stdout: asyncio.StreamReader, process: ServerProcess) -> AsyncIterator[bytes]:
    """What the command writes, line by line, until its end or a line that is too long."""
    rest = bytearray()
    while chunk := await stdout.read(CHUNK):
        rest += chunk
        if b"\n" in chunk:
            *lines, last = bytes(rest).split(b"\n")
            rest = bytearray(last)
            for line in lines:
                if line.strip():
                    yield line
        elif len(rest) > MAX_MESSAGE_BYTES:
            process.is_over_length = True
            return


def _asked_by(line: bytes) -> int | None:
    """The number of the request that a broken reply belongs to; None where the line is no reply.

    >>> _asked_by(b'{"jsonrpc": "2.0", "id": 3, "result": {"content": [}'), _asked_by(b"listening on stdio")
    (3, None)
    """
    if not line.lstrip().startswith(b"{") or b'"jsonrpc"' not in line:
        return None
    ids = REPLY_ID.findall(line[:ENDS] + b"\n" + line[-ENDS:])
    return int(ids[0]) if ids else None


@asynccontextmanager
async def stdio_streams(process: ServerProcess) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of messages to and from the command, which is started here and stopped at the end."""
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

    running = await process.start()
    stdin, stdout = running.stdin, running.stdout
    if stdin is None or stdout is None:
        raise OSError("the process has no streams")
    to_session, read_stream = anyio.create_memory_object_stream[Any](0)
    write_stream, from_session = anyio.create_memory_object_stream[Any](0)

    async def read() -> None:
        async with to_session:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
                async for line in _lines(stdout, process):
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except (ValueError, RecursionError):
                        asked = _asked_by(line)
                        if asked is None:
                            process.noise = (process.noise + line + b"\n")[-MAX_STDERR_BYTES:]
                            continue
                        error = ErrorData(code=PARSE_ERROR, message=UNREADABLE)
                        message = JSONRPCError(jsonrpc="2.0", id=asked, error=error)
                    await to_session.send(SessionMessage(message))
        while await stdout.read(CHUNK):
            pass  # a process whose pipe is full does not end

    async def write() -> None:
        try:
            async with from_session:
                async for session_message in from_session:
                    text = session_message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    stdin.write(text.encode() + b"\n")
                    await stdin.drain()
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await to_session.aclose()  # so that the session learns of its end

    tasks = [asyncio.ensure_future(work) for work in (read(), write(), process.keep_stderr())]
    try:
        yield read_stream, write_stream
    finally:
        read_stream.close()
        write_stream.close()
        try:
            await asyncio.shield(asyncio.ensure_future(process.stop()))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
