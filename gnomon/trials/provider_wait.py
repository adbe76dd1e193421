"""Waits for a provider: notes it in the trace where it is cut short, and lets another trial run meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol

from gnomon.core.retry import RetryPolicy
from gnomon.core.trace import NoteStep, Trace
from gnomon.trials.timeout import timeout_paused

LONG_WAIT_S = 2.0  # a trial that waits longer lets another run meanwhile
CAPPED = "capped_wait"  # flag of a row


class Slot(Protocol):
    """The right of a trial to run beside others."""

    def lend(self) -> None:
        """Let another trial run; harmless where it is lent already."""
        ...

    async def take_back(self) -> None:
        """Wait for the slot again, if it was lent."""
        ...


SLOT: ContextVar[Slot | None] = ContextVar("the slot of the trial that runs here", default=None)
TRACE: ContextVar[Trace | None] = ContextVar("the trace of the trial that runs here", default=None)


@asynccontextmanager
async def provider_wait(*, on_the_clock: bool = False, known_s: float = 0.0) -> AsyncIterator[None]:
    """Within, the trial waits for its provider: its timeout is paused, its slot lent where that takes long.

    `known_s`: how long it will be at least. Afterwards it waits for the slot.
    """
    slot = SLOT.get()
    with nullcontext() if on_the_clock else timeout_paused():
        if slot is None:
            yield
            return
        timer = asyncio.get_running_loop().call_later(
            LONG_WAIT_S if known_s < LONG_WAIT_S else 0.0, slot.lend
        )
        try:
            yield
        finally:
            timer.cancel()
        await slot.take_back()


async def sleep_as_asked(asked_s: float, *, retry: RetryPolicy, on_the_clock: bool = False) -> None:
    """Wait as long as the provider asks and the policy allows; that a wait was cut short is in the trace."""
    seconds = retry.capped_s(asked_s)
    if seconds != asked_s and (trace := TRACE.get()) is not None:
        trace.add(
            NoteStep(text=f"{CAPPED}: the provider asked to wait {asked_s:,.0f} s, {seconds:,.0f} s are kept")
        )
    async with provider_wait(on_the_clock=on_the_clock, known_s=seconds):
        await asyncio.sleep(seconds)
