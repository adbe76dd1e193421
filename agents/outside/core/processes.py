"""Programs that answer on their stdout: each in a group of its own, limited, ended with all it began."""

import asyncio
import os
import resource
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from gnomon.core.errors import AgentFault
from gnomon.core.outside_agent import OutsideAgent
from gnomon.parent_death import die_with_parent

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
        environment = {name: os.environ[name] for name in (*USUAL, *spec.env) if name in os.environ}
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=environment,
                limit=MAX_OUTPUT_BYTES,
                start_new_session=True,
                preexec_fn=_limits(spec.memory_mb),
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
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._error_reader.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                await self._process.wait()
        transport = getattr(self._process, "_transport", None)  # its pipes stay open where a child held them
        if transport is not None:
            transport.close()

    async def _ended(self, code: int) -> AgentFault:
        with suppress(TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(GRACE_S):
                await asyncio.shield(self._error_reader)
        how = f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        said = bytes(self._errors).decode(errors="replace").strip().splitlines()
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


def _limits(memory_mb: int | None) -> Callable[[], None]:
    """What a child calls between fork and exec. All is prepared here, so that only system calls are left."""
    die_with_worker = die_with_parent(signal.SIGKILL)
    set_limit, core, size = resource.setrlimit, resource.RLIMIT_CORE, resource.RLIMIT_FSIZE
    hard = resource.getrlimit(size)[1]
    most = MAX_FILE_BYTES if hard == resource.RLIM_INFINITY else min(MAX_FILE_BYTES, hard)
    memory = None if memory_mb is None else memory_mb * 1_000_000

    def apply() -> None:
        die_with_worker()
        set_limit(core, (0, 0))
        set_limit(size, (most, most))
        if memory is not None:
            set_limit(resource.RLIMIT_AS, (memory, memory))

    return apply
