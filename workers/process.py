"""Process: children that run our modules whatever folder we stand in, and do not outlive their parent."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG = 1  # prctl(2)


def module_command(module: str, *arguments: str) -> tuple[str, ...]:
    """The command that runs a module of ours with this Python.

    `-P` leaves the current folder off the module path: it is the user's, and may hold a `tools/`, a
    `workers/` or a `redis.py` of theirs.
    """
    return (sys.executable, "-P", "-m", module, *arguments)


def die_with_parent() -> Callable[[], None]:
    """What a child of this process must call, right after the fork, to get SIGTERM when this process dies.

    Linux only; elsewhere it does nothing. Prepared here, so that after the fork one system call is left.
    """
    parent = os.getpid()
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def ask_kernel() -> None:
        if prctl is not None:
            prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:  # it died in between
                os._exit(1)

    return ask_kernel
