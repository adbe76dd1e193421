"""Runs code of plug-ins within a time, off standard output, and without letting it end the process.

What a stranger's code may do besides raising an error: wait for ever, end the process, print where a command
prints its one JSON document. The bound is kept by an alarm of the main thread, not by a thread of ours, which
would go on for as long as the module does; in other threads there is none.
"""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from types import FrameType

SECONDS_ENV = "GNOMON_PLUGIN_SECONDS"
SAY_S, MOST_S = 10.0, 60.0  # when a person is told; when it is given up, unless the variable says otherwise
AGAIN_S = 1.0  # a module that catches everything is interrupted again
_IS_LOADING = threading.local()


class TooSlow(BaseException):
    """A module was still running when its time was over; no `except Exception` of its own holds it up."""


class Interrupted(KeyboardInterrupt):
    """The user pressed Ctrl-C while a module ran; the message names it. One that a module raises is none."""


class Escape(Exception):
    """Code of a plug-in raised what no `except Exception` holds, and what would have ended the process.

    `kind` is the name of what it raised.
    """

    def __init__(self, error: BaseException) -> None:
        self.kind = type(error).__name__
        super().__init__(f"{self.kind}: {' '.join(str(error).split())}".rstrip(": "))


def is_ctrl_c(error: BaseException) -> bool:
    """Whether it may be the user's Ctrl-C: only Python's own handler raises that, and in the main thread."""
    return isinstance(error, KeyboardInterrupt) and (
        isinstance(error, Interrupted)
        or (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
    )


class contained:  # noqa: N801 (reads as what it does; a class, as every call of a model is within one)
    """Within, code of a plug-in is called; Ctrl-C and the cancellation of a task pass.

    Raises:
        Escape: it raised what is no `Exception`.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        """Nothing is to be done."""

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        if error is None or isinstance(error, (Exception, GeneratorExit)):
            return
        from asyncio import CancelledError  # late: most commands have no event loop

        if not (isinstance(error, CancelledError) or is_ctrl_c(error)):
            raise Escape(error) from error


@contextmanager
def loading(what: str, *, most_s: float = MOST_S) -> Iterator[None]:
    """Within, a plug-in's module runs: what it prints goes to standard error.

    In the main thread a person is told after SAY_S seconds that `what` still runs. A module that loads
    another one while it runs shares its time with it.

    Raises:
        TooSlow: it ran for `most_s` seconds, in the main thread.
        Interrupted: the user pressed Ctrl-C, where Python's own handler waits for that.
    """
    if getattr(_IS_LOADING, "now", False):
        yield
        return
    _IS_LOADING.now = True
    try:
        with redirect_stdout(sys.stderr):
            if threading.current_thread() is threading.main_thread():
                with _interrupts_named(what), _bounded(what, most_s):
                    yield
            else:
                yield
    finally:
        _IS_LOADING.now = False


@contextmanager
def _interrupts_named(what: str) -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield
        return

    def interrupt(_: int, __: FrameType | None) -> None:
        raise Interrupted(f"while {what} was loaded")

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bounded(what: str, most_s: float) -> Iterator[None]:
    before = signal.getsignal(signal.SIGALRM)
    if before is None:  # set by C, and not to be set again from here
        yield
        return
    began_s, is_over, has_said = time.monotonic(), False, False

    def look(_: int, __: FrameType | None) -> None:
        nonlocal has_said
        if is_over:
            return
        if time.monotonic() - began_s >= most_s:
            raise TooSlow(f"it ran for {most_s:g} s; {SECONDS_ENV} allows more")
        if not has_said:
            has_said = True
            said = f"gnomon: {what} has been loading for {SAY_S:g} s; it is given up after {most_s:g} s"
            print(said, file=sys.stderr, flush=True)  # noqa: T201 (no logger is set up this early)

    signal.signal(signal.SIGALRM, look)
    alarm_s, interval_s = signal.setitimer(signal.ITIMER_REAL, min(SAY_S, most_s), min(AGAIN_S, most_s))
    try:
        yield
    finally:
        is_over = True
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        if alarm_s:  # somebody else's, which goes on
            left_s = alarm_s - (time.monotonic() - began_s)
            signal.setitimer(signal.ITIMER_REAL, max(left_s, 0.001), interval_s)
