"""Starts processes by module, with little memory."""

import ctypes
import gc
import sys

M_ARENA_MAX = -8  # mallopt(3)


def module_command(module: str, *arguments: str) -> tuple[str, ...]:
    """The command that runs a module of ours with this Python.

    `-P` leaves the current folder off the module path: it is the user's, and may hold a `tools/`, a
    `workers/` or a `redis.py` of theirs.
    """
    return (sys.executable, "-P", "-m", module, *arguments)


def limit_memory() -> None:
    """Have one pool of memory for all threads.

    With one for each, as glibc has it, what the threads of shard after shard leave behind is never filled
    again: 12 MB after 14,000 trials. Elsewhere than on glibc it does nothing.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 1)


def raise_gc_threshold() -> None:
    """For very many live objects: the default threshold costs a loop with hundreds of trials half its speed,
    a report over hundreds of thousands of rows a fifth, and so the imports of a process.
    """
    gc.set_threshold(50_000, 20, 50)
