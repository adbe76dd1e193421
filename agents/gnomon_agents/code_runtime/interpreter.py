"""Runs a model's code in an interpreter that has no way out; its names last as long as the trial.

The interpreter is Monty, a subset of Python in Rust, in a process of its own
(`gnomon_tools/core/sandboxed.py`). Code reaches nothing but the functions that the caller names: each call
stops the interpreter until the caller answers it. Whoever imports this module loads no library; the first
run does.
"""

import asyncio
import contextlib
import functools
import json
import os
import re
import shlex
import sys
import sysconfig
from collections.abc import Awaitable, Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from gnomon.core.errors import Unavailable
from gnomon_tools.core import sandboxed

if TYPE_CHECKING:
    import pydantic_monty

T = TypeVar("T")
RUN_SECONDS = 5.0  # of running code in a block; waiting for a tool does not count
HANG_SECONDS = 15.0  # until a process that does not answer is killed
MEMORY_BYTES = 64 << 20
MAX_DEPTH = 200  # calls within calls
MAX_STOPS = 10_000  # calls of functions in a trial, whatever becomes of them
MAX_SHOWN = 20_000  # characters of what a block prints, and of its value
MAX_RESULT = 100_000  # characters of a final answer
PROCESSES = 256  # at most, one for each trial in flight that has begun to run code
TRIALS_PER_PROCESS = 20
THREADS = 64
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")
ADDRESS_SPACE = 4 << 30  # bytes: far above what the interpreter reserves at its start
FINAL_ANSWER = "final_answer"
_SEATS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class CallFailed(Exception):
    """A function could not do what the code wants; the message is raised in the code as a RuntimeError."""


class WrongCall(Exception):
    """A function was called as no function can be: the message is raised in the code as a TypeError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What became of a block: what it printed, its value as text, its error, or the final answer.

    `is_anew` tells that the interpreter had to be given up: its names are gone.
    """

    printed: str = ""
    value: str = ""
    error: str = ""
    final: str | None = None
    is_anew: bool = False


CallFunction = Callable[[str, tuple[Any, ...], Mapping[str, Any]], Awaitable[Any]]


