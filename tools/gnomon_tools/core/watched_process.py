"""Runs a program in a sandbox as a child process that leaves nothing behind."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from gnomon_tools.core import sandboxed

GONE_S = 1.0  # for a process to be reaped once it is killed


async def start(
    plan: Mapping[str, Any], command: Sequence[str], **options: Any
) -> asyncio.subprocess.Process:
    """Start the command as `sandboxed.py` reads the plan, in a session of its own and with pipes to it.

    A command that cannot be run is a process that ends with `sandboxed.NOT_STARTED` and says why on stderr.

    Raises:
        OSError: no process can be started at all.
    """
    plan = {"watched_by": os.getpid(), **plan}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", sandboxed.__file__, json.dumps(plan), *command),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        **options,
    )


async def end(process: asyncio.subprocess.Process) -> None:
    """End the process and all that it has begun."""
    if process.returncode is None and sys.platform == "linux":
        with suppress(ProcessLookupError, TimeoutError):
            process.terminate()  # the one that watches, which ends its offspring
            await asyncio.wait_for(process.wait(), sandboxed.SWEEP_S + GONE_S)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), GONE_S)
