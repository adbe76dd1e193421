"""Runs a server's command and carries its messages: one JSON line each over its standard streams."""

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.servers import launch
from tools.servers.definition import McpServer, ServerLimits

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

LAZY = ("mcp_types", "mcp.shared.message", "anyio")
MAX_MESSAGE_BYTES = 64_000_000  # of one line; a server that sends more is stopped
MAX_STDERR_BYTES = 10_000
CHUNK = 1 << 18
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS")
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", *CERTIFICATES)
TERM_S = 0.5  # after its input is closed, until it is killed
STDERR_IN_MESSAGES = 400  # characters of its end


class ServerProcess:
    """The process of one command: its folder, what it wrote to stderr, and why it ended."""

    def __init__(self, server: McpServer, limits: ServerLimits, *, folder: Path) -> None:
        self._server, self._limits, self._folder = server, limits, folder
        self._process: asyncio.subprocess.Process | None = None
        self._stderr = b""
        self.noise = 0  # lines on stdout that are no message
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
            "parent": os.getpid(),
            "memory_bytes": self._limits.memory_mb * 1_000_000,
            "read": [*launch.environment_of(command[0]), str(self._folder), *_certificates()],
            "write": [str(work), *_granted(self._server), *launch.caches_of(command[0]).values()],
        }
        launcher = [sys.executable, "-I", "-S", launch.__file__, json.dumps(plan), *command]
        self._process = await asyncio.create_subprocess_exec(
            *launcher,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._variables(work),
            cwd=self._server.cwd or work,
            start_new_session=True,
            limit=CHUNK,
        )
        return self._process

    def _variables(self, work: Path) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        kept |= {name: os.environ[name] for name in self._server.env_from if name in os.environ}
        caches = launch.caches_of((self._server.command or [""])[0])
        own = {
            "HOME": str(work),
            "TMPDIR": str(work),
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return {**kept, **caches, **own, **self._server.env}

    def said(self) -> str:
        """The end of what it wrote to stderr, on one line."""
        line = " ".join(self._stderr.decode(errors="replace").split())
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
        if process.returncode is None and sys.platform == "linux":
            with suppress(ProcessLookupError, TimeoutError):
                process.terminate()  # the launcher, which ends its offspring
                await asyncio.wait_for(process.wait(), launch.SWEEP_S + 1)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()

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


def _certificates() -> list[str]:
    return [os.environ[name] for name in CERTIFICATES if name in os.environ]


def _granted(server: McpServer) -> list[str]:
    """The paths that the command is named in its arguments, as its folder, and as `files`."""
    words = [
        word.partition("=")[2] if word.startswith("--") and "=" in word else word
        for word in server.command or ()
    ]
    named = [word for word in words[1:] if word.startswith("/") and word != "/"]
    return [*named, *server.files, *([server.cwd] if server.cwd else [])]


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


@asynccontextmanager
async def stdio_streams(process: ServerProcess) -> "AsyncIterator[TransportStreams]":
    """The streams of messages to and from the command, which is started here and stopped at the end."""
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

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
                        process.noise += 1
                        continue
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