class Interpreter:
    """One interpreter for one trial; a process serves it from the first block on, until it is closed."""

    def __init__(self, functions: Collection[str], call: CallFunction, *, seed: int) -> None:
        """`call` answers the calls of `functions`; it may raise CallFailed and WrongCall."""
        self._functions, self._call, self._seed = frozenset(functions), call, seed
        self._session: pydantic_monty.MontySession | None = None
        self._step: Future[Any] | None = None
        self.is_confined: bool | None = None  # by the kernel too; None before the first block

    async def run(self, code: str) -> Run:
        """Run a block; what is wrong with it is in the Run.

        Raises:
            Unavailable: the interpreter's process cannot start here.
            Exception: as `call` raises it.
        """
        import pydantic_monty as monty

        session = self._session or await self._begin()
        printed = _Printed()
        snapshot: Any = None
        try:
            snapshot = await self._do(
                functools.partial(session.feed_start, code, print_callback=printed.take)
            )
            while not isinstance(snapshot, monty.MontyComplete):
                if isinstance(snapshot, monty.FunctionSnapshot) and snapshot.function_name == FINAL_ANSWER:
                    final = await self._do(functools.partial(_final, snapshot))
                    await self.close()
                    return Run(printed=printed.text(), final=final)
                snapshot = await self._do(await self._answer(snapshot))
            value = await self._do(functools.partial(_value, snapshot))
            return Run(printed=printed.text(), value=value)
        except monty.MontySyntaxError as error:
            return Run(error=_readable(error))
        except monty.MontyCrashedError:
            await self.close()
            return Run(printed=printed.text(), error="The interpreter was stopped.", is_anew=True)
        except monty.MontyRuntimeError as error:
            # After a limit the heap is not to be trusted any more, whatever the process says.
            is_over = isinstance(error.exception(), MemoryError | TimeoutError) or not error.traceback()
            if is_over:
                await self.close()
            return Run(printed=printed.text(), error=_readable(error), is_anew=is_over)
        except monty.MontyError as error:
            return Run(printed=printed.text(), error=_cut(str(error)))

    async def close(self) -> None:
        """Let the process go. A step that is under way ends first; nothing waits for it."""
        session, self._session = self._session, None
        if session is None:
            return
        _seats().release()
        end = functools.partial(_leave, session)
        if self._step is not None and not self._step.done():
            self._step.add_done_callback(lambda _: end())  # in that thread
            return
        await asyncio.wrap_future(_threads().submit(end))

    async def _begin(self) -> "pydantic_monty.MontySession":
        import pydantic_monty as monty

        seats = _seats()
        await seats.acquire()  # not in a thread: those that wait would keep those that run from going on
        entering = _threads().submit(_enter, self._seed)
        try:
            session, is_confined = await asyncio.shield(asyncio.wrap_future(entering))
        except asyncio.CancelledError:
            seats.release()
            entering.add_done_callback(lambda done: None if done.exception() else _leave(done.result()[0]))
            raise
        except (OSError, RuntimeError, TimeoutError, monty.MontyError) as error:
            seats.release()
            raise Unavailable(f"the interpreter for the agent `code` does not start: {error}") from error
        self._session, self.is_confined = session, is_confined
        return session

    async def _do(self, step: Callable[[], T]) -> T:
        """A step in a thread. It cannot be interrupted: a trial that is cancelled leaves it to end alone."""
        self._step = _threads().submit(step)
        return await asyncio.shield(asyncio.wrap_future(self._step))

    async def _answer(self, snapshot: Any) -> Callable[[], Any]:
        """The step that goes on after what the code waits for: a name, a function, a way out of its walls."""
        import pydantic_monty as monty

        if isinstance(snapshot, monty.NameLookupSnapshot):
            name = snapshot.variable_name
            is_ours = snapshot.object_id is None and name in {*self._functions, FINAL_ANSWER}
            return functools.partial(snapshot.resume, value=_named(name)) if is_ours else snapshot.resume
        if isinstance(snapshot, monty.FutureSnapshot):
            reason: Any = {"exc_type": "RuntimeError", "message": "nothing can be awaited here"}
            return functools.partial(snapshot.resume, dict.fromkeys(snapshot.pending_call_ids, reason))
        if snapshot.is_os_function:
            return functools.partial(snapshot.resume_not_handled)
        return functools.partial(snapshot.resume, await self._result(snapshot))

    async def _result(self, snapshot: Any) -> Any:
        name = snapshot.function_name
        if snapshot.object_id is not None or name not in self._functions:
            return {"exc_type": "NameError", "message": f"name {name!r} is not defined"}
        try:
            return {"return_value": await self._call(name, snapshot.args, snapshot.kwargs)}
        except CallFailed as error:
            return {"exc_type": "RuntimeError", "message": str(error)}
        except WrongCall as error:
            return {"exc_type": "TypeError", "message": str(error)}


class _Printed:
    """Keeps what a block prints up to the limit that is shown, and counts the rest."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._kept = self._all = 0

    def take(self, _: str, text: str) -> None:
        self._all += len(text)
        if self._kept < MAX_SHOWN:
            self._parts.append(text[: MAX_SHOWN - self._kept])
            self._kept += len(self._parts[-1])

    def text(self) -> str:
        left_out = self._all - self._kept
        return "".join(self._parts) + (f"… ({left_out:,} more characters)" if left_out else "")


def _value(complete: Any) -> str:
    """The value of a block's last line; nothing where there is none."""
    value = complete.output
    return "" if value is None else _cut(value if isinstance(value, str) else _written(value))


def _written(value: object) -> str:
    """A value as Python writes it; in words where it does not, as a number of thousands of digits."""
    try:
        return repr(value)
    except (ValueError, RecursionError) as error:
        return f"({type(value).__name__}, not shown: {str(error)[:200]})"


def _final(snapshot: Any) -> str:
    """What `final_answer` was called with, as text: a string as it is, all else as JSON where JSON has it."""
    values = [*snapshot.args, *snapshot.kwargs.values()]
    value = values[0] if len(values) == 1 else values
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        text = _written(value)
    return text[:MAX_RESULT]


