"""Waits for a provider: notes it in the trace where it is cut short, and lets another trial run meanwhile."""

import asyncio
from contextvars import ContextVar
from typing import Protocol

from gnomon.core.retry import RetryPolicy
from gnomon.core.timeout import timeout_paused
from gnomon.core.trace import NoteStep, Trace

LONG_WAIT_S = 2.0  # a trial that waits longer lets another run meanwhile
CAPPED = "capped_wait"  # flag of a row


class Slot(Protocol):
    """The right of a trial to run beside others."""

    def lend(self) -> None:
        """Let another trial run; harmless where it is lent already."""

    async def take_back(self) -> None:
        """Wait for the slot again, if it was lent."""


SLOT: ContextVar[Slot | None] = ContextVar("the slot of the trial that runs here", default=None)
TRACE: ContextVar[Trace | None] = ContextVar("the trace of the trial that runs here", default=None)


class provider_wait:  # noqa: N801 (read as a word of a `with`; a class, as every call may wait)
    """Within, the trial waits for its provider: its timeout is paused, its slot lent where that takes long.

    So it does while a tool's server starts. `known_s`: how long it will be at least. Afterwards it waits for
    the slot.
    """

    __slots__ = ("_known_s", "_pause", "_slot", "_timer")

    def __init__(self, *, on_the_clock: bool = False, known_s: float = 0.0) -> None:
        self._pause = None if on_the_clock else timeout_paused()
        self._known_s = known_s

    async def __aenter__(self) -> None:
        self._slot = SLOT.get()
        if self._pause is not None:
            self._pause.__enter__()
        if self._slot is not None:
            after_s = LONG_WAIT_S if self._known_s < LONG_WAIT_S else 0.0
            self._timer = asyncio.get_running_loop().call_later(after_s, self._slot.lend)

    async def __aexit__(self, error_type: object, *_: object) -> None:
        try:
            if self._slot is not None:
                self._timer.cancel()
                if error_type is None:
                    await self._slot.take_back()
        finally:
            if self._pause is not None:
                self._pause.__exit__()


async def sleep_as_asked(asked_s: float, *, retry: RetryPolicy, on_the_clock: bool = False) -> None:
    """Wait as long as the provider asks and the policy allows; that a wait was cut short is in the trace."""
    seconds = retry.capped_s(asked_s)
    if seconds != asked_s and (trace := TRACE.get()) is not None:
        trace.add(
            NoteStep(text=f"{CAPPED}: the provider asked to wait {asked_s:,.0f} s, {seconds:,.0f} s are kept")
        )
    async with provider_wait(on_the_clock=on_the_clock, known_s=seconds):
        await asyncio.sleep(seconds)
