"""Lets a child process die with the process that started it."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG = 1  # prctl(2)


def die_with_parent(by: signal.Signals = signal.SIGTERM, *, parent: int | None = None) -> Callable[[], None]:
    """What a child of this process calls right after the fork, to get that signal when this process dies.

    Linux only; elsewhere it does nothing. Prepared here, so that after the fork one system call is left.
    A child that prepares it for itself names its `parent`.
    """
    parent = parent or os.getpid()
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def ask_kernel() -> None:
        if prctl is not None:
            prctl(PR_SET_PDEATHSIG, by)
            if os.getppid() != parent:  # it died in between
                os._exit(1)

    return ask_kernel