def _readable(error: "pydantic_monty.MontyRuntimeError | pydantic_monty.MontySyntaxError") -> str:
    """The error with the lines that led to it, counted from the block's first."""
    lines = [line for line in error.display("traceback").splitlines() if "[Previous line" not in line]
    # `File "<python-input-3>", line 2` names a block of the session: the model knows its block by itself.
    return _cut(re.sub(r"<python-input-[^>\n]*>", "<block>", "\n".join(lines)))


def _cut(text: str) -> str:
    left_out = len(text) - MAX_SHOWN
    return text if left_out <= 0 else f"{text[:MAX_SHOWN]}… ({left_out:,} more characters)"


def _named(name: str) -> Callable[..., None]:
    """A function for the interpreter to hold; calls of it come back by its name."""

    def function(*_: Any, **__: Any) -> None:
        raise NotImplementedError

    function.__name__ = function.__qualname__ = name
    return function


def _seats() -> asyncio.Semaphore:
    """How many more interpreters this loop may open."""
    return _SEATS.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(PROCESSES))


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="interpreter")


def _enter(seed: int) -> "tuple[pydantic_monty.MontySession, bool]":
    """A session in a process of its own, and whether the kernel confines that process."""
    limits: pydantic_monty.ResourceLimits = {
        "max_feed_duration_secs": RUN_SECONDS,
        "max_memory": MEMORY_BYTES,
        "max_recursion_depth": MAX_DEPTH,
        "max_suspensions": MAX_STOPS,
    }
    checkout = _pool(os.getpid()).checkout(
        limits=limits,
        # The same code gives the same result: chance is seeded, sleep is none, the clock stands still.
        os_policy={"random_start": {"seed": seed}, "sleep": "zero", "datetime": _midnight()},
    )
    session = checkout.__enter__()
    return session, _is_confined(session.worker_pid)


def _leave(session: "pydantic_monty.MontySession") -> None:
    import pydantic_monty as monty

    with contextlib.suppress(monty.MontyError, RuntimeError, OSError):
        session.__exit__(None, None, None)


def _midnight() -> Any:
    import datetime as dt

    return dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def _is_confined(pid: int | None) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except (OSError, ValueError):
        return False
    return "\nSeccomp:\t2" in status


@functools.cache
def _pool(_: int) -> "pydantic_monty.Monty":
    """The interpreters of this process; a fork has its own.

    The synchronous pool, driven from threads: the one for asyncio aborts some processes at their end, and
    waits for code that a cancelled trial left running.
    """
    import pydantic_monty as monty

    pool = monty.Monty(
        binary_path=_confined_binary(),
        min_processes=0,
        max_processes=PROCESSES,
        max_checkouts_per_worker=TRIALS_PER_PROCESS,
        request_timeout=HANG_SECONDS,
        checkout_timeout=HANG_SECONDS,
    )
    pool.__enter__()  # never left: its processes end with their pipes, whichever way this one ends
    return pool


def plan_for(binary: Path) -> dict[str, Any]:
    """What the interpreter's process is held to: its binary and the system's libraries, and nothing else."""
    return {
        "limits": {"CORE": 0, "FSIZE": 0, "NOFILE": 32, "AS": ADDRESS_SPACE},
        "read": [str(binary), *LIBRARIES],
        "write": [],
        "is_alone": True,
        "folder": "/",
        "environment": {},
    }


def _confined_binary() -> str | None:
    """A file that runs the interpreter's binary in its sandbox; None where there can be none.

    The pool takes the path of a program without arguments. So this is a script, held in memory, that needs no
    folder and goes with the process.
    """
    binary = Path(sysconfig.get_path("scripts")) / "monty"
    if sys.platform != "linux" or not sys.executable or not binary.is_file():
        return None
    command = [sys.executable, "-I", "-S", sandboxed.__file__, json.dumps(plan_for(binary)), str(binary)]
    try:
        script = os.memfd_create("interpreter")
        os.write(script, f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n'.encode())
    except OSError:
        return None
    return f"/proc/{os.getpid()}/fd/{script}"
