"""Runs programs that answer on their stdout, each in a group of its own, limited, ended with all it began."""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import TypeVar

from gnomon.core.errors import AgentFault
from gnomon.core.outside_agent import OutsideAgent
from gnomon_tools.core import sandboxed, watched_process

T = TypeVar("T")

MAX_OUTPUT_BYTES = 8_000_000
MAX_ERROR_BYTES = 20_000  # of stderr, its end
MAX_FILE_BYTES = 2_000_000_000  # that the program may write into one file
CHUNK_BYTES = 1 << 16
GRACE_S = 1.0  # for a process to be gone once its group is killed
# What a program is given of the environment without being named in `env`: nothing that is secret.
USUAL = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "VIRTUAL_ENV", "SYSTEMROOT")


class Program:
    """One process of an agent's command."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._errors = bytearray()
        self._error_reader = asyncio.create_task(self._read_errors())

    @classmethod
    async def start(cls, spec: OutsideAgent) -> "Program":
        """Start the command of an agent.

        Raises:
            AgentFault: `start`: it cannot be started.
        """
        command: Sequence[str] = spec.command or ()
        limits = {"CORE": 0, "FSIZE": MAX_FILE_BYTES}
        if spec.memory_mb is not None:
            limits["AS"] = spec.memory_mb * 1_000_000
        environment = {name: os.environ[name] for name in (*USUAL, *spec.env) if name in os.environ}
        try:
            process = await watched_process.start(
                {"limits": limits}, command, env=environment, limit=MAX_OUTPUT_BYTES
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise AgentFault(f"{command[0]!r} cannot be started: {reason}", cause="start") from None
        return cls(process)

    async def send(self, data: bytes, *, is_last: bool) -> None:
        """Write to its stdin; a program that does not read it may still answer."""
        stdin = _pipe(self._process.stdin)
        with suppress(BrokenPipeError, ConnectionResetError):
            for start in range(0, len(data), CHUNK_BYTES):
                stdin.write(data[start : start + CHUNK_BYTES])
                await stdin.drain()
        if is_last:
            with suppress(BrokenPipeError, ConnectionResetError):
                stdin.close()

    async def read_all(self) -> bytes:
        """Its whole stdout, when it has ended well.

        Raises:
            AgentFault: `too_large`; `exit`: it ended with an error.
        """
        stdout = _pipe(self._process.stdout)
        body = bytearray()
        while part := await stdout.read(CHUNK_BYTES):
            body += part
            if len(body) > MAX_OUTPUT_BYTES:
                raise AgentFault(f"wrote more than {MAX_OUTPUT_BYTES:,} bytes", cause="too_large")
        code = await self._process.wait()
        if code != 0:
            raise await self._ended(code)
        return bytes(body)

    async def read_line(self) -> bytes:
        """The next line of its stdout that is not empty.

        Raises:
            AgentFault: `too_large`; `exit`: it ended first.
        """
        stdout = _pipe(self._process.stdout)
        line = b"\n"
        while line and not line.strip():
            try:
                line = await stdout.readline()
            except ValueError:
                message = f"wrote a line of more than {MAX_OUTPUT_BYTES:,} bytes"
                raise AgentFault(message, cause="too_large") from None
        if not line:
            raise await self._ended(await self._process.wait())
        return line

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.returncode is None

    async def kill(self) -> None:
        """End it and all that it has started."""
        await watched_process.end(self._process)
        self._error_reader.cancel()
        transport = getattr(self._process, "_transport", None)  # its pipes stay open where a child held them
        if transport is not None:
            transport.close()

    async def _ended(self, code: int) -> AgentFault:
        with suppress(TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(GRACE_S):
                await asyncio.shield(self._error_reader)
        said = bytes(self._errors).decode(errors="replace").strip().splitlines()
        if code == sandboxed.NOT_STARTED:
            return AgentFault(
                f"the command cannot be started: {said[-1] if said else 'unknown'}", cause="start"
            )
        number = -code if code < 0 else code - 128  # the one that watches tells a signal as shells do
        how = f"was ended by {_signal_name(number)}" if number > 0 else f"ended with exit code {code}"
        return AgentFault(f"the command {how}" + (f": {said[-1][:300]}" if said else ""), cause="exit")

    async def _read_errors(self) -> None:
        stderr = _pipe(self._process.stderr)
        while part := await stderr.read(CHUNK_BYTES):
            self._errors += part
            del self._errors[:-MAX_ERROR_BYTES]


def _pipe(stream: T | None) -> T:
    """A stream of a process that was started with a pipe for it."""
    if stream is None:
        raise TypeError("the process has no such pipe")
    return stream


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
